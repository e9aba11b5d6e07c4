"""``arclink tables --tables-at``: tasks write what one process writes, whatever happens to them."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyarrow import parquet

import arclink
from arclink.analysis.relations import by_tasks, kept
from arclink.analysis.relations.by_tasks import (
    PartTask,
    Place,
    UnusedTablesWarning,
    write_part,
    write_tables,
)
from arclink.analysis.relations.database import ShownRelations
from arclink.analysis.relations.folder import tables_folder
from arclink.analysis.relations.kept import relations_of
from arclink.analysis.relations.state import FILES, OF_STORE, read_state
from arclink.analysis.relations.writing import make_part
from arclink.cli.main import group
from arclink.errors import ArclinkError, StoreError
from arclink.files.sealed import SUMS, seal_folder
from arclink.mapreduce.runs import JobRunner
from arclink.network.engine_files import FolderFiles
from arclink.store.layouts import TABLES
from arclink.store.location import open_store
from arclink.store.protocols import Share
from arclink.store.sqlite.store import SqliteStore
from benchmarks.built_stores import build_store
from tests.jobs.chain import write_chain
from tests.pipeline.batch_orders import ALONE
from tests.service.conftest import client_of
from tests.sources import ROOT

Rows = dict[str, Counter[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Archives of two batches, with revisits, damaged files and payloads without a capture."""
    folder = tmp_path_factory.mktemp("archives")
    write_chain(folder, folder / "earlier.warc")
    return folder


