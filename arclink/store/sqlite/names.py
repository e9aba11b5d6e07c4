"""Numbers for words that many rows repeat: archive files, charsets, reasons."""

from arclink.store.seals import damaged
from arclink.store.sqlite.schema import Connection


class StoredNames:
    """The ``names`` table; each name is read once and cached, since there are few.

    Args:
        connection: In a transaction if new names may be added.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def number_of(self, name: str) -> int:
        """Return the number of a name; an unknown name gets a new number."""
        number = self._numbers.get(name)
        if number is None:
            found = self._connection.execute(
                "SELECT number FROM names WHERE name = ?", (name,)
            ).fetchone()
            if found is None:
                self._connection.execute("INSERT INTO names (name) VALUES (?)", (name,))
                return self.number_of(name)
            number = self._numbers[name] = int(found[0])
        return number

    def last_number(self) -> int:
        """Return the greatest number of a name; 0 without names."""
        number: int = self._connection.execute(
            "SELECT coalesce(max(number), 0) FROM names"
        ).fetchone()[0]
        return number

    def name_of(self, number: int) -> str:
        """Return the name with this number.

        Raises:
            StoreError: The store has no such name.
        """
        name = self._names.get(number)
        if name is None:
            found = self._connection.execute(
                "SELECT name FROM names WHERE number = ?", (number,)
            ).fetchone()
            if found is None:
                raise damaged(self._connection.name, f"name {number} is missing")
            name = self._names[number] = str(found[0])
        return name

    def forget(self) -> None:
        """Empty the cache. Call this after a rollback, because the numbers will be given again."""
        self._numbers.clear()
        self._names.clear()
