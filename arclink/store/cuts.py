"""The captures of one payload by the cut of their original, for a payload that was captured at very many URIs.

Such a payload has as many contents as it has cuts, and finding the captures of one content among all of them takes as
long as reading them all. So they are sorted out once, in a temporary file that SQLite keeps; memory holds its page cache.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from arclink.model import Checksum, Scope, Timestamp, UriR
from arclink.store.packing import split_content
from arclink.uris.resolving import content_id

_TABLE = "CREATE TABLE captures (cut BLOB, original TEXT, timestamp TEXT, PRIMARY KEY (cut, original, timestamp)) WITHOUT ROWID"


class CapturesByCut:
    """The captures of one payload.

    Args:
        checksum: Of the payload.
        scope: Of its links; wider than `Scope.NONE`.
        captures: Distinct (original, timestamp) pairs, sorted.
    """

    def __init__(self, checksum: Checksum, scope: Scope, captures: Iterable[tuple[UriR, Timestamp]]) -> None:
        self._connection = sqlite3.connect("", isolation_level=None)  # a private file, gone when it is closed
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute(_TABLE)
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO captures VALUES (?, ?, ?)", _with_cuts(checksum, scope, captures))
        self._connection.execute("COMMIT")

    def of(self, cut: bytes) -> Iterator[tuple[UriR, list[Timestamp]]]:
        """Yield the originals with this cut, sorted, each with its timestamps, sorted."""
        rows = self._connection.execute("SELECT original, timestamp FROM captures WHERE cut = ? ORDER BY original, timestamp", (cut,))
        for original, some in groupby(rows, itemgetter(0)):
            yield UriR(original), [Timestamp(timestamp) for _, timestamp in some]

    def __del__(self) -> None:
        """Give the file back."""
        self._connection.close()


def _with_cuts(checksum: Checksum, scope: Scope, captures: Iterable[tuple[UriR, Timestamp]]) -> Iterator[tuple[bytes, UriR, Timestamp]]:
    for original, some in groupby(captures, itemgetter(0)):
        cut = split_content(content_id(checksum, original, scope))[1]
        for _, timestamp in some:
            yield cut, original, timestamp
