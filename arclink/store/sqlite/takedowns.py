"""The takedowns of a SQLite store: one row for each, with the numbers of items it removed.

The module also derives from them the totals of removed items, the greatest numbers that were ever
given, and the state of the store.
"""

import orjson

from arclink.model import Forgotten, Span, Surt, Timestamp
from arclink.store.protocols import Removed, StoreState, Takedown
from arclink.store.sqlite.schema import Connection


def records(connection: Connection) -> list[tuple[Takedown, Removed]]:
    """Return the takedowns of a store in the order recorded, each with the numbers it removed."""
    return [
        (
            Takedown(
                Forgotten(Surt(prefix), Span(Timestamp(first), Timestamp(last)), bool(targets)),
                reason,
                time,
            ),
            Removed(*counts),
        )
        for prefix, first, last, targets, reason, time, *counts in connection.execute(
            "SELECT prefix, first, last, targets, reason, time, mementos, payloads, "
            "contents, links, inlinks FROM forgotten ORDER BY number"
        )
    ]


def removed_sums(connection: Connection) -> tuple[int, int, int, int]:
    """Return how many items were removed from a store since it was created.

    Replaced contents and links (`arclink.store.sqlite.load`) are included.

    Returns:
        Numbers of payloads with an outcome, of contents, of links, and of all payloads.
    """
    replaced_contents, replaced_links = replaced_sums(connection)
    payloads, contents, links, checksums = connection.execute(
        "SELECT coalesce(sum(payloads), 0), coalesce(sum(contents), 0), coalesce(sum(links), "
        "0), coalesce(sum(checksums), 0) FROM forgotten"
    ).fetchone()
    return payloads, contents + replaced_contents, links + replaced_links, checksums


def replaced_sums(connection: Connection) -> tuple[int, int]:
    """Return the numbers of contents and links that were replaced since the store was created."""
    found = connection.execute("SELECT value FROM settings WHERE name = 'replaced'").fetchone()
    contents, links = orjson.loads(found[0]) if found else (0, 0)
    return contents, links


def store_state(connection: Connection) -> StoreState:
    """Return the identifiers of the present state of a store."""
    loaded = connection.execute(_LOADED).fetchone()
    forgotten = connection.execute(_FORGOTTEN).fetchone()
    restored = connection.execute(_RESTORED, (RENEWED,)).fetchone() or ()
    _, contents, links, _ = removed_sums(connection)
    return StoreState.of((*loaded, *forgotten, *restored), (loaded[0], contents, links, *restored))


def last_number(connection: Connection, table: str) -> int:
    """Return the greatest number ever given in ``payloads`` or ``contents``; 0 if none was."""
    column = {"payloads": "last_payload", "contents": "last_content"}[table]
    (found,) = connection.execute(
        f"SELECT max(coalesce((SELECT max(number) FROM {table}), 0), "
        f"coalesce((SELECT max({column}) FROM forgotten), 0))"
    ).fetchone()
    return int(found)


RENEWED = "restored"
"""Name of the setting that `arclink.store.sqlite.times.renew_state` sets to new random digits."""

_RESTORED = "SELECT value FROM settings WHERE name = ?"
_LOADED = """
SELECT (SELECT identity FROM batches ORDER BY number LIMIT 1), (SELECT identity FROM batches ORDER BY number DESC LIMIT 1), count(*)
FROM batches
"""
_FORGOTTEN = "SELECT count(*), sum(mementos) FROM forgotten"
