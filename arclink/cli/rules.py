"""The options that select captures, shared by ``build`` and ``filter``."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from arclink.errors import UsageError
from arclink.filter.rules import Rules
from arclink.timestamps import TimestampError, first_of, last_of


def wayback_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--unwrap-wayback`` and ``--wayback-prefix`` to a command.

    Their arguments are ``unwrap_wayback`` and ``wayback_prefixes``.
    """
    prefixes = click.option(
        "--wayback-prefix",
        "wayback_prefixes",
        multiple=True,
        metavar="PREFIX",
        help="With --unwrap-wayback: only pages below this prefix, such as web.archive.org/web. May be given again.",
    )
    flag = click.option(
        "--unwrap-wayback",
        is_flag=True,
        help="Treat captures of a Wayback Machine's pages as captures of the original pages.",
    )
    return flag(prefixes(command))


def wayback_of(unwrap_wayback: bool, prefixes: Sequence[str]) -> tuple[str, ...] | None:
    """Return the value of `ExtractSettings.wayback` for the options.

    Raises:
        UsageError: A prefix is not the beginning of a URI with a host.
    """
    for prefix in prefixes:
        if not re.fullmatch(r"(?:https?://)?[^/?#\s]+(?:/[^?#\s]*)?", prefix.strip()):
            raise UsageError(
                f"--wayback-prefix {prefix!r}: not the beginning of a URI such as web.archive.org/web"
            )
    return tuple(prefixes) if unwrap_wayback or prefixes else None


def rules_from_options(
    rules_file: str | None,
    prefixes: tuple[str, ...],
    first: str | None,
    last: str | None,
    *,
    read_redirects: bool,
) -> Rules:
    """Return the rules of a file, or the default rules, with the changes of the options.

    Raises:
        UsageError: The file cannot be read, or a value is invalid.
    """
    rules = Rules()
    if rules_file is not None:
        try:
            rules = Rules.from_json(Path(rules_file).read_bytes())
        except OSError as error:
            raise UsageError(f"--rules {rules_file}: cannot be read: {error.strerror}") from error
    if prefixes:
        rules = replace(rules, prefixes=prefixes)
    try:
        if first:
            rules = replace(rules, first=first_of(first))
        if last:
            rules = replace(rules, last=last_of(last))
    except TimestampError as error:
        raise UsageError(f"--from or --to: {error}") from error
    return rules if read_redirects else replace(rules, read_redirects=False)
