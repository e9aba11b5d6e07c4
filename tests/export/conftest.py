"""Fixtures: the store and the true links of the demo archive, and exports of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from arclink.analysis.export.exports import Exported, export
from arclink.analysis.export.queries import ExportQuery
from arclink.store.location import open_store
from tests.pipeline.conftest import demo, store, truth

__all__ = ["demo", "store", "truth"]  # fixtures

Export = Callable[..., tuple[Path, Exported]]


def asked(sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of DuckDB's answer."""
    relation = duckdb.sql(sql)
    assert relation is not None
    return list(relation.fetchall())


@pytest.fixture
def exported(store: Path, tmp_path: Path) -> Export:
    """Return a function that exports the demo store: the parameters of an export query, with ``_``
    for ``-``.
    """

    def run(form: str, **parameters: str) -> tuple[Path, Exported]:
        path = tmp_path / f"demo.{form}"
        query = ExportQuery.from_parameters(
            [
                ("format", form),
                *((name.replace("_", "-"), value) for name, value in parameters.items()),
            ]
        )
        with open_store(str(store)) as opened:
            return path, export(opened, query, path)

    return run
