"""``arclink anchors URI``: the texts of links to a URI."""

import click

from arclink.access.anchors import AnchorsQuery, answer_anchors
from arclink.access.formats.anchors import anchors_as_rows
from arclink.access.queries import DEFAULT_LIMIT
from arclink.access.replay import parse_replay
from arclink.cli.options import replay_option, store_option
from arclink.cli.question_options import (
    at_option,
    cursor_option,
    filter_option,
    from_option,
    kinds_option,
    redirects_option,
    to_option,
)
from arclink.cli.row_options import row_format_option, write_rows
from arclink.store.location import open_store

EXAMPLES = (
    "arclink anchors example.org --store links.db",
    "arclink anchors example.org --store links.db --by month,host",
)


@click.command("anchors", short_help="Show the words of the links to a URI.")
@click.argument("uri")
@store_option
@click.option(
    "--by",
    default="",
    metavar="UNITS",
    help="Count per day, month or year, per host of the linking pages, or both: month,host.",
)
@from_option
@to_option
@at_option
@kinds_option
@filter_option
@redirects_option
@click.option(
    "--limit",
    default=str(DEFAULT_LIMIT),
    show_default=True,
    metavar="N",
    help="Maximum number of rows; 0 for all rows that were counted.",
)
@cursor_option
@replay_option
@row_format_option
def command(
    uri: str,
    store: str,
    by: str,
    first: str,
    last: str,
    at: str,
    kinds: tuple[str, ...],
    filters: tuple[str, ...],
    redirects: str,
    limit: str,
    cursor: str,
    replay: str,
    name: str,
) -> None:
    """Show the texts of links to URI, with their times and counts.

    The counts are those of contents, mementos and hosts that use a text. URI need not have been
    captured itself: the words show what it was.
    """
    given = {
        "uri": uri,
        "by": by,
        "from": first,
        "to": last,
        "at": at,
        "redirects": redirects,
        "limit": limit,
        "cursor": cursor,
    }
    query = AnchorsQuery.from_parameters(
        [
            *((key, value) for key, value in given.items() if value),
            *(("kinds", kind) for kind in kinds),
            *(("filter", one) for one in filters),
        ]
    )
    prefix = parse_replay("--replay", replay)
    with open_store(store) as graph:
        write_rows(anchors_as_rows(answer_anchors(graph, query), prefix), name)
