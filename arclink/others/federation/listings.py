"""Parser of RDF/XML in the form of the paper's Listing 1, or with a node for each link.

It reads answers of this service, in both profiles, and of services that were written from the paper
alone. The answer is read as a document, not as a graph. The listing puts type, text and times on
the linked resource, so in a graph with two links to one URI it is lost which text belongs to which
time. Elements in other places are ignored.

Against malicious documents, a DOCTYPE is refused, so no entity is ever expanded; depth, text length
and number of members are limited.

Source: the paper, Listing 1; RDF 1.1 XML Syntax.
"""

import re
from dataclasses import replace
from xml.parsers import expat

from arclink.access.queries import LONGEST_URI, Direction, absolute_uri
from arclink.access.reader import MementoSummary
from arclink.access.texts import printable_uri
from arclink.errors import InstanceError
from arclink.known import KnownLinks
from arclink.model import Surt, Timestamp, UriR
from arclink.network.addresses import joined
from arclink.others.federation.instance_answers import ReceivedAnswer, ReceivedLink
from arclink.uris.surts import is_absolute, surt_of

MOST_LINKS = 200_000
"""Largest number of members in one document; a document with more gives a partial answer."""
DEEPEST = 64
"""Largest number of nested elements; a listing needs eight."""

_RDF, _TWG = (
    "http://www.w3.org/1999/02/22-rdf-syntax-ns# ",
    "http://www.mementoweb.org/TemporalWebGraph/ ",
)
_DIRECTIONS = {_TWG + "hasOutlinks": Direction.OUT, _TWG + "hasInlinks": Direction.IN}
_ENDS = {_TWG + "source": "source", _TWG + "target": "target"}
_ITEM = re.compile(re.escape(_RDF) + r"(li|_[0-9]+)")
_KINDS = {"href": "a@href", "image": "img@src"}
_NO_PAGE = "_:"
"""The page URI for links whose description has no name: it matches no page."""
_WHITE_SPACE = re.compile("[ \t\r\n]+")
_SURT = re.compile(
    r"(?:(?P<scheme>https?)://\()?(?P<host>[^()/?#]+?),?(?P<port>:[0-9]+)?,?\)(?P<rest>.*)",
    re.DOTALL,
)


def parse_listing(body: bytes, asked: UriR) -> ReceivedAnswer:
    """Return the answer in ``body``, with relative names made absolute.

    Raises:
        InstanceError: The body is not XML, has a DOCTYPE, nests too deeply, or describes no URI.
    """
    reader = _Reader(asked)
    try:
        reader.parser.Parse(body, True)
    except expat.ExpatError as error:
        raise InstanceError(f"its answer is not XML: {error}") from error
    # An encoding that Python does not have, or a multi-byte encoding.
    except (
        LookupError,
        ValueError,
    ) as error:
        raise InstanceError(
            f"its answer is XML in a charset that cannot be read: {error}"
        ) from error
    return reader.answer()


