"""Sorts the captures of one payload by the cut of their original.

This is for payloads that were captured at very many URIs. Such a payload has one content per cut
(`arclink.uris.resolution`). To find the captures of one content, a reader would read the captures
of all contents of the payload. So they are sorted once, into a temporary file of SQLite.
"""

from collections.abc import Iterable, Iterator

from arclink.files.spill import scratch
from arclink.model import Checksum, Scope, Source, Timestamp, UriR
from arclink.store.blocks.byte_layouts import split_content
from arclink.uris.resolution import content_id


class CapturesByCut:
    """The captures of one payload, by cut.

    Args:
        checksum: Of the payload.
        scope: Of its links; wider than `Scope.NONE`.
        pages: The distinct originals, sorted, each with its timestamps, sorted.
    """

    def __init__(self, checksum: Checksum, scope: Scope, pages: Iterable[Source]) -> None:
        self._pages = scratch(
            "CREATE TABLE pages (cut BLOB, original TEXT, timestamps TEXT, "
            "PRIMARY KEY (cut, original)) WITHOUT ROWID"
        )
        rows = (
            (split_content(content_id(checksum, original, scope))[1], original, " ".join(times))
            for original, times in pages
        )
        self._pages.executemany("INSERT INTO pages VALUES (?, ?, ?)", rows)
        # Readers keep several of these for a long time, so the pages go to the file.
        for statement in ("COMMIT", "PRAGMA cache_size = -2000", "PRAGMA shrink_memory"):
            self._pages.execute(statement)

    def of(self, cut: bytes) -> Iterator[Source]:
        """Yield the pages with this cut, sorted by original."""
        for original, timestamps in self._pages.execute(
            "SELECT original, timestamps FROM pages WHERE cut = ? ORDER BY original", (cut,)
        ):
            yield UriR(original), [Timestamp(timestamp) for timestamp in timestamps.split(" ")]
