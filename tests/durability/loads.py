"""A program that loads batches into a store, one after the other, and then forgets captures.

``python -m tests.durability.loads STORE FOLDER``: after each step it adds a byte to ``STORE.done``.
"""

import sys
from pathlib import Path

from arclink.errors import ArclinkError
from arclink.model import Forgotten, Surt
from arclink.store.protocols import Takedown
from arclink.store.sqlite.store import SqliteStore
from arclink.store.takedown_files import LISTED as LISTED
from tests.store.load_arguments import FILES, SETTINGS

BATCHES = 4
FORGOTTEN = Takedown(Forgotten(Surt("example,pages)/00001")), "letter", "2026-11-23T08:00:00Z")


def load(store: Path, folder: Path) -> None:
    """Do all steps that the store lacks."""
    with SqliteStore(store, create=True) as opened:
        for number in range(BATCHES):
            opened.load(folder / str(number), FILES[:1], SETTINGS, "{}", 1)
            note(store)
        opened.forget(FORGOTTEN)
        opened.clean()
        note(store)


def note(store: Path) -> None:
    """Say that one more step is done: its caller was told so."""
    with store.with_name("done-" + store.name).open("ab", buffering=0) as done:
        done.write(b"x")


if __name__ == "__main__":
    try:
        load(Path(sys.argv[1]), Path(sys.argv[2]))
    except ArclinkError as error:
        sys.exit(f"refused: {error}")
    except MemoryError:
        sys.exit("refused: out of memory")
