"""Generated pages in a SQLite store: they are written as graph files and then loaded."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from tests.store.graphs import write_batch
from tests.store.memory_store import Page, graph_of_pages


def load_pages(where: Path, graph: Path, batches: Iterable[Sequence[Page]]) -> None:
    """Load ``pages`` into the store at ``where``; each batch has a folder below ``graph``."""
    with open_store(str(where), create=True) as store:
        for number, pages in enumerate(batches):
            folder = graph / str(number)
            write_graph_files(folder, pages)
            store.load(folder, (), {}, "{}")


def store_of_pages(folder: Path, *batches: Sequence[Page]) -> GraphStore:
    """Return a store of these batches, opened for reading."""
    load_pages(folder / "links.db", folder / "graph", batches)
    return open_store(str(folder / "links.db"))


def write_graph_files(folder: Path, pages: Sequence[Page]) -> None:
    """Write one batch (``docs/reference/graph-files.md``)."""
    write_batch(folder, *graph_of_pages(pages))
