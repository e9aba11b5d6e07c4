"""``arclink export``: the graph in files for other tools."""

from pathlib import Path

import click

from arclink.analysis.slices import Level
from arclink.cli.options import store_option
from arclink.cli.question_options import (
    at_option,
    from_option,
    kinds_of_export_option,
    redirects_option,
    to_option,
)
from arclink.export.queries import ExportFormat, ExportQuery, Spells
from arclink.store.location import open_store

EXAMPLES = (
    "arclink export --store links.db --format parquet --into tables",
    "arclink export --store links.db --format gexf --level domain --into domains.gexf",
)


@click.command(
    "export",
    short_help="Write the graph for other tools: Parquet, CSV, GraphML, GEXF, WebGraph, RDF.",
)
@store_option
@click.option(
    "--format",
    "form",
    required=True,
    type=click.Choice([form.value for form in ExportFormat]),
    help="Format of the file.",
)
@click.option(
    "--into",
    "path",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Output file; its manifest is FILE.json.",
)
@click.option(
    "--level",
    type=click.Choice([level.value for level in Level]),
    help="Level of the nodes. Default: host for graphs, uri for tables.",
)
@from_option
@to_option
@at_option
@kinds_of_export_option
@redirects_option
@click.option(
    "--min-count",
    metavar="N",
    help="Leave out links with fewer mementos. Default: 1, which leaves out nothing.",
)
@click.option("--top", metavar="N", help="Only the N nodes with the most linking nodes.")
@click.option(
    "--core", metavar="N", help="Only nodes with at least N neighbours among the remaining nodes."
)
@click.option(
    "--backbone",
    metavar="ALPHA",
    help="Only links that are significant at this level (disparity filter), such as 0.05.",
)
@click.option(
    "--spells",
    type=click.Choice([spells.value for spells in Spells]),
    help="With gexf: the times at which a link exists.",
)
def command(
    store: str,
    form: str,
    path: Path,
    first: str,
    last: str,
    kinds: tuple[str, ...],
    **others: str | None,
) -> None:
    """Write the links of the whole store, or of a time, to FILE, with a manifest in FILE.json.

    The manifest lists what is in the file, what was left out, and why.
    """
    from arclink.export.exports import export
    from arclink.export.manifest import summary

    given = {
        "format": form,
        "from": first,
        "to": last,
        **{name.replace("_", "-"): value for name, value in others.items()},
    }
    query = ExportQuery.from_parameters(
        [
            *((name, value) for name, value in given.items() if value),
            *(("kinds", kind) for kind in kinds),
        ]
    )
    with open_store(store) as graph:
        exported = export(graph, query, path)
    for line in summary(exported.query, exported.tally, exported.files):
        click.echo(line)
    click.echo(f"told in {path}.json")
