"""A link answer as one JSON document (RFC 8259), as ``docs/reference/service.md`` describes it."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, NotRequired, TypedDict

import orjson

from arclink.access.answers import InForce, LinkAnswer
from arclink.access.archives import ArchiveReport, Outcome, Refused
from arclink.access.formats.fields import (
    AskedFields,
    InlinkFields,
    InlinksKnown,
    InlinksReadFrom,
    KnownFields,
    MementoFields,
    OutlinkFields,
    address_fields,
    known_fields,
    member_fields,
)
from arclink.access.provenance import ProvenanceFields
from arclink.access.queries import Direction, MatchType
from arclink.access.redirect_targets import Hop
from arclink.access.replay import ReplayPrefix
from arclink.access.texts import printable, printable_uri
from arclink.model import Timestamp

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
