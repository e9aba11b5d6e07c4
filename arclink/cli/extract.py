"""``arclink extract``: stage 2 alone."""

import click
import orjson

from arclink.cli.stage_options import (
    Stage,
    add_settings,
    archives_of,
    needs,
    read_settings,
    stage_options,
    write_archives,
)
from arclink.cli.summary import show_counts, show_damage

EXAMPLES = ("arclink extract /data/crawl --folder work",)


@click.command(short_help="Read the links of payloads.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@stage_options
@click.option(
    "--lazy",
    is_flag=True,
    help="Also extract the data- attributes of lazy loading, such as data-src.",
)
@click.option("--store", help="Do not read payloads again that this store has.")
@click.option(
    "--heritrix-outlinks",
    is_flag=True,
    help="Add the links that Heritrix recorded for a page (docs/heritrix.md).",
)
def command(
    inputs: tuple[str, ...], stage: Stage, lazy: bool, store: str | None, heritrix_outlinks: bool
) -> None:
    """Read the payloads that FOLDER/pointers names in archive files; write FOLDER/pages.

    INPUT is as for `arclink build`.
    """
    from arclink.extract.extraction import ExtractSettings
    from arclink.pipeline import stages
    from arclink.pipeline.damage import damage_in
    from arclink.pipeline.settings import WAYBACK_SETTING, BuildSettings
    from arclink.store.empty import EmptyStore
    from arclink.store.location import open_store

    where = stage.folder
    needs(where, "pointers", "filter")
    wayback = orjson.loads(read_settings(where).get(WAYBACK_SETTING, "null"))
    settings = BuildSettings(
        extract=ExtractSettings(
            lazy=lazy,
            heritrix_outlinks=heritrix_outlinks,
            wayback=wayback,  # as in filter: its pointers name the original pages
        )
    )
    with EmptyStore() if store is None else open_store(store) as known:
        stored = {file.name: file for file in known.files()}
        files = archives_of(inputs, stored)
        with stage.running("extract") as run:
            counts = stages.extract(where, [*stored.values(), *files], known, settings, run)
    write_archives(where, files)
    add_settings(where, settings)
    show_counts(counts)
    with_cdx = set() if (where / "rows").exists() else {file.name for file in files}
    show_damage(damage_in(where, files, with_cdx))
