"""``arclink pack``: this environment as an archive for a cluster."""

from pathlib import Path

import click

EXAMPLES = ("arclink pack arclink-environment.tar.gz",)


@click.command()
@click.argument("file", type=click.Path())
def command(file: str) -> None:
    """Write ArcLink and the packages it needs to FILE (.tar.gz), for workers without them.

    The workers' Python must have the same version as this one, on the same system and processor
    (docs/how-to/engines.md).
    """
    from arclink.mapreduce.environment import pack_environment

    versions = pack_environment(Path(file))
    click.echo(f"{file}: {len(versions)} packages, {Path(file).stat().st_size:,} bytes")
