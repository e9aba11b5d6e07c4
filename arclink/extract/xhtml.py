"""XHTML for a parser of HTML: `with_end_tags`.

A page that is served as XML may close any element in its start tag: ``<script src="a.js"/>``. To a parser of HTML the slash
means nothing, and the script goes on to the next ``</script>``, with all links in between. Browsers read such pages as XML; here
they get the end tags that are missing, and are read like all others.
"""

import re
from typing import Final

XML_MIMES: Final = frozenset(
    {"application/xhtml+xml", "application/vnd.wap.xhtml+xml", "application/xml", "text/xml"}
)
"""Mime types of pages that browsers read as XML."""

_VOID: Final = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split()  # noqa: SIM905  prose
)
"""Elements that have no end tag in HTML (HTML Standard, 13.1.2; the older ones by 13.2.6.4.7)."""

# Comments and CDATA sections are passed over. In linear time: what has no end goes on to that of the page.
_TAG: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)"
    r"|<(?P<name>[A-Za-z][A-Za-z0-9.:_-]*+)(?P<rest>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>",
    re.DOTALL,
)


def with_end_tags(page: bytes | str) -> str:
    """Return an XHTML page with end tags for the elements that are closed in their start tag.

    Args:
        page: Decoded; bytes are UTF-8.

    >>> with_end_tags('<p><a name="x"/><br/>')
    '<p><a name="x"></a><br/>'
    """
    return _TAG.sub(_ended, page.decode("utf-8", "replace") if isinstance(page, bytes) else page)


def _ended(tag: re.Match[str]) -> str:
    """Return a tag with the end tag that it lacks; a slash behind a value without quotes belongs to the value."""
    name, rest = tag["name"], tag["rest"]
    if (
        name is None
        or not rest.endswith("/")
        or name.lower() in _VOID
        or (len(rest) > 1 and rest[-2] not in " \t\r\n\"'")
    ):
        return tag[0]
    return f"<{name}{rest[:-1]}></{name}>"