class _Reader:
    """The results of parsing so far, and the position of the parser in the document."""

    def __init__(self, asked: UriR) -> None:
        self.asked = asked
        self.subjects: list[dict[str, str]] = []
        self.links: list[tuple[int, ReceivedLink]] = []
        self.malformed = 0
        self._times: list[str] = []
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

    def answer(self) -> ReceivedAnswer:
        """Return the answer in the document.

        Raises:
            InstanceError: The document describes no URI.
        """
        surt = surt_of(self.asked)
        if any(link.variants and _is_of(surt, link) for _, link in self.links):
            self.subjects.append({"about": self.asked})  # links alone need not describe it
        named = [number for number, known in enumerate(self.subjects) if known["about"]]
        if not named:
            raise InstanceError(
                "its answer is XML, but not a listing of links: it has no rdf:Description "
                "with rdf:about"
            )
        uris = [self._uri_of(known) for known in self.subjects]
        main = next((n for n in named if surt_of(printable_uri(uris[n])) == surt), named[0])
        said = self.subjects[main]
        mementos = self._mementos(said)
        return ReceivedAnswer(
            uris[main],
            mementos,
            None,
            (),
            [
                link
                if number == main or link.variants
                else replace(link, subject=uris[number] or _NO_PAGE)
                for number, link in self.links
            ],
            self.malformed,
            bad_mementos=mementos is None and "mementoCount" in said,
            inlinks_known=KnownLinks.told(
                {"true": True, "false": False}.get(said.get("inlinksKnown", "")),
                _number_of(said.get("inlinksCaptures", "")),
                _number_of(said.get("inlinksReadFrom", "")),
            ),
        )

    def _uri_of(self, known: dict[str, str]) -> UriR:
        name = known.get("original") or known["about"]
        return absolute_name(name, self.asked) if name else UriR("")

    def _mementos(self, said: dict[str, str]) -> MementoSummary | None:
        count = _number_of(said.get("mementoCount", ""))
        if count is None:
            return None
        if count == 0:
            return MementoSummary()
        first, last = said.get("firstMemento"), said.get("lastMemento")
        return (
            None
            if first is None or last is None
            else MementoSummary(count, Timestamp(first), Timestamp(last))
        )

    def _doctype(self, name: str, system: str | None, public: str | None, has_subset: bool) -> None:
        raise InstanceError(
            "its answer has a DOCTYPE, which could define entities; that is refused"
        )

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
            if len(self._path) < 3 or not self.subjects:
                self.subjects.append({"about": ""})  # links of a page without a name
        elif parent in ("", _RDF + "RDF"):
            self.subjects.append({"about": about})
            self._times = []
        elif name in _ENDS and self._member is None and self.subjects:
            self.subjects[-1][_ENDS[name]] = attributes.get(_RDF + "resource", "")
        elif parent in _ENDS and about and self._member is None and self.subjects:
            self.subjects[-1][_ENDS[parent]] = about

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
            if name == _TWG + "timestamp" and text:
                self._times.append(text)
            if name == _TWG + "rel" and self.subjects and "rel" in self.subjects[-1]:
                self.subjects[-1]["rel"] += f" {text}"
            if parent in ("", _RDF + "RDF") and self.subjects and "target" in self.subjects[-1]:
                self._finish_node(self.subjects.pop())
            elif name.startswith(_TWG) and len(self._path) <= 2 and self.subjects:
                self.subjects[-1].setdefault(name.removeprefix(_TWG), text)
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
        link = ReceivedLink(
            direction,
            uri,
            _KINDS.get(kind, kind),
            member.get("text", ""),
            None,
            tuple(self._timestamps),
        )
        self.links.append((len(self.subjects) - 1, link))

    def _finish_node(self, node: dict[str, str]) -> None:
        """Add the link that is a node of its own; its page is the end that was asked about."""
        source, target = (absolute_name(node.get(end, ""), self.asked) for end in _ENDS.values())
        if (
            not (node.get("source") and node["target"])
            or max(map(len, (source, target))) > LONGEST_URI
        ):
            self.malformed += 1
            return
        if len(self.links) >= MOST_LINKS:
            raise InstanceError(f"its answer has more than {MOST_LINKS:,} links in one document")
        surt = surt_of(self.asked)
        kind, text, rel = node.get("kind", "a@href"), node.get("text", ""), node.get("rel")
        is_in = surt_of(printable_uri(target)) == surt
        if is_in:
            link = ReceivedLink(Direction.IN, source, kind, text, rel, (*self._times,), (target,))
            self.links.append((0, link))
        if not is_in or surt_of(printable_uri(source)) == surt:
            link = ReceivedLink(Direction.OUT, target, kind, text, rel, (*self._times,), (source,))
            self.links.append((0, link))


def _is_of(surt: Surt, link: ReceivedLink) -> bool:
    return any(surt_of(printable_uri(uri)) == surt for uri in link.variants)


def _number_of(text: str) -> int | None:
    """Return a number of at most 15 digits; None for another text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None


def absolute_name(name: str, asked: UriR) -> UriR:
    """Return a name in an answer as an absolute URI.

    The paper's listing has relative, SURT-like names (``paralympic-games)/news`` in an answer about
    ``vancouver2010.com``). They are read by the first rule that fits:

    =============================================== =======================================
    ``http://…``, ``mailto:…``                       absolute: unchanged
    ``com,example)/x``, ``http://(com,example,)/x``  the SURT of ``http://example.com/x``
    ``example.com)/x``, ``example.com/x``            a host, with http
    ``games)/news``, ``games/news``, ``/news``       below the root of the queried site
    =============================================== =======================================

    Args:
        name: The name in the answer; white space around it is ignored.
        asked: The absolute URI that the answer is about.

    >>> absolute_name("paralympic-games)/news", UriR("http://vancouver2010.com/"))
    'http://vancouver2010.com/paralympic-games/news'
    >>> absolute_name("com,example,www:8080)/x?y", UriR("http://vancouver2010.com/"))
    'http://www.example.com:8080/x?y'
    """
    name = name.strip()
    surt = _SURT.fullmatch(name)
    if surt is not None and ":" not in surt["host"]:
        return _of_surt(surt, asked)
    if is_absolute(name):
        return UriR(name)
    if "." in re.split("[/?#]", name)[0]:
        return absolute_uri(name)
    return UriR(_below_root(name, asked))


def _of_surt(surt: re.Match[str], asked: UriR) -> UriR:
    labels = [label for label in surt["host"].split(",") if label]
    rest = surt["rest"] if surt["rest"].startswith("/") else "/" + surt["rest"]
    if len(labels) > 1 or "." in surt["host"]:
        return UriR(
            f"{surt['scheme'] or 'http'}://{'.'.join(reversed(labels))}{surt['port'] or ''}{rest}"
        )
    return UriR(_below_root("".join(labels) + rest, asked))


def _below_root(path: str, asked: UriR) -> str:
    path = "/" + path.lstrip("/")
    return joined(asked, path) or asked.rstrip("/") + path
