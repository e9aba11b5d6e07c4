"""The edges of an export in a form that tests compare."""

from arclink.analysis.export.graphs import Picture, links_of, nodes_of

Edges = dict[tuple[str, str], tuple[int, int, int]]


def picture_edges(picture: Picture) -> Edges:
    """Return links by the names of their ends: mementos, first, last."""
    names = [name for _, name, _ in nodes_of(picture)]
    return {
        (names[source], names[target]): (mementos, first, last)
        for source, target, mementos, first, last in links_of(picture.links)
    }
