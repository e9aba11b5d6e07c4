"""The schema: applied from ``cassandra_schema/``, and its version checked before anything is read."""

import re
from collections.abc import Iterator
from importlib.resources import files

from arclink.errors import StoreError
from arclink.store.cassandra.addresses import Address, replication_map
from arclink.store.cassandra.database import Database, database_of, forget_database
from arclink.store.cassandra.steps import Steps

LAYOUT = 1
"""Version of the schema."""

_PARTITION = 0
"""Of the one row of `steps` that all steps share."""


def statements() -> Iterator[str]:
    """Yield the statements of the CQL files, in their order, without comments."""
    for file in sorted(files("cassandra_schema").iterdir(), key=lambda one: one.name):
        if file.name.endswith(".cql"):
            text = re.sub(r"--[^\n]*", "", file.read_text("utf-8"))
            yield from (statement.strip() for statement in text.split(";") if statement.strip())


def apply_schema(address: Address) -> bool:
    """Make the keyspace and the tables of a store; what is there stays as it is.

    Returns:
        Whether there was no store before.

    Raises:
        StoreError: The cluster does not answer, refuses, or the keyspace holds what is not ours or is newer.
    """
    database = Database(address)
    try:
        known = database.ask("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", (address.keyspace,))
        tables = {row[0] for row in known}
        ours = {match[1] for statement in statements() if (match := re.search(r"EXISTS (\w+)", statement))}
        if tables - ours:
            others = ", ".join(sorted(tables - ours)[:5])
            raise StoreError(f"{address.name}: the keyspace holds tables that are not ours ({others}). Name another keyspace.")
        database.command(f"CREATE KEYSPACE IF NOT EXISTS {address.keyspace} WITH replication = {replication_map(address.replication)}")
    finally:
        database.close()
    forget_database(address)
    database = Database(address)
    try:
        layout = _layout(database) if "steps" in tables else None
        _check(address, layout, is_new=True)
        for statement in statements():
            database.command(statement)
        database.agree(f"UPDATE steps SET layout = {LAYOUT} WHERE store = {_PARTITION} IF layout = null", ())
    finally:
        database.close()
    return layout is None


def open_database(address: Address) -> Database:
    """Return the connection to a store of this version.

    Raises:
        StoreError: There is no store, it is no store of ours, or of another version.
    """
    database = database_of(address)
    known = database.ask("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", (address.keyspace,))
    _check(address, _layout(database) if "steps" in {row[0] for row in known} else None)
    return database


def _layout(database: Database) -> int | None:
    rows = database.ask(f"SELECT layout FROM steps WHERE store = {_PARTITION} LIMIT 1")
    return rows[0][0] if rows else None


def _missing(address: Address) -> str:
    return f"no store at {address.name}. Make one: arclink schema apply --store {address.name}"


def _check(address: Address, layout: int | None, *, is_new: bool = False) -> None:
    if layout is None:
        if not is_new:
            raise StoreError(_missing(address))
    elif layout > LAYOUT:
        raise StoreError(f"{address.name} was written by a newer ArcLink (layout {layout}, this one reads {LAYOUT}). Use that version.")
    elif layout < LAYOUT:
        raise StoreError(f"{address.name} has the old layout {layout}, this ArcLink reads {LAYOUT}. Load its graph files into a new store.")


def is_there(address: Address) -> bool:
    """Return whether there is a store of this version.

    Raises:
        StoreError: No node answers, or it is of another version.
    """
    try:
        open_database(address)
    except StoreError as error:
        if str(error) == _missing(address):
            return False
        raise
    return True


def empty_store(address: Address) -> None:
    """Remove everything from a store that nobody is loading into; nothing happens if there is none.

    Raises:
        StoreError: Another process holds it.
    """
    if not is_there(address):
        return
    database = open_database(address)
    with Steps(database).held():
        for statement in statements():
            if found := re.search(r"EXISTS (\w+)", statement):
                database.command(f"TRUNCATE {found[1]}")
    database.agree(f"UPDATE steps SET layout = {LAYOUT} WHERE store = {_PARTITION} IF layout = null", ())
