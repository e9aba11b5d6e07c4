"""Read RDF/XML in the shape of the paper's Listing 1, from this service or from one written after the paper alone.

It is read as a document, not as a graph: the listing puts type, text and times on the linked resource, so a graph in
which one URI is linked to twice no longer says which text belonged to which time. What stands elsewhere is passed over.

Hostile documents: a DOCTYPE is refused, so no entity is ever expanded; depth, texts and members are limited.

Source: the paper, Listing 1; RDF 1.1 XML Syntax.
"""

import re
from xml.parsers import expat

from arclink.access.queries import LONGEST_URI, Direction
from arclink.access.reading import MementoSummary
from arclink.aggregate.names import absolute_name
from arclink.aggregate.told import ToldAnswer, ToldLink
from arclink.errors import InstanceError
from arclink.model import Timestamp, UriR

MOST_LINKS = 200_000
"""Members of one document; more make the answer partial."""
DEEPEST = 64
"""Elements in each other; the listing needs eight."""

_RDF, _TWG = "http://www.w3.org/1999/02/22-rdf-syntax-ns# ", "http://www.mementoweb.org/TemporalWebGraph/ "
_DIRECTIONS = {_TWG + "hasOutlinks": Direction.OUT, _TWG + "hasInlinks": Direction.IN}
_ITEM = re.compile(re.escape(_RDF) + r"(li|_[0-9]+)")
_KINDS = {"href": "a@href", "image": "img@src"}
_WHITE_SPACE = re.compile("[ \t\r\n]+")


def parse_listing(body: bytes, asked: UriR) -> ToldAnswer:
    """Return the answer in ``body``; relative names in it are made absolute.

    Raises:
        InstanceError: It is no XML, has a DOCTYPE, nests too deep, or says nothing of any URI.
    """
    reader = _Reader(asked)
    try:
        reader.parser.Parse(body, True)
    except expat.ExpatError as error:
        raise InstanceError(f"its answer is no XML: {error}") from error
    except (LookupError, ValueError) as error:  # an encoding that Python does not have, or of several bytes
        raise InstanceError(f"its answer is XML in a charset that cannot be read: {error}") from error
    return reader.answer()


class _Reader:
    """What was read so far, and where in the document the parser is."""

    def __init__(self, asked: UriR) -> None:
        self.asked = asked
        self.subject: str | None = None
        self.known: dict[str, str] = {}
        self.links: list[ToldLink] = []
        self.malformed = 0
        self._path: list[str] = []
        self._about: list[str] = []
        self._text: list[str] = []
        self._length = 0
        self._member: dict[str, str] | None = None
        self._timestamps: list[str] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def answer(self) -> ToldAnswer:
        """Return what the document says.

        Raises:
            InstanceError: Nothing, of any URI.
        """
        if self.subject is None:
            raise InstanceError("its answer is XML, but no listing of links: no rdf:Description with rdf:about")
        return ToldAnswer(self._subject_uri(), self._mementos(), None, (), self.links, self.malformed)

    def _subject_uri(self) -> UriR:
        return absolute_name(self.known.get("original") or self.subject or "", self.asked)

    def _mementos(self) -> MementoSummary | None:
        count = self.known.get("mementoCount", "")
        if not count.isascii() or not count.isdigit() or len(count) > 15:
            return None
        if int(count) == 0:
            return MementoSummary()
        first, last = self.known.get("firstMemento"), self.known.get("lastMemento")
        return None if first is None or last is None else MementoSummary(int(count), Timestamp(first), Timestamp(last))

    def _doctype(self, name: str, system: str | None, public: str | None, has_subset: bool) -> None:
        raise InstanceError("its answer has a DOCTYPE, which could define entities; that is refused")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._path[-1] if self._path else ""
        self._path.append(name)
        if len(self._path) > DEEPEST:
            raise InstanceError(f"its answer nests deeper than {DEEPEST} elements")
        self._text, self._length = [], 0
        about = attributes.get(_RDF + "about", "")
        self._about.append(about)
        if parent in _DIRECTIONS and self._member is None:
            self._member, self._timestamps = {"about": about}, []
            self.subject = self.subject or self._about[-3]
        elif parent in ("", _RDF + "RDF") and about and self.subject is None:
            self.subject = about

    def _characters(self, text: str) -> None:
        self._length += len(text)
        if self._length <= LONGEST_URI:
            self._text.append(text)

    def _end(self, name: str) -> None:
        self._path.pop()
        self._about.pop()
        text = _WHITE_SPACE.sub(" ", "".join(self._text)).strip(" ")
        self._text, self._length = [], 0
        parent = self._path[-1] if self._path else ""
        if self._member is None:
            if name.startswith(_TWG) and len(self._path) <= 2:
                self.known.setdefault(name.removeprefix(_TWG), text)
        elif parent in _DIRECTIONS:
            self._finish(self._member, _DIRECTIONS[parent])
            self._member = None
        elif _ITEM.fullmatch(name) or (name == _TWG + "timestamp" and text):
            self._timestamps.append(text)
        elif name.startswith(_TWG):
            self._member.setdefault(name.removeprefix(_TWG), text)

    def _finish(self, member: dict[str, str], direction: Direction) -> None:
        name = member.get("original") or member["about"]
        if not name or len(name) > LONGEST_URI:
            self.malformed += 1
            return
        if len(self.links) >= MOST_LINKS:
            raise InstanceError(f"its answer has more than {MOST_LINKS:,} links in one document")
        kind = member.get("type", "href")
        uri = absolute_name(name, self.asked)
        self.links.append(ToldLink(direction, uri, _KINDS.get(kind, kind), member.get("text", ""), None, tuple(self._timestamps)))
