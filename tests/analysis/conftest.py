"""Fixture: a store of a demo archive."""

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.demo import write_demo_archive


@pytest.fixture(scope="session")
def demo_store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("demo")
    write_demo_archive(folder / "archive", captures=120, hosts=8, seed=1)
    store = str(folder / "links.db")
    CliRunner().invoke(
        group, ["build", str(folder / "archive"), "--store", store], catch_exceptions=False
    )
    return store
