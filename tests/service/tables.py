"""Stores with tables next to them."""

from pathlib import Path

from arclink.analysis.relations.kept import relations_of
from arclink.store.location import open_store
from tests.access.sqlite_pages import load_pages
from tests.service.conftest import PAGES


def store_with_tables(folder: Path) -> Path:
    """Return the path of a store of `PAGES`, next to which the relations are."""
    path = folder / "links.db"
    load_pages(path, folder / "graph", [PAGES])
    with open_store(str(path)) as store:
        relations_of(str(path), store)
    return path
