"""The totals of a SQLite store, from its batches and takedowns."""

from pathlib import Path

from arclink.store.protocols import StoreSums
from arclink.store.sqlite.schema import Connection
from arclink.store.sqlite.takedowns import last_number, removed_sums

_KEPT = """
SELECT count(*), coalesce(sum(payloads), 0), coalesce(sum(links), 0),
       coalesce(min(nullif(first, '')), ''), coalesce(max(last), '')
FROM batches
"""


def store_sums(connection: Connection, path: Path) -> StoreSums:
    """Return the totals of all batches, and the size of the file with its log."""
    batches, payloads, links, first, last = connection.execute(_KEPT).fetchone()
    removed_payloads, removed_contents, removed_links, _ = removed_sums(connection)
    return StoreSums(
        batches=batches,
        files=connection.execute("SELECT count(*) FROM files").fetchone()[0],
        payloads=payloads - removed_payloads,
        contents=last_number(connection, "contents") - removed_contents,
        links=links - removed_links,
        first=first,
        last=last,
        bytes=sum(file.stat().st_size for file in (path, Path(f"{path}-wal")) if file.exists()),
    )