@pytest.fixture(scope="module")
def built(archives: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two batches, one site of which was forgotten."""
    path = tmp_path_factory.mktemp("built") / "links.db"
    build_store(archives / "earlier.warc", path, ALONE)
    build_store(archives / "archive", path, ALONE, (), [archives / "rows.cdxj"])
    run("forget", "example,retried)/", "--store", path)
    return path


@pytest.fixture
def store(built: Path, tmp_path: Path) -> Path:
    shutil.copytree(built.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / "links.db"


def run(*words: object) -> str:
    done = CliRunner().invoke(group, [*map(str, words)])
    assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"
    return done.output


def refused(*words: object) -> str:
    """Return the message of a command that ends with an error."""
    done = CliRunner().invoke(group, [*map(str, words)])
    assert isinstance(done.exception, ArclinkError)
    return str(done.exception)


def rows_at(folder: Path) -> Rows:
    """Return the rows of the files that programs find at an address."""
    return {name: rows_in(sorted(folder.glob(f"*/*/{FILES[name][0]}"))) for name in OF_STORE}


def rows_in(paths: list[Path]) -> Counter[tuple[Any, ...]]:
    tables = map(parquet.read_table, paths)
    return Counter(
        row
        for table in tables
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True)
    )


def versions(folder: Path) -> list[Path]:
    """Return the folders with tables at an address, whole or not."""
    return [path for path in folder.iterdir() if re.fullmatch("[0-9a-f]{16}", path.name)]


def rows_next_to(store: Path) -> Rows:
    with open_store(str(store)) as opened:
        made = relations_of(str(store), opened)
    return {"captures": rows_in([*made["captures"]]), "links": rows_in([*made["links"]])}


@pytest.mark.parametrize("options", [("--parts", 3), ("--runner", "inline")])
def test_tasks_write_the_rows_of_one_process(
    store: Path, tmp_path: Path, options: tuple[object, ...]
) -> None:
    expected = rows_next_to(store)
    said = run("tables", "--store", store, "--tables-at", tmp_path / "at", *options)
    assert rows_at(tmp_path / "at") == expected
    for name, rows in expected.items():
        assert f"{name}: {rows.total():,} rows" in said
        assert rows
    columns = [*zip(*expected["captures"], strict=True)]
    assert None in columns[14], "a capture without content"
    assert len(set(columns[0])) > 40
    assert not any(surt.startswith("example,retried)/") for surt in columns[0])
    again = run("tables", "--store", store, "--tables-at", tmp_path / "at", *options)
    assert again.count("written before") == 2


def test_the_job_by_hand_writes_them_too(store: Path, tmp_path: Path) -> None:
    """It runs twice, with the same address."""
    (tmp_path / "shares").write_text(
        "".join(f"{name} {number} 2\n" for name in OF_STORE for number in (0, 1))
    )
    settings = {"store": str(store), "folder": str(tmp_path / "at/by-hand")}
    for number in (1, 2):
        command = [sys.executable, str(ROOT / "jobs/write_tables.py"), "-r", "inline"]
        command += [
            "--settings",
            json.dumps(settings),
            "--output-dir",
            str(tmp_path / f"o{number}"),
        ]
        environment = {**os.environ, "MRJOB_CONF": os.devnull, "PYTHONPATH": str(ROOT)}
        subprocess.run([*command, str(tmp_path / "shares")], env=environment, check=True)
        assert rows_at(tmp_path / "at") == rows_next_to(store)
        written = b"".join(path.read_bytes() for path in (tmp_path / f"o{number}").glob("part-*"))
        assert len(re.findall(rb'"?(captures|links)-0000[01]-of-00002\t', written)) == 4


def test_a_repeated_task_writes_the_same_bytes(store: Path, tmp_path: Path) -> None:
    """Two attempts may write at the same time: a reader may get files of both."""
    contents: list[dict[str, bytes]] = []
    with open_store(str(store)) as opened, opened.snapshot():
        for name in ("one", "other"):
            for relation in OF_STORE:
                write_part(
                    PartTask(relation, Share(1, 2)), opened, FolderFiles(), str(tmp_path / name)
                )
            paths = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
            contents.append(
                {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in paths}
            )
    assert contents[0] == contents[1]
    assert len(contents[0]) == 5  # captures, links in two orders, and two lists of checksums


def test_a_killed_attempt_leaves_no_part_of_a_file(store: Path, tmp_path: Path) -> None:
    program = (
        "import os, shutil, signal, sys\n"
        "from arclink.network import engine_files\n"
        "from arclink.analysis.relations.by_tasks import write_parts\n"
        "def half(source, target):\n"
        "    target.write(source.read(500)); target.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "engine_files.shutil.copyfileobj = half\n"
        "list(write_parts([b'links 0 1'], sys.argv[1], sys.argv[2], None))\n"
    )
    at = tmp_path / "at/by-hand"
    done = subprocess.run([sys.executable, "-c", program, str(store), str(at)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert any(path.stat().st_size == 500 for path in at.rglob("links*.parquet"))
    assert not rows_at(tmp_path / "at")["links"], "programs find no file"
    [*_] = by_tasks.write_parts([b"links 0 1"], str(store), str(at), None)
    assert rows_at(tmp_path / "at")["links"] == rows_next_to(store)["links"]
    assert [path.name for path in sorted((at / "links-00000-of-00001").iterdir())] == [
        "checksums.txt",
        "links-by-page.parquet",
        "links.parquet",
    ]


def test_a_store_that_changes_meanwhile_leaves_nothing(store: Path, tmp_path: Path) -> None:
    """What a takedown removed may be in parts that tasks have written."""

    class Forgetting(JobRunner):
        def run(self, *given: Any, **named: Any) -> Any:
            counts = super().run(*given, **named)
            run("forget", "example,sought)/", "--store", store)
            return counts

    place, work = Place(str(tmp_path / "at")), tmp_path / "work"
    work.mkdir()
    with (
        open_store(str(store)) as opened,
        pytest.raises(StoreError, match="changed while its tables were written"),
    ):
        write_tables(str(store), opened, place, Forgetting("inline", 1, work / "tasks"), work, 2)
    assert not versions(tmp_path / "at")


def test_a_task_refuses_a_store_that_changed(store: Path, tmp_path: Path) -> None:
    settings = {"store": str(store), "folder": str(tmp_path / "at"), "version": "0" * 16}
    command = [sys.executable, str(ROOT / "jobs/write_tables.py"), "-r", "inline"]
    command += ["--settings", json.dumps(settings), "--output-dir", str(tmp_path / "o")]
    (tmp_path / "shares").write_text("links 0 1\n")
    environment = {**os.environ, "MRJOB_CONF": os.devnull, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, str(tmp_path / "shares")], env=environment, capture_output=True, text=True
    )
    assert done.returncode
    assert "changed while its tables were written" in done.stderr
    assert not (tmp_path / "at").exists()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of parts that this machine writes itself."""
    names: list[str] = []

    def noted(*given: Any) -> str:
        names.append(make_part(*given))
        return names[-1]

    monkeypatch.setattr(kept, "make_part", noted)
    return names


COUNT = "SELECT count(*) AS n FROM links"


def links_in(store: Path) -> int:
    """Return the number of links that SQL finds."""
    return int(run("sql", COUNT, "--format", "csv", "--store", store).split()[1])


def test_everyone_reads_what_tasks_wrote(store: Path, tmp_path: Path, made: list[str]) -> None:
    at = tmp_path / "at"
    run("tables", "--store", store, "--tables-at", at, "--parts", 2)
    links = rows_at(at)["links"].total()
    assert links_in(store) == links
    run("tables", "--remove", "--store", store)
    with arclink.open(str(store)) as graph:
        assert [*graph.sql(COUNT)] == [{"n": links}]
    for words in (
        ("stats", "--duplicates"),
        ("export", "--format", "parquet", "--into", tmp_path / "links.parquet"),
        ("ask", "survival"),
        ("analyze", "pagerank"),
    ):
        run("tables", "--remove", "--store", store)
        run(*words, "--store", store)
        assert tables_folder(str(store)).is_dir()
    assert not made, "this machine has copied all parts"
    assert f"tasks write them to {at}\n" in run("tables", "--store", store)


def test_parts_of_another_format_are_copied_again(store: Path, tmp_path: Path) -> None:
    """An earlier release has copied parts with the same names, which lack a file."""
    run("tables", "--store", store, "--tables-at", tmp_path / "at", "--parts", 2)
    folder = tables_folder(str(store))
    with open_store(str(store)) as opened:
        made = relations_of(str(store), opened)
        rows = [parquet.read_table(path).num_rows for path in made["links"]]
        state = read_state(folder)
        assert state is not None
        for path in made["links_by_page"]:
            part = path.parent
            path.unlink()
            seal_folder(part, [one for one in part.iterdir() if one.name != SUMS])
            part.rename(folder / part.name.replace(f"-{TABLES}-", f"-{TABLES - 1}-"))
        replace(state, format=TABLES - 1).write(folder)
        with ShownRelations(str(store), opened) as relations:
            assert relations.run("SELECT count(*) FROM links_by_page") == [(sum(rows),)]


def test_the_service_reads_what_tasks_wrote(store: Path, tmp_path: Path, made: list[str]) -> None:
    run("tables", "--store", store, "--tables-at", tmp_path / "at", "--parts", 2)
    response = client_of(str(store)).get("/stream?order=rank")
    assert response.status_code == 200
    assert response.data
    assert tables_folder(str(store)).is_dir()
    assert not made


def test_tables_are_written_again_after_a_takedown(store: Path, tmp_path: Path) -> None:
    at = tmp_path / "at"
    run("tables", "--store", store, "--tables-at", at, "--parts", 2)
    links = links_in(store)
    run("forget", "example,sought)/", "--store", store)
    assert links_in(store) < links
    found = rows_next_to(store)
    run("tables", "--store", store, "--tables-at", at)
    assert found == rows_at(at)
    assert len(versions(at)) == 1


def test_a_later_batch_is_added_to_what_tasks_wrote(
    archives: Path, tmp_path: Path, made: list[str]
) -> None:
    store, at = tmp_path / "links.db", tmp_path / "at"
    build_store(archives / "archive", store, ALONE, (), [archives / "rows.cdxj"])
    run("tables", "--store", store, "--tables-at", at, "--parts", 2)
    build_store(archives / "earlier.warc", store, ALONE)
    run("sql", "SELECT 1", "--store", store)
    assert len(made) > 1, "what the batch added was merged with what tasks wrote"
    found = rows_next_to(store)
    run("tables", "--store", store, "--tables-at", at)
    assert found == rows_at(at)


def test_a_damaged_part_is_not_read(store: Path, tmp_path: Path, made: list[str]) -> None:
    at = tmp_path / "at"
    run("tables", "--store", store, "--tables-at", at, "--parts", 1)
    expected = rows_at(at)
    (path,) = at.glob("*/*/links.parquet")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.warns(UnusedTablesWarning, match="is damaged"):
        assert rows_next_to(store) == expected
    assert made


@pytest.mark.parametrize("reason", ["moved", "locked", "file"])
def test_tables_that_cannot_be_reached_are_made_here(
    store: Path, tmp_path: Path, made: list[str], reason: str
) -> None:
    at = tmp_path / "at"
    run("tables", "--store", store, "--tables-at", at, "--parts", 1)
    expected = rows_at(at)
    with out_of_reach(at, reason), pytest.warns(UnusedTablesWarning, match="are not used"):
        assert rows_next_to(store) == expected
    assert made


@pytest.mark.parametrize("reason", ["moved", "locked", "file"])
def test_a_takedown_says_where_copies_remain(store: Path, tmp_path: Path, reason: str) -> None:
    """The store forgets nevertheless; the command ends with an error until no copy is left."""
    at, other = tmp_path / "at", tmp_path / "other"
    for address in (at, other):
        run("tables", "--store", store, "--tables-at", address, "--parts", 1)
    links, words = links_in(store), ("forget", "example,sought)/", "--store", store)
    with out_of_reach(at, reason):
        for _ in range(2):
            done = CliRunner().invoke(group, [*map(str, words)])
            assert "written again" in done.output, "the store is clean"
            assert isinstance(done.exception, ArclinkError)
            assert "copies of it may remain" in str(done.exception)
            assert f"the tables at {at} are not removed" in str(done.exception)
            assert str(other) not in str(done.exception)
        assert not versions(other)
        assert links_in(store) < links
    assert versions(at)
    run(*words)
    assert not versions(at)


def test_a_cluster_that_does_not_answer_is_named(store: Path) -> None:
    address = "webhdfs://127.0.0.1:1/tables"
    with open_store(str(store), create=True) as opened:
        opened.note_tables(address, are_there=True)
    with pytest.warns(UnusedTablesWarning, match=f"the tables at {address} are not used"):
        assert rows_next_to(store)["links"]
    assert f"the tables at {address} are not removed" in refused(
        "forget", "example,sought)/", "--store", store
    )


@contextmanager
def out_of_reach(folder: Path, reason: str) -> Iterator[None]:
    """Make a folder unusable for a while: a disk that is missing, a server that refuses."""
    aside, listed = folder.with_name("aside"), Path.iterdir
    if reason == "locked":

        def refusing(path: Path) -> Iterator[Path]:
            if path.is_relative_to(folder):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return listed(path)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Path, "iterdir", refusing)
            yield
        return
    folder.rename(aside)
    if reason == "file":
        folder.touch()
    yield
    folder.unlink(missing_ok=True)
    aside.rename(folder)


