"""``arclink stats``: the size of a store."""

from dataclasses import asdict

import click

from arclink.cli.options import store_option

EXAMPLES = ("arclink stats --store links.db",)


@click.command(short_help="Count the mementos, URIs, contents and links of a store.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object instead of lines.")
@click.option(
    "--manifests",
    is_flag=True,
    help="Show the manifest of each batch (docs/manifest.md), one JSON document per line.",
)
def command(store: str, as_json: bool, manifests: bool) -> None:
    """Count the mementos, URIs, contents, links and other parts of a store.

    Also counted are batches, files, payloads, targets and bytes. All counts are exact: mementos,
    original URIs and targets are counted by reading about half of
    the store. The first and last time of capture are shown, too.
    """
    import orjson

    from arclink.store.location import open_store

    with open_store(store) as opened:
        if manifests:
            for batch in opened.batches():
                click.echo(orjson.dumps(orjson.loads(batch.manifest)).decode())
            return
        counts = asdict(opened.stats())
    if as_json:
        click.echo(orjson.dumps(counts).decode())
        return
    for name, value in counts.items():
        click.echo(
            f"{name:<10}  {value:>16,}"
            if isinstance(value, int)
            else f"{name:<10}  {value or '-':>16}"
        )
