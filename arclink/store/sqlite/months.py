"""The numbers of captures by month, in a row of the settings of a SQLite store.

A store of an earlier version has no such row until it is built again.
"""

from collections import Counter
from collections.abc import Mapping

import orjson

from arclink.store.sqlite.schema import Connection

_NAME = "months"


def stored_months(connection: Connection) -> Mapping[str, int] | None:
    """Return the numbers of captures by month, oldest first; None if they are not known."""
    found = connection.execute("SELECT value FROM settings WHERE name = ?", (_NAME,)).fetchone()
    if found:
        months: dict[str, int] = orjson.loads(found[0])
        return months
    return None if connection.execute("SELECT 1 FROM batches").fetchone() else {}


def change_months(connection: Connection, changes: Mapping[str, int]) -> None:
    """Add numbers of captures, or subtract negative ones. Call this before a batch is recorded."""
    months = stored_months(connection)
    if months is None:
        return
    sums = Counter(months)
    sums.update(changes)
    positive = {month: count for month, count in sorted(sums.items()) if count > 0}
    connection.execute(
        "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = "
        "excluded.value",
        (_NAME, orjson.dumps(positive).decode()),
    )
