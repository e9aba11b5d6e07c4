"""Fixtures: the store of the demo archive, and its captures in DuckDB."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest

from arclink.analysis.export.exports import export
from arclink.analysis.export.queries import ExportQuery
from arclink.filter.index import index_archive
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from benchmarks.built_stores import build_store
from tests.demos import Demos
from tests.subsets.selections import CaptureTable

LANGUAGES = ["null", '"und"', '"eng"', '"fra,eng"', '"nor"']


@pytest.fixture(scope="session")
def demo_path(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store of the demo archive, from an index that names languages of captures."""
    folder = tmp_path_factory.mktemp("languages")
    index = folder / "index.cdxj"
    with index.open("wb") as file:
        for path in sorted(demos.archive().glob("*.warc.gz")):
            for row in index_archive(str(path), path.name, Counter()):
                languages = LANGUAGES[crc32(row) % len(LANGUAGES)]
                file.write(row[:-1] + f', "languages": {languages}}}\n'.encode())
    build_store(demos.archive(), folder / "links.db", BuildSettings(), cdx=[index])
    return folder / "links.db"


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
