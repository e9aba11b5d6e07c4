"""Ctrl-C, full disks, few open files and names that are not UTF-8 give a message, no traceback."""

import os
import resource
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from arclink.analysis.relations.folder import remove_relations
from arclink.store.location import open_store
from tests.demos import Demos
from tests.durability.disks import interrupted_at, on_disk, operations
from tests.pipeline.store_contents import graph_of

Argument = str | bytes | Path


@pytest.fixture(scope="module")
def archive(demos: Demos) -> Path:
    return demos.archive(200, 6, 1)


def command(*arguments: Argument) -> list[Argument]:
    return [sys.executable, "-m", "arclink.cli.main", *arguments]


@pytest.fixture(scope="module")
def built(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demos.copy(tmp_path_factory.mktemp("built"), 200, 6, 1)


def test_a_build_that_is_interrupted_says_how_to_go_on(
    archive: Path, built: Path, disk: Path, tmp_path: Path
) -> None:
    store = tmp_path / "links.db"
    call = command("build", archive, "--store", store, "--batch-size", "2k", "--cores", "2")
    # The first operation creates the store; the next calls are interrupted in later batches.
    for at in (1, 100, 300):
        code, said = interrupted_at(disk, "/links.db", call, tmp_path, at)
        assert code == 130, said
        assert "Traceback" not in said
        assert "KeyboardInterrupt" not in said
        assert "arclink: interrupted. Complete batches are stored: " in said
    subprocess.run(call, check=True, capture_output=True)
    with open_store(str(store)) as went_on, open_store(str(built)) as one_go:
        assert graph_of(went_on) == graph_of(one_go)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        pytest.param(
            ["export", "--into", "out.csv", "--format", "csv"], "No file was written", id="export"
        ),
        pytest.param(["analyze", "properties", "--into", "p.html"], "same command", id="analyze"),
        pytest.param(["verify"], "same command", id="verify"),
        pytest.param(["backup", "--into", "b.db"], "No backup was written", id="backup"),
    ],
)
def test_a_command_that_is_interrupted_leaves_nothing(
    built: Path, disk: Path, tmp_path: Path, arguments: list[str], hint: str
) -> None:
    there: list[Argument] = [tmp_path / word if "." in word else word for word in arguments]
    cache: list[Argument] = ["--cache", tmp_path / "cache"] if "analyze" in arguments else []
    call = command(*there, "--store", built, *cache)
    files = f"{tmp_path.parent}/"  # those of the store as well
    remove_relations(str(built))  # so that each call makes them
    total = operations(disk, files, call, tmp_path)
    for at in {1, total // 4, total // 2}:
        for path in tmp_path.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        remove_relations(str(built))
        code, said = interrupted_at(disk, files, call, tmp_path, at)
        assert "Traceback" not in said
        assert code == 130
        assert "arclink: interrupted. " in said
        assert hint in said
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        pytest.param(["export", "--into", "out", "--format", "csv"], "out", id="csv"),
        pytest.param(["export", "--into", "out", "--format", "nquads"], "out", id="nquads"),
        pytest.param(["export", "--into", "out", "--format", "graphml"], "out", id="graphml"),
        pytest.param(["export", "--into", "out", "--format", "parquet"], "out", id="parquet"),
        pytest.param(["analyze", "properties", "--into", "out"], "out", id="properties"),
        pytest.param(["analyze", "pagerank"], "links.db.slices", id="pagerank"),
        pytest.param(["backup", "--into", "out"], "out", id="backup"),
        pytest.param(["pack", "--into", "out"], "out", id="pack"),
    ],
)
@pytest.mark.parametrize("how", ["enospc"])
def test_a_full_disk_leaves_nothing_and_names_the_path(
    disk: Path, built: Path, tmp_path: Path, arguments: list[str], output: str, how: str
) -> None:
    store = tmp_path / "links.db"
    store.symlink_to(built)
    there: list[Argument] = [tmp_path / word if word == "out" else word for word in arguments]
    options: list[Argument] = [] if arguments[0] == "pack" else ["--store", store]
    done = subprocess.run(
        command(*there, *options),
        capture_output=True,
        text=True,
        check=False,
        env=on_disk(disk, output, count=tmp_path / "n", at=1, how=how),
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert str(tmp_path / output) in done.stderr
    assert "cannot be written" in done.stderr
    left = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*") if path.is_file()}
    made_before = {"links.db.slices", "links.db.tables"} - {output}
    assert left <= {"links.db", "n", "links.db.takedowns", *made_before}


def test_a_limit_of_open_files_is_enough_or_named_in_the_error(
    archive: Path, tmp_path: Path
) -> None:
    def limit(files: int) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    for files in (8, 24):
        store = tmp_path / f"{files}.db"
        done = subprocess.run(
            command("build", archive, "--store", store, "--quiet"),
            preexec_fn=partial(limit, files),
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        if files == 8:
            assert done.returncode == 1
            assert "may have 8 files open at a time" in done.stderr
            assert "ulimit -n 1024" in done.stderr
        else:
            assert done.returncode == 0, done.stderr


NAME = b"l\xe9.db"


def test_every_command_takes_paths_that_are_not_utf_8(archive: Path, tmp_path: Path) -> None:
    store = os.fsencode(tmp_path) + b"/" + NAME
    out = os.fsencode(tmp_path) + b"/o\xe9."
    for arguments in (
        ["build", archive, "--quiet"],
        ["stats"],
        ["links", "http://aurora-daily.example/"],
        ["verify"],
        ["export", "--into", out + b"csv", "--format", "csv"],
        ["export", "--into", out + b"parquet", "--format", "parquet"],
        ["analyze", "properties", "--into", out + b"html"],
        ["analyze", "pagerank"],
        ["backup", "--into", out + b"db"],
        ["restore", out + b"db", "--replace"],
        ["forget", "example,aurora-daily"],
    ):
        done = subprocess.run(
            command(*arguments, "--store", store), capture_output=True, check=False
        )
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