def test_an_address_that_no_longer_exists_can_be_left(store: Path, tmp_path: Path) -> None:
    at, words = tmp_path / "at", ("tables", "--remove", "--store", store, "--tables-at")
    run("tables", "--store", store, "--tables-at", at)
    shutil.rmtree(at)
    assert "is not there" in refused("forget", "example,sought)/", "--store", store)
    assert "is not there" in refused(*words, at)
    assert "--lost" in refused(*words[:4], "--lost")
    run(*words, at, "--lost")
    run("forget", "example,sought)/", "--store", store)
    assert "tasks write" not in run("tables", "--store", store)


def test_remove_and_forget_leave_nothing_at_an_address(store: Path, tmp_path: Path) -> None:
    at = tmp_path / "at"
    (at / "other").mkdir(parents=True)
    for words in (
        ("forget", "example,sought)/", "--dry-run"),
        ("forget", "example,sought)/"),
        ("tables", "--remove", "--tables-at", at),
    ):
        run("tables", "--store", store, "--tables-at", at)
        assert len(versions(at)) == 1
        run(*words, "--store", store)
        assert bool(versions(at)) == ("--dry-run" in words)
    assert [path.name for path in at.iterdir()] == ["other"]


def test_a_killed_job_leaves_nothing_that_a_takedown_does_not_find(
    store: Path, tmp_path: Path
) -> None:
    class Killed(JobRunner):
        def run(self, *given: Any, **named: Any) -> Any:
            super().run(*given, **named)
            raise SystemExit

    place, work = Place(str(tmp_path / "at")), tmp_path / "work"
    work.mkdir()
    with open_store(str(store)) as opened, pytest.raises(SystemExit):
        write_tables(str(store), opened, place, Killed("inline", 1, work / "tasks"), work, 2)
    assert rows_at(tmp_path / "at")["links"]
    run("forget", "example,sought)/", "--store", store)
    assert not versions(tmp_path / "at")


