"""Texts that tasks read and write to an address: equal rows, machines that copy them, takedowns."""

import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyarrow import parquet

from arclink.analysis.relations import state, writing
from arclink.analysis.relations.by_tasks import Place, UnusedTablesWarning
from arclink.analysis.relations.folder import WAITING, tables_folder
from arclink.analysis.relations.kept import relations_of
from arclink.analysis.relations.state import read_state
from arclink.captures.texts import read_texts_by_tasks, write_read_texts
from arclink.cli.main import group
from arclink.errors import ArclinkError, StoreError
from arclink.mapreduce.runs import JobRunner
from arclink.model import Surt
from arclink.reasons import Reason
from arclink.store.location import open_store
from arclink.store.sqlite.store import SqliteStore
from benchmarks.built_stores import build_store
from tests.pipeline.batch_orders import ALONE, page, revisit
from tests.pipeline.store_contents import graph_of

SECRET = "zq7secret"
"""In a page, and in no address and no takedown."""

PAGES = 12

LOST = Reason.PAYLOAD_FILE_MISSING.text

Rows = dict[str, Counter[str]]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two files: pages, one at two places, a revisit, plain text, a PDF."""
    folder = tmp_path_factory.mktemp("archives")
    body = "<title>Title {0}</title><p>words of page {0} <a href=next.html>next</a>"
    pages = [
        page(f"http://a.example/{number}", number, body=body.format(number).encode())
        for number in range(PAGES)
    ]
    others = [
        page("http://b.example/elsewhere/1", 21, body=body.format(1).encode()),
        page("http://b.example/secret", 22, body=f"<p>{SECRET} {SECRET}".encode()),
        page("http://b.example/pdf", 23, body=b"%PDF-1.4 hushed", mime="application/pdf"),
        revisit("http://a.example/2", 24),
    ]
    (folder / "a.warc").write_bytes(b"".join(pages))
    (folder / "b.warc").write_bytes(b"".join(others))
    return folder


@pytest.fixture
def store(archives: Path, tmp_path: Path) -> Path:
    """A store of both files, which are next to it, and without texts."""
    shutil.copytree(archives, tmp_path / "archives")
    build_store(tmp_path / "archives", tmp_path / "links.db", ALONE)
    return tmp_path / "links.db"


def run(*words: object) -> str:
    done = CliRunner().invoke(group, [*map(str, words)])
    assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"
    return done.output


def by_tasks(store: Path, *words: object) -> str:
    """Read texts by tasks, and return the last line of the output, which counts the pages."""
    at = ("--tables-at", store.with_name("at"), "--runner", "inline")
    return run("tables", "--text", "--store", store, *at, *words).splitlines()[-1]


def other_machine(store: Path, name: str) -> Path:
    """Return a copy of a store that has no tables next to it."""
    folder = store.with_name(name)
    folder.mkdir()
    shutil.copy(store, folder)
    return folder / store.name


def rows_of(store: Path, *, takes_texts: bool = False) -> Rows:
    """Return the rows of texts and words of a store, with each content once."""
    with open_store(str(store)) as opened:
        made = relations_of(str(store), opened, takes_texts=takes_texts)
    rows = rows_in(made["texts"])
    contents = Counter(row.split("'")[3] for row in rows["texts"].elements())
    assert not contents or max(contents.values()) == 1
    shown = read_state(tables_folder(str(store)))
    assert shown is not None
    assert not any(shown.parts[kind] for kind in WAITING)
    return rows


def rows_in(files: Iterable[Path]) -> Rows:
    """Return the rows of some files of texts, and of the words next to them."""
    texts, words = Counter[str](), Counter[str]()
    for file in files:
        rows = parquet.read_table(file).to_pylist()
        texts.update(map(repr, rows))
        for row in parquet.read_table(file.with_name("words.parquet")).to_pylist():
            words[repr({**row, "content": rows[row["content"]]["content"]})] += 1
    return {"texts": texts, "words": words}


def rows_at(store: Path) -> Rows:
    """Return the rows of texts and words that programs find at the address."""
    return rows_in(store.with_name("at").glob("texts-*/*/texts.parquet"))


def parts_at(store: Path) -> set[str]:
    return {path.name for path in store.with_name("at").glob("texts-*/*")}


@pytest.fixture
def expected(store: Path) -> Rows:
    """The rows that one process reads."""
    alone = other_machine(store, "alone")
    assert "texts read" in run("tables", "--text", "--store", alone)
    rows = rows_of(alone)
    assert rows["texts"].total() == PAGES + 2
    assert SECRET in repr(rows["words"])
    return rows


@pytest.mark.parametrize("options", [("--parts", 3), ("--runner", "local", "--cores", 2), ()])
def test_tasks_read_the_texts_of_one_process(
    store: Path, expected: Rows, options: tuple[object, ...]
) -> None:
    assert by_tasks(store, *options) == f"{PAGES + 1} texts read"
    assert len(parts_at(store)) == (3 if "--parts" in options else 1)
    assert rows_at(store) == rows_of(store) == expected
    assert by_tasks(store) == "0 texts read"
    # Another machine, which has no archive files, copies them.
    shutil.rmtree(store.with_name("archives"))
    assert rows_of(other_machine(store, "other")) == expected


def test_a_later_batch_is_read_alone_and_copied_alone(
    archives: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, files = tmp_path / "links.db", tmp_path / "archives"
    files.mkdir()
    shutil.copy(archives / "a.warc", files)
    build_store(files, store, ALONE)
    assert by_tasks(store) == f"{PAGES} texts read"
    first, other = parts_at(store), other_machine(store, "other")
    rows_of(other)
    shutil.copy(archives / "b.warc", files)
    build_store(files, store, ALONE, [str(files / "b.warc")])
    (files / "a.warc").unlink()
    # The page that is at two places has another content there, whose text is read again.
    assert by_tasks(store) == "2 texts read"
    assert len(parts_at(store) - first) == 1
    shutil.copy(store, other)
    fetched = list[str]()
    fetch = Place._fetch_part

    def noted(place: Place, version: str, part: str, target: Path) -> None:
        fetched.append(part)
        fetch(place, version, part, target)

    monkeypatch.setattr(Place, "_fetch_part", noted)
    assert rows_of(other) == rows_at(store)
    assert {part for part in fetched if part.startswith("texts")} == parts_at(store) - first


def test_texts_of_this_state_are_taken_when_tables_are_asked_for(store: Path) -> None:
    """Tasks may read texts after another machine has copied the other tables."""
    run("tables", "--store", store, "--tables-at", store.with_name("at"))
    other = other_machine(store, "other")
    assert not rows_of(other)["texts"]
    by_tasks(store)
    assert not rows_of(other)["texts"], "a query looks at files of this machine"
    assert f"texts: {PAGES + 2} rows" in run("tables", "--store", other)
    assert rows_of(other) == rows_at(store)


def test_a_takedown_removes_texts_and_the_others_are_sent_again(store: Path) -> None:
    by_tasks(store, "--parts", 2)
    other = other_machine(store, "other")
    rows_of(other)
    run("forget", "example,b)/secret", "--store", store, "--reason", "letter")
    assert not parts_at(store)
    shutil.rmtree(store.with_name("archives"))
    assert by_tasks(store) == "0 texts read"
    rows = rows_at(store)
    assert rows == rows_of(store)
    assert rows["texts"].total() == PAGES + 1
    assert SECRET not in repr(rows)
    # A machine that had them before, and one that had none.
    shutil.copy(store, other)
    assert rows_of(other) == rows_of(other_machine(store, "third")) == rows
    run("tables", "--remove", "--tables-at", store.with_name("at"), "--store", store)
    assert not parts_at(store)


def test_texts_that_one_process_has_read_are_sent(store: Path, expected: Rows) -> None:
    """Before the first tasks, and between two of them."""
    files, at = store.with_name("archives"), store.with_name("at")
    (files / "b.warc").rename(store.with_name("away"))
    run("tables", "--text", "--store", store)
    assert by_tasks(store) == f"0 texts read; 1 not read: {LOST}"
    assert len(parts_at(store)) == 1
    store.with_name("away").rename(files / "b.warc")
    run("tables", "--text", "--store", store)
    shutil.rmtree(files)
    assert len(parts_at(store)) == 1
    assert by_tasks(store) == "0 texts read"
    assert rows_at(store) == expected
    by_tasks(store, "--tables-at", at.with_name("second"))
    assert {path.name for path in at.with_name("second").glob("texts-*/*")} == parts_at(store)


def test_two_machines_that_read_the_same_have_each_text_once(store: Path, expected: Rows) -> None:
    other = other_machine(store, "other")
    (store.with_name("archives") / "a.warc").rename(store.with_name("away"))
    run("tables", "--text", "--store", other)
    store.with_name("away").rename(store.with_name("archives") / "a.warc")
    assert by_tasks(store, "--parts", 2) == f"{PAGES + 1} texts read"
    shutil.copy(store, other)  # it knows the address now
    assert rows_of(other, takes_texts=True) == expected


def test_a_lost_file_is_counted_and_read_later(store: Path, expected: Rows) -> None:
    file = store.with_name("archives") / "a.warc"
    file.rename(store.with_name("away"))
    said = by_tasks(store, "--parts", 2)
    assert said == f"1 text read; {PAGES} not read: {LOST}"
    assert len(parts_at(store)) == 1, "a part without any text is not written"
    moved = store.with_name("moved")
    moved.mkdir()
    store.with_name("away").rename(moved / "a.warc")
    assert by_tasks(store, "--archives", moved) == f"{PAGES} texts read"
    assert rows_at(store) == rows_of(store) == expected


def test_a_repeated_task_writes_the_same_bytes(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words are sorted in slices, which samples of them choose."""
    monkeypatch.setattr(writing, "_ROWS_OF_SLICE", 7)
    monkeypatch.setattr(writing, "_SAMPLED", 2)
    monkeypatch.setattr(writing, "_MOST_WORDS", 3)
    lines = list[bytes]()

    class Noting(JobRunner):
        def run(self, job: Any, inputs: Any, *given: Any, **named: Any) -> Any:
            lines.extend(inputs[0].read_bytes().splitlines())
            return super().run(job, inputs, *given, **named)

    text_tasks(store, Noting)
    (part,) = store.with_name("at").glob("texts-*/*")
    before = {path.name: path.read_bytes() for path in part.iterdir()}
    for name in before:
        (part / name).write_bytes(b"of an attempt that was killed")
    done = write_read_texts(lines, str(store), str(part.parent), None, [])
    assert (done.part, done.counts["read"]) == (part.name, PAGES + 1)
    assert {path.name: path.read_bytes() for path in part.iterdir()} == before
    with pytest.raises(ArclinkError, match="changed while its tables were written"):
        write_read_texts(lines, str(store), str(tmp_path / "at"), "another base", [])


