"""Filters of links, in the syntax of CDX servers: ``[!][=~]field:value``.

Without a sign, the field must contain the value. With ``=`` it must equal the value; with ``~`` a
regular expression must match from the start of the field. ``!`` negates the filter. Regular
expressions have RE2 syntax. RE2 takes linear time for every expression, so a client's expression
cannot keep a worker busy.

Source: pywb, *CDXJ Server API* (``filter``); RE2, *Syntax*.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from arclink.access.texts import printable
from arclink.model import Kind, UriR
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of

_OF_END: Final = ("uri", "surt", "host")
"""Fields of the other end of a link."""
_OF_LINK: Final = ("kind", "text", "rel")
"""Fields of the link itself."""

LONGEST: Final = 1_000
MOST: Final = 20

PATTERN: Final = rf"!?[=~]?({'|'.join((*_OF_END, *_OF_LINK))}):[^\x00-\x1f]{{0,{LONGEST}}}"
ALLOWED: Final = (
    f"[!][=~]field:value, with a field of {', '.join((*_OF_END, *_OF_LINK))} and a value of at "
    f"most {LONGEST:,} characters"
)

_WRITTEN = re.compile(r"(!?)([=~]?)([a-z]+):(.*)", re.DOTALL)
_MEMORY: Final = 1 << 20
"""Memory limit for one expression and its compiled form, in bytes."""


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter. Two filters with the same text are equal.

    Attributes:
        text: The filter as the caller wrote it.
        name: The name of the field.
        passes: Returns whether a value of the field passes.
    """

    text: str
    name: str
    passes: Callable[[str], bool] = field(compare=False)

    def passes_link(self, kind: Kind, text: str, rel: str | None) -> bool:
        """Return whether a link passes; True if the filter is about the other end of the link."""
        match self.name:
            case "kind":
                return self.passes(kind)
            case "text":
                return self.passes(text)
            case "rel":
                return self.passes(rel or "")
            case _:
                return True

    def passes_end(self, uri: UriR) -> bool:
        """Return whether a link to or from ``uri`` passes; True for filters of the link itself."""
        match self.name:
            case "uri":
                return self.passes(uri)
            case "surt":
                return self.passes(surt_of(uri))
            case "host":
                return self.passes(host_of(surt_of(uri)))
            case _:
                return True


def parse_filter(text: str) -> Filter:
    """Return the filter in ``text``, which has the form of `PATTERN`.

    Raises:
        ValueError: Its value is not a regular expression.

    >>> parse_filter("!=text:News").passes("News")
    False
    """
    written = _WRITTEN.fullmatch(text)
    if written is None:
        raise ValueError
    is_not, how, name, value = written.groups()
    passes = {"": lambda found: value in found, "=": lambda found: found == value}.get(
        how
    ) or _expression(value)
    return Filter(text, name, (lambda found: not passes(found)) if is_not else passes)


def _expression(pattern: str) -> Callable[[str], bool]:
    import re2  # needed only for regular expressions

    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        why = error.args[0]
        why = why.decode(errors="replace") if isinstance(why, bytes) else error
        raise ValueError(f"not a regular expression of RE2: {why}") from error
    return lambda found: compiled.match(printable(found)) is not None
