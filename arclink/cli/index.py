"""``arclink index``: the first stage's help, for archives without CDX."""

import click

from arclink.cli.stage_options import Stage, archives_of, stage_options
from arclink.cli.summary import show_counts


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@stage_options
def command(inputs: tuple[str, ...], stage: Stage) -> None:
    """Write the CDXJ rows of archive files to FOLDER/rows."""
    from arclink.pipeline import stages

    files = archives_of(inputs, {})
    with stage.running("index") as run:
        counts = stages.index(files, stage.folder, run)
    show_counts(counts)
