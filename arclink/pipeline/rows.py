"""CDX rows and pointers of each batch: both belong to the batch of the file that they name."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from arclink.archives.locations import Location, RemotePath, location_of, split_entry
from arclink.archives.marks import of_each
from arclink.counts import Counts
from arclink.errors import InputError
from arclink.filter.sharing import (
    NO_ROW,
    REFUSED,
    SHARED,
    RowSharing,
    SharedFile,
    checked,
    format_table,
    parse_findings,
    relation_of,
)
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from arclink.reasons import Reason
from arclink.rows.cdx_files import CdxPiece, format_piece, pieces_of, read_usual_line_lists
from arclink.rows.pointers import (
    CHOSEN,
    NAMED,
    WAITING,
    Pointer,
    format_absent,
    format_pointer,
    parse_pointer,
)
from arclink.shares import shares_of
from arclink.store.known_payloads import choose_pointers
from arclink.store.protocols import KnownFile, KnownPayloads

# Files of pointers between filter and extract, and the driver's choice among pointers.
#
# `arclink.store.known_payloads` chooses the pointers that are worth reading. On an engine, the
# tasks of extract do this for the pointers that filter wrote. On one machine, the driver does it,
# because tasks cannot open its store.

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


_BATCHES_OF_TASK = 64
"""Number of batches whose rows one task of an engine writes: it has a file open for each.

In Hadoop, a file that is being written is two threads and some buffers. A task with 300 of them
fitted into 1 GB of memory, one with 1,500 did not.
"""


@dataclass(frozen=True, slots=True)
class SharedRows:
    """The rows of CDX files by batch.

    Attributes:
        by_batch: The files of each batch that has rows; an engine may store them.
        lines: Number of lines of each of these batches.
        names: Archive files that rows point to, by their names in the batches.
        passed_over: Counts of rows whose file is in the store already, or was not given to the
            build.
    """

    by_batch: Mapping[int, Sequence[Path]] = field(default_factory=dict)
    lines: Mapping[int, int] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    passed_over: Counts = field(default_factory=Counter)


def share_rows(
    cdx: Sequence[Location],
    files: Sequence[SharedFile],
    folder: Path,
    prefixes: Sequence[str] = (),
) -> SharedRows:
    """Write each row of CDX files to the file of its batch.

    The rows are read in one pass, whatever the number of batches. Lines that are not rows go to
    `arclink.filter.sharing.NO_ROW`.

    Args:
        cdx: From `arclink.rows.cdx_files.find_cdx`.
        files: The archive files, where rows have their names or the last parts of these.
        folder: Folder for the files of the batches.
        prefixes: SURT prefixes of the selection; see `read_usual_lines`.

    Raises:
        InputError: A CDX file cannot be read, or is not one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sharing = RowSharing(files)
    names = {file.path: file.name for file in files}
    written: dict[int, Path] = {}
    for path in cdx:
        lists = checked(read_usual_line_lists(path, prefixes, names), path)
        for batch, lines in sharing.share(lists):
            mode = "ab" if batch in written else "wb"
            written[batch] = folder / f"{relation_of(batch).decode()}.cdx"
            with written[batch].open(mode) as file:
                file.write(b"".join(lines))
    return SharedRows(
        {batch: [path] for batch, path in written.items()},
        sharing.lines,
        frozenset(sharing.found),
        sharing.passed_over,
    )


def names_nothing(cdx: Sequence[Location], files: Sequence[KnownFile]) -> InputError:
    """Return the error for CDX files without a row that names one of the archive files."""
    return InputError(
        f"no row of {', '.join(map(str, cdx))} names one of the given archive files, such as "
        f"{files[0].name}; their column of the file name must name these files"
    )


