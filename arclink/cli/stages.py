"""The commands that run one stage of a build alone: index, filter, extract, graph, load."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import orjson

from arclink.access.declarations import PATH, STORE, Given, Parameter, switch
from arclink.access.formats.rows import ROW_FORMAT
from arclink.cli.build import end_stage
from arclink.cli.interrupts import ended_like_interrupts
from arclink.cli.options import perform, say, takes, write_answer
from arclink.mapreduce.runs import ON_THIS_MACHINE, parts_of
from arclink.model import Forgotten
from arclink.operations.build import SELECTION, WAYBACK, rules_from, wayback_of
from arclink.operations.engine import RUNNER, uses_engine
from arclink.operations.one_stage import (
    INDEX,
    INTO,
    LOAD,
    STAGE,
    add_settings,
    archives_of,
    needs,
    read_settings,
    running,
    write_archives,
    write_settings,
)
from arclink.operations.operation import HERITRIX_OUTLINKS, INPUTS, LAZY, SOURCES
from arclink.reasons import Reason

# ``arclink index``: writes CDXJ rows for archive files without CDX, before stage 1.

_INDEX_EXAMPLES = ("arclink index /data/crawl --into work",)


@click.command()
@takes(*INDEX.declared)
def index_command(given: Given) -> None:
    """Write the CDXJ rows of archive files to FOLDER/rows."""
    done = perform(INDEX, given)
    end_stage(done.counts, done.damaged, Reason.RECORD_INDEXED)


# ``arclink filter``: runs stage 1 alone, from CDX rows to mementos and pointers.

_FILTER_EXAMPLES = (
    "arclink filter --into work",
    "arclink filter crawl.cdx.gz --into work",
    "arclink filter crawl.cdx.gz --table",
)

CDX = Parameter(
    "cdx",
    "CDX or CDXJ files.",
    PATH,
    is_list=True,
    is_positional=True,
    metavar="[CDX]...",
    see="reference/filter.md#rows",
    keeps_empty=True,
)
_STORE_OF_FILTER = Parameter(
    "store", "Leave out the captures that were forgotten in this store.", PATH, metavar="PATH|URL"
)
TAKEDOWNS = Parameter(
    "takedowns",
    "Leave out the captures named in a file written by `arclink forget --into`.",
    PATH,
    metavar="FILE",
)
TABLE = switch(
    "table",
    "Print how many captures each rule alone would leave, and all rules together, instead of the "
    "counts. On this machine, CDX files need no --into then, and nothing is kept.",
    "reference/filter.md#table-2-of-the-paper",
)
_INTO = replace(INTO, is_required=False, otherwise="required without --table")
_FORMAT = replace(ROW_FORMAT, about="Format of the table.")


@click.command()
@takes(CDX, _INTO, *STAGE[1:], *SELECTION, *WAYBACK, _STORE_OF_FILTER, TAKEDOWNS, TABLE, _FORMAT)
def filter_command(given: Given) -> None:
    """Filter CDX or CDXJ rows; write FOLDER/mementos and FOLDER/pointers.

    Without CDX files, the rows that `arclink index` wrote to FOLDER/rows are filtered.
    """
    is_table = TABLE.required(given)
    if given.has(_FORMAT) and not is_table:
        raise click.UsageError("--format is that of the table: add --table")
    if given.has(_INTO):
        folder: nullcontext[str] | TemporaryDirectory[str] = nullcontext(given.text(_INTO))
    elif is_table and given.has(CDX) and RUNNER.required(given) in ON_THIS_MACHINE:
        folder = TemporaryDirectory(prefix="arclink-filter-")
    else:
        raise click.UsageError("Missing option '--into'.")
    with folder as where:
        _filter(Given({**given.texts, INTO.name: (where,)}))


def _filter(given: Given) -> None:
    """Run the stage in the folder that was given, and print what it counted."""
    from arclink.extract.settings import ExtractSettings
    from arclink.filter.sharing import check_rows
    from arclink.pipeline import stages
    from arclink.pipeline.build import needs_a_person
    from arclink.pipeline.rule_table import rule_table
    from arclink.pipeline.settings import BuildSettings
    from arclink.rows.cdx_files import find_cdx, usual_files

    where = Path(INTO.required(given))
    settings = BuildSettings(
        rules=rules_from(given),
        extract=ExtractSettings(wayback=wayback_of(given)),
        forgotten=_forgotten(given),
    )
    cdx = find_cdx(CDX.many(given))
    check_rows(cdx, settings.key_prefixes())
    if not cdx:
        needs(where, "rows", "index")
    with ended_like_interrupts(uses_engine(given)), running(given, "filter") as run:
        rows = (
            usual_files(cdx, where / "cdx-rows", settings.key_prefixes())
            if cdx
            else parts_of(where / "rows")
        )
        counts = stages.filter_rows(rows, where, settings, run)
    write_settings(where, settings)
    if not TABLE.required(given):
        end_stage(counts, gave=Reason.ROW_KEPT)
        return
    table = rule_table(counts, settings.rules, run.seconds.get("filter"))
    write_answer(_FORMAT.required(given).write(table))
    if needs_a_person(counts, (), Reason.ROW_KEPT):
        raise click.exceptions.Exit(1)


def _forgotten(given: Given) -> tuple[Forgotten, ...]:
    """Return the takedowns of the store and of the list."""
    from arclink.store.location import open_store
    from arclink.store.takedown_files import read_takedowns

    path, store = TAKEDOWNS.optional(given), _STORE_OF_FILTER.optional(given)
    forgotten = [takedown.what for takedown in read_takedowns(Path(path))] if path else []
    if store:
        with open_store(store) as opened:
            forgotten += [takedown.what for takedown, _ in opened.forgotten()]
    return tuple(forgotten)


# ``arclink extract``: runs stage 2 alone, from pointers to the links in payloads.

_EXTRACT_EXAMPLES = ("arclink extract /data/crawl --into work",)

_STORE_OF_EXTRACT = Parameter(
    "store", "Skip the payloads that this store already has.", PATH, metavar="PATH|URL"
)


@click.command()
@takes(INPUTS, *STAGE, *SOURCES, _STORE_OF_EXTRACT)
def extract_command(given: Given) -> None:
    """Read the payloads that FOLDER/pointers names in archive files; write FOLDER/pages.

    INPUT is as for `arclink build`.
    """
    from arclink.extract.listed_files import write_list
    from arclink.extract.settings import ExtractSettings
    from arclink.pipeline import stages
    from arclink.pipeline.records_read import check_given, damage_in
    from arclink.pipeline.settings import WAYBACK_SETTING, BuildSettings
    from arclink.store.location import open_store
    from arclink.store.protocols import EmptyStore

    where, store = Path(INTO.required(given)), _STORE_OF_EXTRACT.optional(given)
    needs(where, "pointers", "filter")
    wayback = orjson.loads(read_settings(where).get(WAYBACK_SETTING, "null"))
    settings = BuildSettings(
        extract=ExtractSettings(
            lazy=LAZY.required(given),
            heritrix_outlinks=HERITRIX_OUTLINKS.required(given),
            wayback=wayback,  # as in filter: its pointers name the original pages
        )
    )
    with EmptyStore() if not store else open_store(store) as known:
        stored = {file.name: file for file in known.files()}
        files = archives_of(INPUTS.many(given), stored, say)
        with ended_like_interrupts(uses_engine(given)), running(given, "extract") as run:
            run.scratch.mkdir(parents=True, exist_ok=True)
            earlier = run.scratch / "earlier-archives"
            write_list({file.name: file.path for file in stored.values()}, earlier)
            counts = stages.extract(where, files, known, settings, run, earlier)
    # Without a list of archive files, these links are not loaded: the files were not read.
    if files_not_given := check_given(where, files):
        click.echo(f"warning: {files_not_given}", err=True)
    write_archives(where, files)
    add_settings(where, settings)
    with_cdx = set() if (where / "rows").exists() else {file.name for file in files}
    end_stage(counts, damage_in(where, files, with_cdx), Reason.PAYLOAD_READ)


# ``arclink graph``: runs the first half of stage 3 alone, from links to graph files.

_GRAPH_EXAMPLES = ("arclink graph --into work",)


@click.command()
@takes(*STAGE)
def graph_command(given: Given) -> None:
    """Join and invert FOLDER/pages; write the graph files to FOLDER/graph.

    docs/reference/graph-files.md describes the files.
    """
    from arclink.pipeline import stages

    folder = Path(INTO.required(given))
    needs(folder, "pages", "extract")
    with ended_like_interrupts(uses_engine(given)), running(given, "graph") as run:
        counts = stages.join(folder, run) + stages.invert(folder, run)
    end_stage(counts)


# ``arclink load``: runs the second half of stage 3 alone, from graph files to a store.

_LOAD_EXAMPLES = (
    "arclink load --folder work --store links.db",
    "arclink load hdfs:///chain/graph --archive hdfs:///archive --folder work "
    "--store cassandra://node1/links --runner hadoop",
)


@click.command()
@takes(*LOAD.declared)
def load_command(given: Given) -> None:
    """Load the graph files in FOLDER/graph, or at the address GRAPH, into a store, as one batch.

    With --runner, tasks of the engine load a store in Cassandra.
    """
    done = perform(LOAD, given)
    click.echo(
        f"{STORE.required(given)}: batch {done.number} loaded; it holds {done.links:,} links now."
    )


COMMANDS = {
    "index": (index_command, _INDEX_EXAMPLES),
    "filter": (filter_command, _FILTER_EXAMPLES),
    "extract": (extract_command, _EXTRACT_EXAMPLES),
    "graph": (graph_command, _GRAPH_EXAMPLES),
    "load": (load_command, _LOAD_EXAMPLES),
}
"""The commands of this module, with their examples, by name."""
