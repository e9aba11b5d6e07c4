"""Between filter and extract: which pointers are worth reading, and which task reads them.

A payload the store has is not read again, unless it was now captured where its links may lead elsewhere. Pointers are
sorted by file and offset, and files are shared out over tasks by the bytes pointed to (paper, 3.2.4): one task opens
each file once and reads it forward.
"""

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import orjson

from arclink.archive_names import known_as
from arclink.filter.pointers import NO_FILE, ORIGINALS, FallBack, Pointer, PointerKind, format_pointer, parse_pointer
from arclink.model import Timestamp, UriR
from arclink.reasons import Reason
from arclink.store import ArchiveFile
from arclink.store.nothing import KnownPayloads


@dataclass(frozen=True, slots=True)
class Plan:
    """What extract is to do.

    Attributes:
        manifests: One per task.
        waiting: What there is nothing to read of, unless the batch turns out to hold a capture of it.
        counts: What was decided here: known already.
    """

    manifests: Sequence[Path]
    waiting: Sequence[Pointer]
    counts: Counter[Reason]


def read_pointers(parts: Iterable[Path]) -> Iterator[Pointer]:
    """Yield the pointers in ``pointers`` parts."""
    for part in parts:
        with part.open("rb") as lines:
            for line in lines:
                yield parse_pointer(line.rstrip(b"\n"))


def plan(pointers: Iterable[Pointer], store: KnownPayloads, paths: Mapping[str, str], folder: Path, tasks: int) -> Plan:
    """Write the manifests of one extract step.

    Args:
        pointers: As filter wrote them.
        store: What is known already.
        paths: Where archive files are, by name.
        folder: Where the manifests go; made if it is not there.
        tasks: How many there may be at most.
    """
    counts: Counter[Reason] = Counter()
    waiting: list[Pointer] = []
    wanted: list[tuple[str, int, Pointer]] = []
    for pointer in _with_store(sorted(pointers, key=lambda pointer: (pointer.checksum, pointer.chunk)), store, counts, waiting):
        wanted.append((_path_of(pointer.file, paths), pointer.offset, pointer))
    wanted.sort(key=lambda entry: (entry[0], entry[1], entry[2].chunk))
    folder.mkdir(parents=True, exist_ok=True)
    manifests = []
    for number, share in enumerate(_share_out(wanted, tasks)):
        manifest = folder / f"manifest-{number:05d}.gz"  # compressed: one input file is one task on every engine
        lines = [orjson.dumps(_paths_of(path, pointer, paths)) + b"\t" + format_pointer(pointer) + b"\n" for path, _, pointer in share]
        manifest.write_bytes(gzip.compress(b"".join(lines), compresslevel=1))
        manifests.append(manifest)
    return Plan(manifests, waiting, counts)


def _paths_of(path: str, pointer: Pointer, paths: Mapping[str, str]) -> str | list[str]:
    """Return the path of the capture to read; of the last resort, those of all captures to try."""
    if pointer.kind is not PointerKind.LAST_RESORT:
        return path
    return [path, *(_path_of(other.file, paths) for other in pointer.fall_backs)]


def _path_of(file: str, paths: Mapping[str, str]) -> str:
    return paths.get(file) or paths.get(known_as(file, paths) or "") or NO_FILE


_OF_CHECKSUM = frozenset({PointerKind.PAYLOAD, PointerKind.REVISIT_ONLY, PointerKind.LAST_RESORT})


