"""Creates the tables of a store from ``cassandra_schema/``, and checks the version of a store."""

import re
from collections.abc import Iterator
from importlib.resources import files

from arclink.engines.cassandra.addresses import Address, replication_map
from arclink.engines.cassandra.database import Database, database_of, forget_database
from arclink.engines.cassandra.steps import Steps
from arclink.errors import StoreError
from arclink.store.layouts import IN_CASSANDRA, STORE, check_layout

_PARTITION = 0
"""The partition of `steps` that holds all steps."""


def statements() -> Iterator[str]:
    """Yield the statements of the CQL files, in order, without comments."""
    folder = files("arclink.engines.cassandra") / "cql"
    for file in sorted(folder.iterdir(), key=lambda path: path.name):
        if file.name.endswith(".cql"):
            text = re.sub(r"--[^\n]*", "", file.read_text("utf-8"))
            yield from (statement.strip() for statement in text.split(";") if statement.strip())


def _tables() -> set[str]:
    """Return the names of the tables of a store."""
    return {match[1] for match in re.finditer(r"EXISTS (\w+)", " ".join(statements()))}


def apply_schema(address: Address) -> bool:
    """Create the keyspace and the tables of a store; existing ones stay unchanged.

    Returns:
        Whether the store is new.

    Raises:
        StoreError: The cluster does not answer or refuses, or the keyspace holds foreign tables or
            a newer store.
    """
    database = Database(address)
    try:
        known = database.ask(
            "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?",
            (address.keyspace,),
        )
        tables = {row[0] for row in known}
        if foreign := sorted(tables - _tables()):
            raise StoreError(
                f"{address.name}: the keyspace has tables of another program "
                f"({', '.join(foreign[:5])}). Name another keyspace."
            )
        database.command(
            f"CREATE KEYSPACE IF NOT EXISTS {address.keyspace} WITH replication = "
            f"{replication_map(address.replication)}"
        )
    finally:
        database.close()
    forget_database(address)
    database = Database(address)
    try:
        layout = _layout_in(database) if "steps" in tables else None
        _check(address, layout, is_new=True)
        for statement in statements():
            database.command(statement)
        database.agree(
            f"UPDATE steps SET layout = {STORE} WHERE store = {_PARTITION} IF layout = null", ()
        )
    finally:
        database.close()
    return layout is None


def open_database(address: Address, *, create: bool = False) -> Database:
    """Return the connection to a store of this version.

    Args:
        address: Of the store.
        create: Make the tables that a store of an earlier version lacks.

    Raises:
        StoreError: The store is missing, is not an ArcLink store, or has another version.
    """
    database = database_of(address)
    known = database.ask(
        "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", (address.keyspace,)
    )
    tables = {row[0] for row in known}
    layout = _layout_in(database) if "steps" in tables else None
    _check(address, layout)
    if create and _tables() - tables:
        for statement in statements():
            database.command(statement)
    return database


def layout_of(database: Database) -> int:
    """Return the number of a store's layout (`arclink.store.layouts`)."""
    return _layout_in(database) or STORE


def set_layout(database: Database, before: int, layout: int) -> None:
    """Change the number of a store's layout, if it is the one before."""
    database.agree(
        f"UPDATE steps SET layout = ? WHERE store = {_PARTITION} IF layout = ?", (layout, before)
    )


def _layout_in(database: Database) -> int | None:
    rows = database.ask(f"SELECT layout FROM steps WHERE store = {_PARTITION} LIMIT 1")
    return rows[0][0] if rows else None


def _missing(address: Address) -> str:
    return f"no store at {address.name}. Create one: arclink schema apply --store {address.name}"


def _check(address: Address, layout: int | None, *, is_new: bool = False) -> None:
    if layout is None:
        if not is_new:
            raise StoreError(_missing(address))
    else:
        check_layout(address.name, layout, IN_CASSANDRA)


def is_there(address: Address) -> bool:
    """Return whether a store of this version exists.

    Raises:
        StoreError: No node answers, or the store has another version.
    """
    try:
        open_database(address)
    except StoreError as error:
        if str(error) == _missing(address):
            return False
        raise
    return True


def empty_store(address: Address) -> None:
    """Remove all data from a store, if it exists and no process loads into it.

    Raises:
        StoreError: Another process holds the store.
    """
    if not is_there(address):
        return
    database = open_database(address, create=True)
    with Steps(database).held():
        for table in _tables():
            database.command(f"TRUNCATE {table}")
    database.agree(
        f"UPDATE steps SET layout = {STORE} WHERE store = {_PARTITION} IF layout = null", ()
    )
