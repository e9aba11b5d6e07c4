"""``arclink diff URI --from TIME --to TIME``: links that were added, removed and kept."""

import click

from arclink.access.differences import DiffQuery, answer_diff
from arclink.access.formats.differences import diff_as_rows
from arclink.access.queries import DEFAULT_LIMIT
from arclink.access.replay import parse_replay
from arclink.cli.options import replay_option, store_option
from arclink.cli.question_options import (
    cursor_option,
    direction_option,
    filter_option,
    kinds_option,
    redirects_option,
)
from arclink.cli.row_options import row_format_option, write_rows
from arclink.store.location import open_store

EXAMPLES = ("arclink diff example.org --store links.db --from 2009 --to 201003",)


@click.command("diff", short_help="Show which links of a URI were added, removed and kept.")
@click.argument("uri")
@store_option
@click.option(
    "--from",
    "first",
    required=True,
    metavar="TIME",
    help="Earlier state: at the end of this time; 1 to 14 digits or ISO 8601.",
)
@click.option(
    "--to",
    "last",
    required=True,
    metavar="TIME",
    help="Later state: at the end of this time.",
)
@direction_option
@kinds_option
@filter_option
@redirects_option
@click.option(
    "--limit",
    default=str(DEFAULT_LIMIT),
    show_default=True,
    metavar="N",
    help="Maximum number of links per kind of change; 0 for all.",
)
@cursor_option
@replay_option
@row_format_option
def command(
    uri: str,
    store: str,
    first: str,
    last: str,
    direction: str,
    kinds: tuple[str, ...],
    filters: tuple[str, ...],
    redirects: str,
    limit: str,
    cursor: str,
    replay: str,
    name: str,
) -> None:
    """Show the outlinks and inlinks of URI that were added, removed and kept between two times.

    If a page was not captured or not read at one of the times, its links are "unknown" at that
    time: "not captured" does not mean "no link".
    """
    given = {
        "uri": uri,
        "from": first,
        "to": last,
        "direction": direction,
        "redirects": redirects,
        "limit": limit,
        "cursor": cursor,
    }
    query = DiffQuery.from_parameters(
        [
            *given.items(),
            *(("kinds", kind) for kind in kinds),
            *(("filter", one) for one in filters),
        ]
    )
    prefix = parse_replay("--replay", replay)
    with open_store(store) as graph:
        write_rows(diff_as_rows(answer_diff(graph, query), prefix), name)
