"""Takedowns as lines of JSON: for copying them to another store and keeping them in a rebuild."""

import os
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import orjson

from arclink.errors import UsageError
from arclink.model import Forgotten, Span, Surt, Timestamp
from arclink.store.protocols import OpenStore, Scans, Takedown, Takedowns
from arclink.timestamps import first_of, last_of


def format_takedowns(takedowns: Iterable[Takedown]) -> bytes:
    r"""Return one line of JSON per takedown.

    >>> site = Forgotten(Surt("org,example)/"))
    >>> format_takedowns([Takedown(site, "of the owner", "2026-11-21T20:00:00Z")])[:60]
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


def takedown_digest(store: Scans) -> str:
    """Return 16 hex digits that change when a takedown is recorded; empty without takedowns.

    They do not change when a later build leaves out what a recorded takedown covers.
    """
    text = format_takedowns(takedown for takedown, _ in store.forgotten())
    return sha256(text).hexdigest()[:16] if text else ""


def read_takedowns(path: Path) -> list[Takedown]:
    """Return the takedowns of a file that `format_takedowns` wrote.

    Raises:
        UsageError: The file cannot be read, or a line is not a takedown.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    return [
        _takedown(line, f"{path}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]


def _takedown(line: bytes, where: str) -> Takedown:
    try:
        row = orjson.loads(line)
        prefix, targets, reason, time = (
            row["prefix"],
            row.get("targets", False),
            row.get("reason", ""),
            row["time"],
        )
        span = _span(row.get("from"), row.get("to"))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(
            f"{where}: not a takedown as written by `arclink forget --export`: {line[:200]!r}"
        ) from error
    if not (
        isinstance(prefix, str)
        and prefix
        and isinstance(reason, str)
        and isinstance(time, str)
        and isinstance(targets, bool)
    ):
        raise UsageError(
            f"{where}: not a takedown as written by `arclink forget --export`: {line[:200]!r}"
        )
    return Takedown(Forgotten(Surt(prefix), span, targets), reason, time)


def _span(first: object, last: object) -> Span:
    """Return the span of a line. Bounds of 14 digits stay unchanged: callers may pad."""
    if all(isinstance(bound, str) and _BOUND.fullmatch(bound) for bound in (first, last)):
        return Span(Timestamp(str(first)), Timestamp(str(last)))
    return span_of(first, last)  # type: ignore[arg-type]  # other types raise TypeError


_BOUND = re.compile("[0-9]{14}")


def span_of(first: str | None, last: str | None) -> Span:
    """Return the span from one time to another. A bound that is None or that of all time is open.

    Raises:
        TimestampError: A bound is not a time.
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


def set_aside(store: OpenStore, path: Path) -> None:
    """Write the takedowns of a store to a file, if there are any: the whole file, or nothing."""
    takedowns = [takedown for takedown, _ in store.forgotten()]
    if takedowns:
        part = path.with_name(path.name + ".part")
        with part.open("wb") as file:
            file.write(format_takedowns(takedowns))
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)


def take_back(store: Takedowns, path: Path) -> None:
    """Apply the takedowns that `set_aside` wrote, and remove the file.

    Nothing happens if the file is missing.
    """
    if path.exists():
        for takedown in read_takedowns(path):
            store.forget(takedown)
        path.unlink()
