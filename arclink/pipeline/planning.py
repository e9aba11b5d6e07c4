"""Between filter and extract: which pointers are worth reading, and which task reads them.

A payload the store has is not read again, unless it was now captured where its links may lead elsewhere. Pointers are
sorted by file and offset, and files are shared out over tasks by the bytes pointed to (paper, 3.2.4): one task opens
each file once and reads it forward.

Pointers wait in a file: memory holds where each of them stands there, not the originals that it carries.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from gzip import GzipFile
from itertools import groupby, islice, tee
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import NamedTuple, Self

import orjson

from arclink.archive_names import is_wat, known_as
from arclink.filter.pointers import NO_FILE, ORIGINALS, FallBack, Pointer, PointerKind, format_pointer, parse_pointer
from arclink.model import Payload, Timestamp, UriR
from arclink.reasons import Reason
from arclink.store import ArchiveFile
from arclink.store.nothing import KnownPayloads


@dataclass(frozen=True, slots=True)
class Plan:
    """What extract is to do.

    Attributes:
        manifests: One per task.
        waiting: Pointers to what there is nothing to read of, unless the batch turns out to hold a capture of it.
        counts: What was decided here: known already.
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
    """Write pointers to a file, as they come; return whether there are any."""
    with path.open("wb") as lines:
        lines.writelines(format_pointer(pointer) + b"\n" for pointer in pointers)
        return lines.tell() > 0


def plan(pointers: Iterable[Pointer], store: KnownPayloads, paths: Mapping[str, str], folder: Path, tasks: int) -> Plan:
    """Write the manifests of one extract step.

    Args:
        pointers: As filter wrote them: the chunks of one payload one after the other. Read once.
        store: What is known already.
        paths: Where archive files are, by name.
        folder: Where the manifests go; made if it is not there.
        tasks: How many there may be at most.
    """
    counts: Counter[Reason] = Counter()
    folder.mkdir(parents=True, exist_ok=True)
    waiting = folder / "waiting"
    manifests = []
    with _Wanted(paths, folder) as wanted:
        with store.snapshot(), waiting.open("wb") as lines:
            _choose(pointers, store, counts, lambda pointer: lines.write(format_pointer(pointer) + b"\n"), wanted)
        wanted.sort()
        for number, share in enumerate(_share_out(wanted.entries, tasks)):
            manifest = folder / f"manifest-{number:05d}.gz"  # compressed: one input file is one task on every engine
            with manifest.open("wb") as file, GzipFile("", "wb", 1, file, 0) as lines:
                lines.writelines(map(wanted.line, share))
            manifests.append(manifest)
    return Plan(manifests, waiting, counts)


class _Entry(NamedTuple):
    """A line of a manifest to be: sorted by file and offset, the chunks of a payload one after the other.

    Attributes:
        path: Of the archive file.
        offset: Of the record in it.
        chunk: Of the pointer.
        start: Where the line stands.
        size: Its bytes.
        weight: What following the pointer costs about, in bytes.
    """

    path: str
    offset: int
    chunk: int
    start: int
    size: int
    weight: int


class _Wanted:
    """The lines of the manifests, in a file that is gone when it is closed, and where each of them stands in it.

    Args:
        paths: Where archive files are, by name.
        folder: On the disk that the manifests go to.
    """

    def __init__(self, paths: Mapping[str, str], folder: Path) -> None:
        self.entries: list[_Entry] = []
        self._paths = paths
        self._lines = TemporaryFile(dir=folder)  # noqa: SIM115  closed on exit
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lines.close()

    def add(self, pointer: Pointer) -> None:
        """Add a pointer; of the last resort, with the paths of all captures to try."""
        path = self._path_of(pointer.file)
        all_paths: str | list[str] = path
        if pointer.kind is PointerKind.LAST_RESORT:
            all_paths = [path, *(self._path_of(other.file) for other in pointer.fall_backs)]
        line = orjson.dumps(all_paths) + b"\t" + format_pointer(pointer) + b"\n"
        self._lines.write(line)
        self.entries.append(_Entry(path, pointer.offset, pointer.chunk, self._end, len(line), _weight(pointer)))
        self._end += len(line)

    def sort(self) -> None:
        """Sort the entries; nothing is added afterwards, and their lines can be read."""
        self._lines.flush()
        self.entries.sort()

    def line(self, entry: _Entry) -> bytes:
        """Return the line that an entry stands for."""
        return os.pread(self._lines.fileno(), entry.size, entry.start)  # where a buffer would hold what stands behind, and be dropped

    def _path_of(self, file: str) -> str:
        return self._paths.get(file) or self._paths.get(known_as(file, self._paths) or "") or NO_FILE


