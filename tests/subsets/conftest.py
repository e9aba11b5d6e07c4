"""Fixtures: the store of the demo archive, and its captures in DuckDB."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arclink.export.exports import export
from arclink.export.queries import ExportQuery
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from tests.demos import Demos
from tests.subsets.selections import CaptureTable


@pytest.fixture(scope="session")
def demo_path(demos: Demos) -> Path:
    return demos.store()


@pytest.fixture
def demo_store(demo_path: Path) -> Iterator[GraphStore]:
    with open_store(str(demo_path)) as opened:
        yield opened


@pytest.fixture(scope="session")
def capture_table(demo_path: Path, tmp_path_factory: pytest.TempPathFactory) -> CaptureTable:
    path = tmp_path_factory.mktemp("tables") / "links.parquet"
    query = ExportQuery.from_parameters([("format", "parquet"), ("kinds", "all")])
    with open_store(str(demo_path)) as opened:
        export(opened, query, path)
        return CaptureTable(opened, str(path))
