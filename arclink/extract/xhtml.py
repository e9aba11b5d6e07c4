"""XHTML for a parser of HTML: `as_html`.

Browsers read a page that is served as XML by the rules of XML: any element may be closed in its
start tag (``<script src="a.js"/>``), names may have a prefix (``<h:a>``), and a CDATA section ends
at ``]]>`` only. An HTML parser ignores all of this and loses links. So a page that is well-formed
XML is written again as HTML with the same elements. If it is not well-formed, browsers show an
error; its links are then found as in HTML, after missing end tags were added.
"""

import math
import re
from collections import Counter
from contextlib import suppress
from html import escape
from html.entities import html5
from typing import Final
from xml.parsers import expat

from arclink.reasons import Reason

# References to entities in XML: `included`.
#
# A parser of XML includes the entities that a document declares itself (XML 1.0, 4.4), with the
# markup in them. Two kinds of them are left out, and counted: external ones, which are never
# fetched, and those that would make the document larger than a limit, because entities of entities
# may expand to any size. The names that HTML has for characters are known in every document, as in
# browsers.

LEFT_OUT: Final = "\ufdd0"
"""Takes the place of a reference that was left out: a noncharacter, which XML allows.

An address that contains it is not known.
"""

_MOST_EXPANDED: Final = 4 << 20
"""Maximum bytes that the references to entities of a document may add, at all levels.

Below 8 MiB, where the limit of the parser itself begins.
"""

_DEEPEST: Final = 20
"""Maximum levels of entities in entities; parsers may use a stack frame for each."""

# Everything that a parser could read as a reference to an entity, and bare ampersands.
_AMPERSAND: Final = re.compile(
    rb"&(?!#[0-9]{1,7};|#x[0-9a-fA-F]{1,6};|amp;|lt;|gt;|quot;|apos;)(?:([^\s&;#<>'\"]++);)?"
)


# Default values of attributes: each element would repeat them, and no feed needs them.
_ATTRIBUTES: Final = re.compile(rb"<!ATTLIST(?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>")


class _EndOfPrologError(Exception):
    """The first element begins."""


class _Entities:
    """The general entities that a document declares, and the cost of including each.

    Attributes:
        end: Position of the first element; the document's length if an error comes before it.
    """

    def __init__(self, document: bytes) -> None:
        self._values: dict[bytes, bytes | None] = {}  # None: external
        self._costs: dict[bytes, float] = {}
        self.end = len(document)
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.EntityDeclHandler = self._declare
        parser.StartElementHandler = self._end
        with suppress(expat.ExpatError, _EndOfPrologError):
            parser.Parse(document, True)

    def _declare(self, name: str, is_parameter: bool, value: str | None, *_: str | None) -> None:
        if not is_parameter:
            self._values.setdefault(name.encode(), None if value is None else value.encode())

    def _end(self, *_: object) -> None:
        self.end = self._parser.CurrentByteIndex
        raise _EndOfPrologError

    def __contains__(self, name: bytes) -> bool:
        return name in self._values

    def cost_of(self, name: bytes, depth: int = 0) -> float:
        """Return the bytes that a reference adds at all levels; infinite if it cannot be included.

        It is infinite for an external or recursive entity, for one that contains such an entity or
        an undeclared one, and for one of more than `_DEEPEST` levels.
        """
        if name not in self._costs:
            value = self._values.get(name)
            self._costs[name] = math.inf  # for an entity that contains itself
            if value is not None and depth < _DEEPEST:
                self._costs[name] = len(value) + sum(
                    self.cost_of(inner[1], depth + 1) for inner in _AMPERSAND.finditer(value)
                )
        return self._costs[name]


def included(document: bytes, *, repairs: bool = False) -> tuple[bytes, int]:
    """Return a document whose references to entities can all be included by a parser.

    References that cannot be included become `LEFT_OUT`. HTML's names of characters become
    characters; an unknown name becomes text. A document without a document type declaration is
    returned unchanged, unless it is repaired.

    Args:
        document: UTF-8.
        repairs: Whether bare ampersands become text, too.

    Returns:
        The document, and the number of references that were left out.

    >>> included(b"<!DOCTYPE r [<!ENTITY a SYSTEM 'x'><!ENTITY b 'B'>]><r>&a; &b; &eacute;</r>")[1]
    1
    >>> included(b"<r>&x; & &eacute;</r>", repairs=True)
    (b'<r>&amp;x; &amp; &#233;</r>', 0)
    """
    has_type = b"<!DOCTYPE" in document
    if not has_type and not repairs:
        return document, 0
    entities = _Entities(document if has_type else b"")
    room = _MOST_EXPANDED
    left_out = 0
    done = entities.end if has_type else 0
    # `re.sub` would keep the pieces between millions of references in memory.
    copy = bytearray(_ATTRIBUTES.sub(b"", document[:done]))
    for reference in _AMPERSAND.finditer(document, done):
        name = reference[1]
        if name is None:
            if not repairs:
                continue
            replacement = b"&amp;"
        elif name in entities:
            cost = entities.cost_of(name)
            if cost <= room:
                room -= int(cost)
                continue
            left_out += 1
            replacement = LEFT_OUT.encode()
        else:
            characters = html5.get(name.decode("utf-8", "replace") + ";")
            replacement = (
                b"".join(b"&#%d;" % ord(character) for character in characters)
                if characters
                else b"&amp;%b;" % name
            )
        copy += document[done : reference.start()]
        copy += replacement
        done = reference.end()
    copy += document[done:]
    return bytes(copy), left_out


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
_PREFIXES: Final = {
    "": "",
    "http://www.w3.org/1999/xlink": "xlink:",
    "http://www.w3.org/XML/1998/namespace": "xml:",
}
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
