"""``arclink index``: the first stage's help, for archives without CDX."""

from pathlib import Path

import click

from arclink.cli.stage_options import archives_of, clear, job_runner, stage_options
from arclink.cli.summary import show_counts


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@stage_options
def command(inputs: tuple[str, ...], folder: str, runner: str, cores: int | None) -> None:
    """Write the CDXJ rows of archive files to FOLDER/rows."""
    from arclink.pipeline import stages
    from arclink.pipeline.running import room_in

    where = Path(folder)
    files = archives_of(inputs, {})
    run = job_runner(where, runner, cores)
    clear(where, "index")
    with room_in(where, "index"):
        counts = stages.index(files, where, run)
    show_counts(counts)
