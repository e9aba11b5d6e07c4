"""The fields of a member, with equal names in all formats with columns, cleaned for writing."""

from collections.abc import Iterator, Mapping
from typing import TypedDict

from arclink.access.answers import Member
from arclink.access.members import Evidence, sightings_of
from arclink.access.queries import Direction
from arclink.access.reader import MementoSummary
from arclink.access.replay import NO_REPLAY, ReplayPrefix, uri_m
from arclink.access.texts import printable, printable_uri
from arclink.model import Kind, Surt, Timestamp, UriM


class EvidenceFields(TypedDict, total=False):
    """The JSON fields of a memento that shows a link; ``uri_m`` only with a replay prefix."""

    uri: str
    uri_m: str
    timestamp: str
    status: str
    record_type: str
    checksum: str
    file: str
    offset: int
    length: int
    read_from: dict[str, str | int]


class MemberFields(TypedDict, total=False):
    """The JSON fields of a member; ``sources`` for an outlink, ``targets`` for an inlink.

    Merged answers have ``uris`` and ``archives``. With a replay prefix there is ``uri_ms``. If the
    query requests them, there are ``evidence`` and ``validity``; their value is None if they exceed
    the budget.
    """

    direction: str
    uri: str
    surt: str
    kind: str
    text: str
    rel: str | None
    timestamps: list[str]
    sources: list[str]
    targets: list[str]
    uris: list[str]
    archives: dict[str, list[str]]
    uri_ms: list[str]
    evidence: list[EvidenceFields] | None
    validity: dict[str, str | None] | None


def known_fields(mementos: MementoSummary) -> Mapping[str, object]:
    """Return the counts of the captures of the queried URI."""
    known: dict[str, object] = {
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
    fields = EvidenceFields(
        uri=printable_uri(memento.original),
        timestamp=memento.timestamp,
        status=printable(memento.status),
        record_type=printable(memento.record_type),
        checksum=printable(memento.checksum),
        file=printable(memento.file),
        offset=memento.offset,
        length=memento.length,
        read_from={"file": printable(found.file), "offset": found.offset},
    )
    address = uri_m(replay, memento.timestamp, memento.original)
    if address is not None:
        fields["uri_m"] = printable_uri(address)
    return fields
