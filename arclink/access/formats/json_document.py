"""A link answer as one JSON document (RFC 8259), as ``docs/reference/service.md`` describes it."""

from collections.abc import Iterator
from functools import partial

import orjson

from arclink.access.answers import InForce, LinkAnswer
from arclink.access.archives import ArchiveReport, Refused
from arclink.access.formats.fields import known_fields, member_fields
from arclink.access.queries import Direction
from arclink.access.redirect_targets import Hop
from arclink.access.replay import ReplayPrefix, uri_m
from arclink.access.texts import printable, printable_uri


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
    yield orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


def _hop(hop: Hop, replay: ReplayPrefix) -> dict[str, object]:
    address = uri_m(replay, hop.timestamp, hop.original)
    return {
        "uri": printable_uri(hop.original),
        "timestamp": hop.timestamp,
        "target": printable_uri(hop.target),
        **({} if address is None else {"uri_m": printable_uri(address)}),
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


def _in_force(found: InForce, replay: ReplayPrefix) -> dict[str, object]:
    memento = found.memento
    address = uri_m(replay, memento.timestamp, memento.original)
    return {
        **({} if address is None else {"uri_m": printable_uri(address)}),
        "uri": printable_uri(memento.original),
        "timestamp": memento.timestamp,
        "status": memento.status,
        "links_known": found.is_known,
    }
