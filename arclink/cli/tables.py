"""``arclink tables``: the relations of a store as Parquet files."""

import click

from arclink.access.declarations import Given
from arclink.access.texts import counted
from arclink.cli.options import perform, takes
from arclink.errors import hide_credentials
from arclink.operations.operation import stored_size
from arclink.operations.tables import TABLES, texts_line

EXAMPLES = (
    "arclink tables --store links.db",
    "arclink tables --text --store links.db",
    "arclink tables --text --store cassandra://node1/links --tables-at hdfs:///tables/links "
    "--runner hadoop",
)


@click.command()
@takes(*TABLES.declared)
def command(given: Given) -> None:
    """Make the tables of a store, and name their Parquet files.

    `arclink sql` makes them when they are needed; this command does it in advance, for example
    after each build. Other programs can read the files, such as DuckDB, Spark and pandas. With
    --tables-at, tasks write a part of each table, on all cores of this machine or, for a store in
    Cassandra, on an engine; from then on, everyone who needs the tables copies them from there.
    With --text, the text of each page that has none yet is read from the archive files, for the
    tables `texts` and `words` and for all questions about words; with --tables-at, by tasks. Each
    later build keeps them.
    """
    done = perform(TABLES, given)
    for name, table in done.tables.items():
        size = stored_size(table.bytes)
        parts = f", {counted(table.parts, 'file')}" if table.parts else ""
        rows = "written before" if table.rows is None else f"{table.rows:,} rows, {size}{parts}"
        click.echo(f"{name}: {rows}")
        for file in table.files:
            click.echo(f"  {file.encode(errors='backslashreplace').decode()}")
    if done.texts is not None:
        click.echo(texts_line(done.texts))
    for place in done.addresses:
        click.echo(f"tasks write them to {hide_credentials(place)}")
