"""RDF/XML: the paper's Listing 1 (profile ``listing``) or a description per link (``links``).

::

    rdf:Description rdf:about=queried URI
      twg:hasOutlinks  parseType="Collection": one rdf:Description per member
        twg:type       href for anchors, image for images, else the kind
        twg:text
        twg:timestamp  rdf:Bag of 14 digits
      twg:hasInlinks   likewise

The names of elements are those of the paper. Unlike in the paper, the URIs of subjects and members
are absolute, so that answers of two archives can be merged. `statements` describes the rest of both
profiles.

A SAX writer writes the document member by member, so an unlimited answer needs constant memory.

Source: the paper, section 3.4 and Listing 1; RDF 1.1 XML Syntax.
"""

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from arclink.access.answers import LinkAnswer, Member
from arclink.access.formats import Profile
from arclink.access.formats.statements import (
    RDF,
    TWG,
    TYPES,
    Blank,
    Iri,
    Literal,
    describe,
    iri,
    listed,
    what_is_known,
)
from arclink.access.reader import by_page
from arclink.access.texts import printable, printable_uri
from arclink.extras import imported_lazily

with imported_lazily("urllib.request"):  # only SAX readers request URLs
    from xml.sax.saxutils import XMLGenerator


def write_rdf_xml(answer: LinkAnswer, profile: Profile = Profile.LISTING) -> Iterator[bytes]:
    """Yield the document, in pieces of one member each."""
    document = _Document()
    with document.element("rdf:RDF", {"xmlns:rdf": RDF, "xmlns:twg": TWG}):
        yield from (
            _listing(document, answer) if profile is Profile.LISTING else _links(document, answer)
        )
    yield document.taken()


def _listing(document: "_Document", answer: LinkAnswer) -> Iterator[bytes]:
    if answer.query.is_range:
        yield from _listing_of_pages(document, answer)
        return
    with document.described(answer.query.uri):
        for name, text in what_is_known(answer):
            document.literal(f"twg:{name}", text)
        if answer.query.direction.is_out:
            yield from _collection(
                document, "twg:hasOutlinks", listed(answer.outlinks, answer.is_grouped_out)
            )
        if answer.query.direction.is_in:
            yield from _collection(
                document, "twg:hasInlinks", listed(answer.inlinks, answer.is_grouped_in)
            )


def _listing_of_pages(document: "_Document", answer: LinkAnswer) -> Iterator[bytes]:
    with document.described(answer.query.uri):
        document.literal("twg:surt", printable_uri(answer.query.surt))
    for name, members in (("twg:hasOutlinks", answer.outlinks), ("twg:hasInlinks", answer.inlinks)):
        for page, surt, of_page in by_page(members):
            with document.described(page):
                document.literal("twg:surt", printable_uri(surt))
                yield from _collection(document, name, of_page)


def _collection(document: "_Document", name: str, members: Iterable[Member]) -> Iterator[bytes]:
    with document.element(name, {"rdf:parseType": "Collection"}):
        for member in members:
            _write_member(document, member)
            yield document.taken()


def _write_member(document: "_Document", member: Member) -> None:
    with document.described(member.uri):
        document.literal("twg:type", TYPES.get(member.kind, member.kind))
        document.literal("twg:text", member.text)
        document.literal("twg:surt", printable_uri(member.surt))
        for archive in () if member.archives is None else member.archives.names:
            document.literal("twg:archive", archive)
        with document.element("twg:timestamp"), document.element("rdf:Bag"):
            for timestamp in member.timestamps:
                document.literal("rdf:li", timestamp)


def _links(document: "_Document", answer: LinkAnswer) -> Iterator[bytes]:
    for subject, properties in describe(answer, Profile.LINKS):
        assert isinstance(subject, Iri)  # this profile has no blank nodes
        with document.element("rdf:Description", {"rdf:about": subject.value}):
            for predicate, value in properties:
                document.property(predicate, value)
        yield document.taken()


class _Document:
    """An XML document whose text is taken out piece by piece while it is written."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._xml = XMLGenerator(self._buffer, encoding="utf-8", short_empty_elements=True)
        self._xml.startDocument()

    @contextmanager
    def element(self, name: str, attributes: Mapping[str, str] | None = None) -> Iterator[None]:
        """Write the start and end of an element around the content that the block writes."""
        self._xml.startElement(name, attributes or {})  # type: ignore[arg-type]  # a mapping is enough, but the stub requires its own class
        yield
        self._xml.endElement(name)
        if name in _OWN_LINE:
            self._xml.ignorableWhitespace("\n")

    @contextmanager
    def described(self, uri: str) -> Iterator[None]:
        """Write the description of a URI around the block; add the URI if it is not an IRI."""
        about = iri(uri)
        with self.element("rdf:Description", {"rdf:about": about}):
            if about != uri:
                self.literal("twg:original", printable_uri(uri))
            yield

    def literal(self, name: str, text: str) -> None:
        """Write a property with a text value."""
        with self.element(name):
            self._xml.characters(printable(text))

    def property(self, predicate: Iri, value: Iri | Blank | Literal) -> None:
        """Write a property whose value is a named node or a text."""
        name = predicate.value.replace(RDF, "rdf:").replace(TWG, "twg:")
        if isinstance(value, Literal):
            self.literal(name, value.text)
        elif isinstance(value, Iri):
            with self.element(name, {"rdf:resource": value.value}):
                pass

    def taken(self) -> bytes:
        """Return the bytes that were written since the last call."""
        written = self._buffer.getvalue()
        self._buffer.seek(0)
        self._buffer.truncate()
        return written


_OWN_LINE = frozenset({"rdf:Description", "twg:hasOutlinks", "twg:hasInlinks"})
