"""A small graph, such as one that a page shows, as GEXF: the writer is that of exports."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from arclink.analysis.export.cuts import Picture
from arclink.analysis.export.gexf import write_gexf
from arclink.analysis.export.graphs import CAPTURES, LINK, Graph
from arclink.analysis.matrices.slices import Level
from arclink.model import Timestamp, UriR
from arclink.uris.surts import surt_of


class CapturesOfNode(NamedTuple):
    """Number of captures, and the first and last of them."""

    captures: int
    first: Timestamp
    last: Timestamp


def gexf_of(
    level: Level,
    nodes: Mapping[str, CapturesOfNode | None],
    links: Mapping[tuple[str, str], CapturesOfNode],
    description: str,
) -> Iterator[bytes]:
    """Yield GEXF of a graph; degrees, ranks and components are those of this graph.

    Args:
        level: What the nodes are.
        nodes: The captures of each node with known links; None without any.
        links: The captures that show links, by the names of both ends.
        description: A description of the graph for users.

    Raises:
        UsageError: A package is not installed.
    """
    is_of_uris = level is Level.URI
    names = {name: f"{surt_of(UriR(name))}\t{name}" if is_of_uris else name for name in nodes}
    ordered = sorted(names, key=names.__getitem__)
    number_of = {name: number for number, name in enumerate(ordered)}
    captures = np.array([_numbers(nodes[name]) for name in ordered], CAPTURES)
    rows = sorted(
        (number_of[source], number_of[target], *_numbers(counts))
        for (source, target), counts in links.items()
    )
    found = np.array(rows, LINK)
    graph = Graph(level, [names[name] for name in ordered], captures, found, 0, 0)
    return write_gexf(Picture(graph, np.arange(len(ordered)), found, ()), description, None)


def _numbers(counts: CapturesOfNode | None) -> tuple[int, int, int]:
    return (counts.captures, int(counts.first), int(counts.last)) if counts else (0, 0, 0)
