"""``arclink extract``: stage 2 alone."""

from pathlib import Path

import click

from arclink.cli.stage_options import add_settings, archives_of, clear, job_runner, needs, stage_options, write_archives
from arclink.cli.summary import show_counts


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@stage_options
@click.option("--lazy", is_flag=True, help="Also look at the data- attributes of lazy loading, such as data-src.")
@click.option("--store", help="Do not read again what this store has.")
@click.option("--heritrix-outlinks", is_flag=True, help="Add the links that Heritrix recorded beside a page (docs/heritrix.md).")
def command(
    inputs: tuple[str, ...], folder: str, runner: str, cores: int | None, lazy: bool, store: str | None, heritrix_outlinks: bool
) -> None:
    """Read the payloads that FOLDER/pointers name in archive files: write FOLDER/pages.

    INPUT is as for `arclink build`.
    """
    from arclink.extract.extracting import ExtractSettings
    from arclink.pipeline import stages
    from arclink.pipeline.running import room_in
    from arclink.pipeline.settings import BuildSettings
    from arclink.store.nothing import EmptyStore
    from arclink.store.opening import open_store

    settings = BuildSettings(extract=ExtractSettings(heritrix_outlinks=heritrix_outlinks))
    where = Path(folder)
    needs(where, "pointers", "filter")
    run = job_runner(where, runner, cores)
    clear(where, "extract")
    settings = BuildSettings(extract=ExtractSettings(lazy=lazy, heritrix_outlinks=heritrix_outlinks))
    with EmptyStore() if store is None else open_store(store) as known:
        stored = {file.name: file for file in known.files()}
        files = archives_of(inputs, stored)
        with room_in(where, "extract"):
            counts = stages.extract(where, [*stored.values(), *files], known, settings, run)
    write_archives(where, files)
    add_settings(where, settings)
    show_counts(counts)
