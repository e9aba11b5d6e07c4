"""Between filter and extract: which pointers are worth reading, and which task reads them.

A payload the store has is not read again, unless it was now captured where its links may lead elsewhere. Pointers are
sorted by file and offset, and files are shared out over tasks by the bytes pointed to (paper, 3.2.4): one task opens
each file once and reads it forward.
"""

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from arclink.archive_names import known_as
from arclink.filter.pointers import NO_FILE, Pointer, PointerKind, format_pointer, parse_pointer
from arclink.graph.relations import format_payload
from arclink.model import Payload, UriR
from arclink.reasons import Reason
from arclink.store import ArchiveFile
from arclink.store.nothing import KnownPayloads


@dataclass(frozen=True, slots=True)
class Plan:
    """What extract is to do.

    Attributes:
        manifests: One per task.
        unread: ``payloads`` rows of what cannot be read, with the reason.
        counts: What was decided here: known, or not at hand.
    """

    manifests: Sequence[Path]
    unread: Sequence[bytes]
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
    unread: list[bytes] = []
    wanted: list[tuple[str, int, Pointer]] = []
    for pointer in _with_store(sorted(pointers, key=lambda pointer: (pointer.checksum, pointer.chunk)), store, counts, unread):
        path = paths.get(pointer.file) or paths.get(known_as(pointer.file, paths) or "") or NO_FILE
        wanted.append((path, pointer.offset, pointer))
    wanted.sort(key=lambda entry: (entry[0], entry[1], entry[2].chunk))
    folder.mkdir(parents=True, exist_ok=True)
    manifests = []
    for number, share in enumerate(_share_out(wanted, tasks)):
        manifest = folder / f"manifest-{number:05d}.gz"  # compressed: one input file is one task on every engine
        lines = [orjson.dumps(path) + b"\t" + format_pointer(pointer) + b"\n" for path, _, pointer in share]
        manifest.write_bytes(gzip.compress(b"".join(lines), compresslevel=1))
        manifests.append(manifest)
    return Plan(manifests, unread, counts)


def _with_store(pointers: Sequence[Pointer], store: KnownPayloads, counts: Counter[Reason], unread: list[bytes]) -> Iterator[Pointer]:
    """Yield what is to be read, with the originals that the store adds, and without those it has the content of."""
    by_checksum = [pointer for pointer in pointers if pointer.kind in (PointerKind.PAYLOAD, PointerKind.REVISIT_ONLY)]
    known = store.known_contents((pointer.checksum, pointer.originals) for pointer in by_checksum)
    for pointer, (payload, missing) in zip(by_checksum, known, strict=True):
        if payload is None or payload.scope is None:
            if pointer.kind is PointerKind.REVISIT_ONLY:
                counts[Reason.PAYLOAD_NOT_AT_HAND] += pointer.chunk == 0
                if payload is None:
                    unread.append(_not_at_hand(pointer))
                continue
            earlier = [] if pointer.chunk else [one for one in store.originals_of(pointer.checksum) if one not in pointer.originals]
            yield replace(pointer, originals=(*pointer.originals, *earlier)) if earlier else pointer
        elif not missing:
            counts[Reason.PAYLOAD_KNOWN] += pointer.chunk == 0
        elif pointer.kind is PointerKind.REVISIT_ONLY:
            # Where the payload was read before, another original was captured; which one, the store does not say.
            place = replace(pointer, file=payload.file, offset=payload.offset, length=-1, original=UriR(""))
            yield replace(place, kind=PointerKind.PAYLOAD, originals=tuple(missing))
        else:
            yield replace(pointer, originals=tuple(missing))
    yield from (pointer for pointer in pointers if pointer.kind not in (PointerKind.PAYLOAD, PointerKind.REVISIT_ONLY))


def _not_at_hand(pointer: Pointer) -> bytes:
    return format_payload(Payload(pointer.checksum, None, "-", NO_FILE, 0, Reason.PAYLOAD_NOT_AT_HAND.name))


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
