"""The relations of a store as Parquet files."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arclink.access.declarations import (
    ARCHIVES,
    PATH,
    STORE,
    Given,
    Parameter,
    switch,
    whole_number,
)
from arclink.access.texts import counted
from arclink.archives.locations import scheme_of
from arclink.counts import Report
from arclink.errors import UsageError
from arclink.mapreduce.runs import ON_THIS_MACHINE, JobRunner
from arclink.operations.engine import ENGINE, RUNNER, runner_of
from arclink.operations.operation import CORES, Operation, Say
from arclink.store.archive_paths import ArchivePaths
from arclink.store.protocols import GraphStore

if TYPE_CHECKING:
    from arclink.captures.texts import TextsRead

_TABLES_AT = Parameter(
    "tables-at",
    "Address in HDFS or S3, or a folder, where tasks write the store's tables. The store remembers "
    "it.",
    PATH,
    metavar="URL|FOLDER",
    otherwise="next to the store",
    see="reference/relations.md#tables-at-an-address",
)
_REMOVE = switch(
    "remove",
    "Remove the tables, and the slices of analyses. The next query copies or makes them again, but "
    "for the text of pages.",
)
_LOST = switch(
    "lost",
    "With --remove and --tables-at: the place no longer exists, so nothing is removed there.",
)
_PARTS = Parameter(
    "parts",
    "With --tables-at, the number of files of each table.",
    whole_number(100_000, least=1),
    metavar="N",
    otherwise="two per core, or one for each ten million rows",
)


WITH_TEXT = switch(
    "text",
    "Read the text of pages, too: for the tables `texts` and `words`, and to search in them.",
    "how-to/words.md",
)


@dataclass(frozen=True, slots=True)
class TableFiles:
    """The Parquet files of one table.

    Attributes:
        rows: Number of rows; None if tasks wrote the table before.
        bytes: Their size.
        files: Their paths; of a table at an address a pattern.
        parts: Number of files at an address; 0 for files on this machine.
    """

    rows: int | None
    bytes: int
    files: Sequence[str]
    parts: int = 0


@dataclass(frozen=True, slots=True)
class MadeTables(Report):
    """The tables of a store.

    Attributes:
        tables: Their files, by name: ``captures``, ``links`` and, on this machine, ``links by
            page``, ``texts`` and ``words``; empty if they were removed.
        addresses: Addresses at which tasks write the tables.
        texts: What became of pages whose text was missing; None if none was to be read.
    """

    tables: Mapping[str, TableFiles]
    addresses: Sequence[str] = ()
    texts: "TextsRead | None" = None


def _run(given: Given, _: Say) -> MadeTables:
    from arclink.analysis.relations.folder import address_of, leave_address
    from arclink.extras import analysis_extra
    from arclink.store.location import open_store

    store, address = STORE.required(given), _TABLES_AT.optional(given)
    is_lost = _LOST.required(given)
    if is_lost and (address is None or not _REMOVE.required(given)):
        raise UsageError("--lost: only with --remove and --tables-at")
    if WITH_TEXT.required(given) and _REMOVE.required(given):
        raise UsageError("--text: not with --remove")
    if address is None and (
        RUNNER.required(given) not in ON_THIS_MACHINE or _PARTS.optional(given) is not None
    ):
        raise UsageError("--runner, --parts: name the address of the tables, too, with --tables-at")
    with analysis_extra():
        from arclink.analysis.relations.kept import relations_of
        from arclink.analysis.relations.writing import rows_in
    with open_store(store) as opened:
        if _REMOVE.required(given):
            if address is None:
                from arclink.analysis.matrices.slice_cache import remove_derived

                remove_derived(store)
            else:
                leave_address(store, address_of(address), is_lost=is_lost)
            return MadeTables({})
        texts = None
        if address is not None:
            tables = _written_at(address, store, opened, given)
            if WITH_TEXT.required(given):
                texts = read_texts_at(address, store, opened, given)
                tables |= _texts_at(address, store, opened)
            return MadeTables(tables, (), texts)
        if WITH_TEXT.required(given):
            from arclink.captures.texts import read_texts

            texts = read_texts(store, opened, ArchivePaths(ARCHIVES.many(given)))
        made, addresses = relations_of(store, opened, takes_texts=True), opened.tables_at()
    tables = {
        name.replace("_", " "): TableFiles(
            rows_in(paths), sum(path.stat().st_size for path in paths), [*map(str, paths)]
        )
        for name, paths in made.items()
        if paths
    }
    return MadeTables(tables, addresses, texts)


def texts_line(read: "TextsRead") -> str:
    """Return the numbers of texts that were read, and why others were not, as a sentence."""
    line = f"{counted(read.read, 'text')} read"
    if read.cut:
        line += f", {read.cut:,} of them only in part"
    if read.others:
        line += f"; {counted(read.others, 'page')} of other media types without text"
    for reason, number in sorted(read.lost.items(), key=lambda one: one[0].name):
        line += f"; {number:,} not read: {reason.text}"
    return line


def _written_at(address: str, where: str, store: GraphStore, given: Given) -> dict[str, TableFiles]:
    """Write the tables by tasks, and return their files."""
    from arclink.analysis.relations.by_tasks import Place, write_tables
    from arclink.analysis.relations.state import FILES, OF_STORE

    place = Place(address)
    with _running(where, given) as (run, work):
        written = write_tables(where, store, place, run, work, _PARTS.optional(given))
    tables = {}
    for relation in OF_STORE:
        parts = written.get(relation)
        rows = sum(part.rows for part in parts) if parts else None
        size = sum(part.bytes for part in parts or ())
        pattern = f"{place.folder_of(store)}/*/{FILES[relation][0]}"
        tables[relation] = TableFiles(rows, size, [pattern], len(parts or ()))
    return tables


def read_texts_at(address: str, where: str, store: GraphStore, given: Given) -> "TextsRead":
    """Read the texts of pages that have none yet by tasks, which write them to an address.

    Raises:
        OperatorError: The texts cannot be read or written.
        StoreError: Something was forgotten meanwhile, or the store cannot be read.
    """
    from arclink.analysis.relations.by_tasks import Place
    from arclink.captures.texts import read_texts_by_tasks

    places = ARCHIVES.many(given)
    archives = [one if scheme_of(one) else str(Path(one).absolute()) for one in places]
    with _running(where, given) as (run, work):
        parts = _PARTS.optional(given)
        return read_texts_by_tasks(where, store, Place(address), run, work, archives, parts)


def _texts_at(address: str, where: str, store: GraphStore) -> dict[str, TableFiles]:
    """Return the files of texts and words at an address, all of which are here, too."""
    from arclink.analysis.relations.by_tasks import Place
    from arclink.analysis.relations.kept import relations_of
    from arclink.analysis.relations.writing import rows_in

    place, made = Place(address), relations_of(where, store)
    parts = place.files_of_texts(store)
    return {
        name: TableFiles(
            rows_in(made[name]),
            sum(sizes[f"{name}.parquet"] for sizes in parts),
            [f"{place.texts_of(store)}/*/{name}.parquet"],
            len(parts),
        )
        for name in ("texts", "words")
    }


@contextmanager
def _running(where: str, given: Given) -> Iterator[tuple[JobRunner, Path]]:
    """Yield a runner for tasks that write tables, and a folder for its files."""
    from arclink.analysis.relations.folder import tables_folder
    from arclink.files.atomic import folder_next_to, room_for

    folder = tables_folder(where)
    with room_for(folder), folder_next_to(folder) as work:
        run = runner_of(given, CORES.optional(given) or os.cpu_count() or 1, work, folder.stem)
        with run.visiting("tables"), closing(run):
            yield run, work


TABLES = Operation(
    (STORE, WITH_TEXT, ARCHIVES, _REMOVE, _TABLES_AT, _LOST, _PARTS, *ENGINE, CORES), _run
)
