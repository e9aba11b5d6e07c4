"""Where archive files are now: the recorded path, or a folder, URL or path index given later.

A store names each archive file and records the path at which a build read it. Archives move, so a
reader of pages can name further locations. Each only suggests a path. The record that is read there
must be the capture that the store names (`arclink.captures.read`), so a wrong suggestion never
gives a wrong page.

Source of the path index: pywb, *Web Archive Access*, "Path Index Lookup": each line has a file name
and a path, separated by a tab.
"""

import os
import time
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from arclink.archives.locations import (
    UNLISTED,
    entry_of,
    location_of,
    scheme_of,
    short_name,
    split_file,
)
from arclink.archives.opener import DAMAGE, open_members
from arclink.archives.reader import ArchiveFile
from arclink.errors import InputError, UsageError
from arclink.network.addresses import joined
from arclink.store.protocols import Captures

_FRESH_SECONDS = 10.0
"""Seconds for which a folder or an index is not read again, although it lacks a name."""

_LONGEST_INDEX = 1 << 30
"""Maximum decompressed bytes of a path index; a larger one needs several."""

MOST_OPEN = 16
"""Number of archive files that a reader keeps open."""

_SAME_SECONDS = 0.001
"""Seconds for which an open file is not compared with its path: that costs 5 % of a small page."""


class ArchivePaths:
    """Further locations of archive files. Several threads may use one instance.

    Args:
        archives: In the order of preference: folders (searched with their subfolders), URLs that
            end in ``/`` (the file name is appended), and path indexes.

    Raises:
        UsageError: A location does not exist.
        InputError: A file is not a path index that can be read.
    """

    def __init__(self, archives: Sequence[str] = ()) -> None:
        self._sources = tuple(_path_source(text) for text in archives)

    def paths(self, name: str) -> Iterator[str]:
        """Yield the paths and URLs at which an archive file may be, best first.

        Args:
            name: Name of the file in mementos of a store; never a text of a client.
        """
        for source in self._sources:
            yield from source.paths(name)


class RecordedPaths:
    """The paths at which builds read the archive files of a store.

    Args:
        store: The store; use this only in its thread.
    """

    def __init__(self, store: Captures) -> None:
        # Paths are not part of an answer. So an embargo, which would make the list slow, does not
        # apply: the caller has the name from a memento that it may read.
        self._store = store.whole
        self._by_name: dict[str, str] = {}
        self._version: str | None = None

    def path(self, name: str) -> str:
        """Return the path of a file; empty if the store does not say."""
        if name not in self._by_name and (version := self._store.state().version) != self._version:
            self._by_name = {file.name: file.path for file in self._store.files()}
            self._version = version
        return self._by_name.get(name, "")


class _Folder:
    """A folder with archive files, searched once, and again if a file is not found."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._by_name: dict[str, list[str]] = {}
        self._read = float("-inf")

    def paths(self, name: str) -> Iterator[str]:
        wacz = split_file(name)
        parts = (wacz[0] if wacz else name).split("/")
        if parts[-1] not in self._by_name and time.monotonic() > self._read + _FRESH_SECONDS:
            self._search()
        found = self._by_name.get(parts[-1], [])
        # If two files share a name, their folders distinguish them.
        for path in sorted(found, key=lambda path: -_equal_parts(path.split("/"), parts)):
            yield entry_of(path, wacz[1]) if wacz else path

    def _search(self) -> None:
        by_name: dict[str, list[str]] = defaultdict(list)
        visited: set[tuple[int, int]] = set()  # links may form a loop
        for where, folders, names in os.walk(self._folder, followlinks=True):
            here = os.stat(where)
            if (here.st_dev, here.st_ino) in visited:
                folders.clear()
                continue
            visited.add((here.st_dev, here.st_ino))
            folders.sort()
            for name in sorted(names):
                by_name[name].append(os.path.join(where, name))
        self._by_name = dict(by_name)
        self._read = time.monotonic()


class _Prefix:
    """A URL below which files have their names."""

    def __init__(self, url: str) -> None:
        self._url = url

    def paths(self, name: str) -> Iterator[str]:
        wacz = split_file(name)
        file = wacz[0] if wacz else name
        quoted = quote(file) if scheme_of(self._url) in UNLISTED else file
        whole = self._url + quoted
        yield entry_of(whole, wacz[1]) if wacz else whole


class _Index:
    """A path index: a file name and its path on each line, read again when the file changes."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._by_name: dict[str, list[str]] = {}
        self._state: object = None
        self._read = float("-inf")
        if scheme_of(location) is None:
            # A wrong index is the caller's error: read later, it would lose captures one by one.
            self._refresh()

    def paths(self, name: str) -> Iterator[str]:
        if time.monotonic() > self._read + _FRESH_SECONDS:
            self._refresh()
        wacz = split_file(name)
        file = wacz[0] if wacz else name
        for path in [*self._by_name.get(name, ()), *self._by_name.get(short_name(name), ())]:
            yield path
        if wacz:
            for path in self._by_name.get(short_name(file), ()):
                yield entry_of(path, wacz[1])

    def _refresh(self) -> None:
        state: object = True
        if scheme_of(self._location) is None:
            try:
                found = os.stat(self._location)
            except OSError as error:
                raise InputError(f"{self._location}: cannot be read: {error.strerror}") from error
            state = found.st_mtime_ns, found.st_size, found.st_ino
        if state != self._state:
            self._by_name = _read_index(self._location)
            self._state = state
        self._read = time.monotonic()


