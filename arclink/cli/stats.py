"""``arclink stats``: how much a store holds."""

from dataclasses import asdict

import click

from arclink.cli.options import store_option


@click.command()
@store_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@click.option("--manifests", is_flag=True, help="The manifest of each batch (docs/manifest.md) instead, one JSON document a line.")
def command(store: str, as_json: bool, manifests: bool) -> None:
    """Count what a store holds: batches, files, mementos, URIs, payloads, contents, links, targets, time, bytes.

    All counts are exact: mementos, original URIs and targets are counted by reading about half of the store.
    """
    import orjson

    from arclink.store.opening import open_store

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
        click.echo(f"{name:<10}  {value:>16,}" if isinstance(value, int) else f"{name:<10}  {value or '-':>16}")
