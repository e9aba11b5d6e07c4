"""``arclink graph``: the first half of stage 3 alone."""

from pathlib import Path

import click

from arclink.cli.stage_options import clear, job_runner, needs, stage_options
from arclink.cli.summary import show_counts


@click.command()
@stage_options
def command(folder: str, runner: str, cores: int | None) -> None:
    """Join and invert FOLDER/pages: write the graph files to FOLDER/graph (docs/graph-files.md)."""
    from arclink.pipeline import stages
    from arclink.pipeline.running import room_in

    where = Path(folder)
    needs(where, "pages", "extract")
    run = job_runner(where, runner, cores)
    clear(where, "graph")
    with room_in(where, "graph"):
        counts = stages.join(where, run) + stages.invert(where, run)
    show_counts(counts)
