"""A build that is killed at any moment and started again gives the same graph."""

import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from arclink.store.location import open_store
from tests.durability.disks import killed_at, operations
from tests.pipeline.store_contents import graph_of

KILLS = 12


def command(archive: Path, store: Path) -> Sequence[str]:
    options = ["--store", str(store), "--batch-size", "60k", "--cores", "2", "--quiet"]
    return [sys.executable, "-m", "arclink.cli.main", "build", str(archive), *options]


@pytest.fixture(scope="module")
def archive(demo: Path) -> Path:
    return demo


def test_a_build_killed_at_random_moments_loses_and_repeats_nothing(
    archive: Path, disk: Path, tmp_path: Path
) -> None:
    whole, store = tmp_path / "whole.db", tmp_path / "killed.db"
    total = operations(disk, "/whole.db", command(archive, whole), tmp_path)
    dice = random.Random(7)
    batches: list[int] = []
    killed = 0
    for _ in range(KILLS):
        at = dice.randint(1, total // 4)
        killed += killed_at(disk, "/killed.db", command(archive, store), tmp_path, at)
        if store.exists():
            with open_store(str(store)) as opened:
                assert not list(opened.verify()), "what a killed build leaves is whole"
                batches.append(sum(1 for _ in opened.batches()))
    assert killed >= 4  # the first four cannot reach the end together
    done = subprocess.run(command(archive, store), check=True, capture_output=True, text=True)
    assert batches == sorted(batches), "no batch is lost"
    if batches and batches[-1]:
        assert "were skipped because the store has them already" in done.stdout, (
            "no finished batch is done again"
        )
    with open_store(str(store)) as opened, open_store(str(whole)) as undisturbed:
        assert graph_of(opened) == graph_of(undisturbed)
        for batch in opened.batches():
            manifest = json.loads(batch.manifest)
            assert sum(manifest["counts"]["rows"].values()) == manifest["rows given"]
    assert not store.with_name(store.name + ".build").exists(), "nothing is left next to the store"
