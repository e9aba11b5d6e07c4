"""``arclink filter``: runs stage 1 alone, from CDX rows to mementos and pointers."""

from pathlib import Path

import click

from arclink.access.declarations import PATH, Given, Parameter
from arclink.cli.options import takes
from arclink.cli.rules import SELECTION, WAYBACK, rules_from, wayback_of
from arclink.cli.stage_options import INTO, STAGE, needs, running, write_settings
from arclink.cli.summary import end_stage
from arclink.model import Forgotten
from arclink.reasons import Reason

EXAMPLES = (
    "arclink filter --into work",
    "arclink filter crawl.cdx.gz --into work",
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
STORE = Parameter(
    "store", "Leave out the captures that were forgotten in this store.", PATH, metavar="PATH|URL"
)
TAKEDOWNS = Parameter(
    "takedowns",
    "Leave out the captures named in a file written by `arclink forget --into`.",
    PATH,
    metavar="FILE",
)


@click.command()
@takes(CDX, *STAGE, *SELECTION, *WAYBACK, STORE, TAKEDOWNS)
def command(given: Given) -> None:
    """Filter CDX or CDXJ rows; write FOLDER/mementos and FOLDER/pointers.

    Without CDX files, the rows that `arclink index` wrote to FOLDER/rows are filtered.
    """
    from arclink.extract.settings import ExtractSettings
    from arclink.filter.sharing import check_rows
    from arclink.mapreduce.runs import parts_of
    from arclink.pipeline import stages
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
    with running(given, "filter") as run:
        rows = (
            usual_files(cdx, where / "cdx-rows", settings.key_prefixes())
            if cdx
            else parts_of(where / "rows")
        )
        counts = stages.filter_rows(rows, where, settings, run)
    write_settings(where, settings)
    end_stage(counts, gave=Reason.ROW_KEPT)


def _forgotten(given: Given) -> tuple[Forgotten, ...]:
    """Return the takedowns of the store and of the list."""
    from arclink.store.location import open_store
    from arclink.store.takedown_files import read_takedowns

    path, store = TAKEDOWNS.optional(given), STORE.optional(given)
    forgotten = [takedown.what for takedown in read_takedowns(Path(path))] if path else []
    if store:
        with open_store(store) as opened:
            forgotten += [takedown.what for takedown, _ in opened.forgotten()]
    return tuple(forgotten)