def _with_store(pointers: Sequence[Pointer], store: KnownPayloads, counts: Counter[Reason], waiting: list[Pointer]) -> Iterator[Pointer]:
    """Yield what is to be read, with the originals that the store adds, and without those it has the content of."""
    waiting += [pointer for pointer in pointers if pointer.kind is PointerKind.UNREAD]
    by_checksum = [pointer for pointer in pointers if pointer.kind in _OF_CHECKSUM]
    chunks = Counter(pointer.checksum for pointer in by_checksum)
    known = store.known_contents((pointer.checksum, pointer.originals) for pointer in by_checksum)
    for pointer, (payload, missing) in zip(by_checksum, known, strict=True):
        if payload is None or payload.scope is None:
            if pointer.kind is PointerKind.REVISIT_ONLY:
                waiting.append(pointer)
                continue
            if pointer.chunk:
                yield pointer
            else:
                yield from _with_earlier(pointer, store.originals_of(pointer.checksum), chunks[pointer.checksum])
        elif not missing:
            counts[Reason.PAYLOAD_KNOWN] += pointer.chunk == 0
        elif pointer.kind is PointerKind.REVISIT_ONLY:
            # Where the payload was read before, another original was captured; which one, the store does not say.
            place = replace(pointer, file=payload.file, offset=payload.offset, length=-1, original=UriR(""))
            yield replace(place, kind=PointerKind.PAYLOAD, originals=tuple(missing))
        else:
            # The new capture may be damaged; the one that was read before was not.
            before = FallBack(payload.file, payload.offset, -1, Timestamp(""), UriR(""))
            yield replace(pointer, originals=tuple(missing), fall_backs=(*pointer.fall_backs, before))
    yield from (pointer for pointer in pointers if pointer.kind not in _OF_CHECKSUM and pointer.kind is not PointerKind.UNREAD)


def _with_earlier(pointer: Pointer, earlier: Iterable[UriR], chunk: int) -> Iterator[Pointer]:
    """Yield a pointer with the originals of earlier batches; those that it has no room for in further pointers.

    Args:
        pointer: The first of its payload.
        earlier: Where earlier batches captured its payload; there may be a million.
        chunk: Number of the first further pointer.
    """
    own = set(pointer.originals)
    others = (original for original in earlier if original not in own)
    room = max(ORIGINALS - len(own), 0)
    first = tuple(islice(others, room))
    yield replace(pointer, originals=(*pointer.originals, *first)) if first else pointer
    while some := tuple(islice(others, ORIGINALS)):
        yield replace(pointer, originals=some, chunk=chunk)
        chunk += 1


def _share_out(wanted: Sequence[tuple[str, int, Pointer]], tasks: int) -> Iterator[Sequence[tuple[str, int, Pointer]]]:
    """Yield each task's share, sorted by file and offset.

    Whole files where there are at least as many as tasks at a time, the largest first to the task that has least; else
    ranges of one file's pointers, so that one large archive file keeps all cores busy.
    """
    files: dict[str, list[tuple[str, int, Pointer]]] = {}
    for entry in wanted:
        files.setdefault(entry[0], []).append(entry)
    pieces: list[list[tuple[str, int, Pointer]]] = []
    most = sum(_weight(entry[2]) for entry in wanted) // max(tasks, 1) + 1
    for entries in files.values():
        pieces += _ranges(entries, most) if len(files) < tasks else [entries]
    shares: list[list[tuple[str, int, Pointer]]] = [[] for _ in range(min(tasks, len(pieces)))]
    filled = [0] * len(shares)
    for piece in sorted(pieces, key=lambda piece: -sum(_weight(entry[2]) for entry in piece)):
        least = filled.index(min(filled))
        shares[least] += piece
        filled[least] += sum(_weight(entry[2]) for entry in piece)
    for share in shares:
        share.sort(key=lambda entry: (entry[0], entry[1], entry[2].chunk))
        yield share


def _ranges(entries: Sequence[tuple[str, int, Pointer]], most: int) -> Iterator[list[tuple[str, int, Pointer]]]:
    """Yield runs of one file's pointers of about ``most`` bytes; the chunks of one payload stay together."""
    piece: list[tuple[str, int, Pointer]] = []
    filled = 0
    for entry in entries:
        if piece and filled >= most and entry[1] != piece[-1][1]:
            yield piece
            piece, filled = [], 0
        piece.append(entry)
        filled += _weight(entry[2])
    if piece:
        yield piece


def _weight(pointer: Pointer) -> int:
    """Return what a pointer costs about: its bytes, or those of a common page where the CDX does not say."""
    return pointer.length + 500 if pointer.length > 0 else 10_000


def archive_paths(files: Iterable[ArchiveFile]) -> dict[str, str]:
    """Return where archive files are, by name."""
    return {file.name: file.path for file in files}
