"""``arclink stats``: the size of a store."""

from dataclasses import asdict

import click

from arclink.access.declarations import Given, switch
from arclink.cli.declared_options import takes
from arclink.cli.options import GRAPH, open_requested_graph

EXAMPLES = ("arclink stats --store links.db",)

JSON = switch("json", "Write one JSON object instead of lines.")
_MANIFESTS = switch(
    "manifests",
    "Show the manifest of each batch, one JSON document per line.",
    "reference/manifest.md",
)


@click.command()
@takes(*GRAPH, JSON, _MANIFESTS)
def command(given: Given) -> None:
    """Count the mementos, URIs, contents, links and other parts of a store.

    The command also counts batches, files, payloads, targets and bytes, and shows the first and
    last time of capture. All counts are exact: mementos, original URIs and targets are counted by
    reading about 50 % of the store.
    """
    import orjson

    with open_requested_graph(given) as opened:
        if _MANIFESTS.required(given):
            for batch in opened.batches():
                click.echo(orjson.dumps(orjson.loads(batch.manifest)).decode())
            return
        counts = asdict(opened.stats())
    if JSON.required(given):
        click.echo(orjson.dumps(counts).decode())
        return
    for name, value in counts.items():
        click.echo(
            f"{name:<10}  {value:>16,}"
            if isinstance(value, int)
            else f"{name:<10}  {value or '-':>16}"
        )
