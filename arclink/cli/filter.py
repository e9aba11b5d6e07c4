"""``arclink filter``: stage 1 alone."""

from dataclasses import replace
from pathlib import Path

import click

from arclink.cli.stage_options import clear, job_runner, needs, stage_options, write_settings
from arclink.cli.summary import show_counts


@click.command()
@click.argument("cdx", nargs=-1, metavar="[CDX]...", type=click.Path())
@stage_options
@click.option("--rules", "rules_file", type=click.Path(), help="JSON file of filter rules (docs/filter.md).")
@click.option("--prefix", "prefixes", multiple=True, help="Only captures whose SURT starts with this. May be given again.")
@click.option("--from", "first", help="Only captures from this time on: 1 to 14 digits, or ISO 8601.")
@click.option("--to", "last", help="Only captures up to this time.")
@click.option("--no-redirects", is_flag=True, help="Do not read redirects for where they lead.")
def command(
    cdx: tuple[str, ...],
    folder: str,
    runner: str,
    cores: int | None,
    rules_file: str | None,
    prefixes: tuple[str, ...],
    first: str | None,
    last: str | None,
    no_redirects: bool,
) -> None:
    """Filter CDX or CDXJ rows: write FOLDER/mementos and FOLDER/pointers.

    Without CDX files, the rows that `arclink index` wrote to FOLDER/rows are filtered.
    """
    from arclink.cli.rules import rules_from_options
    from arclink.pipeline import stages
    from arclink.pipeline.cdx_files import find_cdx, usual_files
    from arclink.pipeline.rows import check_rows
    from arclink.pipeline.running import parts_of, room_in
    from arclink.pipeline.settings import BuildSettings

    where = Path(folder)
    settings = BuildSettings(rules=rules_from_options(rules_file, prefixes, first, last, read_redirects=not no_redirects))
    settings = replace(settings, runner=runner)
    given = find_cdx(cdx)
    check_rows(given, settings.rules.prefixes)
    if not given:
        needs(where, "rows", "index")
    run = job_runner(where, runner, cores)
    clear(where, "filter")
    with room_in(where, "filter"):
        rows = usual_files(given, where / "cdx-rows", settings.rules.prefixes) if given else parts_of(where / "rows")
        counts = stages.filter_rows(rows, where, settings, run)
    write_settings(where, settings)
    show_counts(counts)
