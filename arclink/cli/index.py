"""``arclink index``: writes CDXJ rows for archive files without CDX, before stage 1."""

import click

from arclink.access.declarations import Given
from arclink.cli.options import perform, takes
from arclink.cli.summary import end_stage
from arclink.operations.one_stage import INDEX
from arclink.reasons import Reason

EXAMPLES = ("arclink index /data/crawl --into work",)


@click.command()
@takes(*INDEX.declared)
def command(given: Given) -> None:
    """Write the CDXJ rows of archive files to FOLDER/rows."""
    done = perform(INDEX, given)
    end_stage(done.counts, done.damaged, Reason.RECORD_INDEXED)
