"""An answer as RDF statements, in two profiles.

*listing* has the form of the paper's Listing 1: type, text and time are properties of the linked
resource, which is in a collection::

    queried URI    twg:hasOutlinks  ( member … )        twg:hasInlinks likewise
    member         twg:type, twg:text, twg:surt, twg:timestamp [ a rdf:Bag ; rdf:_1 "14 digits" … ]

So after merging two listings, a reader cannot know which text belonged to which time. *links*
avoids that: each link is a named node, no node is blank, and the union of two answers is their
merge::

    link           a twg:Link ; twg:source URI ; twg:target URI ; twg:kind ; twg:text ; twg:rel ;
                   twg:timestamp …

The name of a link is derived from (source SURT, target SURT, kind, text), the key by which the
answers of archives are merged: it is the RFC 6920 name of the SHA-256 of these four, one per line.
Further nodes:

- In a merged answer, the link has a ``twg:sighting`` per archive: a named node with ``twg:archive``
  and the ``twg:timestamp`` values of that archive.
- With a replay prefix, the link has a ``twg:memento`` per memento that shows it: its URI-M, with
  ``twg:timestamp``.
- If the query requests evidence, ``twg:evidence`` leads to a named node per record that shows the
  link, with file, offset and checksum.
- If the query requests validity, ``twg:validity`` leads to a named node with the four times.

In an answer about many pages, each page is a subject with its ``twg:surt``. A listing has one
collection per run of consecutive members of a page.

Both profiles have ``twg:surt``, ``twg:mementoCount``, ``twg:firstMemento`` and ``twg:lastMemento``
on the subject, and ``twg:original`` on every URI that had to be changed to be an IRI. The
source of a link is serialised like targets (`arclink.uris.resolution.serialised`), so that sources
and targets join; the URI as captured is then a ``twg:original``, too.

Source: the paper, section 3.4 and Listing 1; RDF 1.1 Concepts; RFC 6920 (ni).
"""

import base64
import hashlib
import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import orjson

from arclink.access.answers import LinkAnswer, Member
from arclink.access.archives import Outcome
from arclink.access.formats import Profile
from arclink.access.queries import Direction, absolute_uri
from arclink.access.reader import by_page, sightings_of
from arclink.access.replay import NO_REPLAY, ReplayPrefix, uri_m
from arclink.access.texts import percent_encoded, printable, printable_uri
from arclink.model import Kind, Surt, Timestamp, UriR
from arclink.uris.resolution import serialised

# URIs in a form that RDF allows (IRIs).
#
# Real URIs break RDF: browsers keep ``|``, ``{``, ``}``, ``^`` and backticks, and captured URIs
# contain spaces, single ``%`` signs and brackets. Characters that an IRI may not contain are
# percent-encoded as UTF-8, separately in each part of the URI. All others are kept, so an ordinary
# URI stays unchanged.

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PORT = re.compile(r"(.*?)(:[0-9]*)?", re.DOTALL)

# RFC 3987, section 2.2: iunreserved and sub-delims. Private use characters are legal in queries
# only and are encoded everywhere; so are the marks for writing direction, which section 4.1
# forbids.
_UCSCHAR = (
    "\xa0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u206a-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
    + "".join(f"{chr(plane << 16)}-{chr((plane << 16) + 0xFFFD)}" for plane in range(1, 14))
    + "\U000e1000-\U000efffd"
)
_KEPT = "A-Za-z0-9._~!$&'()*+,;="
_STRAY = "%(?![0-9A-Fa-f]{2})"

# What each part of a URI may contain besides _KEPT.
_HOST, _USERINFO, _PATH, _QUERY = "", ":", ":@/", ":@/?"


@lru_cache(maxsize=1 << 14)  # a link contains both its ends several times
def iri(uri: str) -> str:
    """Return ``uri`` as an absolute IRI; without a scheme, http is assumed.

    Characters that RDF does not allow are percent-encoded.

    Source: RFC 3987, section 2.2; RDF 1.1 Concepts, section 3.2.

    >>> iri("http://example.org/a|b?q={x}&r=é")
    'http://example.org/a%7Cb?q=%7Bx%7D&r=é'
    >>> iri("http://example.org/100%")
    'http://example.org/100%25'
    """
    text = uri if _SCHEME.match(uri) else absolute_uri(uri)
    scheme, _, rest = text.partition(":")
    rest, hash_sign, fragment = rest.partition("#")
    rest, question_mark, query = rest.partition("?")
    authority = ""
    if rest.startswith("//"):
        written, slash, path = rest[2:].partition("/")
        authority, rest = f"//{_authority(written)}", slash + path
    return "".join(
        (
            f"{scheme}:{authority}{_encoded(rest, _PATH)}",
            question_mark + _encoded(query, _QUERY),
            hash_sign + _encoded(fragment, _QUERY),
        )
    )


