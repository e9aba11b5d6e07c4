"""Nodes and counted links at a level, from the relations of a store, in arrays on disk.

Memory does not grow with the store, except for some bytes per node. Nodes get their numbers in the
order of names. So the URIs of a site are adjacent, which WebGraph compresses well.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from arclink.analysis.names import SortedNames, write_names
from arclink.analysis.scipy_extra import analysis_extra
from arclink.analysis.slices import Level
from arclink.export.queries import ExportQuery
from arclink.store.protocols import Scans

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
        from arclink.export.scripts import count_links
    path = folder / "links"
    with count_links(query, where, store, path) as relations:
        name = "concat_ws(chr(9), name, label)"
        with relations.reading(f"SELECT {name}, strlen({name}) FROM nodes") as names:
            write_names(folder, names)
        columns = ", ".join(LINK.names or ())
        ends = "source IS NOT NULL AND target IS NOT NULL"
        text = f"SELECT {columns} FROM counted WHERE {ends} ORDER BY source, target"
        with path.open("wb") as stream, relations.reading(text, ROWS) as batches:
            for batch in batches:
                links = np.empty(batch.num_rows, LINK)
                for field, column in zip(LINK.names or (), batch.columns, strict=True):
                    links[field] = column.to_numpy()
                links.tofile(stream)
        [(left_out,)] = relations.run(
            f"SELECT coalesce(sum(repeated), 0)::BIGINT FROM counted WHERE NOT ({ends})"
        )
        [(other_kinds,)] = relations.run("FROM other_kinds")
    links = np.memmap(path, LINK, "r") if path.stat().st_size else np.empty(0, LINK)
    return Graph(query.level, SortedNames(folder), links, left_out, other_kinds)
