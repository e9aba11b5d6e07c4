"""``arclink timemap URI``: the mementos of a URI in the graph, as a TimeMap."""

import sys

import click

from arclink.access.formats.timemaps import write_json_timemap, write_link_timemap
from arclink.access.queries import timestamp_first
from arclink.access.replay import parse_replay
from arclink.access.timemaps import read_timemap
from arclink.cli.options import replay_option, store_option
from arclink.errors import UsageError
from arclink.model import ALL_TIME
from arclink.store.location import open_store

EXAMPLES = ("arclink timemap example.org --store links.db",)


@click.command("timemap", short_help="List the mementos of a URI as a TimeMap.")
@click.argument("uri")
@store_option
@click.option(
    "--from",
    "first",
    default="",
    metavar="TIME",
    help="Only captures from this time on; 1 to 14 digits or ISO 8601.",
)
@replay_option
@click.option(
    "--format",
    "name",
    type=click.Choice(["link", "json"]),
    default="json",
    show_default=True,
    help="JSON, or link format (RFC 7089).",
)
def command(uri: str, store: str, first: str, replay: str, name: str) -> None:
    """List the mementos of URI in the graph, oldest first, up to 10,000 at a time.

    Link format needs --replay: without it, mementos have no address.
    """
    prefix = parse_replay("--replay", replay)
    if name == "link" and not prefix:
        raise UsageError(
            "--format link: a TimeMap in link format needs --replay PREFIX; with --format json the times are listed"
        )
    start = timestamp_first("--from", first) if first else ALL_TIME.first
    with open_store(store) as graph:
        found = read_timemap(graph, uri, start)
    for piece in (
        write_link_timemap(found, prefix) if name == "link" else write_json_timemap(found, prefix)
    ):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
    if found.following is not None:
        click.echo(f"There is more: repeat the command with --from {found.following}", err=True)
