"""What makes, changes and copies stores: Python does what the command does, and prints nothing."""

import os
import re
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import date
from inspect import signature
from keyword import iskeyword
from pathlib import Path
from typing import Any

import click
import orjson
import pytest
from click.testing import CliRunner
from pyarrow.parquet import read_table

import arclink
from arclink.access.declarations import BadParameterError
from arclink.cli.doors import IN_PYTHON, NOT_IN_PYTHON
from arclink.cli.main import SECTIONS, group
from arclink.cli.options import DeclaredOption
from arclink.counts import Counts
from arclink.errors import ArclinkError, OperatorError, StoreError, UsageError
from arclink.mapreduce import local
from arclink.reasons import Reason
from arclink.store.backups import BackedUp, Restored
from tests.demos import Demos
from tests.store.kept_stores import STORES, KeptStore, write_archives
from tests.store.small_graph import execute
from tests.wayback.archive_server import FakeArchive, Page, serving

COMMANDS = [name for commands in SECTIONS.values() for name in commands]
ONLY_READ = {"LinkGraph", "__version__", "aggregate", "ask", "open"}
FUNCTIONS = [name for name in COMMANDS if name in arclink.__all__ and name not in ONLY_READ]
SITE = "example,aurora-daily)/"


def run(*words: str | Path | int) -> str:
    """Run a command; return its standard output."""
    done = CliRunner().invoke(group, [*map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(arclink, name)
    return found


def rows_of(store: Path) -> Mapping[str, list[tuple[object, ...]]]:
    """Return all rows of a store, but for CPU seconds, times of work, and random marks."""
    with closing(sqlite3.connect(store)) as opened:
        opened.row_factory = sqlite3.Row
        tables = {
            name: opened.execute(f'SELECT * FROM "{name}"').fetchall()
            for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
    return {
        name: [tuple(map(_comparable, row)) for row in rows if row[0] not in ("restored", "times")]
        for name, rows in tables.items()
    }


def _comparable(value: object) -> object:
    if isinstance(value, str) and value.startswith("{"):
        found = orjson.loads(value)
        return orjson.dumps({**found, "cpu seconds": {}, "loaded": ""})
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "", value) if isinstance(value, str) else value


@pytest.fixture
def stores(demos: Demos, tmp_path: Path) -> tuple[Path, Path]:
    """Two copies of a store: one for the command, one for the function."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    return demos.copy(tmp_path / "one"), demos.copy(tmp_path / "two")


@pytest.fixture(autouse=True)
def silent(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Nothing reaches the terminal of the process: commands write to that of `CliRunner`."""
    yield
    assert capfd.readouterr() == ("", "")


# One declaration


def resolved(name: str) -> object:
    """Return the object with a dotted name below the package; None without it."""
    found: object = arclink
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_python_has_the_command_or_the_table_says_why_not(command: str) -> None:
    of_name = [
        name
        for name in (command, f"LinkGraph.{command}")
        if name.partition(".")[0] in arclink.__all__ and callable(resolved(name))
    ]
    of_name = [name for name in of_name if name != "open"]  # another one than `arclink open`
    named = IN_PYTHON.get(command, ())
    assert all(callable(resolved(name)) for name in named)
    assert [bool(of_name), bool(named), bool(NOT_IN_PYTHON.get(command))].count(True) == 1


def test_the_tables_name_commands_only() -> None:
    assert {*IN_PYTHON, *NOT_IN_PYTHON} <= {*COMMANDS}
    assert {*arclink.__all__} <= {*ONLY_READ, *FUNCTIONS}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_keywords_are_the_options_of_the_command(name: str) -> None:
    command = group.get_command(click.Context(group), name)
    assert command
    options = [str(one.name) for one in command.params if one.name != "help"]
    keywords = signature(function(name)).parameters
    assert {*keywords} == {f"{one}_" if iskeyword(one) else one for one in options}
    for one in command.params:
        if isinstance(one, DeclaredOption):
            keyword = f"{one.name}_" if iskeyword(str(one.name)) else str(one.name)
            about = " ".join(str(function(name).__doc__).split())
            assert f"{keyword}: {one.parameter.about.partition('--')[0].strip()}" in about


# Python does what the command does


def test_a_build_gives_the_same_store(demos: Demos, tmp_path: Path) -> None:
    archive, one, two = demos.archive(), tmp_path / "one.db", tmp_path / "two.db"
    output = run("build", archive, "--store", one, "--cores", 1, "--from", "2010")
    built = arclink.build(archive, store=two, cores=1, from_=date(2010, 1, 1))
    assert rows_of(two) == rows_of(one)
    assert built.captures == (0, built.report.counts[Reason.ROW_KEPT])
    assert f"captures: 0 before, {built.captures[1]:,} now" in output
    assert f"holds {built.sums.links:,} links" in output
    assert built.report.batches == 1
    assert arclink.build(archive, store=two, from_="2010").report.batches == 0


def test_a_build_returns_what_it_left_out_and_what_is_damaged(demos: Demos, tmp_path: Path) -> None:
    """The command ends with exit code 1 for it; Python has it in the result."""
    archive = tmp_path / "archive"
    shutil.copytree(demos.archive(), archive)
    (archive / "empty.warc.gz").touch()
    (archive / "page.warc").write_bytes(b"<html>\n" * 9)
    built = arclink.build(archive, store=tmp_path / "links.db", cores=1)
    assert [Path(one.path).name for one in built.report.damaged] == ["empty.warc.gz"]
    assert [note for note in built.notes if "page.warc" in note]
    assert built.report.needs_a_person


def test_a_rebuild_replaces_the_store(stores: tuple[Path, Path]) -> None:
    one, two = stores
    run("build", "--rebuild", "--store", one, "--cores", 1, "--lazy", "--quiet")
    built = arclink.build(store=two, rebuild=True, cores=1, lazy=True)
    assert rows_of(two) == rows_of(one)
    assert built.captures == (300, 300)


def test_only_the_caller_is_interrupted_not_its_tasks(
    demos: Demos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So an interrupt of all processes is a `KeyboardInterrupt`, and no error of a task."""
    run_task = local._run_task

    def interrupted(job: Any, task: Any) -> Counts:
        os.kill(os.getpid(), signal.SIGINT)
        return run_task(job, task)

    monkeypatch.setattr(local, "_run_task", interrupted)
    built = arclink.build(demos.archive(), store=tmp_path / "links.db", cores=2)
    assert built.report.batches == 1


def test_progress_is_shown_where_it_is_asked_for(
    demos: Demos, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arclink.build(demos.archive(), store=tmp_path / "links.db", cores=1, quiet=False)
    out, err = capfd.readouterr()
    assert out == ""
    assert "extract" in err


def test_tables_are_named_with_their_rows(stores: tuple[Path, Path], tmp_path: Path) -> None:
    one, two = stores
    output = run("tables", "--store", one)
    made = arclink.tables(two)
    for name, table in made.tables.items():
        assert f"{name}: {table.rows:,} rows, " in output
        assert sum(Path(file).stat().st_size for file in table.files) == table.bytes
    files = [Path(file) for table in made.tables.values() for file in table.files]
    copies = [Path(line.strip()) for line in output.splitlines() if line.startswith("  ")]
    assert [*map(read_table, files)] == [*map(read_table, copies)]
    at = tmp_path / "at"
    written = arclink.tables(two, tables_at=at, parts=2, cores=1).tables["links"]
    assert (written.rows, written.parts) == (made.tables["links"].rows, 2)
    assert arclink.tables(two, tables_at=at).tables["links"].rows is None
    assert arclink.tables(two, remove=True, tables_at=at).tables == {}


def test_a_takedown_removes_the_same(stores: tuple[Path, Path]) -> None:
    one, two = stores
    before = rows_of(two)
    trial = arclink.forget(SITE, store=two, dry_run=True)
    assert rows_of(two) == before
    output = run("forget", SITE, "--store", one, "--reason", "17")
    done = arclink.forget(SITE, store=two, reason="17")
    assert rows_of(two) == rows_of(one)
    (taken,) = done.done
    assert taken.removed == trial.done[0].removed
    assert (taken.takedown.reason, taken.takedown.what.prefix) == ("17", SITE)
    assert f"{taken.removed.mementos:,} mementos" in output
    assert done.bytes == two.stat().st_size
    assert [note.replace(str(two), str(one)) for note in done.notes] == [
        line.replace("--targets", "targets=True") for line in output.splitlines()
    ]
    known = arclink.forget(store=two, list=True).known
    assert [removed for _, removed in known or ()] == [taken.removed]


def test_what_was_forgotten_is_in_the_notes_of_an_error_that_follows(
    stores: tuple[Path, Path], tmp_path: Path
) -> None:
    at = tmp_path / "at"
    arclink.tables(stores[0], tables_at=at, parts=1, cores=1)
    at.rename(tmp_path / "aside")
    with pytest.raises(OperatorError, match="copies of it may remain") as failed:
        arclink.forget(SITE, store=stores[0])
    assert re.match(rf"{re.escape(SITE)}: .* forgotten", failed.value.__notes__[0])


def test_a_backup_is_the_store_and_restores_it(stores: tuple[Path, Path], tmp_path: Path) -> None:
    one, two = stores
    output = run("backup", "--store", one, "--into", tmp_path / "one.bak")
    copied = arclink.backup(two, into=tmp_path / "two.bak")
    assert isinstance(copied, BackedUp)
    assert f"{copied.sums.links:,} links ({copied.sums.bytes:,} bytes, verified)" in output
    assert rows_of(tmp_path / "two.bak") == rows_of(tmp_path / "one.bak") == rows_of(two)
    arclink.forget(SITE, store=two)
    forgotten = rows_of(two)
    run("forget", SITE, "--store", one)
    for store in stores:
        store.unlink()
    output = run("restore", tmp_path / "one.bak", "--store", one)
    restored = arclink.restore(tmp_path / "two.bak", two)
    assert isinstance(restored, Restored)
    assert f"applied again: 1, of {restored.mementos} mementos" in output
    assert [one.what.prefix for one in restored.applied] == [SITE]
    assert rows_of(two)["payloads"] == rows_of(one)["payloads"] == forgotten["payloads"]


def test_rows_and_graph_files_are_the_same(demos: Demos, tmp_path: Path) -> None:
    """The stages between them are run by commands, which Python does not have."""
    archive, folders = demos.archive(), [tmp_path / "one", tmp_path / "two"]
    output = run("index", archive, "--into", folders[0], "--runner", "inline")
    indexed = arclink.index(archive, into=folders[1], runner="inline")
    assert f"{indexed.counts[Reason.RECORD_INDEXED]}  indexed" in output
    assert indexed.rows == folders[1] / "rows"
    for folder in folders:
        for stage in (["filter"], ["extract", archive], ["graph"]):
            run(*stage, "--into", folder, "--runner", "inline")
    output = run("load", "--folder", folders[0], "--store", tmp_path / "one.db")
    loaded = arclink.load(folder=folders[1], store=tmp_path / "two.db")
    assert f"batch {loaded.number} loaded; it holds {loaded.links:,} links now" in output
    assert rows_of(tmp_path / "two.db") == rows_of(tmp_path / "one.db")


def test_captures_are_fetched_into_the_same_files(tmp_path: Path) -> None:
    page = Page("http://h.example/", "20100101000000", b'<a href="b">to b</a>')
    with serving(FakeArchive()) as archive:
        archive.pages = [page]
        options = ("--wayback", archive.base, "--delay", "0")
        output = run("fetch", page.original, *options, "--into", tmp_path / "one", "--quiet")
        fetched = arclink.fetch(page.original, wayback=archive.base, into=tmp_path / "two", delay=0)
        assert f"{fetched.report.requests} requests" in output
        again = arclink.fetch(page.original, wayback=archive.base, into=tmp_path / "two", delay=0)
    assert again.report.requests == 0
    assert (
        fetched.index.read_bytes().split()[:2]
        == (tmp_path / "one/index.cdxj").read_bytes().split()[:2]
    )
    built = arclink.build(fetched.folder, cdx=fetched.index, store=tmp_path / "a.db", cores=1)
    assert built.sums.links == 1


def test_what_is_left_to_fetch_is_in_the_result(tmp_path: Path) -> None:
    """The command ends with an error for it."""
    options: dict[str, Any] = {"tries": 1, "delay": 0, "into": tmp_path / "fetched"}
    fetched = arclink.fetch("http://a.example/", wayback="http://127.0.0.1:1/web", **options)
    assert fetched.report.entries_left == 1
    assert "archive was not reached" in fetched.notes[0]


def test_an_upgrade_says_that_nothing_is_old(stores: tuple[Path, Path]) -> None:
    done = arclink.upgrade(stores[0])
    assert (done.found, done.pages) == ([], 0)
    assert [note + "\n" for note in done.notes] == [run("upgrade", stores[0])]


@pytest.mark.parametrize("kept", STORES, ids=lambda kept: kept.name)
def test_an_old_store_is_upgraded_alike(kept: KeptStore, tmp_path: Path) -> None:
    archives = write_archives(tmp_path / "archives")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = kept.copy(tmp_path / "one"), kept.copy(tmp_path / "two")
    before = two.read_bytes()
    trial = arclink.upgrade(two, dry_run=True)
    assert two.read_bytes() == before
    output = run("upgrade", one, "--archives", archives)
    done = arclink.upgrade(two, archives=[archives])
    assert rows_of(two) == rows_of(one)
    assert (done.found, done.pages) == (trial.found, trial.pages_left)
    assert f"{done.pages_read} pages read again; links of {done.pages_changed}" in output
    assert done.pages_left == 0
    assert [note.replace(str(two), str(one)) for note in done.notes] == output.splitlines()


def spoil_sums(store: Path, _: Path) -> None:
    execute("UPDATE batches SET links = 7")(store)


def spoil_subset(store: Path, _: Path) -> None:
    with arclink.open(store) as graph:
        graph.select("early", "to:2009", keep=True)
    for path in (one for one in store.parent.rglob("*") if "early" in one.name and one.is_file()):
        path.write_bytes(path.read_bytes()[:-1] + b"?")


def spoil_archive(_: Path, archive: Path) -> None:
    first, second = sorted(archive.rglob("*.warc.gz"))[:2]
    first.write_bytes(first.read_bytes()[:-9] + b"123456789")
    second.unlink()


@pytest.mark.parametrize("files", [False, True], ids=["store", "files"])
@pytest.mark.parametrize("spoil", [None, spoil_sums, spoil_subset, spoil_archive])
def test_verify_returns_what_the_command_prints(
    spoil: Callable[[Path, Path], None] | None, *, files: bool, demos: Demos, tmp_path: Path
) -> None:
    archive = Path(shutil.copytree(demos.archive(), tmp_path / "archive"))
    store = tmp_path / "links.db"
    arclink.build(archive, store=store, cores=1)
    if spoil:
        spoil(store, archive)
    words = ["verify", "--store", str(store), *(["--files"] if files else [])]
    done = CliRunner().invoke(group, words)
    found = arclink.verify(store, files=files)
    assert found.is_sound is (done.exit_code == 0)
    assert found.is_sound is (spoil is None or (spoil is spoil_archive) is not files)
    *lines, last = done.stdout.splitlines()
    if files:
        assert lines == [
            ": ".join(part for part in (one.state.value, one.name, one.path, one.detail) if part)
            for one in found.files
        ]
        assert last.startswith(f"{store}: {len(found.files)} archive files: ")
    else:
        said = [one for one in (*lines, last) if one.startswith("violated: ")]
        assert said == [f"violated: {one.invariant}: {one.detail}" for one in found.violations]
        assert (last == f"{store}: every invariant holds.") is found.is_sound
        assert "\n".join(found.notes) == done.stderr.strip()


# Errors


@pytest.mark.parametrize(
    ("name", "given", "options", "error", "words"),
    [
        pytest.param(
            "build",
            ("a.warc",),
            {"store": "x.db", "frm": "2010"},
            UsageError,
            r"^frm: there .*; did you mean from_[?] Keywords: inputs, store, .*from_, to, ",
            id="unknown keyword",
        ),
        pytest.param(
            "build",
            ("a.warc",),
            {"store": "x.db", "no-redirects": True},
            UsageError,
            "^no-redirects: there is no such keyword; did you mean no_redirects[?]",
            id="name of the option",
        ),
        pytest.param(
            "build",
            ("a.warc",),
            {"store": "x.db", "from_": "soon"},
            UsageError,
            "^from_ or to: not a time: 'soon'",
            id="keyword with underscore",
        ),
        pytest.param(
            "build",
            ("a.warc",),
            {"store": "x.db", "batch_size": "4 GB"},
            UsageError,
            "^batch_size '4 GB': not a size",
            id="hyphen",
        ),
        pytest.param(
            "build",
            ("a.warc",),
            {"store": "x.db", "cores": True},
            BadParameterError,
            "^cores: 'true' is not allowed",
            id="another type",
        ),
        pytest.param(
            "build",
            (["a.warc"],),
            {"store": "x.db"},
            UsageError,
            r"^inputs: \['a.warc'\] is not a value",
            id="a list as an item",
        ),
        pytest.param(
            "forget",
            ("", "org,example)/"),
            {"store": "x.db"},
            UsageError,
            "^prefixes: '' is not a value",
            id="an empty item",
        ),
        pytest.param(
            "tables", (b"x.db",), {}, UsageError, "^store: b'x.db' is not a value", id="bytes"
        ),
        pytest.param("tables", ("",), {}, UsageError, "^store: it is missing", id="no store"),
        pytest.param(
            "index", (), {"into": "x"}, UsageError, "^inputs: it is missing", id="no input"
        ),
        pytest.param(
            "tables",
            ("x.db",),
            {"lost": True},
            UsageError,
            "^lost=True: only with remove=True and tables_at$",
            id="switches",
        ),
        pytest.param(
            "tables",
            ("x.db",),
            {"store_": "x.db"},
            UsageError,
            "^store_: there is no such keyword; did you mean store[?]",
            id="one underscore too many",
        ),
        pytest.param(
            "tables",
            ("x.db",),
            {},
            StoreError,
            "Build one: arclink build INPUT... --store x.db$",
            id="a command line stays",
        ),
        pytest.param(
            "restore",
            ("b.db", "x.db"),
            {"replace": "yes"},
            BadParameterError,
            "^replace: 'yes' is not allowed; expected true or false",
            id="text for a switch",
        ),
        pytest.param(
            "backup",
            ("cassandra://127.0.0.1:1/links",),
            {"into": "b"},
            UsageError,
            "^graph must name the folder",
            id="an option of one kind of store",
        ),
    ],
)
def test_errors_are_in_the_words_of_python(
    name: str,
    given: tuple[object, ...],
    options: dict[str, object],
    error: type[ArclinkError],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        function(name)(*given, **options)
    assert not list(tmp_path.iterdir())


def test_an_error_names_no_password(tmp_path: Path) -> None:
    with pytest.raises(ArclinkError) as failed:
        arclink.tables("cassandra://me:secret@127.0.0.1:1/links")
    assert "secret" not in str(failed.value)
