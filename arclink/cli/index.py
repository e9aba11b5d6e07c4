"""``arclink index``: the first stage's help, for archives without CDX."""

from pathlib import Path

import click

from arclink.cli.stage_options import clear, job_runner, stage_options
from arclink.cli.summary import show_counts


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@stage_options
def command(inputs: tuple[str, ...], folder: str, runner: str, cores: int | None) -> None:
    """Write the CDXJ rows of archive files to FOLDER/rows."""
    from arclink.pipeline import stages
    from arclink.pipeline.inputs import describe, find_archives, leave_out_foreign

    where = Path(folder)
    run = job_runner(where, runner, cores)
    clear(where, "index")
    counts = stages.index(describe(leave_out_foreign(find_archives(inputs))[0], {}), where, run)
    show_counts(counts)
