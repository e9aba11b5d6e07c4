"""What a store was told to forget, as it keeps it: one row for each takedown, with how much that was."""

import sqlite3

from arclink.model import Forgotten, Span, Surt, Timestamp
from arclink.store import Removed, StoreState, Takedown
from arclink.store.replacing import replaced_sums


def records(connection: sqlite3.Connection) -> list[tuple[Takedown, Removed]]:
    """Return what a store was told to forget, in that order."""
    if not _has_records(connection):
        return []
    return [
        (
            Takedown(Forgotten(Surt(prefix), Span(Timestamp(first), Timestamp(last)), bool(targets)), reason, time),
            Removed(*counts),
        )
        for prefix, first, last, targets, reason, time, *counts in connection.execute(
            "SELECT prefix, first, last, targets, reason, time, mementos, payloads, contents, links, inlinks FROM forgotten ORDER BY number"
        )
    ]


def _has_records(connection: sqlite3.Connection) -> bool:
    """Tell whether a store has the table: one of the first layout, opened for reading, has none."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'forgotten'").fetchone() is not None


def removed_sums(connection: sqlite3.Connection) -> tuple[int, int, int, int]:
    """Return how many payloads with a fate, contents, links, and payloads in all were removed from a store since it was made.

    Contents and links that gave way to others (`arclink.store.replacing`) are among them.
    """
    replaced_contents, replaced_links = replaced_sums(connection)
    if not _has_records(connection):
        return 0, replaced_contents, replaced_links, 0
    payloads, contents, links, checksums = connection.execute(
        "SELECT coalesce(sum(payloads), 0), coalesce(sum(contents), 0), coalesce(sum(links), 0), coalesce(sum(checksums), 0) FROM forgotten"
    ).fetchone()
    return payloads, contents + replaced_contents, links + replaced_links, checksums


def store_state(connection: sqlite3.Connection) -> StoreState:
    """Return what tells this state of a store from others."""
    loaded = connection.execute(_LOADED).fetchone()
    told = connection.execute(_TOLD).fetchone() if _has_records(connection) else ()
    _, contents, links, _ = removed_sums(connection)
    return StoreState.of((*loaded, *told), (loaded[0], contents, links))


def last_number(connection: sqlite3.Connection, table: str) -> int:
    """Return the greatest number that was ever given in ``payloads`` or ``contents``; 0 if none was."""
    found = connection.execute(f"SELECT coalesce(max(number), 0) FROM {table}").fetchone()[0]
    if _has_records(connection):
        column = {"payloads": "last_payload", "contents": "last_content"}[table]
        found = max(found, connection.execute(f"SELECT coalesce(max({column}), 0) FROM forgotten").fetchone()[0])
    return int(found)


_LOADED = """
SELECT (SELECT identity FROM batches ORDER BY number LIMIT 1), (SELECT identity FROM batches ORDER BY number DESC LIMIT 1), count(*)
FROM batches
"""
_TOLD = "SELECT count(*), sum(mementos) FROM forgotten"
