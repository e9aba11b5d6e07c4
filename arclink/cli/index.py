"""``arclink index``: writes CDXJ rows for archive files without CDX, before stage 1."""

from pathlib import Path

import click

from arclink.access.declarations import Given
from arclink.cli.options import INPUTS, takes
from arclink.cli.stage_options import INTO, STAGE, archives_of, running
from arclink.cli.summary import end_stage
from arclink.reasons import Reason

EXAMPLES = ("arclink index /data/crawl --into work",)


@click.command()
@takes(INPUTS, *STAGE)
def command(given: Given) -> None:
    """Write the CDXJ rows of archive files to FOLDER/rows."""
    from arclink.pipeline import stages
    from arclink.pipeline.damage import damage_in

    folder = Path(INTO.required(given))
    files = archives_of(INPUTS.many(given), {})
    with running(given, "index") as run:
        counts = stages.index(files, folder, run)
    end_stage(counts, damage_in(folder, files), Reason.RECORD_INDEXED)
