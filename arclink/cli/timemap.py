"""``arclink timemap URI``: the mementos of a URI in the graph, as a TimeMap."""

import sys

import click

from arclink.access.declarations import Given, Parameter, named
from arclink.access.formats.timemaps import write_json_timemap, write_link_timemap
from arclink.access.queries import URI
from arclink.access.replay import NO_REPLAY, uri_ms_in
from arclink.access.timemaps import read_timemap
from arclink.access.times import FROM
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH, REPLAY, open_requested_graph
from arclink.errors import UsageError
from arclink.model import ALL_TIME

EXAMPLES = ("arclink timemap example.org --store links.db",)

FORMAT = Parameter(
    "format",
    "JSON, or link format (RFC 7089).",
    named({"link": write_link_timemap, "json": write_json_timemap}),
    default="json",
)


@click.command()
@takes(*GRAPH, URI, FROM, REPLAY, FORMAT)
def command(given: Given) -> None:
    """List the mementos of URI in the graph, oldest first, up to 10,000 at a time.

    Link format needs --replay: without it, mementos have no address.
    """
    prefix, write = REPLAY.optional(given) or NO_REPLAY, FORMAT.required(given)
    if write is write_link_timemap and not prefix:
        raise UsageError(
            "--format link: a TimeMap in link format needs --replay PREFIX; with --format "
            "json the times are listed"
        )
    start = FROM.optional(given) or ALL_TIME.first
    with open_requested_graph(given) as graph:
        found = read_timemap(graph, given.text(URI), start)
    for piece in write(found, uri_ms_in(prefix)):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
    if found.following is not None:
        click.echo(f"There is more: repeat the command with --from {found.following}", err=True)