def _authority(authority: str) -> str:
    userinfo, at, host_and_port = authority.rpartition("@")
    host, port = _host_and_port(host_and_port)
    if not _is_ip_literal(host):
        host = _encoded(host, _HOST)
    return f"{_encoded(userinfo, _USERINFO)}{at}{host}{port}"


def _host_and_port(text: str) -> tuple[str, str]:
    """Return the host, and the port with its colon; a colon without a port belongs to the host."""
    parts = _PORT.fullmatch(text)
    return (text, "") if parts is None else (parts[1], parts[2] or "")


def _is_ip_literal(host: str) -> bool:
    if not (host.startswith("[") and host.endswith("]")):
        return False
    try:
        address = ipaddress.IPv6Address(host[1:-1])
    except ValueError:
        return False
    return address.scope_id is None


def _encoded(part: str, also: str) -> str:
    return _unfit(also, part.isascii()).sub(lambda match: percent_encoded(match[0]), part)


@cache
def _unfit(also: str, only_ascii: bool) -> re.Pattern[str]:
    """Return the pattern of what is encoded in a part of a URI.

    Compiling takes 3 ms with all characters outside ASCII, so it waits until a URI has one.
    """
    kept = _KEPT if only_ascii else _KEPT + _UCSCHAR
    return re.compile(f"{_STRAY}|[^%{also}{kept}-]")


# RDF as text: N-Triples, N-Quads, Turtle and JSON-LD, written in constant memory.
#
# N-Quads has the same lines as N-Triples, because all statements are in the default graph. Turtle
# has the same statements with prefixes, one block per description. JSON-LD is in expanded form,
# without a context: the prefixes of a context would turn the target ``rdf:x`` of a link into
# another URI.
#
# Source: RDF 1.1 N-Triples, N-Quads, Turtle; JSON-LD 1.1, section 9 (expanded form).


RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TWG: Final = "http://www.mementoweb.org/TemporalWebGraph/"

TYPES: Mapping[Kind, str] = {Kind("a@href"): "href", Kind("img@src"): "image"}
"""The paper's names for two kinds; every other kind is written unchanged."""


@dataclass(frozen=True, slots=True)
class Iri:
    """A named node; ``value`` is an absolute IRI."""

    value: str


