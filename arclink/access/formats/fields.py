"""The fields of a member, with equal names in all formats with columns, cleaned for writing.

A `TypedDict` declares the fields of an object of JSON, next to the function that makes it. Its
types are read for the JSON Schema (`arclink.service.schemas`): `Timestamp` is a time, ``int`` a
number from 0 on. With `Annotated`, a text is the sentence about a field, an enum or a tuple has the
only values (or the only names of fields), a mapping has keywords of JSON Schema; a class with
fields, or a `CaptureForm`, says which fields an object has.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from arclink.access.answers import Member
from arclink.access.members import Evidence, Validity, sightings_of
from arclink.access.queries import Direction
from arclink.access.reader import MementoSummary
from arclink.access.replay import NO_REPLAY, ReplayPrefix, uri_m
from arclink.access.texts import printable, printable_uri
from arclink.known import ReadCapturesFields
from arclink.model import Kind, Surt, Timestamp, UriM, UriR

DIRECTIONS = ("outlinks", "inlinks")
"""The names of the lists of links."""

Timestamps = Annotated[list[Timestamp], {"minItems": 1}]
KindsCounted = Annotated[Sequence[str], "The kinds of links that count."]
InlinksKnown = Annotated[
    bool | None,
    "Whether inlinks are known; false: no capture from then was read, so they are unknown, not "
    "none; null: not known, or the query is not for inlinks.",
]
InlinksReadFrom = Annotated[
    ReadCapturesFields | None,
    "Without inlinks: the captures of any page from then; null with inlinks, or if the captures "
    "are not counted by time.",
]


class AskedFields(TypedDict):
    """The URI in a query."""

    uri: Annotated[str, "The URI in the query."]
    surt: str


class AddressFields(TypedDict, total=False):
    """The address of a memento, if mementos have one."""

    uri_m: Annotated[str, "Its address in a replay system."]


class MementoFields(AddressFields):
    """A memento."""

    uri: Annotated[str, "The captured URI."]
    timestamp: Timestamp


class RecordFields(TypedDict):
    """Where a record is."""

    file: str
    offset: Annotated[int, "Where the record begins in the file, in bytes."]


class KnownFields(TypedDict):
    """Mementos of the URI in the query: 'not captured' is not 'no links'."""

    count: Annotated[int, "All mementos of the URI."]
    first: Timestamp | None
    last: Timestamp | None
    asked: Annotated[int, "Those in the time of the query."]
    links_known: Annotated[int, "Those of these with known links."]
    links_known_at_most: NotRequired[Annotated[int, "The same, if it was not counted exactly."]]


class EvidenceFields(MementoFields, RecordFields):
    """A memento that shows the link, and where it is in the archive."""

    status: str
    record_type: str
    checksum: str
    length: Annotated[int, {"minimum": -1}, "Bytes of the record as stored; -1: not known."]
    read_from: Annotated[RecordFields, "The record with the payload."]


class _Member(TypedDict):
    """A link.

    Merged answers have ``uris`` and ``archives``. With a replay prefix there is ``uri_ms``. If the
    query requests them, there are ``evidence`` and ``validity``; their value is None if they exceed
    the budget.
    """

    uri: Annotated[str, "The page at the other end."]
    surt: str
    kind: Annotated[str, "Element and attribute of the link."]
    text: str
    rel: str | None
    timestamps: Annotated[Timestamps, "The mementos that show it."]
    uris: NotRequired[list[str]]
    archives: NotRequired[dict[str, Timestamps]]
    uri_ms: NotRequired[list[str]]
    evidence: NotRequired[list[EvidenceFields] | None]
    validity: NotRequired[Annotated[dict[str, Any], Validity] | None]


class OutlinkFields(_Member):
    """A link of the page; in ``sources``, the variants of its URI that have it."""

    sources: list[str]


class InlinkFields(_Member):
    """A link to the page; in ``targets``, the variants of its URI that it leads to."""

    targets: list[str]


class MemberFields(_Member, total=False):
    """The JSON fields of a member: those of an outlink or an inlink."""

    direction: str
    sources: list[str]
    targets: list[str]


def address_fields(replay: ReplayPrefix, timestamp: Timestamp, original: UriR) -> AddressFields:
    """Return the address of a memento, cleaned for writing."""
    address = uri_m(replay, timestamp, original)
    return {} if address is None else {"uri_m": printable_uri(address)}


def known_fields(mementos: MementoSummary) -> KnownFields:
    """Return the counts of the captures of the queried URI."""
    known: KnownFields = {
        "count": mementos.count,
        "first": mementos.first,
        "last": mementos.last,
        "asked": mementos.asked,
        "links_known": mementos.links_known,
    }
    if mementos.perhaps_known:
        known["links_known_at_most"] = mementos.links_known + mementos.perhaps_known
    return known


def member_fields(
    member: Member,
    direction: Direction,
    replay: ReplayPrefix = NO_REPLAY,
    *,
    with_evidence: bool = False,
    with_validity: bool = False,
) -> MemberFields:
    """Return the fields of one member; ``direction`` is OUT or IN, and is not among the fields."""
    uri, kind, text, rel, timestamps, variants = member[:6]
    surt = member.surt
    # True for nearly all members, so one check covers all texts.
    if not "".join((uri, surt, kind, text, rel or "", *variants)).isprintable():
        uri, surt, kind, text = (
            printable_uri(uri),
            Surt(printable_uri(surt)),
            Kind(printable(kind)),
            printable(text),
        )
        rel = None if rel is None else printable(rel)
        variants = tuple(map(printable_uri, variants))
    fields: MemberFields = {
        "uri": uri,
        "surt": surt,
        "kind": kind,
        "text": text,
        "rel": rel,
        "timestamps": list(timestamps),
    }
    if direction is Direction.OUT:
        fields["sources"] = list(variants)
    else:
        fields["targets"] = list(variants)
    if member.archives is not None:
        fields["uris"] = [printable_uri(uri) for uri in member.archives.uris]
        fields["archives"] = {
            printable(name): list(timestamps) for name, timestamps in member.archives.timestamps
        }
    if replay:
        fields["uri_ms"] = [uri_m for _, uri_m in uri_ms_of(member, direction, replay)]
    if with_evidence:
        fields["evidence"] = (
            None
            if member.evidence is None
            else [_evidence_fields(one, replay) for one in member.evidence]
        )
    if with_validity:
        fields["validity"] = None if member.validity is None else member.validity._asdict()
    return fields


def uri_ms_of(
    member: Member, direction: Direction, replay: ReplayPrefix
) -> Iterator[tuple[Timestamp, UriM]]:
    """Yield timestamp and URI-M of each memento that shows ``member``, oldest first.

    URI-Ms are cleaned for writing. Without a replay prefix, nothing is yielded.
    """
    for original, timestamp in sightings_of(member, direction):
        found = uri_m(replay, timestamp, original)
        if found is not None:
            yield timestamp, UriM(printable_uri(found))


def _evidence_fields(found: Evidence, replay: ReplayPrefix) -> EvidenceFields:
    """Return the fields of one memento that shows a link, cleaned for writing."""
    memento = found.memento
    return {
        "uri": printable_uri(memento.original),
        "timestamp": memento.timestamp,
        "status": printable(memento.status),
        "record_type": printable(memento.record_type),
        "checksum": printable(memento.checksum),
        "file": printable(memento.file),
        "offset": memento.offset,
        "length": memento.length,
        "read_from": {"file": printable(found.file), "offset": found.offset},
        **address_fields(replay, memento.timestamp, memento.original),
    }
