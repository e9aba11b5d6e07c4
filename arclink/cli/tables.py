"""``arclink tables``: the relations of a store as Parquet files."""

from pathlib import Path

import click

from arclink.access.declarations import Given, switch
from arclink.cli.declared_options import takes
from arclink.cli.options import STORE
from arclink.cli.sizes import stored_size

EXAMPLES = ("arclink tables --store links.db",)

_REMOVE = switch("remove", "Remove the tables; the next query makes them again.")


@click.command()
@takes(STORE, _REMOVE)
def command(given: Given) -> None:
    """Make the tables `captures` and `links` of a store, and name their Parquet files.

    `arclink sql` makes them when they are needed; this command does it in advance, for example
    after each build. Other programs can read the files, such as DuckDB, Spark and pandas.
    """
    from arclink.analysis.scipy_extra import analysis_extra
    from arclink.relations.folder import remove_relations
    from arclink.store.location import open_store

    store = STORE.required(given)
    with analysis_extra():
        from arclink.relations.kept import relations_of, rows_in
    with open_store(store) as opened:
        if _REMOVE.required(given):
            remove_relations(store)
            return
        made = relations_of(store, opened)
    for name, paths in (("captures", made.captures), ("links", made.links)):
        size = sum(path.stat().st_size for path in paths)
        click.echo(f"{name}: {rows_in(paths):,} rows, {stored_size(size)}")
        for path in paths:
            click.echo(f"  {_shown(path)}")


def _shown(path: Path) -> str:
    return str(path).encode(errors="backslashreplace").decode()
