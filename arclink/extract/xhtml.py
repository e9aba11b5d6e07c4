"""XHTML for a parser of HTML: `with_end_tags`.

A page served as XML may close any element in its start tag: ``<script src="a.js"/>``. An HTML
parser ignores the slash: to it, the script ends at the next ``</script>``, and the links between
are lost. Browsers read such pages as XML. Here, the missing end tags are added, and the page is
then read like any other.
"""

import re
from typing import Final

XML_MIMES: Final = frozenset(
    {"application/xhtml+xml", "application/vnd.wap.xhtml+xml", "application/xml", "text/xml"}
)
"""Mime types of pages that browsers read as XML."""

_VOID: Final = frozenset(
    (  # noqa: SIM905  prose
        "area base basefont bgsound br col embed frame hr img input keygen link meta param "
        "source track wbr"
    ).split()
)
"""Elements that have no end tag in HTML (HTML Standard, 13.1.2; the older ones by 13.2.6.4.7)."""

# Comments and CDATA sections are skipped. One without an end extends to the end of the page, so
# matching takes linear time.
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
    """Return a tag with its missing end tag; a slash after an unquoted value is part of it."""
    name, rest = tag["name"], tag["rest"]
    if (
        name is None
        or not rest.endswith("/")
        or name.lower() in _VOID
        or (len(rest) > 1 and rest[-2] not in " \t\r\n\"'")
    ):
        return tag[0]
    return f"<{name}{rest[:-1]}></{name}>"