def text_tasks(store: Path, kind: Callable[..., JobRunner]) -> None:
    """Read texts by tasks of a runner, for a store whose other tables are at the address."""
    at, work = store.with_name("at"), store.with_name("work")
    run("tables", "--store", store, "--tables-at", at)
    work.mkdir()
    with open_store(str(store)) as opened:
        runner = kind("inline", 1, work / "tasks")
        read_texts_by_tasks(str(store), opened, Place(str(at)), runner, work)


def test_a_takedown_meanwhile_leaves_no_text(store: Path, tmp_path: Path) -> None:
    at, late = store.with_name("at"), tmp_path / "late"

    class Forgetting(JobRunner):
        def run(self, *given: Any, **named: Any) -> Any:
            counts = super().run(*given, **named)
            (folder,) = at.glob("texts-*")
            shutil.copytree(folder, late)
            run("forget", "example,a)/3", "--store", store, "--reason", "letter")
            assert not folder.exists()
            late.rename(folder)  # a slow task has written it
            return counts

    with pytest.raises(StoreError, match="changed while its tables were written"):
        text_tasks(store, Forgetting)
    assert not parts_at(store)


@pytest.mark.parametrize("file", ["words.parquet", "checksums.txt"])
def test_a_damaged_or_unfinished_part_is_not_taken_and_removed(
    store: Path, expected: Rows, file: str
) -> None:
    by_tasks(store, "--parts", 2)
    other = other_machine(store, "other")
    part = min(store.with_name("at").glob("texts-*/*"))
    path = part / file
    if file == "checksums.txt":
        path.unlink()
        rows = rows_of(other)
    else:
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.warns(UnusedTablesWarning, match=f"{part.name} is damaged"):
            rows = rows_of(other)
    assert 0 < rows["texts"].total() < expected["texts"].total()
    tables = tables_folder(str(store))
    for name in ("texts", "words"):  # the first machine loses its own, too
        for here in tables.glob(f"*/{name}.parquet"):
            here.unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedTablesWarning)
        assert not by_tasks(store).startswith("0 ")
    assert rows_at(store) == rows_of(store) == expected