def share_rows_by_tasks(
    cdx: Sequence[Location],
    files: Sequence[SharedFile],
    folder: Path,
    prefixes: Sequence[str],
    run: JobRunner,
) -> SharedRows:
    """Have tasks of an engine write each row of CDX files to its batch; see `share_rows`.

    The rows stay where the engine stores its files. Local CDX files are copied there first.

    Args:
        cdx: As in `share_rows`.
        files: As in `share_rows`.
        folder: As in `share_rows`; in the work folder.
        prefixes: As in `share_rows`.
        run: Runs the tasks.

    Raises:
        InputError: A CDX file cannot be read, or is not one.
    """
    run.remove(folder)  # an engine keeps a file that has the size of the new one
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "files"
    table.write_bytes(format_table(files))
    pieces = [
        piece._replace(file=file, number=number)
        for file, of_file in enumerate(of_each(lambda path: pieces_of(path, prefixes), cdx))
        for number, piece in enumerate(of_file)
    ]
    if not pieces:
        return SharedRows()
    written = folder / "shared"
    batches = sorted({file.batch for file in files if file.batch >= 0} | {NO_ROW})
    run.run(
        JOBS["share"],
        _write_manifests(_with_addresses(pieces, folder, run), folder, 2 * run.cores),
        written,
        {"files": run.task_address(table), **_tasks_of(max(batches) + 1, run.cores)},
        are_relations=True,
    )
    relations = [SHARED, REFUSED, *map(relation_of, batches)]
    run.split(written, {name: written / name.decode() for name in relations}, "share")
    for name in (SHARED, REFUSED):
        run.fetch(written / name.decode())
    for part in parts_of(written / REFUSED.decode()):
        raise InputError(part.read_bytes().splitlines()[0].decode("unicode_escape"))
    return _shared(files, batches, written, run)


def _tasks_of(batches: int, cores: int) -> Mapping[str, int]:
    """Return the numbers of tasks that write the rows of batches, and of those for each batch.

    >>> _tasks_of(1, 8), _tasks_of(3, 8), _tasks_of(1_500, 2)
    ({'tasks': 8, 'slices': 8}, {'tasks': 8, 'slices': 2}, {'tasks': 24, 'slices': 1})
    """
    tasks = max(cores, -(-batches // _BATCHES_OF_TASK))
    return {"tasks": tasks, "slices": max(1, cores // max(batches, 1))}


def _with_addresses(pieces: Iterable[CdxPiece], folder: Path, run: JobRunner) -> Iterator[CdxPiece]:
    """Yield pieces with the addresses at which tasks find their files."""
    addresses: dict[str, str] = {}
    for piece in pieces:
        if piece.path not in addresses:
            addresses[piece.path] = _task_address(
                piece.path, folder / f"cdx-{len(addresses):06d}", run
            )
        yield piece._replace(task_address=addresses[piece.path])


def _task_address(path: str, link: Path, run: JobRunner) -> str:
    """Return the path or address at which tasks find a CDX file.

    Tasks read an index in a WACZ at its own path, as they read the archive files in it.

    Args:
        path: The file.
        link: Path in the work folder for a link to a local file, which an engine may need to copy.
        run: Knows the addresses.
    """
    if isinstance(location_of(path), RemotePath) or split_entry(path):
        return path
    link.symlink_to(path)
    return run.task_address(link)


def _write_manifests(pieces: Iterable[CdxPiece], folder: Path, tasks: int) -> list[Path]:
    """Write the manifests of at most ``tasks`` tasks that distribute the lines of pieces."""
    manifests = []
    for number, share in enumerate(shares_of(pieces, lambda piece: piece.size, tasks)):
        manifests.append(folder / f"manifest-{number:05d}")
        manifests[-1].write_bytes(b"".join(format_piece(piece) + b"\n" for piece in share))
    return manifests


def _shared(
    files: Sequence[SharedFile], batches: Iterable[int], folder: Path, run: JobRunner
) -> SharedRows:
    """Return the rows that tasks wrote to a folder."""
    names: set[str] = set()
    passed_over: Counts = Counter()
    lines: Counter[int] = Counter()
    for part in parts_of(folder / SHARED.decode()):
        for line in part.read_bytes().splitlines():
            findings = parse_findings(line)
            names.update(name for name in findings.names_in(files))
            passed_over.update(
                {Reason[name]: count for name, count in findings.passed_over.items()}
            )
            lines.update({int(batch): count for batch, count in findings.lines.items()})
    by_batch = {
        batch: run.parts(folder / relation_of(batch).decode()) for batch in batches if lines[batch]
    }
    return SharedRows(by_batch, lines, frozenset(names), passed_over)
