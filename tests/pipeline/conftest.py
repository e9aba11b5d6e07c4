"""Fixtures: the demo archive, its list of true links, and a store built from it."""

import json
from pathlib import Path

import pytest

from tests.demos import Demos
from tests.pipeline.store_contents import TrueMemento


@pytest.fixture(scope="session")
def demo(demos: Demos) -> Path:
    return demos.archive()


@pytest.fixture(scope="session")
def truth(demo: Path) -> list[TrueMemento]:
    return [
        json.loads(line) for line in (demo / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    ]


@pytest.fixture(scope="session")
def store(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demos.copy(tmp_path_factory.mktemp("store"))