_OF_CHECKSUM = frozenset({PointerKind.PAYLOAD, PointerKind.REVISIT_ONLY, PointerKind.LAST_RESORT})


def _choose(
    pointers: Iterable[Pointer], store: KnownPayloads, counts: Counter[Reason], wait: Callable[[Pointer], object], wanted: _Wanted
) -> None:
    """Add what is to be read, with the originals that the store adds, and without those it has the content of."""

    def by_checksum() -> Iterator[Pointer]:
        for pointer in pointers:
            if pointer.kind in _OF_CHECKSUM:
                yield pointer
            elif pointer.kind is PointerKind.UNREAD:
                wait(pointer)
            else:
                wanted.add(pointer)

    replaces = getattr(store, "replaces_what_wats_say", False)
    chosen, asked = tee(by_checksum())
    known = store.known_contents((pointer.checksum, pointer.originals) for pointer in asked)
    for _, chunks in groupby(zip(chosen, known, strict=True), lambda found: found[0].checksum):
        earlier: Iterator[UriR] = iter(())  # where earlier batches captured the payload; there may be a million
        for pointer, (payload, missing) in chunks:
            is_in_wat = payload is not None and _is_in_wat_only(payload, pointer)
            if is_in_wat and not replaces and pointer.chunk == 0:
                counts[Reason.NOTE_WAT_KEPT] += 1
            if payload is None or payload.scope is None or (is_in_wat and replaces):
                if pointer.kind is PointerKind.REVISIT_ONLY:
                    wait(pointer)
                    continue
                if pointer.chunk == 0:
                    pointer, earlier = _with_earlier(pointer, store.originals_of(pointer.checksum))
                wanted.add(pointer)
            elif not missing:
                counts[Reason.PAYLOAD_KNOWN] += pointer.chunk == 0
            elif pointer.kind is PointerKind.REVISIT_ONLY:
                # Where the payload was read before, another original was captured; which one, the store does not say.
                place = replace(pointer, file=payload.file, offset=payload.offset, length=-1, original=UriR(""))
                wanted.add(replace(place, kind=PointerKind.PAYLOAD, originals=tuple(missing)))
            else:
                # The new capture may be damaged; the one that was read before was not.
                before = FallBack(payload.file, payload.offset, -1, Timestamp(""), UriR(""))
                wanted.add(replace(pointer, originals=tuple(missing), fall_backs=(*pointer.fall_backs, before)))
        chunk = pointer.chunk
        while some := tuple(islice(earlier, ORIGINALS)):
            chunk += 1
            wanted.add(replace(pointer, originals=some, chunk=chunk))


def _is_in_wat_only(payload: Payload, pointer: Pointer) -> bool:
    """Tell whether a store has a payload from a WAT only, and its archive file is here now, which has more to tell."""
    return payload.scope is not None and is_wat(payload.file) and pointer.kind is not PointerKind.REVISIT_ONLY and not is_wat(pointer.file)


def _with_earlier(pointer: Pointer, earlier: Iterable[UriR]) -> tuple[Pointer, Iterator[UriR]]:
    """Return the first pointer of a payload with as many originals of earlier batches as it has room for, and the others."""
    own = set(pointer.originals)
    others = (original for original in earlier if original not in own)
    first = tuple(islice(others, max(ORIGINALS - len(own), 0)))
    return replace(pointer, originals=(*pointer.originals, *first)) if first else pointer, others


def _share_out(wanted: Sequence[_Entry], tasks: int) -> Iterator[Sequence[_Entry]]:
    """Yield each task's share, sorted by file and offset.

    Whole files where there are at least as many as tasks at a time, the largest first to the task that has least; else
    ranges of one file's pointers, so that one large archive file keeps all cores busy.
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
    """Yield runs of one file's pointers of about ``most`` bytes; the chunks of one payload stay together."""
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
    """Return what a pointer costs about: its bytes, or those of a common page where the CDX does not say."""
    return pointer.length + 500 if pointer.length > 0 else 10_000


def archive_paths(files: Iterable[ArchiveFile]) -> dict[str, str]:
    """Return where archive files are, by name."""
    return {file.name: file.path for file in files}
