"""``arclink schema``: the tables of a Cassandra store."""

import click

from arclink.cli.options import store_option
from arclink.errors import UsageError


@click.group()
def command() -> None:
    """Create the tables of a Cassandra store. A SQLite store creates its own tables."""


EXAMPLE = "arclink schema apply --store 'cassandra://node1,node2/links?replication=3'"


@command.command(
    "apply",
    short_help="Create the keyspace and tables, or check their version.",
    epilog=f"\b\nExamples:\n  {EXAMPLE}",
)
@store_option
def apply(store: str) -> None:
    """Create the keyspace and tables in Cassandra, or check the version of existing ones.

    Existing tables and rows are not changed. The URL holds the options:
    cassandra://node1,node2:9042/links?replication=3&consistency=QUORUM
    """
    from arclink.store.location import is_remote

    if not is_remote(store):
        raise UsageError(
            f"--store {store}: only a Cassandra store (cassandra://host/keyspace) has a "
            "schema to apply; SQLite stores create their own"
        )
    from arclink.engines.cassandra.location import CassandraLocation, needs_driver
    from arclink.engines.cassandra.schema import apply_schema
    from arclink.store.layouts import STORE as LAYOUT

    needs_driver()
    address = CassandraLocation(store).address
    is_new = apply_schema(address)
    click.echo(
        f"{address.name}: {'made' if is_new else 'exists'}, layout {LAYOUT}, "
        f"replication {address.replication}."
    )
