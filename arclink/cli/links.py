"""``arclink links URI``: which links it has, which lead to it, when, with which words."""

import sys

import click

from arclink.access.answers import answer_link_query
from arclink.access.formats import FORMATS, PROFILES
from arclink.access.queries import DEFAULT_LIMIT, LinkQuery
from arclink.cli.options import store_option
from arclink.store.opening import open_store


@click.command("links", short_help="Show the links of a URI through time.")
@click.argument("uri")
@store_option
@click.option(
    "--direction", type=click.Choice(["out", "in", "both"]), default="both", show_default=True, help="Outlinks, inlinks, or both."
)
@click.option("--from", "first", default="", metavar="TIME", help="Observed not before; 1 to 14 digits or ISO 8601.")
@click.option("--to", "last", default="", metavar="TIME", help="Observed not after; 1 to 14 digits or ISO 8601.")
@click.option("--at", default="", metavar="TIME", help="The state at that time: the links of the mementos in force.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only this kind, such as a@href or img@src; may come several times.")
@click.option(
    "--redirects", type=click.Choice(["yes", "no", "only"]), default="yes", show_default=True, help="Whether redirects count as links."
)
@click.option(
    "--limit", default=str(DEFAULT_LIMIT), show_default=True, metavar="N", help="Members per direction; 0 for all, as jsonl, csv or RDF."
)
@click.option("--cursor", default="", metavar="CURSOR", help="Go on where an answer ended.")
@click.option("--format", "name", type=click.Choice(list(FORMATS)), default="table", show_default=True, help="How the answer is written.")
@click.option("--profile", type=click.Choice(PROFILES), help="RDF in the paper's shape, or a node per link.")
def command(
    uri: str,
    store: str,
    direction: str,
    first: str,
    last: str,
    at: str,
    kinds: tuple[str, ...],
    redirects: str,
    limit: str,
    cursor: str,
    name: str,
    profile: str | None,
) -> None:
    """Show which links URI has and which lead to it, when, and with which words.

    Any variant of the URI (http or https, with or without www.) finds it.
    """
    given = {"direction": direction, "from": first, "to": last, "at": at, "redirects": redirects, "limit": limit, "cursor": cursor}
    parameters = [("uri", uri), *((option, value) for option, value in given.items() if value), *(("kind", kind) for kind in kinds)]
    query = LinkQuery.from_parameters(parameters)
    form = FORMATS[name].in_profile(profile or "")
    form.check(query)
    with open_store(store) as graph:
        for piece in form.write(answer_link_query(graph, query)):
            sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
