"""``arclink extract``: stage 2 alone."""

from pathlib import Path

import click

from arclink.cli.stage_options import clear, job_runner, needs, note_setting, stage_options, write_archives
from arclink.cli.summary import show_counts


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@stage_options
@click.option("--store", help="Do not read again what this store has.")
@click.option("--heritrix-outlinks", is_flag=True, help="Add the links that Heritrix recorded beside a page (docs/heritrix.md).")
def command(inputs: tuple[str, ...], folder: str, runner: str, cores: int | None, store: str | None, heritrix_outlinks: bool) -> None:
    """Read the payloads that FOLDER/pointers name in archive files: write FOLDER/pages.

    INPUT is as for `arclink build`.
    """
    from arclink.extract.extracting import ExtractSettings
    from arclink.pipeline import stages
    from arclink.pipeline.inputs import describe, find_archives, leave_out_foreign
    from arclink.pipeline.settings import OUTLINKS_SETTING, BuildSettings
    from arclink.store.nothing import EmptyStore
    from arclink.store.opening import open_store

    settings = BuildSettings(extract=ExtractSettings(heritrix_outlinks=heritrix_outlinks))
    where = Path(folder)
    needs(where, "pointers", "filter")
    run = job_runner(where, runner, cores)
    clear(where, "extract")
    with EmptyStore() if store is None else open_store(store) as known:
        stored = {file.name: file for file in known.files()}
        files = describe(leave_out_foreign(find_archives(inputs))[0], stored)
        counts = stages.extract(where, [*stored.values(), *files], known, settings, run)
    write_archives(where, files)
    note_setting(where, OUTLINKS_SETTING, settings.for_store()[OUTLINKS_SETTING])
    show_counts(counts)
