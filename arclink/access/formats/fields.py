"""The fields of an answer, with equal names in all formats that have columns, and its JSON.

JSON is one document (RFC 8259), or a line per member, as ``docs/reference/service.md`` says.

A `TypedDict` declares the fields of an object of JSON, next to the function that makes it. Its
types are read for the JSON Schema (`arclink.service.schemas`): `Timestamp` is a time, ``int`` a
number from 0 on. With `Annotated`, a text is the sentence about a field, an enum or a tuple has the
only values (or the only names of fields), a mapping has keywords of JSON Schema; a class with
fields, or a `CaptureForm`, says which fields an object has.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any, NotRequired, TypedDict

import orjson

from arclink.access.answers import Hop, InForce, LinkAnswer, Member
from arclink.access.archives import ArchiveReport, Outcome, Refused
from arclink.access.provenance import ProvenanceFields
from arclink.access.queries import Direction, MatchType
from arclink.access.reader import Evidence, MementoSummary, Validity, sightings_of
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


def write_json_lines(answer: LinkAnswer, only: frozenset[str] = frozenset()) -> Iterator[bytes]:
    """Yield one line per member; without members, yield nothing.

    If ``only`` is not empty, the lines have only its fields.
    """
    query = answer.query
    fields_of = partial(
        member_fields,
        replay=answer.replay,
        with_evidence=query.with_evidence,
        with_validity=query.with_validity,
    )
    for direction, members in ((Direction.OUT, answer.outlinks), (Direction.IN, answer.inlinks)):
        for member in members:
            fields = MemberFields(direction=direction.value, **fields_of(member, direction))
            if only:
                yield orjson.dumps(
                    {name: value for name, value in fields.items() if name in only},
                    option=orjson.OPT_APPEND_NEWLINE,
                )
                continue
            yield orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


_ORDERS = ("grouped", "store")
_RANGES = tuple(one.value for one in MatchType if one is not MatchType.EXACT)


class _InForceThere(MementoFields):
    """A memento of the URI that is in force."""

    status: str
    links_known: Annotated[bool, "Whether its links are known."]


class _Hop(MementoFields):
    """A redirect that was followed."""

    target: str


class _Order(TypedDict):
    outlinks: Annotated[str, _ORDERS]
    inlinks: Annotated[str, _ORDERS]


class ReportFields(TypedDict):
    """The result of the request to one archive."""

    name: str
    outcome: Annotated[str, Outcome]
    detail: Annotated[str, "Why it failed, or what is missing; empty if it succeeded."]
    passed_over: Annotated[int, "Number of its links or rows that were refused."]
    refused: Annotated[
        dict[Annotated[str, Refused], Annotated[int, {"minimum": 1}]], "Refused parts, by reason."
    ]
    seconds: Annotated[float, {"minimum": 0}]
    cached: Annotated[bool, "Whether no request was made, or nothing had changed."]


class ArchiveFields(ReportFields):
    """The result of the request to one archive for links."""

    links: int


class LinksFields(AskedFields):
    """The links of a URI, or with match_type of several, without mementos."""

    uri_id: Annotated[str, {"pattern": "^[0-9a-f]{32}$"}, "SimHash of the SURT."]
    direction: Annotated[str, Direction]
    match_type: NotRequired[Annotated[str, _RANGES]]
    mementos: NotRequired[KnownFields]
    at: NotRequired[Timestamp]
    in_force: NotRequired[list[_InForceThere]]
    followed: NotRequired[list[_Hop]]
    outlinks: list[OutlinkFields]
    inlinks: list[InlinkFields]
    inlinks_known: InlinksKnown
    inlinks_read_from: InlinksReadFrom
    order: Annotated[_Order, "Whether links are grouped, or in the order of the store."]
    archives: NotRequired[list[ArchiveFields]]
    next: Annotated[str | None, "The cursor of the next part."]
    provenance: NotRequired[ProvenanceFields]


def write_json(answer: LinkAnswer) -> Iterator[bytes]:
    """Yield the answer as one document that ends with a line end."""
    query = answer.query
    document: dict[str, object] = {
        "uri": printable_uri(query.uri),
        "surt": printable_uri(query.surt),
        "uri_id": answer.uri_id,
        "direction": query.direction.value,
    }
    if query.is_range:
        document["match_type"] = query.match_type.value
    else:
        document["mementos"] = known_fields(answer.mementos)
    if query.at is not None:
        document["at"] = query.at
    if query.at is not None and not query.is_range:
        document["in_force"] = [_in_force(memento, answer.replay) for memento in answer.in_force]
    if answer.followed:
        document["followed"] = [_hop(hop, answer.replay) for hop in answer.followed]
    fields = partial(
        member_fields,
        replay=answer.replay,
        with_evidence=query.with_evidence,
        with_validity=query.with_validity,
    )
    document["outlinks"] = [fields(member, Direction.OUT) for member in answer.outlinks]
    document["inlinks"] = inlinks = [fields(member, Direction.IN) for member in answer.inlinks]
    known = None if inlinks or not query.direction.is_in else answer.known_inlinks()
    document["inlinks_known"] = known.is_known if known else query.direction.is_in or None
    document["inlinks_read_from"] = known and known.as_fields
    document["order"] = {
        "outlinks": "grouped" if answer.is_grouped_out else "store",
        "inlinks": "grouped" if answer.is_grouped_in else "store",
    }
    if answer.archives:
        document["archives"] = [archive_fields(report) for report in answer.archives]
    document["next"] = answer.next
    document.update(answer.said_from)
    yield orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


def _hop(hop: Hop, replay: ReplayPrefix) -> _Hop:
    return {
        "uri": printable_uri(hop.original),
        "timestamp": hop.timestamp,
        "target": printable_uri(hop.target),
        **address_fields(replay, hop.timestamp, hop.original),
    }


def archive_fields(report: ArchiveReport) -> dict[str, object]:
    """Return the result of the query to one archive as members of JSON."""
    return {
        "name": printable(report.name),
        "outcome": report.outcome.value,
        "detail": printable(report.detail),
        f"{report.noun}s": report.members,
        "passed_over": report.passed_over,
        "refused": {
            reason.value: number for reason in Refused if (number := report.refused.get(reason, 0))
        },
        "seconds": round(report.seconds, 3),
        "cached": report.is_cached,
    }


def _in_force(found: InForce, replay: ReplayPrefix) -> _InForceThere:
    memento = found.memento
    return {
        **address_fields(replay, memento.timestamp, memento.original),
        "uri": printable_uri(memento.original),
        "timestamp": memento.timestamp,
        "status": memento.status,
        "links_known": found.is_known,
    }
