"""``arclink demo-archive``: a small archive with known links, to try ArcLink on."""

from pathlib import Path

import click

from arclink.demo import write_demo_archive

EXAMPLES = ("arclink demo-archive demo --captures 300 --hosts 12 --seed 1",)


@click.command("demo-archive", short_help="Write a small archive for trying ArcLink.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--captures",
    default=300,
    show_default=True,
    metavar="N",
    type=click.IntRange(min=1),
    help="Number of captures in the archive.",
)
@click.option(
    "--hosts",
    default=12,
    show_default=True,
    metavar="H",
    type=click.IntRange(min=2),
    help="Number of sites, which link to each other.",
)
@click.option(
    "--seed",
    default=1,
    show_default=True,
    metavar="S",
    help="Seed of the generator; each seed gives another archive.",
)
def command(folder: Path, captures: int, hosts: int, seed: int) -> None:
    """Write WARC files of an invented world into DIR, with a list of true links (truth.jsonl).

    The same numbers give the same archive. A demo archive in DIR is replaced; other files are not
    changed.
    """
    summary = write_demo_archive(folder, captures, hosts, seed)
    size = f"{len(summary.files)} files, {summary.bytes:,} bytes"
    click.echo(f"{summary.captures:,} captures of {summary.originals:,} URIs in {size}: {folder}")
    click.echo(f"{summary.links:,} true links: {summary.truth}")
    click.echo(f"a URI to query: {summary.example_uri}")
