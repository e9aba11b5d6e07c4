"""XHTML for a parser of HTML: `as_html`.

Browsers read a page that is served as XML by the rules of XML: any element may be closed in its
start tag (``<script src="a.js"/>``), names may have a prefix (``<h:a>``), and a CDATA section ends
at ``]]>`` only. An HTML parser ignores all of this and loses links. So a page that is well-formed
XML is written again as HTML with the same elements. If it is not well-formed, browsers show an
error; its links are then found as in HTML, after missing end tags were added.
"""

import re
from collections import Counter
from html import escape
from typing import Final
from xml.parsers import expat

from arclink.extract.entities import LEFT_OUT, included
from arclink.reasons import Reason

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

_NAMESPACES: Final = frozenset(
    {
        "",  # a mistake: browsers find no links in such a page, but it was written with them
        "http://www.w3.org/1999/xhtml",
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1998/Math/MathML",
    }
)
_PREFIXES: Final = {"": "", "http://www.w3.org/1999/xlink": "xlink:"}
_TEXT: Final = frozenset({"plaintext", "xmp"})
_OTHER: Final = "x-other"
"""The element of HTML for one of another namespace, or of `_TEXT`, which holds text in HTML."""


_TITLES: Final = frozenset({"title", "http://www.w3.org/1999/xhtml title"})
"""The element of HTML that has only text in HTML; its own text is the title (HTML, 3.1.5)."""


def as_html(page: bytes | str, counts: Counter[Reason] | None = None) -> str:
    """Return a page that is served as XML as HTML with the same elements.

    Args:
        page: Decoded; bytes are UTF-8.
        counts: Gets the number of references to entities that were left out, and with them the
            attributes that contain one.

    >>> as_html('<h:p xmlns:h="http://www.w3.org/1999/xhtml"><h:a href="x&amp;y"/><h:br/></h:p>')
    '<p><a href="x&amp;y"></a><br></p>'
    >>> as_html('<p><a name="x"/><br>')
    '<p><a name="x"></a><br>'
    """
    text = page.decode("utf-8", "replace") if isinstance(page, bytes) else page
    try:
        sound, left_out = included(text.lstrip("\ufeff \t\r\n").encode())
        html = _Writer().written(sound)
    except (expat.ExpatError, UnicodeEncodeError):
        return _with_end_tags(text)
    if counts is not None and left_out:
        counts[Reason.NOTE_ENTITY_LEFT_OUT] += left_out
    return html


class _Writer:
    """Writes what a parser of XML reads as HTML."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._below_title = 0  # 1 in a title, more in an element in it, which is left out
        parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        self._parser = parser

    def written(self, document: bytes) -> str:
        """Return a document as HTML.

        Raises:
            ExpatError: It is not well-formed.
        """
        self._parser.Parse(document, True)
        return "".join(self._parts)

    def _text(self, text: str) -> None:
        if self._below_title < 2:
            self._parts.append(escape(text.replace(LEFT_OUT, ""), quote=False))

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._below_title or tag in _TITLES:
            self._below_title += 1
            if self._below_title > 1:
                return
        values = []
        for written, value in attributes.items():
            namespace, _, name = written.rpartition(" ")
            if namespace in _PREFIXES and LEFT_OUT not in value:
                values.append(f' {_PREFIXES[namespace]}{name}="{escape(value)}"')
        self._parts.append(f"<{_name(tag)}{''.join(values)}>")

    def _end(self, tag: str) -> None:
        if self._below_title:
            self._below_title -= 1
            if self._below_title:
                return
        name = _name(tag)
        if name not in _VOID:
            self._parts.append(f"</{name}>")


def _name(tag: str) -> str:
    """Return the name in HTML of an element."""
    namespace, _, name = tag.rpartition(" ")
    return name if namespace in _NAMESPACES and name not in _TEXT else _OTHER


def _with_end_tags(page: str) -> str:
    """Return a page with end tags for the elements that are closed in their start tag."""
    return _TAG.sub(_ended, page)


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
