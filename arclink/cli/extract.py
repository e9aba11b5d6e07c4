"""``arclink extract``: stage 2 alone."""

import click

from arclink.cli.stage_options import Stage, add_settings, archives_of, needs, stage_options, write_archives
from arclink.cli.summary import show_counts


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@stage_options
@click.option("--lazy", is_flag=True, help="Also look at the data- attributes of lazy loading, such as data-src.")
@click.option("--store", help="Do not read again what this store has.")
@click.option("--heritrix-outlinks", is_flag=True, help="Add the links that Heritrix recorded beside a page (docs/heritrix.md).")
def command(inputs: tuple[str, ...], stage: Stage, lazy: bool, store: str | None, heritrix_outlinks: bool) -> None:
    """Read the payloads that FOLDER/pointers name in archive files: write FOLDER/pages.

    INPUT is as for `arclink build`.
    """
    from arclink.extract.extracting import ExtractSettings
    from arclink.pipeline import stages
    from arclink.pipeline.settings import BuildSettings
    from arclink.store.nothing import EmptyStore
    from arclink.store.opening import open_store

    where = stage.folder
    needs(where, "pointers", "filter")
    settings = BuildSettings(extract=ExtractSettings(lazy=lazy, heritrix_outlinks=heritrix_outlinks))
    with EmptyStore() if store is None else open_store(store) as known:
        stored = {file.name: file for file in known.files()}
        files = archives_of(inputs, stored)
        with stage.running("extract") as run:
            counts = stages.extract(where, [*stored.values(), *files], known, settings, run)
    write_archives(where, files)
    add_settings(where, settings)
    show_counts(counts)
