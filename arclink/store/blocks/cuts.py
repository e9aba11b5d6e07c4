"""Sorts the captures of one payload by the cut of their original.

This is for payloads that were captured at very many URIs. Such a payload has one content per cut
(`arclink.uris.resolution`). To find the captures of one content, a reader would read the captures
of all contents of the payload. So they are sorted once, into a temporary file of SQLite; memory
holds only the page cache of that file.
"""

import sqlite3
from collections.abc import Iterable, Iterator

from arclink.model import Checksum, Scope, Source, Timestamp, UriR
from arclink.store.blocks.byte_layouts import split_content
from arclink.uris.resolution import content_id

_TABLE = (
    "CREATE TABLE pages (cut BLOB, original TEXT, timestamps TEXT, PRIMARY KEY (cut, "
    "original)) WITHOUT ROWID"
)


class CapturesByCut:
    """The captures of one payload, by cut.

    Args:
        checksum: Of the payload.
        scope: Of its links; wider than `Scope.NONE`.
        pages: The distinct originals, sorted, each with its timestamps, sorted.
    """

    def __init__(self, checksum: Checksum, scope: Scope, pages: Iterable[Source]) -> None:
        # A temporary file, deleted when it is closed; another thread may close it.
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute(_TABLE)
        rows = (
            (split_content(content_id(checksum, original, scope))[1], original, " ".join(times))
            for original, times in pages
        )
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO pages VALUES (?, ?, ?)", rows)
        self._connection.execute("COMMIT")

    def of(self, cut: bytes) -> Iterator[Source]:
        """Yield the pages with this cut, sorted by original."""
        for original, timestamps in self._connection.execute(
            "SELECT original, timestamps FROM pages WHERE cut = ? ORDER BY original", (cut,)
        ):
            yield UriR(original), [Timestamp(timestamp) for timestamp in timestamps.split(" ")]

    def __del__(self) -> None:
        """Close and delete the file."""
        self._connection.close()
