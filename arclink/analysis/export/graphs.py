"""Nodes and counted links at a level, from the relations of a store, in arrays on disk.

Memory does not grow with the store, except for some bytes per node. Nodes get their numbers in the
order of names. So the URIs of a site are adjacent, which WebGraph compresses well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arclink.analysis.export.queries import ExportQuery
from arclink.analysis.matrices.names import SortedNames, write_names
from arclink.analysis.matrices.slices import Level
from arclink.extras import analysis_extra
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.analysis.relations.database import ShownRelations

ROWS = 100_000
"""Approximate number of links in memory at a time."""

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

CAPTURES = np.dtype([("captures", np.int64), ("first", np.int64), ("last", np.int64)])
"""The captures of a node that show links: their number, and the first and last; zeros without."""

Links = npt.NDArray[np.void]
"""An array of `LINK`."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and links at a level, before any reduction.

    Attributes:
        names: Names of all nodes, sorted, and of pages without any link; at level uri each with its
            label and its title, if it has one, which `node` and `title` separate.
        captures: Array of `CAPTURES`, by node.
        links: Array of `LINK`, sorted by source and target, each pair once, self-links included.
        left_out: Number of links of pages (link and memento) whose source or target has no node at
            this level, such as ``mailto:`` at level host.
        other_kinds: Number of links of pages (link and memento) of kinds that the query excludes.
    """

    level: Level
    names: Sequence[str]
    captures: Links
    links: Links
    left_out: int
    other_kinds: int

    def node(self, number: int) -> tuple[str, str]:
        """Return the name and the label of a node.

        At level uri, the name is a SURT, and the label is one of its URIs that were captured or
        linked to, serialised. Hosts and domains are their own labels.
        """
        name, label, _ = self._parts(number)
        return name, label or name

    def title(self, number: int) -> str | None:
        """Return the newest title of a page; None without a title, and for hosts and domains."""
        return self._parts(number)[2] or None

    def _parts(self, number: int) -> tuple[str, str, str]:
        name, _, rest = self.names[number].partition("\t")
        label, _, title = rest.partition("\t")
        return name, label, title


def build_graph(store: Scans, query: ExportQuery, folder: Path, where: str = "") -> Graph:
    """Return the graph of all links of a query; a link that a memento repeats counts once.

    Args:
        store: The store to read.
        query: The query; only its ``links`` and ``level`` are used.
        folder: Folder for the arrays; the caller removes it when the graph is no longer needed.
        where: The path or URL of the store: its relations are kept next to it. If it is empty, they
            are made for this use.

    Raises:
        UsageError: A package is not installed.
        StoreError: The store cannot be reached.
    """
    with analysis_extra():
        from arclink.analysis.export.scripts import count_links
    path = folder / "links"
    with count_links(query, where, store, path) as relations:
        name = "concat_ws(chr(9), name, label, title)"
        with relations.reading(f"SELECT {name}, strlen({name}) FROM nodes") as names:
            write_names(folder, names)
        captures = _array(relations, "nodes", CAPTURES, folder / "captures")
        ends = "source IS NOT NULL AND target IS NOT NULL"
        counted = f"counted WHERE {ends} ORDER BY source, target"
        links = _array(relations, counted, LINK, path)
        [(left_out,)] = relations.run(
            f"SELECT coalesce(sum(repeated), 0)::BIGINT FROM counted WHERE NOT ({ends})"
        )
        [(other_kinds,)] = relations.run("FROM other_kinds")
    return Graph(query.level, SortedNames(folder), captures, links, left_out, other_kinds)


def _array(relations: "ShownRelations", rows: str, kind: Any, path: Path) -> Links:
    """Write the columns of some rows to a file, and return them as an array."""
    names = kind.names or ()
    with (
        path.open("wb") as stream,
        relations.reading(f"SELECT {', '.join(names)} FROM {rows}", ROWS) as batches,
    ):
        for batch in batches:
            part = np.empty(batch.num_rows, kind)
            for field, column in zip(names, batch.columns, strict=True):
                part[field] = column.to_numpy()
            part.tofile(stream)
    return np.memmap(path, kind, "r") if path.stat().st_size else np.empty(0, kind)
