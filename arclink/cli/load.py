"""``arclink load``: runs the second half of stage 3 alone, from graph files to a store."""

from pathlib import Path

import click

from arclink.access.declarations import Given
from arclink.cli.declared_options import takes
from arclink.cli.options import CORES, STORE
from arclink.cli.stage_options import FOLDER, needs, read_archives, read_settings

EXAMPLES = ("arclink load --folder work --store links.db",)


@click.command()
@takes(FOLDER, CORES, STORE)
def command(given: Given) -> None:
    """Load the graph files in FOLDER/graph into a store, as one batch."""
    from arclink.counts import Counts
    from arclink.pipeline.manifest import format_manifest
    from arclink.store.location import open_store

    where, store = Path(FOLDER.sure(given)), STORE.sure(given)
    needs(where, "graph/outlinks", "graph")
    files = read_archives(where)
    settings = read_settings(where)
    with open_store(store, create=True) as opened:
        manifest = format_manifest(files, settings, Counts(), 0, {})
        (where / "graph/manifest.json").write_text(manifest, encoding="utf-8")
        batch = opened.load(where / "graph", files, settings, manifest, CORES.of(given))
        opened.trim()
        click.echo(
            f"{store}: batch {batch.number} loaded; it holds {opened.sums().links:,} links now."
        )
