"""``arclink serve``: the link query over HTTP."""

import click

from arclink.cli.options import store_option


@click.command("serve", short_help="Answer link queries over HTTP.")
@store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Port to listen on; 0 takes a free one.")
@click.option("--threads", type=click.IntRange(1, 64), default=8, show_default=True, help="Requests answered at a time.")
def command(store: str, host: str, port: int, threads: int) -> None:
    """Answer link queries over HTTP, with a page for people at /, until stopped."""
    from service.running import serve  # lazily: nothing else in arclink needs the service

    serve(store, host, port, threads, click.echo)
