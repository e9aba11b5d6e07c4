"""``arclink explain URI``: the outcome of each capture of a URI, with the reason."""

import click
import orjson

from arclink.access.declarations import Given, Parameter, named
from arclink.access.explanations import EXPLAIN_PARAMETERS, explain
from arclink.access.formats.explanations import explanation_fields, explanation_lines
from arclink.access.queries import URI
from arclink.access.texts import printable_uri
from arclink.access.times import span_of
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH, open_requested_graph

EXAMPLES = ("arclink explain http://example.org/news --store links.db",)

FORMAT = Parameter(
    "format",
    "Format: text for people, or one JSON object per line.",
    named({"text": "text", "jsonl": "jsonl"}),
    default="text",
)


@click.command()
@takes(*GRAPH, *EXPLAIN_PARAMETERS, FORMAT)
def command(given: Given) -> None:
    """Show the outcome of each capture of URI, with its reason, file and offset."""
    uri, span, name = given.text(URI), span_of(given), FORMAT.required(given)
    with open_requested_graph(given) as graph:
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
