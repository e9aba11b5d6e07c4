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

    where = Path(folder)
    needs(where, "pages", "extract")
    run = job_runner(where, runner, cores)
    clear(where, "graph")
    show_counts(stages.join(where, run) + stages.invert(where, run))
