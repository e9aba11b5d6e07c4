"""RDF/XML in the shape of the paper's Listing 1 (profile ``listing``).

::

    rdf:Description rdf:about=URI asked for
      twg:hasOutlinks  parseType="Collection": one rdf:Description per member
        twg:type       href for anchors, image for images, else the kind
        twg:text
        twg:timestamp  rdf:Bag of 14 digits
      twg:hasInlinks   likewise

The paper's names are kept; its relative names are not: subjects and members are absolute, so that the answers of two
archives can be merged. Beside it: ``twg:surt``; ``twg:original`` where a URI had to be changed to be an IRI; and on the
subject ``twg:mementoCount``, ``twg:firstMemento``, ``twg:lastMemento``, since "not captured" differs from "no links".

Written by a SAX writer, member by member, so an unlimited answer needs no memory. A grouped answer is grouped further:
two members that differ in ``rel`` alone are one here, since the listing has no word for it.

Source: the paper, section 3.4 and Listing 1; RDF 1.1 XML Syntax.
"""

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final
from xml.sax.saxutils import XMLGenerator

from arclink.access.answers import LinkAnswer, Member
from arclink.access.formats.iris import iri
from arclink.access.texts import printable, printable_uri
from arclink.model import Kind

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TWG: Final = "http://www.mementoweb.org/TemporalWebGraph/"

TYPES: Mapping[Kind, str] = {Kind("a@href"): "href", Kind("img@src"): "image"}
"""The paper's words for the kinds it has; every other kind is its own word."""


def write_rdf_xml(answer: LinkAnswer) -> Iterator[bytes]:
    """Yield the document, in pieces of one member each."""
    document = _Document()
    with document.element("rdf:RDF", {"xmlns:rdf": RDF, "xmlns:twg": TWG}), document.described(answer.query.uri):
        document.literal("twg:surt", printable_uri(answer.query.surt))
        document.literal("twg:mementoCount", str(answer.mementos.count))
        if answer.mementos.first is not None and answer.mementos.last is not None:
            document.literal("twg:firstMemento", answer.mementos.first)
            document.literal("twg:lastMemento", answer.mementos.last)
        if answer.query.direction.is_out:
            yield from _collection(document, "twg:hasOutlinks", answer.outlinks, answer.is_grouped_out)
        if answer.query.direction.is_in:
            yield from _collection(document, "twg:hasInlinks", answer.inlinks, answer.is_grouped_in)
    yield document.taken()


def _collection(document: "_Document", name: str, members: Iterable[Member], is_grouped: bool) -> Iterator[bytes]:
    with document.element(name, {"rdf:parseType": "Collection"}):
        for member in _merged(members) if is_grouped else members:
            _write_member(document, member)
            yield document.taken()


def _merged(members: Iterable[Member]) -> Iterable[Member]:
    """Return one member per (URI, type, text), where its first one stood, with the timestamps of all."""
    merged: dict[tuple[str, str, str], Member] = {}
    for member in members:
        key = (member.uri, TYPES.get(member.kind, member.kind), member.text)
        other = merged.get(key)
        times = member.timestamps if other is None else tuple(sorted({*other.timestamps, *member.timestamps}))
        merged[key] = (other or member)._replace(timestamps=times)
    return merged.values()


def _write_member(document: "_Document", member: Member) -> None:
    with document.described(member.uri):
        document.literal("twg:type", TYPES.get(member.kind, member.kind))
        document.literal("twg:text", member.text)
        document.literal("twg:surt", printable_uri(member.surt))
        with document.element("twg:timestamp"), document.element("rdf:Bag"):
            for timestamp in member.timestamps:
                document.literal("rdf:li", timestamp)


class _Document:
    """XML that is taken away as it grows."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._xml = XMLGenerator(self._buffer, encoding="utf-8", short_empty_elements=True)
        self._xml.startDocument()

    @contextmanager
    def element(self, name: str, attributes: Mapping[str, str] | None = None) -> Iterator[None]:
        """Write an element around what is written inside the block."""
        self._xml.startElement(name, attributes or {})  # type: ignore[arg-type]  # a mapping will do, the stub wants its own
        yield
        self._xml.endElement(name)
        if name in _OWN_LINE:
            self._xml.ignorableWhitespace("\n")

    @contextmanager
    def described(self, uri: str) -> Iterator[None]:
        """Write the description of a URI around the block, with the URI itself where RDF cannot hold it."""
        about = iri(uri)
        with self.element("rdf:Description", {"rdf:about": about}):
            if about != uri:
                self.literal("twg:original", printable_uri(uri))
            yield

    def literal(self, name: str, text: str) -> None:
        """Write a property with a text."""
        with self.element(name):
            self._xml.characters(printable(text))

    def taken(self) -> bytes:
        """Return what was written since the last call."""
        written = self._buffer.getvalue()
        self._buffer.seek(0)
        self._buffer.truncate()
        return written


_OWN_LINE = frozenset({"rdf:Description", "twg:hasOutlinks", "twg:hasInlinks"})
