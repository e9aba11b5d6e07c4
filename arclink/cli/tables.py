"""``arclink tables``: the relations of a store as Parquet files."""

import os
from contextlib import closing
from pathlib import Path

import click

from arclink.access.declarations import TEXT, Given, Parameter, switch, whole_number
from arclink.access.texts import counted
from arclink.cli.engine_options import ENGINE, RUNNER, runner_of
from arclink.cli.interrupts import ended_like_interrupts
from arclink.cli.options import CORES, STORE, takes
from arclink.cli.sizes import stored_size
from arclink.errors import UsageError, hide_credentials
from arclink.mapreduce.runs import ON_THIS_MACHINE
from arclink.store.protocols import GraphStore

EXAMPLES = (
    "arclink tables --store links.db",
    "arclink tables --store cassandra://node1/links --tables-at hdfs:///tables/links "
    "--runner hadoop",
)

_TABLES_AT = Parameter(
    "tables-at",
    "Address in HDFS or S3, or a folder, where tasks write the store's tables. The store remembers "
    "it.",
    TEXT,
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


@click.command()
@takes(STORE, _REMOVE, _TABLES_AT, _LOST, _PARTS, *ENGINE, CORES)
def command(given: Given) -> None:
    """Make the tables `captures` and `links` of a store, and name their Parquet files.

    `arclink sql` makes them when they are needed; this command does it in advance, for example
    after each build. Other programs can read the files, such as DuckDB, Spark and pandas. With
    --tables-at, tasks write a part of each table, on all cores of this machine or, for a store in
    Cassandra, on an engine; from then on, everyone who needs the tables copies them from there.
    """
    from arclink.extras import analysis_extra
    from arclink.relations.folder import address_of, leave_address, remove_relations
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
        from arclink.relations.kept import relations_of, rows_in
    with open_store(store) as opened:
        if _REMOVE.required(given):
            if address is None:
                from arclink.analysis.slice_cache import remove_slices

                remove_relations(store)
                remove_slices(store)
            else:
                leave_address(store, address_of(address), is_lost=is_lost)
            return
        if address is not None:
            _write_at(address, store, opened, given)
            return
        made, addresses = relations_of(store, opened), opened.tables_at()
    for name, paths in (
        ("captures", made.captures),
        ("links", made.links),
        ("links by page", made.links_by_page),
    ):
        size = sum(path.stat().st_size for path in paths)
        click.echo(f"{name}: {rows_in(paths):,} rows, {stored_size(size)}")
        for path in paths:
            click.echo(f"  {_shown(path)}")
    for place in addresses:
        click.echo(f"tasks write them to {hide_credentials(place)}")


def _write_at(address: str, where: str, store: GraphStore, given: Given) -> None:
    """Write the tables by tasks, and name them."""
    from arclink.files.atomic import folder_next_to, room_for
    from arclink.pipeline.tables import write_tables
    from arclink.relations.by_tasks import FILES, Place
    from arclink.relations.folder import tables_folder

    place, tables = Place(address), tables_folder(where)
    with room_for(tables), folder_next_to(tables) as work:
        run = runner_of(given, CORES.optional(given) or os.cpu_count() or 1, work, tables.stem)
        with (
            ended_like_interrupts(run.is_on_engine),
            run.visiting("tables"),
            closing(run),
        ):
            written = write_tables(where, store, place, run, work, _PARTS.optional(given))
    for relation, file in FILES.items():
        if parts := written.get(relation):
            rows, size = sum(part.rows for part in parts), sum(part.bytes for part in parts)
            files = counted(len(parts), "file")
            click.echo(f"{relation}: {rows:,} rows, {stored_size(size)}, {files}")
        else:
            click.echo(f"{relation}: written before")
        click.echo(f"  {place.folder_of(store)}/*/{file}")


def _shown(path: Path) -> str:
    return str(path).encode(errors="backslashreplace").decode()
