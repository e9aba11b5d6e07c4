"""The captures of one payload by the cut of their original, for a payload that was captured at very many URIs.

Such a payload has as many contents as it has cuts, and finding the captures of one content among all of them takes as
long as reading them all. So they are sorted out once, in a temporary file that SQLite keeps; memory holds its page cache.
"""

import sqlite3
from collections.abc import Iterable, Iterator

from arclink.model import Checksum, Scope, Source, Timestamp, UriR
from arclink.store.packing import split_content
from arclink.uris.resolving import content_id

_TABLE = "CREATE TABLE pages (cut BLOB, original TEXT, timestamps TEXT, PRIMARY KEY (cut, original)) WITHOUT ROWID"


class CapturesByCut:
    """The captures of one payload.

    Args:
        checksum: Of the payload.
        scope: Of its links; wider than `Scope.NONE`.
        pages: The distinct originals, sorted, each with its timestamps, sorted.
    """

    def __init__(self, checksum: Checksum, scope: Scope, pages: Iterable[Source]) -> None:
        # A private file, gone when it is closed; a thread that ends may leave that to another.
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute(_TABLE)
        rows = ((split_content(content_id(checksum, original, scope))[1], original, " ".join(times)) for original, times in pages)
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO pages VALUES (?, ?, ?)", rows)
        self._connection.execute("COMMIT")

    def of(self, cut: bytes) -> Iterator[Source]:
        """Yield the pages with this cut, sorted."""
        for original, timestamps in self._connection.execute(
            "SELECT original, timestamps FROM pages WHERE cut = ? ORDER BY original", (cut,)
        ):
            yield UriR(original), [Timestamp(timestamp) for timestamp in timestamps.split(" ")]

    def __del__(self) -> None:
        """Give the file back."""
        self._connection.close()
