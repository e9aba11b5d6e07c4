"""``arclink index``: CDXJ rows for archives without CDX, before stage 1."""

import click

from arclink.cli.stage_options import Stage, archives_of, stage_options
from arclink.cli.summary import show_counts, show_damage

EXAMPLES = ("arclink index /data/crawl --folder work",)


@click.command(short_help="Write CDXJ rows for archive files.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@stage_options
def command(inputs: tuple[str, ...], stage: Stage) -> None:
    """Write the CDXJ rows of archive files to FOLDER/rows."""
    from arclink.pipeline import stages
    from arclink.pipeline.damage import damage_in

    files = archives_of(inputs, {})
    with stage.running("index") as run:
        counts = stages.index(files, stage.folder, run)
    show_counts(counts)
    show_damage(damage_in(stage.folder, files))
