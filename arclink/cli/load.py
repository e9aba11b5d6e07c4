"""``arclink load``: the second half of stage 3 alone."""

from pathlib import Path

import click

from arclink.cli.options import store_option
from arclink.cli.stage_options import needs, read_archives, read_settings

EXAMPLES = ("arclink load --folder work --store links.db",)


@click.command(short_help="Load graph files into a store.")
@click.option(
    "--folder",
    required=True,
    type=click.Path(),
    help="Folder of a batch, with graph files in FOLDER/graph.",
)
@click.option(
    "--cores",
    type=click.IntRange(min=1),
    help="Number of parallel processes. Default: the number of processors.",
)
@store_option
def command(folder: str, cores: int | None, store: str) -> None:
    """Load the graph files in FOLDER/graph into a store, as one batch."""
    from arclink.counts import Counts
    from arclink.pipeline.manifest import format_manifest
    from arclink.store.location import open_store

    where = Path(folder)
    needs(where, "graph/outlinks", "graph")
    files = read_archives(where)
    settings = read_settings(where)
    with open_store(store, create=True) as opened:
        manifest = format_manifest(files, settings, Counts(), 0, {})
        (where / "graph/manifest.json").write_text(manifest, encoding="utf-8")
        batch = opened.load(where / "graph", files, settings, manifest, cores)
        opened.trim()
        click.echo(
            f"{store}: batch {batch.number} loaded; it holds {opened.sums().links:,} links now."
        )
