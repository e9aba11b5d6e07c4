"""Output of the commands that list crawl seeds."""

import sys

import click

from arclink.access.declarations import Given
from arclink.analysis.seed_lists import MOST_SEEDS, SEED_FORMAT, SeedList


def write_seeds(given: Given, found: SeedList) -> None:
    """Write a list in the format asked for; say on standard error what the limit left out."""
    for piece in SEED_FORMAT.required(given).write(found):
        sys.stdout.buffer.write(piece)
    if found.left_out:
        click.echo(
            f"{found.left_out:,} more pages were left out (--{MOST_SEEDS.name} {found.found} "
            "lists them all).",
            err=True,
        )
