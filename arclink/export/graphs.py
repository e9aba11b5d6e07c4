"""Nodes and counted links at a level, from all links of a store, in arrays on disk.

Memory does not grow with the store. The links of each page are added up while reading::

    content, its pages ──▶ (source, target, mementos, first, last)
                       ──▶ sorted runs ──▶ one row per (source, target)
    names of both      ──▶ sorted runs ──▶ nodes, numbered by name

While rows are collected, a node is represented by the 64-bit hash of its name, so that rows are
numbers, which NumPy can sort. Nodes get their numbers when all names are known, in the order of
names. So the URIs of a site are adjacent, which WebGraph compresses well. If two names have the
same hash, everything is read again with another hash function, so two names are never confused.
"""

import hashlib
import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from arclink.access.texts import printable_uri
from arclink.analysis.slices import Level
from arclink.export.link_scan import LeftOut, links_shown
from arclink.export.queries import ExportQuery, node_of
from arclink.model import Outlink, UriR
from arclink.store.protocols import Scans
from arclink.uris.resolution import serialised

ROWS_AT_ONCE = 1 << 18
"""Number of rows of a run, and approximate number of rows merged at a time: 10 MB."""
NAMES_AT_ONCE = 1 << 18
"""Number of names of a run: about 50 MB."""
KEPT_NODES = 1 << 17

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

ROW = np.dtype(
    [
        ("source", np.uint64),
        ("target", np.uint64),
        ("mementos", np.int64),
        ("first", np.int64),
        ("last", np.int64),
    ]
)
LINK = np.dtype(
    [
        ("source", np.int64),
        ("target", np.int64),
        ("mementos", np.int64),
        ("first", np.int64),
        ("last", np.int64),
    ]
)
"""A link between two nodes: their numbers, its number of mementos, and the first and last.

Times are 14 digits as a number.
"""

Links = npt.NDArray[np.void]
"""An array of `LINK`."""


class NodeNames:
    """The names and labels of nodes, by number; they stay on disk.

    Args:
        path: File with a line per node: name, TAB, label.
        ends: End of each line, in bytes.
    """

    def __init__(self, path: Path, ends: Numbers) -> None:
        self._file = path.open("rb")
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> tuple[str, str]:
        begin = int(self._ends[number - 1]) if number else 0
        self._file.seek(begin)
        name, _, label = (
            self._file.read(int(self._ends[number]) - begin - 1).decode().partition("\t")
        )
        return name, label or name

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and links at a level, before any reduction.

    Attributes:
        names: Names of all nodes, sorted, and of pages without any link. At level uri, names are
            SURTs, and the label is one of the URIs that were captured or linked to, serialised.
            Hosts and domains are their own labels.
        links: Array of `LINK`, sorted by source and target, each pair once, self-links included.
        left_out: Number of links of pages (link and memento) whose source or target has no node at
            this level, such as ``mailto:`` at level host.
        other_kinds: Number of links of pages (link and memento) of kinds that the query excludes.
    """

    level: Level
    names: NodeNames
    links: Links
    left_out: int
    other_kinds: int


class _SameHashError(Exception):
    """Two names have the same hash."""


def build_graph(store: Scans, query: ExportQuery, folder: Path) -> Graph:
    """Return the graph of all links of a query; a link that a memento repeats counts once.

    Args:
        store: The store to read.
        query: The query; only its ``links`` and ``level`` are used.
        folder: Folder for the arrays; the caller removes it when the graph is no longer needed.

    Raises:
        StoreError: The store cannot be reached.
    """
    salt = 0
    while True:
        try:
            return _built(store, query, folder, salt)
        except _SameHashError:
            salt += 1


def _built(store: Scans, query: ExportQuery, folder: Path, salt: int) -> Graph:
    names, rows = _NameRuns(folder, query.level, salt), _RowRuns(folder)
    node = lru_cache(maxsize=KEPT_NODES)(names.add)
    left_out, others = 0, LeftOut()
    links: Sequence[Outlink] | None = None
    targets = np.empty(0, np.uint64)
    without = 0
    for shown in links_shown(store, query.links, others):
        if shown.links is not links:  # pages with the same content are adjacent
            links = shown.links
            nodes = [node(link.target, link.target) for link in links]
            distinct = {one for one in nodes if one is not None}
            targets = np.fromiter(distinct, np.uint64, len(distinct))
            without = nodes.count(None)
        times = len(shown.timestamps)
        source = node(shown.page, serialised(shown.page))
        if source is None:
            left_out += len(shown.links) * times
            continue
        left_out += without * times
        rows.add(source, targets, times, int(shown.timestamps[0]), int(shown.timestamps[-1]))
    by_name = names.merged(folder / "names")
    links_of_graph = rows.merged(folder / "links", by_name.hashes)
    return Graph(query.level, by_name.names, links_of_graph, left_out, others.other_kinds)


class _RowRuns:
    """Rows that are added up and sorted by source and target, in runs on disk if they are many."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[Links] = []
        self._waiting = 0
        self._runs: list[Links] = []

    def add(
        self, source: int, targets: npt.NDArray[np.uint64], mementos: int, first: int, last: int
    ) -> None:
        rows = np.empty(len(targets), ROW)
        rows["source"], rows["target"], rows["mementos"], rows["first"], rows["last"] = (
            source,
            targets,
            mementos,
            first,
            last,
        )
        self._parts.append(rows)
        self._waiting += len(rows)
        if self._waiting >= ROWS_AT_ONCE:
            self._put_away()

    def merged(self, path: Path, hashes: npt.NDArray[np.uint64]) -> Links:
        """Return the links with node numbers, which are positions in ``hashes``."""
        self._put_away()
        numbers = np.argsort(hashes, kind="stable")
        in_order = hashes[numbers]
        by_number: list[Links] = []
        for part, rows in enumerate(
            _by_parts(self._runs, 1 << 64)
        ):  # hashes are evenly distributed; each pair is in one part
            links = rows.astype(LINK)
            for end in ("source", "target"):
                links[end] = numbers[np.searchsorted(in_order, rows[end])]
            by_number.append(_kept(_added_up(links), self._folder / f"links-{part}"))
        with path.open("wb") as stream:
            for links in _by_parts(by_number, len(hashes)):
                links.tofile(stream)
        return np.memmap(path, LINK, "r") if path.stat().st_size else np.empty(0, LINK)

    def _put_away(self) -> None:
        if self._parts:
            self._runs.append(
                _kept(
                    _added_up(np.concatenate(self._parts)), self._folder / f"rows-{len(self._runs)}"
                )
            )
            self._parts.clear()
            self._waiting = 0


