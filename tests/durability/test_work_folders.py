"""Files of an earlier build that remain in a work folder never get into the graph."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arclink.store.location import open_store, work_folder
from tests.durability.disks import killed_at, operations
from tests.pipeline.store_contents import graph_of


def call(archive: Path, store: Path) -> list[str]:
    options = ["--store", str(store), "--batch-size", "60k", "--cores", "1", "--quiet"]
    return [sys.executable, "-m", "arclink.cli.main", "build", str(archive), *options]


@pytest.fixture(scope="module")
def left_over(
    archive: Path, disk: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """Return a store that was built, and the work folder of a build that was killed."""
    folder = tmp_path_factory.mktemp("left")
    whole, store = folder / "whole.db", folder / "killed.db"
    total = operations(disk, "/whole.db.build/", call(archive, whole), folder)
    assert killed_at(disk, "/killed.db.build/", call(archive, store), folder, total * 3 // 4)
    work = work_folder(str(store))
    assert any(path.is_file() for path in work.rglob("*"))
    return whole, work


def damage(folder: Path, dice: random.Random) -> None:
    """Change, cut, empty, repeat or replace each file in a folder."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = bytearray(path.read_bytes())
        match dice.randrange(6):
            case 0:
                path.write_bytes(data[: dice.randrange(len(data) + 1)])
            case 1:
                path.write_bytes(data + data)
            case 2:
                path.write_bytes(dice.randbytes(1000))
            case 3 if data:
                for _ in range(20):
                    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
                path.write_bytes(data)
            case 4:
                path.unlink()
                path.mkdir()
            case 5:
                path.write_bytes(b'{"prefix": "org"}\n\0\n[]\n')


@pytest.mark.parametrize("seed", range(3))
def test_a_work_folder_with_anything_in_it_changes_nothing(
    archive: Path, left_over: tuple[Path, Path], tmp_path: Path, seed: int
) -> None:
    whole, left = left_over
    store = tmp_path / "links.db"
    shutil.copytree(left, work_folder(str(store)))
    dice = random.Random(seed)
    if seed:
        damage(work_folder(str(store)), dice)
    for name in ("batch-000000", "batch-000001"):
        graph = work_folder(str(store)) / name / "graph"
        graph.mkdir(parents=True, exist_ok=True)
        (graph / "manifest.json").write_bytes(dice.randbytes(200))
    done = subprocess.run(call(archive, store), capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    with open_store(str(store)) as opened, open_store(str(whole)) as undisturbed:
        assert graph_of(opened) == graph_of(undisturbed)
        assert list(opened.verify()) == []
    assert not work_folder(str(store)).exists()
