"""Parser of ArcLink's own JSON answers (``docs/reference/service.md``), without trust."""

from collections.abc import Iterator

import orjson

from arclink.access.queries import Direction
from arclink.access.reader import MementoSummary
from arclink.errors import InstanceError
from arclink.known import KnownLinks
from arclink.model import Timestamp, UriR
from arclink.others.federation.instance_answers import ReceivedAnswer, ReceivedInForce, ReceivedLink
from arclink.others.federation.merge import Captured
from arclink.timestamps import TimestampError, normal_timestamp


def parse_json_answer(body: bytes) -> ReceivedAnswer:
    """Return one page of an answer; members that cannot be parsed are counted.

    Raises:
        InstanceError: The body is not JSON, or not an answer to a link query.
    """
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InstanceError(f"its answer is not JSON: {error}") from error
    match document:
        case {"uri": str(uri), "outlinks": list(outlinks), "inlinks": list(inlinks)}:
            links = [*_links(outlinks, Direction.OUT), *_links(inlinks, Direction.IN)]
            next_cursor, at = document.get("next"), document.get("at")
            in_force, is_known = document.get("in_force"), document.get("inlinks_known")
            mementos = _mementos(document.get("mementos"))
            counts = document.get("inlinks_read_from")
            read_from = counts if isinstance(counts, dict) else {}
            held = tuple(_in_force(in_force))
            return ReceivedAnswer(
                uri,
                mementos,
                at if isinstance(at, str) else None,
                held,
                links,
                len(outlinks) + len(inlinks) - len(links),
                next_cursor if isinstance(next_cursor, str) else "",
                mementos is None and document.get("mementos") is not None,
                len(in_force) - len(held) if isinstance(in_force, list) else in_force is not None,
                KnownLinks.told(is_known, read_from.get("captures"), read_from.get("read")),
            )
        case _:
            raise InstanceError(
                "its answer is JSON, but not the answer to a link query: uri, outlinks or "
                "inlinks are missing"
            )


def parse_timemap(body: bytes) -> frozenset[Captured] | None:
    """Return the captures in a TimeMap as JSON; None for another document, or a part of one."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    match document:
        case {"mementos": {"list": list(members)}, "next_from": None}:
            found = set()
            for member in members:
                match member:
                    case {"original": str(uri), "timestamp": str(text)}:
                        try:
                            found.add((UriR(uri), normal_timestamp(text)[0]))
                        except TimestampError:
                            return None
                    case _:
                        return None
            return frozenset(found)
        case _:
            return None


def _links(members: list[object], direction: Direction) -> Iterator[ReceivedLink]:
    end = "sources" if direction is Direction.OUT else "targets"
    for member in members:
        match member:
            case {
                "uri": str(uri),
                "kind": str(kind),
                "text": str(text),
                "timestamps": list(timestamps),
                **others,
            }:
                rel, variants = others.get("rel"), others.get(end)
                if not isinstance(variants, list | None):
                    continue  # the page that has the link is not known
                yield ReceivedLink(
                    direction,
                    uri,
                    kind,
                    text,
                    rel if isinstance(rel, str) else None,
                    _texts(timestamps),
                    _texts(variants or []),
                )


def _texts(values: list[object]) -> tuple[str, ...]:
    """Return the values as texts; other values become empty texts, which are refused later."""
    return tuple(value if isinstance(value, str) else "" for value in values)


def _mementos(found: object) -> MementoSummary | None:
    match found:
        case {
            "count": int(count),
            "first": str(first),
            "last": str(last),
            "asked": int(asked),
            "links_known": int(known),
        } if count > 0 and not any(isinstance(number, bool) for number in (count, asked, known)):
            return MementoSummary(count, Timestamp(first), Timestamp(last), asked, known)
        case {"count": 0}:
            return MementoSummary()
        case _:
            return None


def _in_force(found: object) -> Iterator[ReceivedInForce]:
    for memento in found if isinstance(found, list) else ():
        match memento:
            case {
                "uri": str(uri),
                "timestamp": str(timestamp),
                "status": str(status),
                "links_known": bool(is_known),
            }:
                yield ReceivedInForce(uri, timestamp, status, is_known)
