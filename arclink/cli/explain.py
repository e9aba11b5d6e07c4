"""``arclink explain URI``: the outcome of each of its captures, with the reason."""

import click
import orjson

from arclink.access.explanations import explain
from arclink.access.formats.explanations import explanation_fields, explanation_lines
from arclink.access.queries import span_asked
from arclink.access.texts import printable_uri
from arclink.cli.options import store_option
from arclink.store.location import open_store

EXAMPLES = ("arclink explain http://example.org/news --store links.db",)


@click.command("explain", short_help="Explain what happened to each capture of a URI.")
@click.argument("uri")
@store_option
@click.option(
    "--from",
    "first",
    default="",
    metavar="TIME",
    help="Only captures from this time on; 1 to 14 digits or ISO 8601.",
)
@click.option(
    "--to",
    "last",
    default="",
    metavar="TIME",
    help="Only captures up to this time; 1 to 14 digits or ISO 8601.",
)
@click.option(
    "--format",
    "name",
    type=click.Choice(["text", "jsonl"]),
    default="text",
    show_default=True,
    help="Format: text for people, or one JSON object per line.",
)
def command(uri: str, store: str, first: str, last: str, name: str) -> None:
    """Show the outcome of each capture of URI, with its reason, file and offset."""
    span = span_asked(first, last)
    with open_store(store) as graph:
        count = 0
        for found in explain(graph, uri, span):
            count += 1
            if name == "jsonl":
                click.echo(orjson.dumps(explanation_fields(found)))
            else:
                for line in explanation_lines(found):
                    click.echo(line)
    if not count:
        click.echo(
            f"Not captured: the graph has no memento of {printable_uri(uri)}.", err=name == "jsonl"
        )