def test_large_parts_stay_apart(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "_LARGEST", 1)
    by_tasks(store, "--parts", 3)
    assert len([*tables_folder(str(store)).glob("*/texts.parquet")]) == 3
    with open_store(str(store)) as opened:
        assert [*opened.mementos(Surt("example,b)/secret"))]
    run("forget", "example,b)/secret", "--store", store, "--reason", "letter")
    assert SECRET not in repr(rows_of(store))


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_build_on_an_engine_leads_to_the_texts_of_a_build_here(
    archives: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_shared: bool
) -> None:
    """Tasks read them if they can open the store; plain text is read, too."""
    files, store, here = tmp_path / "archives", tmp_path / "links.db", tmp_path / "here.db"
    shutil.copytree(archives, files)
    plain = page("http://a.example/notes", 40, body=b"plain words", mime="text/plain")
    (files / "plain.warc").write_bytes(plain)
    run("build", files, "--text", "--quiet", "--store", here, "--runner", "inline")
    run("build", files / "a.warc", "--quiet", "--store", store, "--runner", "inline")
    run("tables", "--store", store, "--tables-at", tmp_path / "at")
    (conf := tmp_path / "mrjob.conf").write_text("runners: {}\n")

    def like_an_engine(_: object, cores: int, work: Path, *_others: object) -> JobRunner:
        return JobRunner("local", cores, work / "tasks", conf=conf)

    monkeypatch.setattr("arclink.operations.build.runner_of", like_an_engine)
    monkeypatch.setattr("arclink.operations.tables.runner_of", like_an_engine)
    if is_shared:
        monkeypatch.setattr(SqliteStore, "shared_url", str(store))
    said = run("build", files, "--text", "--quiet", "--store", store)
    assert f"{PAGES + 2} texts read" in said
    assert rows_of(store) == rows_of(here)
    assert "plain words" in repr(rows_of(here)["texts"])
    assert len(parts_at(store)) == is_shared
    with open_store(str(store)) as there, open_store(str(here)) as one:
        assert graph_of(there) == graph_of(one)
