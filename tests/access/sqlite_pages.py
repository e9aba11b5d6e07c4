"""The same pages in the real store: written as graph files, then loaded."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import orjson

from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of
from tests.access.memory_store import MemoryStore, Page
from tests.store.graphs import link_rows


def load_pages(where: Path, graph: Path, batches: Iterable[Sequence[Page]]) -> None:
    """Load ``pages`` into the store at ``where``, each batch from its own folder below ``graph``."""
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
    """Write one batch (``docs/graph-files.md``)."""
    memory = MemoryStore(pages)
    mementos = {page.memento for page in pages}
    outlinks = {
        (surt_of(page.original), page.content, tuple(page.links))
        for page in pages
        if page.content is not None and page.links is not None
    }
    # A content stands once, at the place of the first original seen with it.
    once = {
        content: (place, content, links) for place, content, links in sorted(outlinks, reverse=True)
    }
    outlink_rows, inlink_rows = link_rows(sorted(once.values()))
    relations: dict[str, Sequence[Sequence[object]]] = {
        "mementos": sorted(
            (
                m.surt,
                m.timestamp,
                m.original,
                m.checksum,
                m.status,
                m.mime,
                m.record_type,
                m.file,
                m.offset,
                m.length,
                m.reason,
            )
            for m in mementos
        ),
        "payloads": [
            (
                p.checksum,
                "-" if p.scope is None else int(p.scope),
                p.charset,
                p.file,
                p.offset,
                p.reason,
                orjson.dumps(dict(p.counts)).decode(),
            )
            for p in (
                memory.payload(checksum) for checksum in sorted({page.checksum for page in pages})
            )
            if p is not None
        ],
        "outlinks": [[row.decode()] for row in outlink_rows],
        "inlinks": [[row.decode()] for row in inlink_rows],
    }
    for name, rows in relations.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "part-00000").write_text(
            "".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8"
        )
