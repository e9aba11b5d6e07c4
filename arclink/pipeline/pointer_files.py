"""Files of pointers between filter and extract, and the driver's choice among pointers.

`arclink.store.known_payloads` chooses the pointers that are worth reading. On an engine, the tasks
of extract do this for the pointers that filter wrote. On one machine, the driver does it, because
tasks cannot open its store.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from arclink.reasons import Reason
from arclink.rows.pointers import (
    CHOSEN,
    NAMED,
    WAITING,
    Pointer,
    format_absent,
    format_pointer,
    parse_pointer,
)
from arclink.store.known_payloads import choose_pointers
from arclink.store.protocols import KnownPayloads

POINTERS_OF_PART = 100_000
"""Maximum number of pointers in one file: it is the input of one map task."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Pointers that the driver chose.

    Attributes:
        parts: Files with the pointers to read.
        waiting: File with the pointers whose recorded links are not to be read.
        named: File with the pointers that wait for a capture that their revisits name.
        absent: File with the pointers whose checksum only revisits have.
        counts: Outcomes decided here, such as payloads that the store knows already.
    """

    parts: Sequence[Path]
    waiting: Path
    named: Path
    absent: Path
    counts: Counter[Reason]


def read_pointers(parts: Iterable[Path]) -> Iterator[Pointer]:
    """Yield the pointers in ``pointers`` parts."""
    for part in parts:
        with part.open("rb") as lines:
            for line in lines:
                yield parse_pointer(line.rstrip(b"\n"))


def write_pointers(pointers: Iterable[Pointer], path: Path) -> int:
    """Write pointers to a file, in the order given; return their number."""
    number = 0
    with path.open("wb") as lines:
        for pointer in pointers:
            lines.write(format_pointer(pointer) + b"\n")
            number += 1
    return number


def choose(pointers: Iterable[Pointer], store: KnownPayloads, folder: Path) -> Chosen:
    """Write the pointers that are worth reading.

    Args:
        pointers: In the order that filter wrote them: the chunks of one payload are adjacent. Read
            once.
        store: Gives the payloads and contents that are known already.
        folder: Folder for the files; created if it does not exist.
    """
    counts: Counter[Reason] = Counter()
    folder.mkdir(parents=True, exist_ok=True)
    waiting, named, absent = folder / "waiting", folder / "named", folder / "absent"
    parts: list[Path] = []
    with (
        store.snapshot(),
        waiting.open("wb") as waits,
        named.open("wb") as names,
        absent.open("wb") as absents,
    ):
        others = {WAITING: waits, NAMED: names}
        chosen = _chosen(pointers, store, counts, others, absents)
        part = folder / "part-00000"
        while write_pointers(islice(chosen, POINTERS_OF_PART), part):
            parts.append(part)
            part = folder / f"part-{len(parts):05d}"
    part.unlink()
    return Chosen(parts, waiting, named, absent, counts)


def _chosen(
    pointers: Iterable[Pointer],
    store: KnownPayloads,
    counts: Counter[Reason],
    waiting: Mapping[bytes, BinaryIO],
    absent: BinaryIO,
) -> Iterator[Pointer]:
    """Yield the pointers to read; write the others."""
    for relation, pointer in choose_pointers(pointers, store, counts):
        if relation == CHOSEN:
            yield pointer
        elif relation in waiting:
            waiting[relation].write(format_pointer(pointer) + b"\n")
        else:
            absent.write(format_absent(pointer) + b"\n")