@dataclass(frozen=True, slots=True)
class Blank:
    """A node without a name; ``label`` is unique within one document."""

    label: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A plain literal without characters that `printable` would replace."""

    text: str


Node = Iri | Blank
Description = tuple[Node, Sequence[tuple[Iri, Node | Literal]]]
"""A subject with its predicates and objects; the next description may have the same subject."""

_TYPE = Iri(RDF + "type")
_BAG = Iri(RDF + "Bag")
_FIRST, _REST, _NIL = Iri(RDF + "first"), Iri(RDF + "rest"), Iri(RDF + "nil")


def describe(answer: LinkAnswer, profile: Profile) -> Iterator[Description]:
    """Yield the statements of ``answer``, subject by subject, member by member.

    A streamed answer is not held in memory.
    """
    if answer.query.is_range:
        return _listing_of_pages(answer) if profile is Profile.LISTING else _links_of_pages(answer)
    return _listing(answer) if profile is Profile.LISTING else _links(answer)


def describe_outlink(member: Member, source: Surt) -> Iterator[Description]:
    """Yield the statements of one link in the profile ``links``, with the SURT of its page."""
    yield from (_page(page, source) for page in member.variants)
    yield from _link(member, source, Direction.OUT, NO_REPLAY)


def what_is_known(answer: LinkAnswer) -> Iterator[tuple[str, str]]:
    """Yield the facts about the queried URI: local names of ``twg`` with their literals."""
    yield "surt", printable_uri(answer.query.surt)
    if answer.query.is_range:
        return
    yield "mementoCount", str(answer.mementos.count)
    if answer.mementos.first is not None and answer.mementos.last is not None:
        yield "firstMemento", answer.mementos.first
        yield "lastMemento", answer.mementos.last
    if answer.query.direction.is_in and answer.inlinks == () and answer.next is None:
        known = answer.known_inlinks()
        if known.is_known is not None:
            yield "inlinksKnown", "true" if known.is_known else "false"
        if known.captures is not None and known.read is not None:
            yield "inlinksReadFrom", str(known.read)
            yield "inlinksCaptures", str(known.captures)
    for hop in answer.followed:
        yield "redirectedFrom", printable_uri(hop.original)
    for archive in answer.archives:
        if archive.has_answered:
            yield "askedArchive", printable(archive.name)
        if archive.outcome is not Outcome.ANSWERED:
            yield "missing", printable(f"{archive.name}: {archive.detail}")


def listed(members: Iterable[Member], is_grouped: bool) -> Iterable[Member]:
    """Return the members of a listing; of a grouped answer, one per (URI, type, text).

    A listing has no property for ``rel``, so members that differ only in it are merged. A merged
    member is at the position of the first one, with the timestamps of all.
    """
    if not is_grouped:
        return members
    merged: dict[tuple[str, str, str], Member] = {}
    for member in members:
        key = (member.uri, TYPES.get(member.kind, member.kind), member.text)
        other = merged.get(key)
        times = (
            member.timestamps
            if other is None
            else tuple(sorted({*other.timestamps, *member.timestamps}))
        )
        one = other or member
        merged[key] = Member(
            one.uri, one.kind, one.text, one.rel, times, one.variants, one.archives
        )
    return merged.values()


def link_name(source: Surt, target: Surt, kind: Kind, text: str) -> str:
    """Return the IRI that names a link; it does not depend on the archive or the time.

    >>> link_name(Surt("org,a)/"), Surt("org,b)/"), Kind("a@href"), "News")
    'ni:///sha-256;AehXXdEoJW5Jx_l8Q5G_XRMx3d8b4kSDmJ4yD-bG2q8'
    """
    return _ni(printable_uri(source), printable_uri(target), printable(kind), printable(text))


def _listing(answer: LinkAnswer) -> Iterator[Description]:
    subject = Iri(iri(answer.query.uri))
    yield _known_subject(answer)
    if answer.query.direction.is_out:
        yield from _collection(
            subject, "hasOutlinks", "out", listed(answer.outlinks, answer.is_grouped_out)
        )
    if answer.query.direction.is_in:
        yield from _collection(
            subject, "hasInlinks", "in", listed(answer.inlinks, answer.is_grouped_in)
        )


def _listing_of_pages(answer: LinkAnswer) -> Iterator[Description]:
    yield _known_subject(answer)
    for predicate, label, members in (
        ("hasOutlinks", "out", answer.outlinks),
        ("hasInlinks", "in", answer.inlinks),
    ):
        for number, (page, surt, of_page) in enumerate(by_page(members)):
            yield _page(page, surt)
            yield from _collection(Iri(iri(page)), predicate, f"{label}{number}m", of_page)


def _collection(
    subject: Iri, predicate: str, label: str, members: Iterable[Member]
) -> Iterator[Description]:
    """Yield an RDF collection cell by cell, with its end after the last member."""
    node, leads_on = subject, _twg_iri(predicate)
    before: Node = node
    for number, member in enumerate(members):
        cell, bag = Blank(f"{label}{number}"), Blank(f"{label}{number}times")
        linked = Iri(iri(member.uri))
        yield before, ((leads_on, cell),)
        yield cell, ((_FIRST, linked),)
        yield (
            linked,
            (*_original(member.uri), *_properties_of_member(member), (_twg_iri("timestamp"), bag)),
        )
        yield (
            bag,
            (
                (_TYPE, _BAG),
                *(
                    (Iri(f"{RDF}_{at}"), Literal(when))
                    for at, when in enumerate(member.timestamps, 1)
                ),
            ),
        )
        before, leads_on = cell, _REST
    yield before, ((leads_on, _NIL),)


def _properties_of_member(member: Member) -> Iterator[tuple[Iri, Literal]]:
    """Yield the properties of a linked resource in a listing, without its times."""
    yield _twg("type", TYPES.get(member.kind, member.kind))
    yield _twg("text", member.text)
    yield _twg("surt", printable_uri(member.surt))
    if member.archives is not None:
        yield from (_twg("archive", name) for name in member.archives.names)


def _links(answer: LinkAnswer) -> Iterator[Description]:
    yield _known_subject(answer)
    asked = answer.query.surt
    for direction, members in ((Direction.OUT, answer.outlinks), (Direction.IN, answer.inlinks)):
        for member in members:
            yield from _link(member, asked, direction, answer.replay)


def _links_of_pages(answer: LinkAnswer) -> Iterator[Description]:
    yield _known_subject(answer)
    for direction, members in ((Direction.OUT, answer.outlinks), (Direction.IN, answer.inlinks)):
        for page, surt, of_page in by_page(members):
            yield _page(page, surt)
            for member in of_page:
                yield from _link(member, surt, direction, answer.replay)


def _page(uri: UriR, surt: Surt) -> Description:
    node = iri(serialised(uri))
    return Iri(node), (_twg("surt", printable_uri(surt)), *_original(uri, node))


def _link(
    member: Member, asked: Surt, direction: Direction, replay: ReplayPrefix
) -> Iterator[Description]:
    """Yield the description of a link and of its details.

    The details are its records, validity, mementos, sightings in archives, URIs at the other end,
    and original forms of URIs that are not IRIs.
    """
    here, there = (
        member.variants,
        (member.uri,) if member.archives is None else member.archives.uris,
    )
    is_out = direction is Direction.OUT
    source, target = (asked, member.surt) if is_out else (member.surt, asked)
    name = link_name(source, target, member.kind, member.text)
    sources, targets = (here, there) if is_out else (there, here)
    nodes = {uri: iri(uri) for uri in targets}
    nodes |= {uri: iri(serialised(uri)) for uri in sources}  # like targets, so that they join
    properties: list[tuple[Iri, Node | Literal]] = [(_TYPE, _twg_iri("Link"))]
    properties += [
        (_twg_iri("source"), Iri(node)) for node in dict.fromkeys(nodes[uri] for uri in sources)
    ]
    properties += [(_twg_iri("target"), Iri(nodes[uri])) for uri in targets]
    properties += [_twg("kind", member.kind), _twg("text", member.text)]
    if member.rel is not None:
        properties.append(_twg("rel", member.rel))
    properties += _times(member.timestamps)
    sightings = (
        ()
        if member.archives is None
        else tuple((_ni(name, archive), archive) for archive in member.archives.names)
    )
    properties += [(_twg_iri("sighting"), Iri(sighting)) for sighting, _ in sightings]
    mementos = [
        (address, timestamp)
        for original, timestamp in (sightings_of(member, direction) if replay else ())
        if (address := uri_m(replay, timestamp, original)) is not None
    ]
    properties += [(_twg_iri("memento"), Iri(iri(address))) for address, _ in mementos]
    details = (*_evidence(member, replay), *_validity(name, member))
    properties += [(_twg_iri(how), node) for how, node, _ in details]
    yield Iri(name), properties
    yield from ((node, properties_of_node) for _, node, properties_of_node in details)
    for address, timestamp in mementos:
        yield Iri(iri(address)), (_twg("timestamp", timestamp), *_original(address))
    for uri in there:
        node = nodes[uri]
        yield Iri(node), (_twg("surt", printable_uri(member.surt)), *_original(uri, node))
    yield from (
        (Iri(nodes[uri]), original)
        for uri in here
        if (original := tuple(_original(uri, nodes[uri])))
    )
    if member.archives is not None:
        for (sighting, archive), (_, timestamps) in zip(
            sightings, member.archives.timestamps, strict=True
        ):
            yield Iri(sighting), (_twg("archive", archive), *_times(timestamps))


Detail = tuple[str, Iri, Sequence[tuple[Iri, Node | Literal]]]
"""The property from a link to a node, the node, and the properties of the node."""


def _evidence(member: Member, replay: ReplayPrefix) -> Iterator[Detail]:
    """Yield the records of the mementos that show the link; a node is named after its record."""
    for one in member.evidence or ():
        memento = one.memento
        properties = {
            "original": printable_uri(memento.original),
            "timestamp": memento.timestamp,
            "status": memento.status,
            "recordType": memento.record_type,
            "checksum": memento.checksum,
            "file": memento.file,
            "offset": str(memento.offset),
            "length": str(memento.length),
            "readFromFile": one.file,
            "readFromOffset": str(one.offset),
        }
        address = uri_m(replay, memento.timestamp, memento.original)
        of_memento = [] if address is None else [(_twg_iri("memento"), Iri(iri(address)))]
        node = _ni(
            "record",
            memento.original,
            memento.timestamp,
            memento.checksum,
            memento.file,
            str(memento.offset),
        )
        yield (
            "evidence",
            Iri(node),
            [*(_twg(name, text) for name, text in properties.items()), *of_memento],
        )


def _validity(name: str, member: Member) -> Iterator[Detail]:
    """Yield the four times of the link's validity, as one node.

    Links that differ only in URI or ``rel`` have the same name, but validities of their own.
    """
    if member.validity is not None:
        ends = zip(
            ("lastWithout", "firstWith", "lastWith", "firstWithout"), member.validity, strict=True
        )
        properties = [_twg(end, time) for end, time in ends if time is not None]
        node = _ni(name, "validity", member.uri, member.rel or "", *member.variants)
        yield "validity", Iri(node), [*properties, _twg("of", printable_uri(member.uri))]


def _known_subject(answer: LinkAnswer) -> Description:
    uri = answer.query.uri
    return Iri(iri(uri)), (
        *_original(uri),
        *(_twg(name, text) for name, text in what_is_known(answer)),
    )


def _original(uri: str, node: str = "") -> Iterator[tuple[Iri, Literal]]:
    """Yield the URI as captured or written if its node has another one.

    The two differ if RDF does not allow the URI, or if the URI was serialised.
    """
    if (node or iri(uri)) != uri:
        yield _twg("original", printable_uri(uri))


def _times(timestamps: Iterable[Timestamp]) -> Iterator[tuple[Iri, Literal]]:
    return (_twg("timestamp", timestamp) for timestamp in timestamps)


@cache  # the vocabulary is small, and each link has several of its terms
def _twg_iri(name: str) -> Iri:
    return Iri(TWG + name)


def _twg(name: str, text: str) -> tuple[Iri, Literal]:
    return _twg_iri(name), Literal(printable(text))


def _ni(*lines: str) -> str:
    digest = hashlib.sha256("\n".join(lines).encode(errors="replace")).digest()
    return f"ni:///sha-256;{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


_ESCAPED = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"})
# An IRI may contain spaces such as U+00A0, but rdflib ends it at any that is not escaped. It has no
# ASCII space: `arclink.access.formats.statements.iri` encodes these.
_BLANK = re.compile(r"\s")
_LOCAL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def write_ntriples(answer: LinkAnswer, profile: Profile) -> Iterator[bytes]:
    """Yield the lines of one description after the other; UTF-8."""
    return ntriples_lines(describe(answer, profile))


def ntriples_lines(descriptions: Iterable[Description]) -> Iterator[bytes]:
    """Yield the lines of each description; UTF-8."""
    for subject, properties in descriptions:
        start = _term(subject)
        lines = [
            f"{start} {_term(predicate)} {_term(value)} .\n" for predicate, value in properties
        ]
        yield "".join(lines).encode()


def write_turtle(answer: LinkAnswer, profile: Profile) -> Iterator[bytes]:
    """Yield the prefixes, then one block per description; UTF-8."""
    yield f"@prefix rdf: <{RDF}> .\n@prefix twg: <{TWG}> .\n".encode()
    for subject, properties in describe(answer, profile):
        lines = " ;\n    ".join(
            f"{_short(predicate)} {_short(value)}" for predicate, value in properties
        )
        yield f"\n{_term(subject)} {lines} .\n".encode()


def write_jsonld(answer: LinkAnswer, profile: Profile) -> Iterator[bytes]:
    """Yield one array of node objects, one per line; a subject may be in several of them."""
    start = b"["
    for subject, properties in describe(answer, profile):
        node: dict[str, object] = {"@id": _id(subject)}
        for predicate, value in properties:
            values = node.setdefault(predicate.value, [])
            assert isinstance(values, list)
            values.append(_json_value(value))
        yield start + b"\n" + orjson.dumps(node)
        start = b","
    yield b"\n]\n"


def _term(term: Node | Literal) -> str:
    match term:
        case Iri(value):
            return f"<{value if value.isascii() else _BLANK.sub(_escape, value)}>"
        case Blank(label):
            return f"_:{label}"
        case Literal(text):
            return f'"{text.translate(_ESCAPED)}"'


def _escape(blank: re.Match[str]) -> str:
    return f"\\u{ord(blank[0]):04X}"


def _short(term: Node | Literal) -> str:
    """Return a term in Turtle syntax, with the prefix ``rdf`` or ``twg`` if possible."""
    if isinstance(term, Iri):
        if term.value == RDF + "type":
            return "a"
        for prefix, namespace in (("rdf", RDF), ("twg", TWG)):
            if term.value.startswith(namespace) and _LOCAL_NAME.fullmatch(
                term.value.removeprefix(namespace)
            ):
                return f"{prefix}:{term.value.removeprefix(namespace)}"
    return _term(term)


def _id(node: Node) -> str:
    return node.value if isinstance(node, Iri) else f"_:{node.label}"


def _json_value(value: Node | Literal) -> Mapping[str, str]:
    return {"@value": value.text} if isinstance(value, Literal) else {"@id": _id(value)}
