"""Read ArcLink's own JSON (``docs/service.md``), trusting nothing in it."""

from collections.abc import Iterator

import orjson

from arclink.access.queries import Direction
from arclink.access.reading import MementoSummary
from arclink.aggregate.told import ToldAnswer, ToldInForce, ToldLink
from arclink.errors import InstanceError
from arclink.model import Timestamp


def parse_json_answer(body: bytes) -> ToldAnswer:
    """Return one page of an answer; members that are none are counted.

    Raises:
        InstanceError: It is no JSON, or no answer to a link query.
    """
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InstanceError(f"its answer is no JSON: {error}") from error
    match document:
        case {"uri": str(uri), "outlinks": list(outlinks), "inlinks": list(inlinks)}:
            links = [*_links(outlinks, Direction.OUT), *_links(inlinks, Direction.IN)]
            behind, at = document.get("next"), document.get("at")
            return ToldAnswer(
                uri,
                _mementos(document.get("mementos")),
                at if isinstance(at, str) else None,
                tuple(_in_force(document.get("in_force"))),
                links,
                len(outlinks) + len(inlinks) - len(links),
                behind if isinstance(behind, str) else "",
            )
        case _:
            raise InstanceError("its answer is JSON, but no answer to a link query: uri, outlinks or inlinks are missing")


def _links(members: list[object], direction: Direction) -> Iterator[ToldLink]:
    end = "sources" if direction is Direction.OUT else "targets"
    for member in members:
        match member:
            case {"uri": str(uri), "kind": str(kind), "text": str(text), "timestamps": list(timestamps), **others}:
                rel, variants = others.get("rel"), others.get(end)
                yield ToldLink(
                    direction,
                    uri,
                    kind,
                    text,
                    rel if isinstance(rel, str) else None,
                    _texts(timestamps),
                    _texts(variants) if isinstance(variants, list) else (),
                )


def _texts(values: list[object]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))


def _mementos(found: object) -> MementoSummary | None:
    match found:
        case {"count": int(count), "first": str(first), "last": str(last), "asked": int(asked), "links_known": int(known)} if count > 0:
            return MementoSummary(count, Timestamp(first), Timestamp(last), asked, known)
        case {"count": 0}:
            return MementoSummary()
        case _:
            return None


def _in_force(found: object) -> Iterator[ToldInForce]:
    for memento in found if isinstance(found, list) else ():
        match memento:
            case {"uri": str(uri), "timestamp": str(timestamp), "status": str(status), "links_known": bool(is_known)}:
                yield ToldInForce(uri, timestamp, status, is_known)
