"""``arclink verify``: checks that a store, or its archive files, are sound."""

import sys

import click

from arclink.access.declarations import Given
from arclink.cli.options import say, takes
from arclink.operations.verify import VERIFY, check

EXAMPLES = (
    "arclink verify --store links.db",
    "arclink verify --store links.db --files --archives /new/place",
)


@click.command()
@takes(*VERIFY.declared)
def command(given: Given) -> None:
    """Check every invariant of a store, and the checksums of the files kept next to it.

    For example, its file must be sound, and outlinks and inlinks must be the same links. The files
    next to it are the list of takedowns, subsets, slices and rank tables. Prints a line for each
    violation, and exits with 1 if there is one. If two URIs have the
    same URI-ID, this is reported but harmless: no data is merged by URI-ID.

    With --files, each archive file is reported as sound, changed, moved, missing or unknown. Exits
    with 1 if one is changed or missing. If this is interrupted, the same command goes on after the
    files that were read.
    """
    if not check(given, say, click.echo).is_sound:
        sys.exit(1)
