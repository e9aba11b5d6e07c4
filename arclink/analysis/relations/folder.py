"""The folder of a store's relations, and those at an address, for commands that do not read them.

It imports neither DuckDB nor Arrow: both are in an extra, and a store without relations needs none.
"""

import json
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from shlex import quote

from arclink.errors import InputError, SealError
from arclink.files.atomic import locked_folder, room_for
from arclink.files.sealed import read_rows
from arclink.network.engine_files import WrittenFiles, files_at
from arclink.store.location import local_path_of, open_store

STATE, KIND = "state", "tables"
"""The file that says which parts a folder has, and its kind (`arclink.files.sealed`)."""

WAITING = ("read", "fetched")
"""The kinds of parts with which the relations are not current: texts by payload, before they are
texts of contents, and texts of an address, before those that are shown and new are kept."""

OF_FILES = ("texts", *WAITING)
"""The kinds of parts that are read from archive files."""

OF_TEXTS = "texts-"
"""Beginning of the names of folders at an address that have texts."""

_WRITTEN = re.compile(rf"(?:{OF_TEXTS})?[0-9a-f]{{16}}")
_MARK = "tables-of-a-store"
"""Name of a file at an address: without it, another place is found under the same address."""


def tables_folder(where: str) -> Path:
    """Return the folder with the relations of a store."""
    path = local_path_of(where)
    return path.with_name(f"{path.name}.tables")


def have_texts(where: str) -> bool:
    """Return whether texts of pages were read for a store; each build keeps them then."""
    parts = _parts_in(tables_folder(where) / STATE)
    return any(parts.get(kind) for kind in OF_FILES)


def shown_texts(where: str) -> tuple[str, ...]:
    """Return the parts with the texts of pages that answers are read from.

    They change with the texts, whatever process writes these, and the store does not. This costs a
    look at one file. ``where`` is empty for a store without a location, which has no texts.
    """
    return (*_parts_in(tables_folder(where) / STATE).get("texts", ()),) if where else ()


def _parts_in(path: Path) -> Mapping[str, Sequence[str]]:
    """Return the parts of each kind that a state names; none if it is missing or damaged."""
    with suppress(OSError, SealError):
        file = path.stat()  # it is replaced, never written to
        return _parts_of_file(path, (file.st_ino, file.st_mtime_ns, file.st_size))
    return {}


@lru_cache(64)
def _parts_of_file(path: Path, _: tuple[int, int, int]) -> Mapping[str, Sequence[str]]:
    parts: Mapping[str, Sequence[str]] = json.loads(read_rows(path, KIND)[0]).get("parts", {})
    return parts


def texts_to_read(where: str) -> str:
    """Return how to have texts again that are removed with the tables; empty without any."""
    if not have_texts(where):
        return ""
    return f" To read the text of its pages again: arclink tables --text --store {quote(where)}"


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


def note_address(where: str, address: str) -> None:
    """Let a store remember an address, before tasks write its relations there.

    Args:
        where: The path or URL of the store.
        address: The address (`address_of`).

    Raises:
        OperatorError: The address cannot be used, or the store cannot be written.
    """
    mark_address(address)
    with open_store(where, create=True) as store:
        store.note_tables(address, are_there=True)


def mark_address(address: str) -> None:
    """Write the file that `check_mark` looks for."""
    files = files_at(address)
    text = b"Tables of an ArcLink store, which knows this address.\n"
    files.write_whole(f"{files.path_of(address)}/{_MARK}", BytesIO(text))


def leave_address(where: str, address: str, *, is_lost: bool = False) -> None:
    """Remove the relations at an address, and let the store no longer remember it.

    Args:
        where: The path or URL of the store.
        address: The address (`address_of`).
        is_lost: Remove nothing: the place no longer exists.

    Raises:
        InputError: The address cannot be used.
        StoreError: The store cannot be written.
    """
    if not is_lost:
        check_mark(address)
        remove_at(address)
        files = files_at(address)
        files.remove(f"{files.path_of(address)}/{_MARK}")
    with open_store(where, create=True) as store:
        store.note_tables(address, are_there=False)


def address_of(text: str) -> str:
    """Return an address as a store remembers it: that of a folder has its whole path."""
    return text.rstrip("/") if "://" in text else files_at(text).path_of(text)


def check_mark(address: str) -> None:
    """Check that an address leads to the place where tasks have written relations.

    Raises:
        InputError: It does not, or cannot be used.
    """
    files = files_at(address)
    if all(entry.name != _MARK for entry in files.entries(files.path_of(address))):
        raise InputError(
            f"{address}: the place with the tables is not there; this machine may lack a disk, or "
            "the settings of the cluster"
        )


def written_at(files: WrittenFiles, path: str) -> list[str]:
    """Return the names of the folders with relations that tasks have written below a path."""
    entries = files.entries(path)
    return [one.name for one in entries if one.is_folder and _WRITTEN.fullmatch(one.name)]


def remove_at(address: str, *, except_for: Collection[str] = ()) -> None:
    """Remove the relations that tasks have written at an address, except for some folders.

    Raises:
        InputError: The address cannot be used.
    """
    files = files_at(address)
    path = files.path_of(address)
    for folder in written_at(files, path):
        if folder not in except_for:
            files.remove(f"{path}/{folder}")
