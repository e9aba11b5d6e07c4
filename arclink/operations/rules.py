"""The options that select captures, shared by ``build`` and ``filter``."""

import re
from dataclasses import replace
from pathlib import Path

from arclink.access.declarations import PATH, TEXT, AnyParameter, Given, Parameter, switch
from arclink.access.queries import prefixes_meant
from arclink.access.times import FROM, TO
from arclink.errors import UsageError
from arclink.filter.rules import DEFAULT_RULES, Rules
from arclink.timestamps import TimestampError, first_of, last_of

_LARGEST = 16 << 20
"""Bytes of a rules file; more are not read, such as those of a device."""

RULES = Parameter(
    "rules",
    "JSON file of filter rules.",
    PATH,
    metavar="FILE",
    otherwise="HTML, feeds and sitemaps with status 200",
    see="reference/filter.md#rules",
    keeps_empty=True,
)
PREFIXES = Parameter(
    "prefix",
    "Only captures of this part of the web: *.example.org, http://example.org/news*, or a "
    "beginning of SURTs such as 'org,example)/'.",
    TEXT,
    is_list=True,
    metavar="PART",
    keeps_empty=True,
)
NO_REDIRECTS = switch("no-redirects", "Do not read redirects to learn their targets.")
SELECTION: tuple[AnyParameter, ...] = (RULES, PREFIXES, FROM, TO, NO_REDIRECTS)
"""The parameters that select captures."""

_UNWRAP = switch(
    "unwrap-wayback",
    "Treat captures of a Wayback Machine's pages as captures of the original pages.",
    "reference/fetching.md#unwrapped-captures",
)
_WAYBACK_PREFIXES = Parameter(
    "wayback-prefix",
    "With --unwrap-wayback: only pages below this prefix, such as web.archive.org/web.",
    TEXT,
    is_list=True,
    metavar="PREFIX",
    otherwise="any host",
    keeps_empty=True,
)
WAYBACK: tuple[AnyParameter, ...] = (_UNWRAP, _WAYBACK_PREFIXES)


def wayback_of(given: Given) -> tuple[str, ...] | None:
    """Return the value of `ExtractSettings.wayback` for the options.

    Raises:
        UsageError: A prefix is not the beginning of a URI with a host.
    """
    prefixes = _WAYBACK_PREFIXES.many(given)
    for prefix in prefixes:
        if not re.fullmatch(r"(?:https?://)?[^/?#\s]+(?:/[^?#\s]*)?", prefix.strip()):
            raise UsageError(
                f"--wayback-prefix {prefix!r}: not the beginning of a URI such as "
                "web.archive.org/web"
            )
    return prefixes if _UNWRAP.required(given) or prefixes else None


def _read(path: str) -> bytes:
    with Path(path).open("rb") as file:
        text = file.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        raise UsageError(
            f"--rules {path}: has more than {_LARGEST >> 20} MiB, so it is no file of rules"
        )
    return text


def rules_from(given: Given, default: Rules = DEFAULT_RULES) -> Rules:
    """Return the rules of a file, or the default rules, with the changes of the options.

    Args:
        given: The options.
        default: The rules without a file.

    Raises:
        UsageError: The file cannot be read, or a value is invalid.
    """
    rules, path = default, RULES.optional(given)
    if path:
        try:
            rules = Rules.from_json(_read(path))
        except OSError as error:
            raise UsageError(f"--rules {path}: cannot be read: {error.strerror}") from error
    rules = replace(
        rules,
        prefixes=tuple(
            prefix for text in PREFIXES.many(given) for prefix in prefixes_meant(text) or (text,)
        )
        or rules.prefixes,
        read_redirects=rules.read_redirects and not NO_REDIRECTS.required(given),
    )
    try:
        if first := given.text(FROM):
            rules = replace(rules, first=first_of(first))
        if last := given.text(TO):
            rules = replace(rules, last=last_of(last))
    except TimestampError as error:
        raise UsageError(f"--from or --to: {error}") from error
    return rules