def test_what_tasks_write_during_a_takedown_is_removed(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, forget = tmp_path / "at", SqliteStore.forget
    run("tables", "--store", store, "--tables-at", at)
    (folder,) = versions(at)

    def meanwhile(*given: Any, **named: Any) -> Any:
        assert not versions(at), "a takedown that is killed leaves none"
        (at / folder.name / "links-00000-of-00001").mkdir(parents=True)
        return forget(*given, **named)

    monkeypatch.setattr(SqliteStore, "forget", meanwhile)
    run("forget", "example,sought)/", "--store", store)
    assert not versions(at)


def test_a_store_that_is_replaced_takes_its_tables_along(store: Path, tmp_path: Path) -> None:
    at, backup = tmp_path / "at", tmp_path / "backup.db"
    run("backup", "--into", backup, "--store", store)
    for words in (("restore", backup, "--replace"), ("build", "--rebuild")):
        run("tables", "--store", store, "--tables-at", at)
        at.rename(tmp_path / "aside")
        before = store.read_bytes()
        assert "is not there" in refused(*words, "--store", store)
        assert store.read_bytes() == before
        (tmp_path / "aside").rename(at)
        # A build ends with 1 here, since some archive files gave nothing.
        CliRunner().invoke(group, [*map(str, words), "--store", str(store)])
        assert store.read_bytes() != before
        assert not versions(at)


def test_a_backup_remembers_the_address(store: Path, tmp_path: Path) -> None:
    run("tables", "--store", store, "--tables-at", tmp_path / "at")
    run("backup", "--into", tmp_path / "backup.db", "--store", store)
    store.unlink()
    run("restore", tmp_path / "backup.db", "--store", store)
    run("forget", "example,sought)/", "--store", store)
    assert not versions(tmp_path / "at")


def test_options_that_need_an_address_or_another_store_are_refused(
    store: Path, tmp_path: Path
) -> None:
    assert "--tables-at" in refused("tables", "--store", store, "--runner", "spark")
    (conf := tmp_path / "mrjob.conf").write_text("runners: {}\n")
    words = ("--runner", "spark", "--engine-conf", conf, "--tables-at", tmp_path / "at")
    assert "tasks on other machines cannot open" in refused("tables", "--store", store, *words)
