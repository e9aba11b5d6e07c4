"""References to entities in XML: `included`.

A parser of XML includes the entities that a document declares itself (XML 1.0, 4.4), with the
markup in them. Two kinds of them are left out, and counted: external ones, which are never fetched,
and those that would make the document larger than a limit, because entities of entities may expand
to any size. The names that HTML has for characters are known in every document, as in browsers.
"""

import math
import re
from contextlib import suppress
from html.entities import html5
from typing import Final
from xml.parsers import expat

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
