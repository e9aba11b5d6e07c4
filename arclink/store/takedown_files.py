"""Takedowns as lines of JSON: how a list of them goes from one store to another, and outlives the rebuilding of its own."""

import os
from collections.abc import Iterable
from pathlib import Path

import orjson

from arclink.errors import UsageError
from arclink.model import Forgotten, Span, Surt
from arclink.store import GraphStore, Takedown
from arclink.timestamps import first_of, last_of


def format_takedowns(takedowns: Iterable[Takedown]) -> bytes:
    r"""Return a line for each takedown.

    >>> format_takedowns([Takedown(Forgotten(Surt("org,example)/")), "of the owner", "2026-11-21T20:00:00Z")])[:60]
    b'{"prefix":"org,example)/","from":"00000000000000","to":"9999'
    """
    return b"".join(
        orjson.dumps(
            {
                "prefix": takedown.what.prefix,
                "from": takedown.what.span.first,
                "to": takedown.what.span.last,
                "targets": takedown.what.has_targets,
                "reason": takedown.reason,
                "time": takedown.time,
            }
        )
        + b"\n"
        for takedown in takedowns
    )


def read_takedowns(path: Path) -> list[Takedown]:
    """Return what `format_takedowns` was given.

    Raises:
        UsageError: The file cannot be read, or a line is no takedown.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    return [_takedown(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]


def _takedown(line: bytes, where: str) -> Takedown:
    try:
        row = orjson.loads(line)
        prefix, targets, reason, time = row["prefix"], row.get("targets", False), row.get("reason", ""), row["time"]
        span = span_of(row.get("from"), row.get("to"))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{where}: no takedown as `arclink forget --export` writes it: {line[:200]!r}") from error
    if not (isinstance(prefix, str) and prefix and isinstance(reason, str) and isinstance(time, str) and isinstance(targets, bool)):
        raise UsageError(f"{where}: no takedown as `arclink forget --export` writes it: {line[:200]!r}")
    return Takedown(Forgotten(Surt(prefix), span, targets), reason, time)


def span_of(first: str | None, last: str | None) -> Span:
    """Return the span from one time to another; what is not given, or is that of all time, has no end.

    Raises:
        TimestampError: One of them is no time.
        UsageError: The first is after the last.
    """
    everything = Span()
    span = Span(
        everything.first if first in (None, everything.first) else first_of(first),
        everything.last if last in (None, everything.last) else last_of(last),
    )
    if span.first > span.last:
        raise UsageError(f"from {span.first} is after to {span.last}: nothing was captured then")
    return span


def set_aside(store: GraphStore, path: Path) -> None:
    """Write the takedowns of a store to a file, if there are any: whole, or not at all."""
    takedowns = [takedown for takedown, _ in store.forgotten()]
    if takedowns:
        part = path.with_name(path.name + ".part")
        with part.open("wb") as file:
            file.write(format_takedowns(takedowns))
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)


def take_back(store: GraphStore, path: Path) -> None:
    """Make a store forget what `set_aside` wrote, and remove the file; nothing happens if there is none."""
    if path.exists():
        for takedown in read_takedowns(path):
            store.forget(takedown)
        path.unlink()
