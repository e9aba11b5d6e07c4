"""The folder of a store's relations, for commands that do not read them.

It imports neither DuckDB nor Arrow: both are in an extra, and a store without relations needs none.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from arclink.files.atomic import locked_folder, room_for
from arclink.store.location import local_path_of


def tables_folder(where: str) -> Path:
    """Return the folder with the relations of a store."""
    path = local_path_of(where)
    return path.with_name(f"{path.name}.tables")


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Wait until no other process writes relations to a folder, which is made if it is missing.

    Raises:
        WriteError: The folder cannot be made.
    """
    with ExitStack() as locked:
        with room_for(folder):
            locked.enter_context(locked_folder(folder))
        yield


def remove_relations(where: str) -> None:
    """Remove the relations of a store."""
    folder = tables_folder(where)
    if folder.exists():
        with only_writer(folder):
            shutil.rmtree(folder)
