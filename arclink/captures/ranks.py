"""Rank tables: the captured pages of a store in the order of their PageRank, kept on disk.

A table is made once for a state of the store, and kept after the store changes, because streams
that began with it continue with it. The newest tables are kept; older ones are removed::

    STORE.slices/ranks/NAME/names.txt, name_ends.npy   SURTs of all pages, sorted
                            captured.npy               whether each page was captured
                            order.npy                  numbers of captured pages, highest rank first
                            about.json                 number of captures of the store
                            checksums.txt              of all files (`arclink.files.sealed`)

A damaged table is removed. The order of its streams is lost then: their tokens are refused, because
another table may differ.

A table has names that the store may have to forget, so
`arclink.analysis.matrices.slice_cache.remove_slices` removes it together with the slices.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from arclink.access.declarations import BadParameterError
from arclink.analysis.matrices.pagerank import RankOptions, order_by_rank, rank
from arclink.analysis.matrices.slice_builder import build_slices
from arclink.analysis.matrices.slices import Numbers, SliceOptions, SortedNames
from arclink.captures.queries import ORDER, Order
from arclink.errors import GoneError
from arclink.files.sealed import is_whole, make_sealed
from arclink.model import Surt
from arclink.store.layouts import SLICES
from arclink.store.protocols import Scans

KEPT_TABLES = 3
"""Number of rank tables that are kept for one store."""

_NAME = re.compile("[0-9a-f]{20}")
_ABOUT = "about.json"


class RankTable:
    """The captured pages of a state of a store, highest rank first, memory-mapped.

    Args:
        folder: The folder of the table.

    Attributes:
        name: Name of the table, which is in the tokens of its streams.
        captures: Number of captures of the store when the table was made.
    """

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self._names = SortedNames(folder)
        self._captured = np.load(folder / "captured.npy", mmap_mode="r")
        self._order: Numbers = np.load(folder / "order.npy", mmap_mode="r")
        self.captures: int = json.loads((folder / _ABOUT).read_bytes())["captures"]

    def surts(self, begin: int = 0) -> Iterator[tuple[int, Surt]]:
        """Yield the SURTs with their positions (0, 1, …), highest rank first, from one on."""
        for position in range(begin, len(self._order)):
            yield position, Surt(self._names[int(self._order[position])])

    def has(self, surt: Surt) -> bool:
        """Return whether a SURT is in this table."""
        number = self._names.number_of(surt)
        return number is not None and bool(self._captured[number])


class RankTables:
    """The rank tables of a store.

    Args:
        cache: Folder of the store's slices; None if there is no folder for tables.
        where: The path or URL of the store; see `build_slices`.
        most_links: Largest number of links of a store for which a table is made.
    """

    def __init__(self, cache: Path | None, where: str = "", most_links: int | None = None) -> None:
        self._folder = None if cache is None else cache / "ranks"
        self._where = where
        self._most_links = most_links

    def named(self, name: str) -> RankTable:
        """Return the table with this name.

        Raises:
            GoneError: It does not exist any more.
        """
        if self._folder is not None and _NAME.fullmatch(name):
            folder = self._folder / name
            with suppress(FileNotFoundError):  # another process may remove it
                if is_whole(folder):
                    return RankTable(folder)
        raise GoneError(
            "the rank table of this token was removed, because the store has newer ones, had to "
            "forget captures, or the table was damaged. Start the stream again without a token, or "
            "use the order surt, whose tokens do not expire"
        )

    def current(self, store: Scans) -> RankTable:
        """Return the table of the present state of a store; it is made if it does not exist yet.

        The ranks are those of the store as the caller may read it.

        Raises:
            BadParameterError: There is no folder for tables, or the store is too large for a
                request.
            UsageError: A package is not installed.
        """
        if self._folder is None:
            raise BadParameterError(
                ORDER.name,
                Order.RANK.value,
                "file, surt or time: rank tables are kept next to a store, and this store is not a "
                "file; or name a folder for them (cache)",
            )
        folder = self._folder / _name_of_table(store)
        if not is_whole(folder):
            if self._most_links is not None and store.sums().links > self._most_links:
                raise BadParameterError(
                    ORDER.name,
                    Order.RANK.value,
                    "file, surt or time: this store has no rank table yet, and is too large to "
                    "make one for a request; its owner makes one with arclink stream --order rank "
                    "--limit 1",
                )
            make_sealed(folder, lambda made: _make(self._where, store, made))
            self._remove_oldest()
        return RankTable(folder)

    def is_of(self, table: RankTable, store: Scans) -> bool:
        """Return whether a table was made of the present state of a store."""
        return table.name == _name_of_table(store)

    def _remove_oldest(self) -> None:
        assert self._folder is not None
        tables = [path for path in self._folder.iterdir() if _NAME.fullmatch(path.name)]
        tables.sort(key=lambda path: path.stat().st_mtime_ns)
        for path in tables[:-KEPT_TABLES]:
            shutil.rmtree(path, ignore_errors=True)


def _name_of_table(store: Scans) -> str:
    facts = (SLICES, store.state().version, SliceOptions().as_json(), RankOptions())
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:20]


def _make(where: str, store: Scans, folder: Path) -> None:
    """Write the files of a table to a new folder."""
    folder.mkdir()
    if store.sums().first:
        slices = build_slices(where, store, SliceOptions(), folder.with_name("slices"))
        whole = slices.whole
        rows = order_by_rank(rank(whole.matrix).ranks)
        order = whole.nodes[rows][whole.captured[rows]]
        for name in ("names.txt", "name_ends.npy", "captured.npy"):
            (slices.folder / name).rename(folder / name)
    else:
        order = np.empty(0, np.int32)
        (folder / "names.txt").touch()
        np.save(folder / "name_ends.npy", np.empty(0, np.int64))
        np.save(folder / "captured.npy", np.empty(0, np.bool_))
    np.save(folder / "order.npy", order)
    captures = sum(1 for _ in store.scan_mementos())
    (folder / _ABOUT).write_bytes(json.dumps({"captures": captures}).encode())
