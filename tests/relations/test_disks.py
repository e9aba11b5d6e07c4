"""Relations on a disk that is full or can only be read."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arclink.analysis.relations.folder import tables_folder
from arclink.analysis.relations.kept import relations_of
from arclink.store.location import open_store
from tests.relations.rows import rows_in, rows_of
from tests.relations.secrets import load

QUERY = ["sql", "SELECT count(*) FROM captures", "--format", "csv"]


@pytest.fixture(name="store")
def store_on_a_small_disk(small_disk: Path, tmp_path: Path) -> Path:
    """Return a store with relations, and a batch that is not yet in them."""
    made = tmp_path / "links.db"
    with open_store(str(made), create=True) as store:
        load(store, tmp_path / "graph0", 0, 40)
        relations_of(str(made), store)
        load(store, tmp_path / "graph1", 1, 2_000)
    shutil.copy(made, small_disk)
    shutil.copytree(tables_folder(str(made)), small_disk / "links.db.tables")
    return small_disk / "links.db"


def run(store: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "arclink", *command, "--store", str(store)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "command", [["tables"], QUERY, ["export", "--format", "weblab"], ["export", "--format", "csv"]]
)
def test_a_full_disk_is_named_with_folder_and_bytes_and_former_relations_stay(
    store: Path, tmp_path: Path, command: list[str]
) -> None:
    folder = tables_folder(str(store))
    before = files_in(folder)
    room = shutil.disk_usage(store).free - (64 << 10)
    (store.parent / "ballast").write_bytes(bytes(room))
    into = ["--into", str(tmp_path / "made")] if "export" in command else []
    done = run(store, *command, *into)
    assert done.returncode == 1
    assert f"{folder} cannot be written: No space left on device. Data" in done.stderr
    assert " bytes there, and " in done.stderr
    assert "Free some space there" in done.stderr
    assert files_in(folder) == before
    assert [path for path in folder.iterdir() if path.name.startswith(".")] == []
    assert not (tmp_path / "made").exists()
    (store.parent / "ballast").unlink()
    with open_store(str(store)) as opened:
        assert rows_of(folder, opened) == rows_in(opened)


def test_relations_are_made_for_one_use_where_nothing_can_be_written(store: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(store.parent)], check=True)
    before = files_in(store.parent)
    done = run(store, *QUERY)
    assert (done.returncode, done.stdout.split()[-1]) == (0, "2040")
    refused = run(store, "tables")
    assert refused.returncode == 1
    assert "links.db.tables cannot be written: Read-only file system" in refused.stderr
    assert files_in(store.parent) == before
