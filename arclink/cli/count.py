"""``arclink count NAME``: the captures of a store or subset, in total and by a property."""

import click

from arclink.access.common import SUBSET_FIRST
from arclink.access.declarations import Given
from arclink.access.formats.rows import ROW_FORMAT
from arclink.cli.declared_options import takes
from arclink.cli.options import STORE, open_requested_graph
from arclink.cli.row_options import write_rows
from arclink.subsets.counts import PROPERTY, count_captures, counts_as_rows

EXAMPLES = (
    "arclink count --store links.db --by mime",
    "arclink count gov --store links.db --by year",
    "arclink count 'links-to:example.org and status:200' --store links.db --by host",
)


@click.command()
@takes(SUBSET_FIRST, STORE, PROPERTY, ROW_FORMAT)
def command(given: Given) -> None:
    """Count the captures and URIs of a store or a subset, and the captures by a property."""
    by = PROPERTY.optional(given) or ""
    with open_requested_graph(given) as graph, graph.snapshot():
        counts = count_captures(graph.scan_mementos(), by)
    write_rows(counts_as_rows(counts, by), ROW_FORMAT.required(given))
