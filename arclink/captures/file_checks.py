"""Archive files of a store, read again and compared with what the store knows of them.

Four things are compared, each where it was recorded:

- size and fingerprint of the file (`arclink.archives.marks`), which cover all bytes of a file of up
  to 128 KiB;
- the CRC of each gzip member, and the digest of the block of a record, if its head has one;
- the digest of each payload, with the checksum of its capture and with the one in its head;
- the place of each capture: the record there must be the one that the store means.

A file is *sound* only if these cover the block of every record. In an uncompressed file without
digests of blocks they do not: a changed bit in an HTTP head would not be found. Such a file is
*unknown*, as is one that was damaged already when a build read it. Nothing covers what is outside
of the blocks, except for a small file: a time in the head of a gzip member, a field of a record of
an uncompressed file that the store does not use.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Self

from arclink.archives.continuations import is_first_segment
from arclink.archives.locations import location_of
from arclink.archives.marks import SAMPLE, FileMark, read_mark
from arclink.archives.payloads import codings_of, is_digest_of, stream_without_chunks
from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.archives.segments import GZIP
from arclink.archives.wat import describe, is_described
from arclink.captures.order import captures_in_order
from arclink.captures.queries import Order, StreamPart
from arclink.captures.read import is_meant
from arclink.checksums import digest_in, normal_checksum
from arclink.errors import DataError, InputError, MissingFileError, RecordError, SealError
from arclink.files.sealed import read_rows, write_sealed
from arclink.model import NO_CHECKSUM, REVISIT, Memento
from arclink.progress import watched
from arclink.rows.cdx import CAPTURES
from arclink.store.archive_paths import ArchivePaths, state_of
from arclink.store.protocols import KnownFile, Scans
from arclink.timestamps import now_in_iso

_Row = dict[str, str]
_KIND = "checked-files"
_SHARE = 20
"""Progress is written again after this many times the seconds that writing it took."""


class FileState(Enum):
    """What a check found out about an archive file."""

    SOUND = "sound"
    CHANGED = "changed"
    MOVED = "moved"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """The result for one archive file.

    Attributes:
        name: Its name in the store.
        state: The result. A file that was moved is sound at its new path.
        path: Where it was read, or where it was searched first.
        detail: Why it is not sound; empty if it is.
    """

    name: str
    state: FileState
    path: str
    detail: str = ""


def check_files(
    store: Scans,
    archive_paths: ArchivePaths,
    damaged: Mapping[str, int],
    progress: "CheckProgress",
) -> Iterator[CheckedFile]:
    """Yield the result for each archive file of a store.

    Memory holds the addresses of one file's captures.

    Args:
        store: The store, with all its captures.
        archive_paths: Where archive files are, if they were moved.
        damaged: Files that were damaged when a build read them, with the offset of the first fault.
        progress: The results of a check that was interrupted, and of this one.

    Raises:
        StoreError: The store cannot be read.
        OperatorError: The progress cannot be written.
    """
    files = {file.name: file for file in store.files()}
    work = _with_captures(dict(files), store)
    for file, captures in watched(
        work,
        "reading archive files, in bytes",
        lambda: sum(file.size for file in files.values()),
        lambda item: item[0].size,
    ):
        checked = progress.result(file)
        if checked is None:
            paths = [file.path] if file.path else []
            paths += [path for path in archive_paths.paths(file.name) if path != file.path]
            checked = _check(file, paths, list(captures), damaged.get(file.name))
            progress.add(file, checked)
        yield checked


def _with_captures(
    rest: dict[str, KnownFile], store: Scans
) -> Iterator[tuple[KnownFile, Iterable[Memento]]]:
    in_order = (memento for _, memento in captures_in_order(store, Order.FILE, StreamPart()))
    for name, captures in groupby(in_order, attrgetter("file")):
        yield rest.pop(name, KnownFile(name, "", 0, "")), captures
    for file in rest.values():
        yield file, ()


def _check(
    file: KnownFile, paths: Sequence[str], captures: Sequence[Memento], damaged_at: int | None
) -> CheckedFile:
    path, mark, problem = _find(file, paths)
    if mark is None:
        return CheckedFile(file.name, FileState.MISSING, path, problem)
    is_same = mark == (file.size, file.fingerprint)
    is_moved = path != file.path
    if file.fingerprint and not is_same:
        what = (
            "its first or last 64 KiB changed"
            if mark.size == file.size
            else f"it has {mark.size:,} bytes, and had {file.size:,}"
        )
        return CheckedFile(file.name, FileState.CHANGED, path, what)
    found = _Findings()
    if not (is_same and file.size <= 2 * SAMPLE):  # else the fingerprint covers every byte
        found.read(path, captures)
    if found.changed:
        return CheckedFile(file.name, FileState.CHANGED, path, _first_of(found.changed))
    if damaged_at is not None:
        detail = f"it was damaged at byte {damaged_at:,} already when a build read it"
        if not found.damaged or min(found.damaged) >= damaged_at:
            return CheckedFile(file.name, FileState.UNKNOWN, path, detail)
    if found.damaged:
        return CheckedFile(file.name, FileState.CHANGED, path, _first_of(found.damaged))
    if found.unknown:
        return CheckedFile(file.name, FileState.UNKNOWN, path, _first_of(found.unknown))
    return CheckedFile(file.name, FileState.MOVED if is_moved else FileState.SOUND, path)


def _find(file: KnownFile, paths: Sequence[str]) -> tuple[str, FileMark | None, str]:
    """Return the path and mark of a file, or why it is missing.

    Of several files with its name, it is the first one that has its size and fingerprint.
    """
    found: tuple[str, FileMark, str] | None = None
    problem = ""
    for path in paths:
        try:
            mark = read_mark(location_of(path))
        except InputError as error:
            problem = problem or ("" if isinstance(error, MissingFileError) else str(error))
            continue
        if mark == (file.size, file.fingerprint) or not file.fingerprint:
            return path, mark, ""
        found = found or (path, mark, "")
    first = paths[0] if paths else ""
    return found or (first, None, problem or "no such file at any known path")


def _first_of(faults: Mapping[int, str]) -> str:
    """Return the first of some faults in words, and the number of the others."""
    offset = min(faults)
    more = f", and {len(faults) - 1:,} more" if len(faults) > 1 else ""
    return f"{faults[offset]} at byte {offset:,}{more}"


@dataclass(slots=True)
class _Findings:
    """What reading a file found, by offset.

    Attributes:
        changed: Payloads with another digest.
        damaged: Records that are not whole, and captures whose records are not there.
        unknown: Records that nothing covers as a whole.
    """

    changed: dict[int, str] = field(default_factory=dict)
    damaged: dict[int, str] = field(default_factory=dict)
    unknown: dict[int, str] = field(default_factory=dict)

    def read(self, path: str, captures: Iterable[Memento]) -> None:
        """Read a whole file, and compare its records with captures."""
        expected: dict[int, list[Memento]] = {}
        for memento in captures:
            expected.setdefault(memento.offset, []).append(memento)
        try:
            with ArchiveFile(path) as archive:
                for record in archive.records():
                    self._see(archive, record, expected)
        except (InputError, OSError) as error:
            self.damaged[0] = str(error)
        for offset in expected:
            self.damaged.setdefault(offset, "no record of a capture")

    def _see(
        self,
        archive: ArchiveFile,
        record: ArchiveRecord | RecordError,
        expected: dict[int, list[Memento]],
    ) -> None:
        offset = record.offset or 0
        if isinstance(record, RecordError):
            self.damaged[offset] = record.detail
            return
        captures = expected.pop(offset, [])
        if record.damage:
            self.damaged[offset] = record.damage
            return
        try:
            self._compare(archive, record, captures)
        except DataError as error:
            self.damaged[offset] = str(error)

    def _compare(
        self, archive: ArchiveFile, record: ArchiveRecord, captures: Sequence[Memento]
    ) -> None:
        offset = record.offset
        is_covered = archive.compression is GZIP  # its CRC was compared
        is_other = _is_other_payload(archive, record, captures)
        declared = normal_checksum(record.fields.get("warc-block-digest", ""))
        if not is_covered and declared != NO_CHECKSUM and not is_first_segment(record.fields):
            block = archive.parts_at(offset, record.length).block
            is_fitting = is_digest_of(declared, block)
            is_covered, is_other = is_fitting is True, is_other or is_fitting is False
        shown = describe(record).capture if is_described(record) else record
        if not all(is_meant(shown, memento) for memento in captures):
            self.damaged[offset] = "another record than that of the capture"
        elif is_other and is_covered and record.checksum != NO_CHECKSUM:
            # Some writers state a digest that is not that of the bytes that they wrote.
            self.unknown[offset] = "a payload that the digest in its head does not fit"
        elif is_other:
            self.changed[offset] = "a record with another digest"
        elif not is_covered:
            self.unknown[offset] = "a record without a CRC or a digest of the whole"


def _is_other_payload(
    archive: ArchiveFile, record: ArchiveRecord, captures: Sequence[Memento]
) -> bool:
    """Return whether the payload of a record fits none of the digests that are known of it."""
    if record.record_type not in CAPTURES or record.record_type == REVISIT:
        return False
    digests = {record.checksum, *(digest_in(memento.checksum) for memento in captures)}
    digests.discard(NO_CHECKSUM)
    if is_first_segment(record.fields):
        record = archive.record_at(record.offset, record.length)
    forms: list[Callable[[], Iterator[bytes]]] = [record.body_pieces]
    if codings_of(record)[0]:
        forms.append(lambda: stream_without_chunks(record.body_pieces()))
    results = [is_digest_of(digest, form()) for digest in digests for form in forms]
    return False in results and True not in results


class CheckProgress:
    """The results of a check so far, in a sealed file, so that the check can go on later.

    A result counts again as long as the file has not changed since by the file system. A file that
    is changed or missing is looked at again: it may have been repaired.

    Args:
        path: The file; removed when the check is complete.

    Attributes:
        since: When the check began; UTC, ``2026-11-21T20:00:00Z``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[str, _Row] = {}
        self._known: dict[str, _Row] = {}
        self.since = now_in_iso()
        with suppress(SealError):  # missing, or damaged: the check begins again
            self.since, *rows = map(json.loads, read_rows(path, _KIND))
            self._known = {row["name"]: row for row in rows}
        self._next = 0.0

    @property
    def known(self) -> int:
        """The number of results of an earlier process."""
        return len(self._known)

    def result(self, file: KnownFile) -> CheckedFile | None:
        """Return the result for a file if it need not be read again."""
        row = self._known.pop(file.name, None)
        if row is None or row["state"] in (FileState.CHANGED.value, FileState.MISSING.value):
            return None
        if row["of"] != _identity(file) or row["seen"] != repr(state_of(row["path"])):
            return None
        self._rows[file.name] = row
        return CheckedFile(file.name, FileState(row["state"]), row["path"], row["detail"])

    def add(self, file: KnownFile, checked: CheckedFile) -> None:
        """Keep a result."""
        self._rows[file.name] = {
            "name": file.name,
            "state": checked.state.value,
            "path": checked.path,
            "detail": checked.detail,
            "of": _identity(file),
            "seen": repr(state_of(checked.path)),
        }
        begun = time.monotonic()
        if begun >= self._next:
            self._write()
            ended = time.monotonic()
            self._next = ended + _SHARE * (ended - begun)

    def _write(self) -> None:
        rows = [self.since, *self._rows.values(), *self._known.values()]
        write_sealed(self._path, _KIND, [json.dumps(row).encode() for row in rows])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Remove the file; keep the results if the check was interrupted."""
        if kind is None:
            self._path.unlink(missing_ok=True)
        elif self._rows:
            self._write()


def _identity(file: KnownFile) -> str:
    return f"{file.path} {file.size} {file.fingerprint}"
