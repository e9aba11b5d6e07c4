"""Pairs of a WAT and the archive file that it describes: only the archive file is read.

The archive file holds more information than its WAT.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from arclink.archives.locations import Location, is_wat, location_of
from arclink.archives.opener import open_bytes
from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.archives.wat import Described, describe, is_described
from arclink.errors import InputError, RecordError
from arclink.rows.cdx import CAPTURES
from arclink.store.protocols import KnownFile


def leave_out_described(
    paths: Sequence[Location], known: Mapping[str, KnownFile]
) -> tuple[list[Location], list[str]]:
    """Return the paths without WATs whose archive file is available, and a message per omitted WAT.

    A WAT that the store already has is kept: it was built when only the WAT was available, and the
    build must recognise it as known.

    Args:
        paths: Archive files.
        known: The files that the store has, by name.

    Raises:
        InputError: A WAT cannot be read.
    """
    at_hand: dict[str, list[str]] = {}
    for location in [*map(str, paths), *(file.path for file in known.values())]:
        at_hand.setdefault(location_of(location).name, []).append(location)
    remaining: list[Location] = []
    reasons = []
    for path in paths:
        described = _first_capture(path) if is_wat(path.name) and path.name not in known else None
        candidates = at_hand.get(described.container.rsplit("/", 1)[-1], []) if described else []
        file = next(
            (candidate for candidate in candidates if described and _holds(candidate, described)),
            None,
        )
        if file is None:
            remaining.append(path)
        else:
            reasons.append(f"{path} describes {file}, which is in the input itself")
    return remaining, reasons


def _first_capture(path: Location) -> Described | None:
    with ArchiveFile(str(path)) as records:
        return next(_captures(records.records()), None)


def _captures(records: Iterable[ArchiveRecord | RecordError]) -> Iterator[Described]:
    for record in records:
        try:
            if not isinstance(record, RecordError) and is_described(record):
                described = describe(record)
                if described.capture.record_type in CAPTURES:
                    yield described
        except RecordError:
            continue


def _holds(path: str, described: Described) -> bool:
    """Return whether a file has the capture at the offset that the WAT names.

    A file that can no longer be opened counts as having it, because its name matches.
    """
    try:
        open_bytes(path).close()
    except (OSError, InputError):
        return True
    try:
        with ArchiveFile(path) as records:
            record = records.record_at(described.offset)
    except (InputError, RecordError):
        return False
    return (record.uri, record.timestamp) == (described.capture.uri, described.capture.timestamp)
