"""Numbers for words that rows repeat: archive files, charsets, reasons."""

import sqlite3


class StoredNames:
    """The ``names`` table; each name is read once and kept, since there are few.

    Args:
        connection: In a transaction when a name is to get a number.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def number_of(self, name: str) -> int:
        """Return the number of a name; a new one if it has none yet."""
        number = self._numbers.get(name)
        if number is None:
            found = self._connection.execute("SELECT number FROM names WHERE name = ?", (name,)).fetchone()
            if found is None:
                self._connection.execute("INSERT INTO names (name) VALUES (?)", (name,))
                return self.number_of(name)
            number = self._numbers[name] = int(found[0])
        return number

    def name_of(self, number: int) -> str:
        """Return the name with this number."""
        name = self._names.get(number)
        if name is None:
            name = self._connection.execute("SELECT name FROM names WHERE number = ?", (number,)).fetchone()[0]
            self._names[number] = name
        return name

    def forget(self) -> None:
        """Empty the cache: after a transaction that was taken back, numbers are used again."""
        self._numbers.clear()
        self._names.clear()
