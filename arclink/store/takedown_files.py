"""Takedowns as sealed files: for copying them to another store and keeping them in a rebuild.

A row is JSON (`arclink.files.sealed` adds its checksum)::

    {"prefix":"org,example)/","from":"0000…","to":"9999…","targets":false,"reason":"…","time":"…"}
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path

import orjson

from arclink.errors import SealError, StoreError, UsageError, WriteError
from arclink.files.atomic import write_whole
from arclink.files.sealed import is_sealed, read_rows, seal_rows
from arclink.model import Forgotten, Span, Surt, Timestamp
from arclink.store.layouts import have_present_keys, present_takedowns
from arclink.store.locks import only_list
from arclink.store.protocols import GraphStore, OpenStore, Takedown, Takedowns
from arclink.timestamps import first_of, last_of

_KIND = "takedowns"
_KEYS = frozenset({"prefix", "from", "to", "targets", "reason", "time"})


def format_takedowns(takedowns: Iterable[Takedown]) -> bytes:
    """Return takedowns as the bytes of a sealed file."""
    return seal_rows(_KIND, _rows(takedowns))


def _rows(takedowns: Iterable[Takedown]) -> list[bytes]:
    return [
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
        for takedown in takedowns
    ]


def takedown_digest(store: OpenStore) -> str:
    """Return 16 hex digits that change when a takedown is recorded; empty without takedowns.

    They do not change when a later build leaves out what a recorded takedown covers.
    """
    rows = _rows(takedown for takedown, _ in store.forgotten())
    return sha256(b"\n".join(rows)).hexdigest()[:16] if rows else ""


def read_takedowns(path: Path) -> list[Takedown]:
    """Return the takedowns of a file that `format_takedowns` wrote, or did before it sealed files.

    Raises:
        SealError: The file is damaged or missing.
        UsageError: A row is not a takedown.
    """
    try:
        rows = read_rows(path, _KIND)
    except SealError:
        old = _old_takedowns(path)
        if old is None:
            raise
        return old
    return [_takedown(row, f"{path}, line {number}") for number, row in enumerate(rows, 2)]


def _old_takedowns(path: Path) -> list[Takedown] | None:
    """Return the takedowns of a list without checksums, as earlier versions wrote it.

    Returns:
        None if a line is not a whole takedown, or the file is empty: then it is not such a list.
    """
    try:
        lines = path.read_bytes().splitlines(keepends=True)
        takedowns = [
            _takedown(line, f"{path}, line {number}")
            for number, line in enumerate(lines, 1)
            if line.endswith(b"\n") and orjson.loads(line).keys() == _KEYS
        ]
    except (OSError, UsageError, ValueError, AttributeError):
        return None
    return takedowns if takedowns and len(takedowns) == len(lines) else None


def import_takedowns(path: Path) -> list[Takedown]:
    """Return the takedowns of a file; a list that a person wrote needs no checksums.

    Raises:
        SealError: The file is damaged.
        UsageError: The file cannot be read or is empty, or a line is not a takedown.
    """
    try:
        if is_sealed(path):
            return read_takedowns(path)
        lines = path.read_bytes().removeprefix(BOM_UTF8).splitlines()  # of an editor
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    if not lines:
        raise UsageError(f"{path}: is empty, so it is not a list of takedowns")
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
        if unknown := row.keys() - _KEYS:
            raise UsageError(f"unknown keys: {', '.join(sorted(unknown))!r}")
        span = _span(row.get("from"), row.get("to"))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(
            f"{where}: not a takedown as written by `arclink forget --into`: {line[:200]!r}"
        ) from error
    if not (
        isinstance(prefix, str)
        and prefix
        and isinstance(reason, str)
        and isinstance(time, str)
        and isinstance(targets, bool)
    ):
        raise UsageError(
            f"{where}: not a takedown as written by `arclink forget --into`: {line[:200]!r}"
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


def set_aside(store: GraphStore, path: Path) -> None:
    """Write the takedowns of a store to a file, if there are any: the whole file, or nothing.

    The store that is built in its place has present keys.
    """
    takedowns = present_takedowns(store, (takedown for takedown, _ in store.forgotten()))
    if takedowns:
        write_whole(path, format_takedowns(takedowns))


def take_back(store: Takedowns, path: Path) -> None:
    """Apply the takedowns that `set_aside` wrote, and remove the file.

    Nothing happens if the file is missing.
    """
    if path.exists():
        store.forget_each(read_takedowns(path))
        path.unlink()


# The list of takedowns next to a SQLite store, which outlives the store.
#
# ::
#
#     links.db              the store, with its own record of takedowns
#     links.db.takedowns    the same list as a sealed file
#
# `SqliteStore.forget` adds a takedown to the list before it commits it, so the list always has
# every takedown of the store. The list only grows. When a new store at the path, or an older copy
# of the store, is opened for loading, it applies the takedowns of the list. `arclink.store.backups`
# reads the list too.

LISTED = "what is listed next to the store is forgotten"
"""Name of the invariant that `SqliteStore.verify` checks."""


def list_path(store: Path) -> Path:
    """Return the file that lists the takedowns of the store at a path."""
    return store.with_name(store.name + ".takedowns")


def listed(store: Path) -> list[Takedown]:
    """Return the takedowns listed next to a store; an empty list if there is no file.

    Raises:
        SealError: The list is damaged; the text says what to do.
        UsageError: A row of it is not a takedown.
    """
    path = list_path(store)
    try:
        return read_takedowns(path) if path.exists() else []
    except SealError as error:
        if not path.stat().st_size and _is_old(store):  # earlier versions wrote an empty list so
            return []
        raise error.with_remedy(
            "Without it, captures that were forgotten may come back. Replace it by its copy next "
            "to the newest backup, or by a file that `arclink forget --into` wrote. If the store "
            "itself is whole (`arclink verify`), move the list away: the next `arclink forget` or "
            "`arclink build` writes it again from the store."
        ) from error


def _is_old(store: Path) -> bool:
    """Return whether a store is there that was written before lists were sealed."""
    from arclink.store.sqlite.schema import open_for_reading

    with suppress(StoreError), closing(open_for_reading(store)) as connection:
        return not have_present_keys(dict(connection.execute("SELECT name, value FROM settings")))
    return False


def united(*lists: Iterable[Takedown]) -> list[Takedown]:
    """Return the takedowns of all lists in that order; of equal subjects only the first."""
    by_subject: dict[Forgotten, Takedown] = {}
    for takedowns in lists:
        for takedown in takedowns:
            by_subject.setdefault(takedown.what, takedown)
    return list(by_subject.values())


def missing_in(recorded: Iterable[Takedown], takedowns: Iterable[Takedown]) -> list[Takedown]:
    """Return those of ``takedowns`` whose subject is not among ``recorded``, in their order."""
    known = {takedown.what for takedown in recorded}
    return [takedown for takedown in takedowns if takedown.what not in known]


def add_to_list(store: Path, takedowns: Iterable[Takedown]) -> None:
    """Add takedowns to the list next to a store; when this returns, the list is on the disk.

    A missing list is created.

    Raises:
        StoreError: The list cannot be written; the text names it.
        SealError: The existing list is damaged.
    """
    path = list_path(store)
    try:
        with only_list(store):
            before = listed(store)
            after = united(before, takedowns)
            if len(after) > len(before) or not path.exists():
                write_whole(path, format_takedowns(after))
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror}. A takedown needs its list; nothing "
            "was forgotten."
        ) from error
    except WriteError as error:
        raise StoreError(f"{error} A takedown needs its list; nothing was forgotten.") from error