def _kept(rows: Links, path: Path) -> Links:
    """Return ``rows`` in a new file instead of in memory."""
    rows.tofile(path)
    return np.memmap(path, rows.dtype, "r") if len(rows) else rows


def _by_parts(runs: Sequence[Links], sources: int) -> Iterator[Links]:
    """Yield the rows of all runs in parts, added up, in the order of source and target.

    Args:
        runs: Runs of rows, each sorted by source and target.
        sources: Upper limit of the numbers of sources, which are about evenly distributed.
    """
    parts = max(1, -(-sum(map(len, runs)) // ROWS_AT_ONCE))
    begins = [0] * len(runs)
    for part in range(1, parts + 1):
        is_last = part == parts
        fence = sources * part // parts
        ends = [
            len(run)
            if is_last
            else int(np.searchsorted(run["source"], run["source"].dtype.type(fence)))
            for run in runs
        ]
        pieces = [
            np.array(run[begin:end]) for run, begin, end in zip(runs, begins, ends, strict=True)
        ]
        begins = ends
        if pieces:
            yield _added_up(np.concatenate(pieces))


def _added_up(rows: Links) -> Links:
    """Return one row per pair of source and target, sorted by both."""
    if not len(rows):
        return rows
    rows = rows[np.lexsort((rows["target"], rows["source"]))]
    starts = np.flatnonzero(
        np.r_[
            True,
            (rows["source"][1:] != rows["source"][:-1])
            | (rows["target"][1:] != rows["target"][:-1]),
        ]
    )
    sums = rows[starts].copy()
    for field, add in (("mementos", np.add), ("first", np.minimum), ("last", np.maximum)):
        sums[field] = add.reduceat(rows[field], starts)
    return sums


@dataclass(frozen=True, slots=True)
class _ByName:
    names: NodeNames
    hashes: npt.NDArray[np.uint64]


class _NameRuns:
    """Names of nodes, each with a label, in sorted runs on disk if they are many."""

    def __init__(self, folder: Path, level: Level, salt: int) -> None:
        self._folder = folder
        self._level = level
        self._key = salt.to_bytes(8, "little")
        self._labels: dict[str, str] = {}
        self._runs: list[Path] = []

    def add(self, uri: UriR, label: UriR) -> int | None:
        """Return the hash of the node that a URI belongs to; None if it has no node.

        Args:
            uri: The URI in the store.
            label: The URI that may become the label of a node at level uri: serialised like
                targets.
        """
        name = node_of(self._level, uri)
        if not name:
            return None
        text = printable_uri(label) if self._level is Level.URI else ""
        known = self._labels.get(name)
        if known is None and len(self._labels) == NAMES_AT_ONCE:
            self._put_away()
        if known is None or text < known:
            self._labels[name] = text
        return self._hash(name)

    def merged(self, path: Path) -> _ByName:
        """Return all names; of several labels of a name, the least is used.

        Raises:
            _SameHashError: Two names have the same hash.
        """
        lines = heapq.merge(*map(_pairs, self._runs), iter(sorted(self._labels.items())))
        hashes: list[npt.NDArray[np.uint64]] = []
        lengths: list[Numbers] = []
        with path.open("wb") as stream:
            rows = (next(same) for _, same in groupby(lines, itemgetter(0)))
            while some := [
                f"{name}\t{label}\n".encode() for name, label in islice(rows, NAMES_AT_ONCE)
            ]:
                stream.writelines(some)
                lengths.append(np.fromiter(map(len, some), np.int64, len(some)))
                hashes.append(
                    np.fromiter(
                        (self._hash(line.partition(b"\t")[0].decode()) for line in some),
                        np.uint64,
                        len(some),
                    )
                )
        every = np.concatenate(hashes) if hashes else np.empty(0, np.uint64)
        if len(np.unique(every)) < len(every):
            raise _SameHashError
        return _ByName(
            NodeNames(
                path, np.cumsum(np.concatenate(lengths)) if lengths else np.empty(0, np.int64)
            ),
            every,
        )

    def _hash(self, name: str) -> int:
        return int.from_bytes(
            hashlib.blake2b(name.encode(), digest_size=8, key=self._key).digest(), "little"
        )

    def _put_away(self) -> None:
        path = self._folder / f"names-{len(self._runs)}"
        with path.open("w", encoding="utf-8", newline="\n") as lines:
            lines.writelines(f"{name}\t{label}\n" for name, label in sorted(self._labels.items()))
        self._runs.append(path)
        self._labels.clear()


def _pairs(path: Path) -> Iterator[tuple[str, str]]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            name, _, label = line[:-1].partition("\t")
            yield name, label
