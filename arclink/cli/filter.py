"""``arclink filter``: stage 1 alone."""

from pathlib import Path

import click

from arclink.cli.rules import rules_from_options, wayback_of, wayback_options
from arclink.cli.stage_options import Stage, needs, stage_options, write_settings
from arclink.cli.summary import show_counts

EXAMPLES = (
    "arclink filter --folder work",
    "arclink filter crawl.cdx.gz --folder work",
)


@click.command(short_help="Choose the captures worth reading.")
@click.argument("cdx", nargs=-1, metavar="[CDX]...", type=click.Path())
@stage_options
@click.option(
    "--rules", "rules_file", type=click.Path(), help="JSON file of filter rules (docs/filter.md)."
)
@click.option(
    "--prefix",
    "prefixes",
    multiple=True,
    help="Only captures whose SURT starts with this. May be given again.",
)
@click.option(
    "--from", "first", help="Only captures from this time on: 1 to 14 digits, or ISO 8601."
)
@click.option("--to", "last", help="Only captures up to and including this time.")
@click.option("--no-redirects", is_flag=True, help="Do not read redirects to learn their targets.")
@wayback_options
@click.option("--store", help="Leave out the captures that were forgotten in this store.")
@click.option(
    "--takedowns",
    type=click.Path(),
    help="Leave out the captures named in a file written by `arclink forget --export`.",
)
def command(
    cdx: tuple[str, ...],
    stage: Stage,
    rules_file: str | None,
    prefixes: tuple[str, ...],
    first: str | None,
    last: str | None,
    no_redirects: bool,
    unwrap_wayback: bool,
    wayback_prefixes: tuple[str, ...],
    store: str | None,
    takedowns: str | None,
) -> None:
    """Filter CDX or CDXJ rows; write FOLDER/mementos and FOLDER/pointers.

    Without CDX files, the rows that `arclink index` wrote to FOLDER/rows are filtered.
    """
    from arclink.extract.extraction import ExtractSettings
    from arclink.mapreduce.runs import parts_of
    from arclink.pipeline import stages
    from arclink.pipeline.rows import check_rows
    from arclink.pipeline.settings import BuildSettings
    from arclink.rows.cdx_files import find_cdx, usual_files
    from arclink.store.location import open_store
    from arclink.store.takedown_files import read_takedowns

    where = stage.folder
    rules = rules_from_options(rules_file, prefixes, first, last, read_redirects=not no_redirects)
    forgotten = [takedown.what for takedown in read_takedowns(Path(takedowns))] if takedowns else []
    if store is not None:
        with open_store(store) as opened:
            forgotten += [takedown.what for takedown, _ in opened.forgotten()]
    settings = BuildSettings(
        rules=rules,
        extract=ExtractSettings(wayback=wayback_of(unwrap_wayback, wayback_prefixes)),
        forgotten=tuple(forgotten),
    )
    given = find_cdx(cdx)
    check_rows(given, settings.key_prefixes())
    if not given:
        needs(where, "rows", "index")
    with stage.running("filter") as run:
        rows = (
            usual_files(given, where / "cdx-rows", settings.key_prefixes())
            if given
            else parts_of(where / "rows")
        )
        counts = stages.filter_rows(rows, where, settings, run)
    write_settings(where, settings)
    show_counts(counts)
