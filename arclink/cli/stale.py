"""``arclink stale``: pages that were not captured for long, but are still linked."""

import click

from arclink.access.declarations import Given
from arclink.analysis.seed_lists import (
    STALE_PARAMETERS,
    SeedKind,
    SeedQuery,
    seed_list,
)
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH, open_requested_graph
from arclink.cli.seed_lists import write_seeds

EXAMPLES = (
    "arclink stale --store links.db --since 2010-02 > seeds.txt",
    "arclink stale --store links.db --since 2010-02 --format table",
)


@click.command()
@takes(*GRAPH, *STALE_PARAMETERS)
def command(given: Given) -> None:
    """Write the URIs of pages that were captured, but not since a time.

    These pages are still linked by captures since that time. Most linking hosts come first.
    """
    query = SeedQuery.of(given, SeedKind.STALE)
    with open_requested_graph(given) as graph:
        found = seed_list(graph, query)
    write_seeds(given, found)
