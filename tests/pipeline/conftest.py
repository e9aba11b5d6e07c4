"""The demo archive, its list of true links, and a store built from it."""

import json
from pathlib import Path

import pytest

from arclink.demo import write_demo_archive
from arclink.pipeline.settings import BuildSettings
from tests.pipeline.store_contents import TrueMemento, build_store


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "archive"
    write_demo_archive(folder, captures=300, hosts=12, seed=1)
    return folder


@pytest.fixture(scope="session")
def truth(demo: Path) -> list[TrueMemento]:
    return [
        json.loads(line) for line in (demo / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    ]


@pytest.fixture(scope="session")
def store(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "links.db"
    build_store(demo, path, BuildSettings(cores=2))
    return path
