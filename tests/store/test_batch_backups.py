"""Backups made of graph files: a lost store is restored without forgotten captures."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.build import command as build_command
from arclink.errors import StoreError, UsageError
from arclink.files.sealed import read_rows
from arclink.model import Forgotten, Surt
from arclink.store.batch_backups import (
    BATCHES,
    TAKEDOWNS,
    back_up_batches,
    check_lists,
    restore_batches,
)
from arclink.store.location import open_store
from arclink.store.protocols import Takedown
from arclink.store.takedown_files import format_takedowns
from tests.demos import Demos
from tests.pipeline.store_contents import graph_of

SITE = Takedown(Forgotten(Surt("example,aurora-daily)/")), "request 1", "2026-11-23T12:00:00Z")
PAGE = Takedown(Forgotten(Surt("org,kalvik")), "request 2", "2026-11-23T13:00:00Z")


@pytest.fixture(scope="module")
def built(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of several batches, ``links.db``, and their graph files, ``graph``."""
    folder = tmp_path_factory.mktemp("built")
    words = [demos.archive(200, 6, 1), "--store", folder / "links.db", "--runner", "inline"]
    words += ["--batch-size", "100k", "--keep-graph", folder / "graph", "--quiet"]
    done = CliRunner().invoke(build_command, list(map(str, words)))
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def store(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(built / "links.db", tmp_path / "links.db"))


def content_of(path: Path) -> set[tuple[object, ...]]:
    with open_store(str(path)) as opened:
        return graph_of(opened)


def back_up(store: Path, graph: Path, target: Path) -> tuple[int, int, int]:
    with open_store(str(store)) as opened:
        done = back_up_batches(opened, str(graph), target)
    return done.batches, done.copied, done.takedowns


def restore(backup: Path, store: Path, *lists: Path) -> tuple[int, int, int]:
    with open_store(str(store), create=True) as opened:
        done = restore_batches(backup, opened, lists)
        assert list(opened.verify()) == []
    return done.batches, done.loaded, len(done.applied)


def test_a_lost_store_comes_back_without_what_was_forgotten(
    built: Path, store: Path, tmp_path: Path
) -> None:
    """One site was forgotten before the backup, another one after it."""
    with open_store(str(store), create=True) as opened:
        opened.forget(SITE)
    batches, copied, takedowns = back_up(store, built / "graph", tmp_path / "backup")
    assert copied == batches > 1
    assert takedowns == 1
    with open_store(str(store), create=True) as opened:
        opened.forget(PAGE)
    newest = tmp_path / "newest.takedowns"
    newest.write_bytes(format_takedowns([SITE, PAGE]))

    new = tmp_path / "new.db"
    assert restore(tmp_path / "backup", new, newest) == (batches, batches, 2)
    assert content_of(new) == content_of(store)
    assert restore(tmp_path / "backup", new, newest) == (batches, 0, 0), "nothing is left to do"


def names_in(backup: Path) -> list[str]:
    return [name.decode() for name in read_rows(backup / BATCHES, BATCHES)]


def test_a_further_backup_copies_new_batches_only(built: Path, store: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    batches, *_ = back_up(store, built / "graph", backup)
    shutil.rmtree(backup / names_in(backup)[1])
    assert back_up(store, built / "graph", backup) == (batches, 1, 0)
    assert back_up(store, built / "graph", backup) == (batches, 0, 0)


def test_a_restore_that_was_stopped_continues(built: Path, store: Path, tmp_path: Path) -> None:
    backup, new = tmp_path / "backup", tmp_path / "new.db"
    batches, *_ = back_up(store, built / "graph", backup)
    gone = backup / names_in(backup)[1]
    gone.rename(tmp_path / "gone")
    with (
        open_store(str(new), create=True) as opened,
        pytest.raises(StoreError, match=r"checksums\.txt is missing"),
    ):
        restore_batches(backup, opened)
    (tmp_path / "gone").rename(gone)
    assert restore(backup, new) == (batches, batches - 1, 0)
    assert content_of(new) == content_of(store)


def test_a_batch_without_graph_files_is_named(built: Path, store: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"batch-[0-9a-f]{16}: no graph files of this batch"):
        back_up(store, tmp_path, tmp_path / "backup")
    assert not (tmp_path / "backup" / BATCHES).exists()


def test_a_damaged_backup_is_not_restored(built: Path, store: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    back_up(store, built / "graph", backup)
    part, *_ = sorted(backup.glob("batch-*/mementos/part-*"))
    whole = part.read_bytes()
    part.write_bytes(whole.replace(b"2010", b"2011"))
    with pytest.raises(StoreError, match="fails its checksum"):
        restore(backup, tmp_path / "new.db")
    part.write_bytes(whole)
    for name in (BATCHES, TAKEDOWNS, f"{part.parents[1].name}/manifest.json"):
        whole = (backup / name).read_bytes()
        (backup / name).write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])
        with pytest.raises(StoreError, match=f"{name} is damaged"):
            restore(backup, tmp_path / "new.db")
        (backup / name).write_bytes(whole)
    part.parents[1].joinpath("checksums.txt").unlink()
    with pytest.raises(StoreError, match=r"checksums\.txt is missing"):
        restore(backup, tmp_path / "new.db")


def test_another_folder_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=f"{BATCHES} is missing"):
        restore(tmp_path, tmp_path / "new.db")


def test_takedowns_of_an_earlier_backup_stay_listed(
    built: Path, store: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "backup"
    back_up(store, built / "graph", backup)
    (backup / TAKEDOWNS).write_bytes(format_takedowns([SITE]))
    assert back_up(store, built / "graph", backup)[2] == 1


def test_a_restore_needs_a_list_of_later_takedowns_or_an_option(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--no-later-takedowns"):
        check_lists([], is_list_needed=True)
    check_lists([], is_list_needed=False)
    check_lists([tmp_path], is_list_needed=True)
