"""The folder of a store's relations, and those at an address, for commands that do not read them.

It imports neither DuckDB nor Arrow: both are in an extra, and a store without relations needs none.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from arclink.files.atomic import locked_folder, room_for
from arclink.network.engine_files import WrittenFiles, files_at
from arclink.store.location import local_path_of

_VERSION = re.compile(r"[0-9a-f]{16}")


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


def versions_at(files: WrittenFiles, path: str) -> list[str]:
    """Return the names of the folders with relations that tasks have written below a path."""
    entries = files.entries(path)
    return [one.name for one in entries if one.is_folder and _VERSION.fullmatch(one.name)]


def remove_at(address: str, *, except_for: str = "") -> None:
    """Remove the relations that tasks have written at an address, except for one version.

    Raises:
        InputError: The address cannot be used.
    """
    files = files_at(address)
    path = files.path_of(address)
    for version in versions_at(files, path):
        if version != except_for:
            files.remove(f"{path}/{version}")
