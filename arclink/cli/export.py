"""``arclink export``: the graph in files for other tools."""

from pathlib import Path

import click

from arclink.access.declarations import PATH, Given, Parameter
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH, open_graph_asked
from arclink.export.queries import EXPORT_PARAMETERS, ExportQuery

EXAMPLES = (
    "arclink export --store links.db --format parquet --into tables",
    "arclink export --store links.db --format gexf --level domain --into domains.gexf",
)

INTO = Parameter(
    "into",
    "Output file; its manifest is FILE.json.",
    PATH,
    is_required=True,
    metavar="FILE",
)


@click.command(
    "export",
    short_help="Write the graph for other tools: Parquet, CSV, GraphML, GEXF, WebGraph, RDF.",
)
@takes(*GRAPH, *EXPORT_PARAMETERS, INTO)
def command(given: Given) -> None:
    """Write the links of the whole store, or of a time, to FILE, with a manifest in FILE.json.

    The manifest lists what is in the file, what was left out, and why.
    """
    from arclink.export.exports import export
    from arclink.export.manifest import summary

    query = ExportQuery.of(given)
    path = Path(INTO.sure(given))
    with open_graph_asked(given) as graph:
        exported = export(graph, query, path)
    for line in summary(exported.query, exported.tally, exported.files):
        click.echo(line)
    click.echo(f"told in {path}.json")
