"""Nodes and counted links at a level, from all links of a store, in arrays on disk.

Memory does not grow with the store, except for some bytes per node. The links of each page are
added up while reading::

    content, its pages ──▶ (source, target, mementos, first, last), sorted, added up   (disk)
    names of both      ──▶ nodes, numbered by name   (disk)
    rows with numbers  ──▶ one row per (source, target)

While rows are collected, a node is represented by the hash of its name (`arclink.analysis.names`).
Nodes get their numbers in the order of names. So the URIs of a site are adjacent, which WebGraph
compresses well. If two names have the same hash, everything is read again with another salt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from arclink.access.texts import printable_uri
from arclink.analysis.names import CollisionError, NameSorter, SortedNames
from arclink.analysis.slices import Level
from arclink.export.link_scan import LeftOut, links_shown
from arclink.export.queries import ExportQuery, node_of
from arclink.files.array_sort import Sorter
from arclink.model import Outlink, UriR
from arclink.store.protocols import Scans
from arclink.uris.resolution import serialised

KEPT_NODES = 1 << 17

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

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


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and links at a level, before any reduction.

    Attributes:
        names: Names of all nodes, sorted, and of pages without any link; at level uri each with its
            label, which `node` separates.
        links: Array of `LINK`, sorted by source and target, each pair once, self-links included.
        left_out: Number of links of pages (link and memento) whose source or target has no node at
            this level, such as ``mailto:`` at level host.
        other_kinds: Number of links of pages (link and memento) of kinds that the query excludes.
    """

    level: Level
    names: SortedNames
    links: Links
    left_out: int
    other_kinds: int

    def node(self, number: int) -> tuple[str, str]:
        """Return the name and the label of a node.

        At level uri, the name is a SURT, and the label is one of its URIs that were captured or
        linked to, serialised. Hosts and domains are their own labels.
        """
        name, _, label = self.names[number].partition("\t")
        return name, label or name


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
            return _built(store, query, folder / str(salt), salt)
        except CollisionError:
            salt += 1


def _built(store: Scans, query: ExportQuery, folder: Path, salt: int) -> Graph:
    folder.mkdir(parents=True)
    names, rows = NameSorter(folder, salt), _sorter(folder)

    @lru_cache(maxsize=KEPT_NODES)
    def node(uri: UriR, label: UriR) -> int | None:
        """Return the hash of the node that a URI belongs to; None if it has no node."""
        name = node_of(query.level, uri)
        if not name:
            return None
        return names.hash_of(name, printable_uri(label) if query.level is Level.URI else "")

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
        values = times, int(shown.timestamps[0]), int(shown.timestamps[-1])
        rows.add(
            np.full(len(targets), source, np.uint64),
            targets,
            *(np.full(len(targets), value) for value in values),
        )
    numbering = names.write(folder)
    numbered = _sorter(folder)
    for sources, targets, *sums in rows.merged():
        numbered.add(numbering.of(sources), numbering.of(targets), *sums)
    path = folder / "links"
    _write_links(numbered, path)
    links_of_graph = np.memmap(path, LINK, "r") if path.stat().st_size else np.empty(0, LINK)
    return Graph(query.level, SortedNames(folder), links_of_graph, left_out, others.other_kinds)


def _sorter(folder: Path) -> Sorter:
    """Return a sorter of rows: source, target, number of mementos, first and last of them."""
    return Sorter(folder, keys=2, reducers=(np.add, np.minimum, np.maximum))


def _write_links(rows: Sorter, path: Path) -> None:
    with path.open("wb") as stream:
        for columns in rows.merged():
            links = np.empty(len(columns[0]), LINK)
            for field, column in zip(LINK.fields or (), columns, strict=True):
                links[field] = column
            links.tofile(stream)
