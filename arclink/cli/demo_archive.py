"""``arclink demo-archive``: a small archive with known links, to try ArcLink on."""

from pathlib import Path

import click

from arclink.access.declarations import PATH, Given, Parameter, whole_number
from arclink.cli.options import takes
from arclink.demo import write_demo_archive

EXAMPLES = ("arclink demo-archive --into demo --captures 300 --hosts 12 --seed 1",)

_INTO = Parameter(
    "into", "Folder for the archive.", PATH, is_required=True, was=("DIR",), metavar="FOLDER"
)
CAPTURES = Parameter(
    "captures",
    "Number of captures in the archive.",
    whole_number(None, least=1),
    default="300",
    metavar="N",
)
HOSTS = Parameter(
    "hosts",
    "Number of sites, which link to each other.",
    whole_number(100_000, least=2),
    default="12",
    metavar="N",
)
_SEED = Parameter(
    "seed",
    "Seed of the generator; each seed gives another archive.",
    whole_number(None),
    default="1",
    metavar="S",
)


@click.command()
@takes(_INTO, CAPTURES, HOSTS, _SEED)
def command(given: Given) -> None:
    """Write WARC files of an invented world into FOLDER, with a list of true links (truth.jsonl).

    The same options give the same archive. A demo archive in FOLDER is replaced; other files are
    not changed.
    """
    folder = Path(_INTO.required(given))
    summary = write_demo_archive(
        folder, CAPTURES.required(given), HOSTS.required(given), _SEED.required(given)
    )
    size = f"{len(summary.files)} files, {summary.bytes:,} bytes"
    click.echo(f"{summary.captures:,} captures of {summary.originals:,} URIs in {size}: {folder}")
    click.echo(f"{summary.links:,} true links: {summary.truth}")
    click.echo(f"a URI to query: {summary.example_uri}")
