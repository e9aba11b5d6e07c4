"""A WAT beside the archive file that it describes: the file itself is read, which has more to tell."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from arclink.archive_names import is_wat
from arclink.errors import InputError, RecordError
from arclink.extract.archives import ArchiveFile as RecordFile
from arclink.extract.archives import ArchiveRecord
from arclink.extract.wat import Described, describe, is_described
from arclink.files.opening import open_bytes
from arclink.files.places import Location, location_of
from arclink.filter.cdx import CAPTURES
from arclink.store import ArchiveFile


def leave_out_described(paths: Sequence[Location], known: Mapping[str, ArchiveFile]) -> tuple[list[Location], list[str]]:
    """Return the paths without WATs whose archive file is at hand, and for each of those why it is left out.

    A WAT that the store has was built when it was all there was: it stays, so that it is known again.

    Args:
        paths: Archive files.
        known: The files that the store has, by name.

    Raises:
        InputError: A WAT cannot be read.
    """
    at_hand: dict[str, list[str]] = {}
    for place in [*map(str, paths), *(file.path for file in known.values())]:
        at_hand.setdefault(location_of(place).name, []).append(place)
    kept: list[Location] = []
    reasons = []
    for path in paths:
        described = _first_capture(path) if is_wat(path.name) and path.name not in known else None
        candidates = at_hand.get(described.container.rsplit("/", 1)[-1], []) if described else []
        file = next((one for one in candidates if described and _holds(one, described)), None)
        if file is None:
            kept.append(path)
        else:
            reasons.append(f"{path} describes {file}, which is read itself")
    return kept, reasons


def _first_capture(path: Location) -> Described | None:
    with RecordFile(str(path)) as records:
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
    """Tell whether a file has the capture where the WAT says; of a file that is gone the name must do."""
    try:
        open_bytes(path).close()
    except (OSError, InputError):
        return True
    try:
        with RecordFile(path) as records:
            record = records.record_at(described.place)
    except (InputError, RecordError):
        return False
    return (record.uri, record.timestamp) == (described.capture.uri, described.capture.timestamp)
