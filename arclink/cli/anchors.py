"""``arclink anchors URI``: the texts of links to a URI."""

import click

from arclink.access.anchors import ANCHORS_PARAMETERS, AnchorsQuery, answer_anchors
from arclink.access.declarations import Given
from arclink.access.formats.anchors import anchors_as_rows
from arclink.access.formats.rows import ROW_FORMAT
from arclink.access.replay import NO_REPLAY
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH, REPLAY, open_requested_graph
from arclink.cli.row_options import write_rows

EXAMPLES = (
    "arclink anchors example.org --store links.db",
    "arclink anchors example.org --store links.db --by month,host",
)


@click.command()
@takes(*GRAPH, *ANCHORS_PARAMETERS, REPLAY, ROW_FORMAT)
def command(given: Given) -> None:
    """Show the texts of links to URI, with their times and counts.

    For each text, the counts say how many contents, mementos and hosts use it. URI itself need not
    have been captured: the texts are those of other pages.
    """
    query, prefix = AnchorsQuery.of(given), REPLAY.optional(given) or NO_REPLAY
    with open_requested_graph(given) as graph:
        write_rows(
            anchors_as_rows(answer_anchors(graph, query), prefix), ROW_FORMAT.required(given)
        )
