"""``arclink diff URI --from TIME --to TIME``: links that were added, removed and kept."""

import click

from arclink.access.declarations import Given
from arclink.access.differences import DIFF_PARAMETERS, DiffQuery, answer_diff
from arclink.access.formats.differences import diff_as_rows
from arclink.access.formats.rows import ROW_FORMAT
from arclink.access.replay import NO_REPLAY
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH, REPLAY, open_requested_graph
from arclink.cli.row_options import write_rows

EXAMPLES = ("arclink diff example.org --store links.db --from 2009 --to 201003",)


@click.command()
@takes(*GRAPH, *DIFF_PARAMETERS, REPLAY, ROW_FORMAT)
def command(given: Given) -> None:
    """Show the outlinks and inlinks of URI that were added, removed and kept between two times.

    If a page was not captured or not read at one of the times, its links are "unknown" at that
    time: "not captured" does not mean "no link".
    """
    query, prefix = DiffQuery.of(given), REPLAY.optional(given) or NO_REPLAY
    with open_requested_graph(given) as graph:
        write_rows(diff_as_rows(answer_diff(graph, query), prefix), ROW_FORMAT.required(given))
