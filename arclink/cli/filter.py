"""``arclink filter``: runs stage 1 alone, from CDX rows to mementos and pointers."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from arclink.access.declarations import PATH, Given, Parameter, switch
from arclink.access.formats.rows import ROW_FORMAT
from arclink.cli.interrupts import ended_like_interrupts
from arclink.cli.options import takes, write_answer
from arclink.cli.summary import end_stage
from arclink.mapreduce.runs import ON_THIS_MACHINE
from arclink.model import Forgotten
from arclink.operations.build import SELECTION, WAYBACK, rules_from, wayback_of
from arclink.operations.engine import RUNNER, uses_engine
from arclink.operations.one_stage import INTO, STAGE, needs, running, write_settings
from arclink.reasons import Reason

EXAMPLES = (
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
def command(given: Given) -> None:
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
    from arclink.mapreduce.runs import parts_of
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
