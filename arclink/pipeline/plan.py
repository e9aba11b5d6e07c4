"""Plan of an extract step: which pointers from filter are worth reading, and which task reads them.

A payload that the store has is not read again, unless it was now captured under a URI where its
links may lead elsewhere. Pointers are sorted by file and offset, and files are shared out over
tasks by the number of bytes pointed to (paper, 3.2.4): one task opens each file once and reads it
forward.

Pointers are kept in a temporary file. Memory holds their places in that file, not the originals
that they carry.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from gzip import GzipFile
from itertools import groupby, islice, tee
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

import orjson

from arclink.archives.names import known_as
from arclink.closing import Closing
from arclink.model import Timestamp, UriR
from arclink.reasons import Reason
from arclink.rows.link_sources import LinkSource, source_in, source_of
from arclink.rows.pointers import (
    NO_FILE,
    ORIGINALS,
    FallBack,
    Pointer,
    PointerKind,
    format_pointer,
    parse_pointer,
)
from arclink.store.protocols import KnownFile, KnownPayloads


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of one extract step.

    Attributes:
        manifests: Files with the pointers to read, one per task.
        waiting: File with the pointers that have nothing to read, unless the batch turns out to
            have
            a capture of their payload.
        counts: Outcomes decided here, such as payloads that the store knows already.
    """

    manifests: Sequence[Path]
    waiting: Path
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
    manifests = []
    with _Wanted(paths, folder) as wanted:
        with store.snapshot(), waiting.open("wb") as lines:
            _choose(
                pointers,
                store,
                counts,
                lambda pointer: lines.write(format_pointer(pointer) + b"\n"),
                wanted,
            )
        wanted.sort()
        for number, share in enumerate(_share_out(wanted.entries, tasks)):
            manifest = (
                folder / f"manifest-{number:05d}.gz"
            )  # compressed: one input file is one task on every engine
            with manifest.open("wb") as file, GzipFile("", "wb", 1, file, 0) as lines:
                lines.writelines(map(wanted.line, share))
            manifests.append(manifest)
    return Plan(manifests, waiting, counts)


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
        """Add a pointer; one with many captures to try gets the paths of all of them."""
        path = self._path_of(pointer.file)
        all_paths: str | list[str] = path
        if pointer.kind in (PointerKind.LAST_RESORT, PointerKind.RECORDED):
            all_paths = [path, *(self._path_of(other.file) for other in pointer.fall_backs)]
        line = orjson.dumps(all_paths) + b"\t" + format_pointer(pointer) + b"\n"
        self._lines.write(line)
        self.entries.append(
            _Entry(path, pointer.offset, pointer.chunk, self._end, len(line), _weight(pointer))
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

    def _path_of(self, file: str) -> str:
        return (
            self._paths.get(file) or self._paths.get(known_as(file, self._paths) or "") or NO_FILE
        )


_OF_CHECKSUM = frozenset(
    {
        PointerKind.PAYLOAD,
        PointerKind.REVISIT_ONLY,
        PointerKind.LAST_RESORT,
        PointerKind.RECORDED,
    }
)


def _choose(
    pointers: Iterable[Pointer],
    store: KnownPayloads,
    counts: Counter[Reason],
    wait: Callable[[Pointer], object],
    wanted: _Wanted,
) -> None:
    """Add the pointers to read.

    Originals of earlier batches are added to them; originals whose content is known are removed.
    """

    def by_checksum() -> Iterator[Pointer]:
        for pointer in pointers:
            if pointer.kind in _OF_CHECKSUM:
                yield pointer
            elif pointer.kind is PointerKind.UNREAD:
                wait(pointer)
            else:
                wanted.add(pointer)

    replaces = store.replaces_links
    chosen, asked = tee(by_checksum())
    known = store.known_contents((pointer.checksum, pointer.originals) for pointer in asked)
    for _, chunks in groupby(zip(chosen, known, strict=True), lambda found: found[0].checksum):
        earlier: Iterator[UriR] = iter(
            ()
        )  # where earlier batches captured the payload; there may be a million
        for pointer, (payload, missing) in chunks:
            source = source_of(payload) if payload is not None else None
            is_worse = source is not None and source > _source_of_pointer(pointer)
            if is_worse and not replaces and pointer.chunk == 0:
                counts[Reason.NOTE_WAT_KEPT] += 1
            if pointer.kind is PointerKind.RECORDED:
                if source in (None, LinkSource.CRAWLER):
                    wanted.add(pointer)
                else:  # the links of the payload itself are known, but not at this original
                    wait(replace(pointer, kind=PointerKind.UNREAD))
            elif payload is None or source is None or (is_worse and replaces):
                if pointer.kind is PointerKind.REVISIT_ONLY:
                    wait(pointer)
                    continue
                if pointer.chunk == 0:
                    pointer, earlier = _with_earlier(pointer, store.originals_of(pointer.checksum))
                wanted.add(pointer)
            elif not missing:
                counts[Reason.PAYLOAD_KNOWN] += pointer.chunk == 0
            elif pointer.kind is PointerKind.REVISIT_ONLY and source is LinkSource.CRAWLER:
                wait(replace(pointer, originals=tuple(missing)))
            elif pointer.kind is PointerKind.REVISIT_ONLY:
                # The payload was read before, but another original was captured. The store does not
                # say which.
                place = replace(
                    pointer, file=payload.file, offset=payload.offset, length=-1, original=UriR("")
                )
                wanted.add(replace(place, kind=PointerKind.PAYLOAD, originals=tuple(missing)))
            else:
                # The new capture may be damaged; the capture that was read before was not.
                before = FallBack(payload.file, payload.offset, -1, Timestamp(""), UriR(""))
                wanted.add(
                    replace(
                        pointer, originals=tuple(missing), fall_backs=(*pointer.fall_backs, before)
                    )
                )
        chunk = pointer.chunk
        while some := tuple(islice(earlier, ORIGINALS)):
            chunk += 1
            wanted.add(replace(pointer, originals=some, chunk=chunk))


def _source_of_pointer(pointer: Pointer) -> LinkSource:
    """Return the source of links that a pointer to a payload leads to."""
    if pointer.kind in (PointerKind.REVISIT_ONLY, PointerKind.RECORDED):
        return LinkSource.CRAWLER
    return source_in(pointer.file)


def _with_earlier(pointer: Pointer, earlier: Iterable[UriR]) -> tuple[Pointer, Iterator[UriR]]:
    """Return a payload's first pointer, filled with originals of earlier batches, and the rest.

    It takes as many originals as it has room for; the iterator has the others.
    """
    own = set(pointer.originals)
    others = (original for original in earlier if original not in own)
    first = tuple(islice(others, max(ORIGINALS - len(own), 0)))
    return replace(pointer, originals=(*pointer.originals, *first)) if first else pointer, others


def _share_out(wanted: Sequence[_Entry], tasks: int) -> Iterator[Sequence[_Entry]]:
    """Yield each task's share, sorted by file and offset.

    Where there are at least as many files as tasks at a time, a share is made of whole files; the
    largest goes first to the task with the fewest bytes. Otherwise it is made of ranges of one
    file's
    pointers, so that one large archive file keeps all cores busy.
    """
    files: dict[str, list[_Entry]] = {}
    for entry in wanted:
        files.setdefault(entry.path, []).append(entry)
    pieces: list[list[_Entry]] = []
    most = sum(entry.weight for entry in wanted) // max(tasks, 1) + 1
    for entries in files.values():
        pieces += _ranges(entries, most) if len(files) < tasks else [entries]
    shares: list[list[_Entry]] = [[] for _ in range(min(tasks, len(pieces)))]
    filled = [0] * len(shares)
    for piece in sorted(pieces, key=lambda piece: -sum(entry.weight for entry in piece)):
        least = filled.index(min(filled))
        shares[least] += piece
        filled[least] += sum(entry.weight for entry in piece)
    for share in shares:
        share.sort()
        yield share


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
