"""``arclink pack``: this environment as an archive for a cluster."""

from pathlib import Path

import click

from arclink.access.declarations import PATH, Given, Parameter, switch
from arclink.cli.options import takes

EXAMPLES = ("arclink pack --into arclink-environment.tar.gz",)

_INTO = Parameter(
    "into", "File for the archive.", PATH, is_required=True, was=("FILE",), metavar="FILE"
)
_TABLES = switch(
    "tables", "Also pack what `arclink tables` needs, which more than doubles the size."
)


@click.command()
@takes(_INTO, _TABLES)
def command(given: Given) -> None:
    """Write ArcLink and the packages it needs to FILE (.tar.gz), for workers without them.

    The workers' Python must have the same version as this one, on the same system and processor
    (docs/how-to/engines.md).
    """
    from arclink.engines.environment import FOR_TABLES, pack_environment

    file = Path(_INTO.required(given))
    versions = pack_environment(file, FOR_TABLES if _TABLES.required(given) else ())
    click.echo(f"{file}: {len(versions)} packages, {file.stat().st_size:,} bytes")
