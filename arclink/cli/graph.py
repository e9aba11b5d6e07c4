"""``arclink graph``: runs the first half of stage 3 alone, from links to graph files."""

from pathlib import Path

import click

from arclink.access.declarations import Given
from arclink.cli.interrupts import ended_like_interrupts
from arclink.cli.options import takes
from arclink.cli.summary import end_stage
from arclink.operations.engine import uses_engine
from arclink.operations.one_stage import INTO, STAGE, needs, running

EXAMPLES = ("arclink graph --into work",)


@click.command()
@takes(*STAGE)
def command(given: Given) -> None:
    """Join and invert FOLDER/pages; write the graph files to FOLDER/graph.

    docs/reference/graph-files.md describes the files.
    """
    from arclink.pipeline import stages

    folder = Path(INTO.required(given))
    needs(folder, "pages", "extract")
    with ended_like_interrupts(uses_engine(given)), running(given, "graph") as run:
        counts = stages.join(folder, run) + stages.invert(folder, run)
    end_stage(counts)
