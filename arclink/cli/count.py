"""``arclink count NAME``: the captures of a subset, in total and by a property."""

import click

from arclink.access.common import SUBSET
from arclink.access.declarations import Given, Parameter, named
from arclink.access.formats.rows import ROW_FORMAT, Row, RowAnswer
from arclink.cli.declared_options import takes
from arclink.cli.options import STORE
from arclink.cli.row_options import write_rows
from arclink.subsets.counts import BY, CaptureCounts, count_captures

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
PROPERTY = Parameter(
    "by", "Count by this property.", named({name: name for name in BY}), otherwise="totals only"
)


@click.command("count", short_help="Count the captures of a subset.")
@takes(WHAT, STORE, PROPERTY, ROW_FORMAT)
def command(given: Given) -> None:
    """Count the captures and URIs of a subset, and the captures by a property."""
    from arclink.subsets.opener import open_graph

    by = PROPERTY.of(given) or ""
    with open_graph(STORE.sure(given), WHAT.sure(given)) as graph, graph.snapshot():
        counts = count_captures(graph.scan_mementos(), by)
    write_rows(counts_as_rows(counts, by), ROW_FORMAT.sure(given))


def counts_as_rows(counts: CaptureCounts, by: str) -> RowAnswer:
    """Return counts for all formats of rows."""
    rows: list[Row] = [
        {by: name, "captures": number} for name, number in (counts.groups or {}).items()
    ]
    about = {"captures": counts.captures, "uris": counts.uris}
    lines = [f"{counts.captures:,} captures of {counts.uris:,} URIs", *([""] if rows else [])]
    if not by:
        return RowAnswer({}, lines, ("captures", "uris"), {"counts": [about]}, shown=())
    return RowAnswer(about, lines, (by, "captures"), {"counts": rows})
