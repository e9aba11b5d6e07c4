"""``arclink count NAME``: the captures of a subset, in total and by a property."""

import click

from arclink.access.common import SUBSET
from arclink.access.declarations import Given, Parameter
from arclink.access.formats.rows import ROW_FORMAT
from arclink.cli.declared_options import takes
from arclink.cli.options import STORE
from arclink.cli.row_options import write_rows
from arclink.subsets.counts import PROPERTY, count_captures, counts_as_rows

EXAMPLES = (
    "arclink count gov --store links.db --by year",
    "arclink count 'links-to:example.org and status:200' --store links.db --by host",
)

WHAT = Parameter(
    SUBSET.name,
    "The name of a subset, or a selection.",
    SUBSET.form,
    is_required=True,
    is_positional=True,
    metavar="NAME|SELECTION",
    see=SUBSET.see,
)


@click.command()
@takes(WHAT, STORE, PROPERTY, ROW_FORMAT)
def command(given: Given) -> None:
    """Count the captures and URIs of a subset, and the captures by a property."""
    from arclink.subsets.opener import open_graph

    by = PROPERTY.of(given) or ""
    with open_graph(STORE.sure(given), WHAT.sure(given)) as graph, graph.snapshot():
        counts = count_captures(graph.scan_mementos(), by)
    write_rows(counts_as_rows(counts, by), ROW_FORMAT.sure(given))