_PathSource = _Folder | _Prefix | _Index


def _path_source(text: str) -> _PathSource:
    if scheme_of(text):
        return _Prefix(text) if text.endswith("/") else _Index(text)
    path = Path(text.removeprefix("file://")).expanduser().absolute()
    if path.is_dir():
        return _Folder(path)
    if path.is_file():
        return _Index(str(path))
    raise UsageError(
        f"--archives {text}: no such folder or path index; give a folder, a URL that ends in /, or "
        "a file with a name and a path on each line, separated by a tab"
    )


def _read_index(location: str) -> dict[str, list[str]]:
    """Return the paths of each file name; relative paths are relative to the index.

    Raises:
        InputError: The index cannot be read, or a line has no tab or no path.
    """
    by_name: dict[str, list[str]] = defaultdict(list)
    folder = str(Path(location).parent) if scheme_of(location) is None else ""
    try:
        with open_members(location_of(location)) as file:
            lines = file.read(_LONGEST_INDEX).decode().splitlines()
    except DAMAGE as error:
        raise InputError(f"{location}: not a path index that can be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, tab, path = line.partition("\t")
        if not tab:
            raise InputError(
                f"{location}, line {number}: not a path index: expected a file name, a tab and a "
                "path"
            )
        found = _absolute(path.strip(), folder, location)
        if not found:
            raise InputError(f"{location}, line {number}: {path.strip()}: not an address")
        by_name[name].append(found)
    return dict(by_name)


def _absolute(path: str, folder: str, index: str) -> str:
    """Return a path relative to an index as a location of its own; empty if it cannot be one."""
    if scheme_of(path):
        return path
    return os.path.join(folder, path.removeprefix("file://")) if folder else joined(index, path)


def _equal_parts(path: Sequence[str], parts: Sequence[str]) -> int:
    """Return the number of equal parts at the end of two paths."""
    count = 0
    for one, other in zip(reversed(path), reversed(parts), strict=False):
        if one != other:
            break
        count += 1
    return count


class OpenFiles:
    """Archive files that stay open between reads.

    A file that is in use belongs to its user. A local file that was replaced is opened again, at
    the latest `_SAME_SECONDS` later; until then the old file is read.
    """

    def __init__(self) -> None:
        self._idle: OrderedDict[str, ArchiveFile] = OrderedDict()
        self._states: dict[ArchiveFile, tuple[object, float]] = {}

    def take(self, path: str) -> ArchiveFile:
        """Return an open file.

        Raises:
            InputError: It cannot be opened.
        """
        now = time.monotonic()
        archive = self._idle.pop(path, None)
        if archive is not None:
            opened_as, checked = self._states[archive]
            if now < checked + _SAME_SECONDS:
                return archive
            if opened_as == state_of(path):
                self._states[archive] = opened_as, now
                return archive
            self._close(archive)
        state = state_of(path)
        archive = ArchiveFile(path)
        self._states[archive] = state, now
        return archive

    def give_back(self, path: str, archive: ArchiveFile) -> None:
        """Keep a file open for the next read, or close it if another one of this path is open."""
        if path in self._idle:
            self._close(archive)
            return
        self._idle[path] = archive
        if len(self._idle) > MOST_OPEN:
            self._close(self._idle.popitem(last=False)[1])

    @contextmanager
    def use(self, path: str) -> Iterator[ArchiveFile]:
        """Yield an open file; see `take`."""
        archive = self.take(path)
        try:
            yield archive
        finally:
            self.give_back(path, archive)

    def close(self) -> None:
        """Close the files that are not in use."""
        while self._idle:
            self._close(self._idle.popitem()[1])

    def _close(self, archive: ArchiveFile) -> None:
        del self._states[archive]
        archive.close()


def state_of(path: str) -> object:
    """Return a value that changes when a local file is replaced."""
    file = _local_file(path)
    if file is None:
        return None
    with suppress(OSError):
        found = os.stat(file)
        return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
    return None


@lru_cache
def _local_file(path: str) -> str | None:
    """Return the file that holds a path, which may be an entry of it; None if it is remote."""
    entry = split_file(path)
    file = entry[0] if entry else path
    return None if scheme_of(file) is not None else file
