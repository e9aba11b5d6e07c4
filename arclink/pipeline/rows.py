"""CDX rows of each batch: a row belongs to the batch of the archive file that it points to."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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
from arclink.rows.cdx_files import read_usual_line_lists
from arclink.rows.cdx_pieces import CdxPiece, format_piece, pieces_of
from arclink.shares import shares_of
from arclink.store.protocols import KnownFile

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
