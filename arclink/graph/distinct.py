"""A set of texts: a small one in memory, a very large one in a temporary file."""

import sqlite3
from collections.abc import Iterator

ROOM = 50_000
"""Maximum texts in memory; an error page has one cut per directory that it was captured in."""


class Distinct:
    """A set of texts that may grow beyond memory: then SQLite stores them in a temporary file.

    Args:
        room: Maximum number of texts in memory.

    >>> seen = Distinct()
    >>> seen.add("a"), seen.add("b"), seen.add("a")
    (True, True, False)
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._few: set[str] = set()
        self._many: sqlite3.Connection | None = None

    def add(self, text: str) -> bool:
        """Add a text; return whether it is new."""
        if text in self._few:
            return False
        if self._many is None:
            self._few.add(text)
            if len(self._few) > self._room:
                self._spill()
            return True
        # A raw original may contain any character, also lone surrogates.
        values = (text.encode("utf-8", "surrogatepass"),)
        return (
            self._many.execute(
                "INSERT INTO texts VALUES (?) ON CONFLICT DO NOTHING", values
            ).rowcount
            > 0
        )

    def __iter__(self) -> Iterator[str]:
        """Yield the texts, sorted; add none meanwhile."""
        if self._many is None:
            yield from sorted(self._few)
        else:
            for (text,) in self._many.execute("SELECT text FROM texts ORDER BY text"):
                yield text.decode("utf-8", "surrogatepass")

    def clear(self) -> None:
        """Remove all texts."""
        self._few.clear()
        if self._many is not None:
            self._many.close()
            self._many = None

    def __del__(self) -> None:
        """Remove the temporary file."""
        self.clear()

    def _spill(self) -> None:
        self._many = sqlite3.connect("", isolation_level=None)
        self._many.execute("CREATE TABLE texts (text BLOB PRIMARY KEY) WITHOUT ROWID")
        self._many.execute("BEGIN")
        self._many.executemany(
            "INSERT INTO texts VALUES (?)",
            ((text.encode("utf-8", "surrogatepass"),) for text in sorted(self._few)),
        )
        self._few.clear()
