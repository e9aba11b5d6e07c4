"""After a takedown, no file next to the store has a byte of what was forgotten."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.analysis.matrices.slice_cache import cache_next_to, open_slices
from arclink.analysis.matrices.slices import SliceOptions
from arclink.analysis.relations.database import SqlDatabase
from arclink.analysis.relations.folder import tables_folder
from arclink.analysis.relations.forgetting import forgetting
from arclink.analysis.relations.kept import keep_answers, kept_answers, relations_of
from arclink.captures.ranks import RankTables
from arclink.captures.subsets.catalog import SubsetCatalog
from arclink.captures.subsets.language import parse_selection
from arclink.cli.main import group
from arclink.model import Forgotten, Surt
from arclink.store.location import open_store
from arclink.store.protocols import Takedown
from tests.relations.rows import kept_rows, rows_in
from tests.relations.secrets import SECRET, files_with_secrets, load


@pytest.fixture(scope="module")
def store_with_kept_answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with relations in several parts, some of them merged, and kept answers."""
    graphs, where = tmp_path_factory.mktemp("graphs"), tmp_path_factory.mktemp("kept") / "links.db"
    with open_store(str(where), create=True) as store:
        for batch, pages in enumerate((400, 4, 4, 100, 4)):
            load(store, graphs / f"{batch}", batch, pages)
            relations_of(str(where), store)
        cache = cache_next_to(str(where))
        catalog = SubsetCatalog(str(where))
        catalog.put(store, "list", parse_selection("status:200"), keep=True)
        RankTables(cache).current(store)
        keep_answers(str(where), store.state().version, "view", [SECRET.encode()])
    open_slices(str(where), SliceOptions())
    return where


@pytest.fixture
def store(store_with_kept_answers: Path, tmp_path: Path) -> Path:
    """Return a copy with all files next to it; tasks have written relations to an address, too."""
    shutil.copytree(store_with_kept_answers.parent, tmp_path, dirs_exist_ok=True)
    where = tmp_path / "links.db"
    options = ["--tables-at", f"{where}.at", "--runner", "inline"]
    done = CliRunner().invoke(group, ["tables", "--store", str(where), *options])
    assert done.exit_code == 0, done.output
    assert len(list(tables_folder(str(where)).glob("*/captures.parquet"))) > 1
    assert "links.db.tables/answers" in files_with_secrets(where)
    kinds = {name.split("/")[0] for name in files_with_secrets(where)}
    assert kinds == {"links.db", "links.db.at", "links.db.slices", "links.db.tables"}
    return where


def test_arclink_forget_leaves_no_byte_next_to_the_store(store: Path) -> None:
    options = ["--targets", "--reason", "letter", "--store", str(store)]
    done = CliRunner().invoke(group, ["forget", "example,gone", *options])
    assert done.exit_code == 0, done.output
    assert files_with_secrets(store) == []
    with open_store(str(store)) as opened:
        captures, links = kept_rows(tables_folder(str(store)), opened)
        assert (captures, links) == rows_in(opened)
        assert len(captures) == len(links) == 384
    assert files_with_secrets(store) == []


def test_answers_are_kept_for_one_state_and_one_view_only(store: Path) -> None:
    where = str(store)
    with open_store(where) as opened:
        before = opened.state().version
    assert kept_answers(where, before, "view") == [SECRET.encode()]
    assert kept_answers(where, before, "another view") == []
    options = ["--targets", "--reason", "letter", "--store", where]
    assert CliRunner().invoke(group, ["forget", "example,gone", *options]).exit_code == 0
    keep_answers(where, before, "view", [SECRET.encode()])  # by a process that had read them
    assert kept_answers(where, before, "view") == []
    assert files_with_secrets(store) == []
    with open_store(where) as opened:
        after = opened.state().version
        keep_answers(where, after, "view", [b"answer"])
        kept_rows(tables_folder(where), opened)
    assert kept_answers(where, after, "view") == [b"answer"]


def test_answers_of_several_views_stay_until_the_store_changes(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = str(store)
    with open_store(where) as opened:
        version = opened.state().version
    views = [f"view {number}" for number in range(6)]
    for view in views:
        keep_answers(where, version, view, [SECRET.encode(), view.encode()])
    keep_answers(where, version, views[2], [b"another answer"])
    answers = [kept_answers(where, version, view) for view in views]
    of_last = [[SECRET.encode(), view.encode()] for view in views[3:]]
    assert answers == [[], [], [b"another answer"], *of_last]
    monkeypatch.setattr("arclink.analysis.relations.kept._MOST_BYTES", 20)
    keep_answers(where, version, "large", [b"a" * 15, b"b" * 15])
    assert kept_answers(where, version, "large") == [b"a" * 15]
    assert kept_answers(where, version, views[5]) == []
    monkeypatch.undo()
    keep_answers(where, version, views[0], [SECRET.encode()])
    options = ["--targets", "--reason", "letter", "--store", where]
    assert CliRunner().invoke(group, ["forget", "example,gone", *options]).exit_code == 0
    assert files_with_secrets(store) == []
    assert kept_answers(where, version, "large") == []


def test_a_batch_removes_kept_answers(store: Path, tmp_path: Path) -> None:
    where = str(store)
    with open_store(where, create=True) as opened:
        before = opened.state().version
        load(opened, tmp_path / "more", 5, 4)
        relations_of(where, opened)
        assert not (tables_folder(where) / "answers").exists()
        keep_answers(where, before, "view", [b"answer"])
        assert not (tables_folder(where) / "answers").exists()


def test_a_reader_of_the_relations_does_not_keep_what_is_forgotten(store: Path) -> None:
    what = Forgotten(Surt("example,gone"), has_targets=True)
    where = str(store)
    count = f"SELECT count(*) AS n FROM captures WHERE contains(uri, '{SECRET}')"
    with open_store(where) as reading, SqlDatabase(where, reading) as database:
        with open_store(where, create=True) as opened, forgetting(where, opened, [what]):
            opened.forget(Takedown(what, "letter", "2026-11-21T00:00:00Z"))
        assert database.answer(count).to_pylist() == [{"n": 128}]  # its state of the store
        assert tables_folder(where).exists()
        assert [one for one in files_with_secrets(store) if "tables" in one] == []
    with open_store(where) as reading, SqlDatabase(where, reading) as database:
        assert database.answer(count).to_pylist() == [{"n": 0}]
    assert [one for one in files_with_secrets(store) if "tables" in one] == []
