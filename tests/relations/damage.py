"""Damage to files of relations while they are open, as a failing disk makes it."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arclink.analysis.relations.folder import tables_folder


def table_files(store: Path) -> list[Path]:
    """Return the Parquet files next to a store."""
    return sorted(tables_folder(str(store)).glob("*/*.parquet"))


@contextmanager
def flipped(path: Path, chance: random.Random) -> Iterator[None]:
    """Change one bit of a file in place, inside the block."""
    data = path.read_bytes()
    where = chance.randrange(len(data))
    for byte in (data[where] ^ 1 << chance.randrange(8), data[where]):
        with path.open("r+b") as file:
            file.seek(where)
            file.write(bytes([byte]))
        if byte != data[where]:
            yield
