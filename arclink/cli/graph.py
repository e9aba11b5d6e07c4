"""``arclink graph``: the first half of stage 3 alone."""

import click

from arclink.cli.stage_options import Stage, needs, stage_options
from arclink.cli.summary import show_counts

EXAMPLES = ("arclink graph --folder work",)


@click.command(short_help="Join and invert links: write graph files.")
@stage_options
def command(stage: Stage) -> None:
    """Join and invert FOLDER/pages; write the graph files to FOLDER/graph (docs/graph-files.md)."""
    from arclink.pipeline import stages

    needs(stage.folder, "pages", "extract")
    with stage.running("graph") as run:
        counts = stages.join(stage.folder, run) + stages.invert(stage.folder, run)
    show_counts(counts)
