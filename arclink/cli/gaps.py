"""``arclink gaps``: linked pages that were never captured."""

import click

from arclink.access.declarations import Given
from arclink.analysis.seed_lists import GAPS_PARAMETERS, SeedKind, SeedQuery, seed_list
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH, open_requested_graph
from arclink.cli.seed_lists import write_seeds

EXAMPLES = (
    "arclink gaps --store links.db --min-hosts 3 > seeds.txt",
    "arclink gaps --store links.db --format browsertrix > crawl.yaml",
)


@click.command()
@takes(*GRAPH, *GAPS_PARAMETERS)
def command(given: Given) -> None:
    """Write the URIs of pages that are linked but were never captured, most linking hosts first.

    --format table shows how many hosts and pages link to each, and since when.
    """
    query = SeedQuery.of(given, SeedKind.GAPS)
    with open_requested_graph(given) as graph:
        found = seed_list(graph, query)
    write_seeds(given, found)
