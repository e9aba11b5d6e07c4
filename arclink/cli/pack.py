"""``arclink pack``: this environment as an archive for a cluster."""

from pathlib import Path

import click


@click.command()
@click.argument("file", type=click.Path())
def command(file: str) -> None:
    """Write ArcLink and the packages it needs to FILE (.tar.gz), for workers that have none of them.

    The workers' Python is to be of the same version as this one, on the same system (docs/engines.md).
    """
    from arclink.pipeline.environment import pack_environment

    versions = pack_environment(Path(file))
    click.echo(f"{file}: {len(versions)} packages, {Path(file).stat().st_size:,} bytes")
