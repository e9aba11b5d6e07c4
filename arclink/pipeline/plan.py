"""Plan of an extract step: which task reads which pointers.

`arclink.store.known_payloads` chooses the pointers from filter that are worth reading. They are
sorted by file and offset, and files are shared out over tasks by the number of bytes pointed to
(paper, 3.2.4): one task opens each file once and reads it forward. On an engine, tasks do this for
the pointers that filter wrote (`arclink.jobs.choose_pointers`).

Pointers are kept in a temporary file. Memory holds their places in that file, not the originals
that they carry.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from gzip import GzipFile
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from arclink.closing import Closing
from arclink.extract.reading_tasks import LARGE, line_of, path_of
from arclink.reasons import Reason
from arclink.rows.pointers import (
    CHOSEN,
    Pointer,
    format_pointer,
    parse_pointer,
)
from arclink.shares import shares_of
from arclink.store.known_payloads import choose_pointers
from arclink.store.protocols import KnownFile, KnownPayloads


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of one extract step.

    Attributes:
        manifests: Files with the pointers to read, one per task.
        waiting: Files with the pointers that have nothing to read, unless the batch turns out to
            have a capture of their payload.
        counts: Outcomes decided here, such as payloads that the store knows already.
    """

    manifests: Sequence[Path]
    waiting: Sequence[Path]
    counts: Counter[Reason]


def read_pointers(parts: Iterable[Path]) -> Iterator[Pointer]:
    """Yield the pointers in ``pointers`` parts."""
    for part in parts:
        with part.open("rb") as lines:
            for line in lines:
                yield parse_pointer(line.rstrip(b"\n"))


def write_pointers(pointers: Iterable[Pointer], path: Path) -> bool:
    """Write pointers to a file, in the order given; return whether there were any."""
    with path.open("wb") as lines:
        lines.writelines(format_pointer(pointer) + b"\n" for pointer in pointers)
        return lines.tell() > 0


def plan(
    pointers: Iterable[Pointer],
    store: KnownPayloads,
    paths: Mapping[str, str],
    folder: Path,
    tasks: int,
) -> Plan:
    """Write the manifests of one extract step.

    Args:
        pointers: In the order that filter wrote them: the chunks of one payload are adjacent. Read
            once.
        store: Gives the payloads and contents that are known already.
        paths: Paths of the archive files by name.
        folder: Folder for the manifests; created if it does not exist.
        tasks: Maximum number of manifests.
    """
    counts: Counter[Reason] = Counter()
    folder.mkdir(parents=True, exist_ok=True)
    waiting = folder / "waiting"
    with _Wanted(paths, folder) as wanted:
        with store.snapshot(), waiting.open("wb") as lines:
            for relation, pointer in choose_pointers(pointers, store, counts):
                if relation == CHOSEN:
                    wanted.add(pointer)
                else:
                    lines.write(format_pointer(pointer) + b"\n")
        return Plan(_write_manifests(wanted, folder, tasks), [waiting], counts)


def _write_manifests(wanted: "_Wanted", folder: Path, tasks: int) -> list[Path]:
    """Write the manifests of at most ``tasks`` tasks."""
    wanted.sort()
    manifests = []
    for number, share in enumerate(_share_out(wanted.entries, tasks)):
        # Compressed: one input file is one task on every engine.
        manifest = folder / f"manifest-{number:05d}.gz"
        with manifest.open("wb") as file, GzipFile("", "wb", 1, file, 0) as lines:
            lines.writelines(map(wanted.line, share))
        manifests.append(manifest)
    return manifests


class _Entry(NamedTuple):
    """A future line of a manifest, ordered by file and offset; a payload's chunks are adjacent.

    Attributes:
        path: Path of the archive file.
        offset: Offset of the record in that file.
        chunk: Chunk number of the pointer.
        start: Offset of the line in the temporary file.
        size: Bytes of the line.
        weight: Approximate cost of reading the pointer's record, in bytes.
    """

    path: str
    offset: int
    chunk: int
    start: int
    size: int
    weight: int


class _Wanted(Closing):
    """The lines of the manifests in a temporary file, and the place of each line in it.

    The file is deleted when it is closed.

    Args:
        paths: Paths of the archive files by name.
        folder: Folder for the temporary file, on the same disk as the manifests.
    """

    def __init__(self, paths: Mapping[str, str], folder: Path) -> None:
        self.entries: list[_Entry] = []
        self._paths = paths
        self._lines = TemporaryFile(dir=folder)  # noqa: SIM115  closed on exit
        self._end = 0

    def close(self) -> None:
        """Remove what was collected."""
        self._lines.close()

    def add(self, pointer: Pointer) -> None:
        """Add a pointer."""
        line = line_of(pointer, self._paths) + b"\n"
        self._lines.write(line)
        self.entries.append(
            _Entry(
                path_of(pointer.file, self._paths),
                pointer.offset,
                pointer.chunk,
                self._end,
                len(line),
                _weight(pointer),
            )
        )
        self._end += len(line)

    def sort(self) -> None:
        """Sort the entries, and make their lines readable; no pointer may be added afterwards."""
        self._lines.flush()
        self.entries.sort()

    def line(self, entry: _Entry) -> bytes:
        """Return the line of an entry."""
        return os.pread(
            self._lines.fileno(), entry.size, entry.start
        )  # without a buffer, which would read the lines after this one in vain


def _share_out(wanted: Sequence[_Entry], tasks: int) -> Iterator[Sequence[_Entry]]:
    """Yield each task's share, sorted by file and offset.

    Where there are at least as many files as tasks at a time, a share is made of whole files; the
    largest goes first to the task with the fewest bytes. Otherwise, and for a file with more than
    `LARGE` times the bytes of a mean task, it is made of ranges of one file's pointers, so that one
    large archive file keeps all cores busy.
    """
    files: dict[str, list[_Entry]] = {}
    for entry in wanted:
        files.setdefault(entry.path, []).append(entry)
    pieces: list[list[_Entry]] = []
    most = _weight_of(wanted) // max(tasks, 1) + 1
    for entries in files.values():
        is_divided = len(files) < tasks or _weight_of(entries) > LARGE * most
        pieces += _ranges(entries, most) if is_divided else [entries]
    for share in shares_of(pieces, _weight_of, tasks):
        yield sorted(chain.from_iterable(share))


def _weight_of(entries: Iterable[_Entry]) -> int:
    return sum(entry.weight for entry in entries)


def _ranges(entries: Sequence[_Entry], most: int) -> Iterator[list[_Entry]]:
    """Yield runs of about ``most`` bytes of one file's pointers, never splitting a payload."""
    piece: list[_Entry] = []
    filled = 0
    for entry in entries:
        if piece and filled >= most and entry.offset != piece[-1].offset:
            yield piece
            piece, filled = [], 0
        piece.append(entry)
        filled += entry.weight
    if piece:
        yield piece


def _weight(pointer: Pointer) -> int:
    """Return the approximate cost of a pointer in bytes; 10,000 if the CDX has no length."""
    return pointer.length + 500 if pointer.length > 0 else 10_000


def archive_paths(files: Iterable[KnownFile]) -> dict[str, str]:
    """Return the paths of archive files by name."""
    return {file.name: file.path for file in files}
