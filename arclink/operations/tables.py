"""The relations of a store as Parquet files."""

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from arclink.access.declarations import PATH, STORE, Given, Parameter, switch, whole_number
from arclink.counts import Report
from arclink.errors import UsageError
from arclink.mapreduce.runs import ON_THIS_MACHINE
from arclink.operations.engine import ENGINE, RUNNER, runner_of
from arclink.operations.operation import CORES, Operation, Say
from arclink.store.protocols import GraphStore

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
    "Remove the tables, and the slices of analyses; the next query copies or makes them again.",
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
            page``; empty if they were removed.
        addresses: Addresses at which tasks write the tables.
    """

    tables: Mapping[str, TableFiles]
    addresses: Sequence[str] = ()


def _run(given: Given, _: Say) -> MadeTables:
    from arclink.analysis.relations.folder import address_of, leave_address
    from arclink.extras import analysis_extra
    from arclink.store.location import open_store

    store, address = STORE.required(given), _TABLES_AT.optional(given)
    is_lost = _LOST.required(given)
    if is_lost and (address is None or not _REMOVE.required(given)):
        raise UsageError("--lost: only with --remove and --tables-at")
    if address is None and (
        RUNNER.required(given) not in ON_THIS_MACHINE or _PARTS.optional(given) is not None
    ):
        raise UsageError("--runner, --parts: name the address of the tables, too, with --tables-at")
    with analysis_extra():
        from arclink.analysis.relations.kept import relations_of, rows_in
    with open_store(store) as opened:
        if _REMOVE.required(given):
            if address is None:
                from arclink.analysis.matrices.slice_cache import remove_derived

                remove_derived(store)
            else:
                leave_address(store, address_of(address), is_lost=is_lost)
            return MadeTables({})
        if address is not None:
            return MadeTables(_written_at(address, store, opened, given))
        made, addresses = relations_of(store, opened), opened.tables_at()
    of_names = {
        "captures": made.captures,
        "links": made.links,
        "links by page": made.links_by_page,
    }
    tables = {
        name: TableFiles(
            rows_in(paths), sum(path.stat().st_size for path in paths), [*map(str, paths)]
        )
        for name, paths in of_names.items()
    }
    return MadeTables(tables, addresses)


def _written_at(address: str, where: str, store: GraphStore, given: Given) -> dict[str, TableFiles]:
    """Write the tables by tasks, and return their files."""
    from arclink.analysis.relations.by_tasks import FILES, Place, write_tables
    from arclink.analysis.relations.folder import tables_folder
    from arclink.files.atomic import folder_next_to, room_for

    place, folder = Place(address), tables_folder(where)
    with room_for(folder), folder_next_to(folder) as work:
        run = runner_of(given, CORES.optional(given) or os.cpu_count() or 1, work, folder.stem)
        with run.visiting("tables"), closing(run):
            written = write_tables(where, store, place, run, work, _PARTS.optional(given))
    tables = {}
    for relation, file in FILES.items():
        parts = written.get(relation)
        rows = sum(part.rows for part in parts) if parts else None
        size = sum(part.bytes for part in parts or ())
        pattern = f"{place.folder_of(store)}/*/{file}"
        tables[relation] = TableFiles(rows, size, [pattern], len(parts or ()))
    return tables


TABLES = Operation((STORE, _REMOVE, _TABLES_AT, _LOST, _PARTS, *ENGINE, CORES), _run)
