"""``arclink backup`` and ``arclink restore``: a store comes back without forgotten captures."""

import errno
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.analysis.matrices.slice_cache import cache_next_to
from arclink.cli.build import command as build_command
from arclink.cli.copies import backup_command, restore_command
from arclink.cli.forget import command as forget_command
from arclink.errors import SealError, StoreError, UsageError
from arclink.files.atomic import unwritable
from arclink.model import Forgotten, Surt
from arclink.service.application import create_app
from arclink.store import takedown_files as takedown_lists
from arclink.store.backups import back_up, restore
from arclink.store.location import open_store, work_folder
from arclink.store.protocols import Takedown
from arclink.store.takedown_files import LISTED, list_path, listed
from tests.demos import Demos
from tests.durability.disks import interrupted_at, killed_at, on_disk, operations
from tests.pipeline.store_contents import graph_of
from tests.store.small_graph import execute

SITE, PAGE = "example,aurora-daily)/", "http://aurora-daily.example/"


@pytest.fixture(scope="module")
def archive(demos: Demos) -> Path:
    return demos.archive(200, 6, 1)


def build(inputs: Iterable[Path], store: Path, *options: str) -> None:
    names = [str(path) for path in inputs]
    arguments = [*names, "--store", str(store), "--runner", "inline", "--quiet", *options]
    CliRunner().invoke(build_command, arguments, catch_exceptions=False)


@pytest.fixture(scope="module")
def built(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("built") / "links.db"
    build([archive], path, "--batch-size", "100k")
    return path


@pytest.fixture
def store(built: Path, tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    shutil.copy(built, tmp_path / "a/links.db")
    return tmp_path / "a/links.db"


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    (tmp_path / "b").mkdir()
    return tmp_path / "b/backup.db"


def forget(store: Path, *arguments: str) -> None:
    CliRunner().invoke(forget_command, [*arguments, "--store", str(store)], catch_exceptions=False)


def called(verb: str) -> list[str]:
    """Return the words before the path of a backup."""
    return ["backup", "--into"] if verb == "backup" else [verb]


def lose(store: Path) -> None:
    """Delete the store's file and its logs; the list of takedowns stays."""
    for path in store.parent.glob(f"{store.name}*"):
        if path != list_path(store):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def graph(store: Path) -> object:
    with open_store(str(store)) as opened:
        return graph_of(opened)


def captures(store: Path, prefix: str = "") -> int:
    with open_store(str(store)) as opened:
        return sum(1 for surt in opened.surts(Surt(prefix)) for _ in opened.mementos(surt))


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_store_that_was_lost_comes_back(store: Path, backup: Path) -> None:
    before = graph(store)
    result = CliRunner().invoke(
        backup_command, ["--into", str(backup), "--store", str(store)], catch_exceptions=False
    )
    assert "verified" in result.output
    lose(store)
    result = CliRunner().invoke(
        restore_command, [str(backup), "--store", str(store)], catch_exceptions=False
    )
    assert "verified" in result.output
    assert graph(store) == before
    assert names_in(store.parent) == ["links.db", "links.db.takedowns"]
    assert names_in(backup.parent) == ["backup.db", "backup.db.takedowns"]


def test_a_backup_is_a_store(store: Path, backup: Path) -> None:
    back_up(store, backup)
    assert graph(backup) == graph(store)
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)


def test_what_came_after_the_backup_is_built_again(archive: Path, tmp_path: Path) -> None:
    store, backup = tmp_path / "links.db", tmp_path / "backup.db"
    first, *rest = sorted(archive.glob("*.warc.gz"))
    build([first], store)
    back_up(store, backup)
    build([first, *rest], store)
    everything = graph(store)
    lose(store)
    restore(backup, store)
    assert graph(store) != everything
    build([first, *rest], store)
    assert graph(store) == everything


@pytest.mark.parametrize("cleans", ["--clean", "--no-clean"])
def test_what_was_forgotten_after_the_backup_stays_forgotten(
    store: Path, backup: Path, cleans: str
) -> None:
    back_up(store, backup)
    forget(store, SITE, "--targets", "--reason", "letter", cleans)
    forgotten = graph(store)
    lose(store)
    restored = restore(backup, store)
    assert [takedown.what.prefix for takedown in restored.applied] == [SITE]
    assert captures(backup, SITE) == restored.mementos > 10
    assert captures(store, SITE) == 0
    assert graph(store) == forgotten
    with open_store(str(store)) as opened:
        assert [takedown.reason for takedown, _ in opened.forgotten()] == ["letter"]


def test_a_restored_file_holds_no_byte_of_what_was_forgotten(store: Path, backup: Path) -> None:
    back_up(store, backup)
    forget(store, "example,aurora-daily", "--targets")
    lose(store)
    restore(backup, store)
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)


def test_a_restore_without_a_list_is_refused(store: Path, backup: Path, tmp_path: Path) -> None:
    back_up(store, backup)
    forget(store, SITE)
    newest = tmp_path / "newest.takedowns"
    shutil.copy(list_path(store), newest)
    lose(store)
    list_path(store).unlink()
    with pytest.raises(StoreError, match="takedowns after the backup are unknown"):
        restore(backup, store)
    assert names_in(store.parent) == []
    restore(backup, store, [newest])
    assert captures(store, SITE) == 0
    assert [takedown.what.prefix for takedown in listed(store)] == [SITE]


def test_a_restore_without_a_list_needs_an_option(store: Path, backup: Path) -> None:
    before = graph(store)
    back_up(store, backup)
    lose(store)
    list_path(store).unlink()
    arguments = [str(backup), "--store", str(store), "--no-later-takedowns"]
    CliRunner().invoke(restore_command, arguments, catch_exceptions=False)
    assert graph(store) == before


@pytest.mark.parametrize("damage", [b"", b"[]\n", b'{"prefix":"a"', b"\xff\xfe"])
def test_a_damaged_list_is_not_passed_over(store: Path, backup: Path, damage: bytes) -> None:
    back_up(store, backup)
    lose(store)
    list_path(store).write_bytes(damage)
    with pytest.raises(SealError, match=r"links.db.takedowns is damaged"):
        restore(backup, store)
    assert not store.exists()


def test_a_takedown_is_not_made_without_its_list(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> None:
        raise unwritable(path, OSError(errno.ENOSPC, "No space left on device"))

    before = captures(store, SITE)
    monkeypatch.setattr(takedown_lists, "write_whole", full)
    with pytest.raises(StoreError, match=r"links\.db\.takedowns cannot be written: No space"):
        forget(store, SITE)
    assert captures(store, SITE) == before > 0
    with open_store(str(store)) as opened:
        assert list(opened.forgotten()) == []


def test_nothing_is_loaded_where_the_list_cannot_be_read(store: Path) -> None:
    list_path(store).mkdir()
    with pytest.raises(SealError, match=r"links\.db\.takedowns cannot be read"):
        open_store(str(store), create=True)


def test_a_new_store_at_the_place_of_a_lost_one_forgets_the_same(
    archive: Path, store: Path
) -> None:
    forget(store, SITE)
    lose(store)
    build([archive], store)
    assert captures(store, SITE) == 0
    assert captures(store) > 50


def test_an_old_copy_of_a_store_forgets_what_is_listed_when_it_is_loaded(
    store: Path, built: Path
) -> None:
    forget(store, SITE)
    lose(store)
    shutil.copy(built, store)
    with open_store(str(store)) as opened:
        (violation,) = opened.verify()
    assert violation.invariant == LISTED
    assert violation.detail.startswith(SITE)
    with open_store(str(store), create=True):
        pass
    with open_store(str(store)) as opened:
        assert list(opened.verify()) == []
    assert captures(store, SITE) == 0


def test_a_store_is_backed_up_while_it_is_written_to(store: Path, backup: Path) -> None:
    before = graph(store)
    with closing(sqlite3.connect(store, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM outlinks")
        back_up(store, backup)
        writer.execute("ROLLBACK")
    assert graph(backup) == before


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "arclink.cli.main", *arguments]


def test_a_store_is_backed_up_while_it_is_built_and_served(
    archive: Path, disk: Path, tmp_path: Path
) -> None:
    store, backup = tmp_path / "links.db", tmp_path / "backup.db"
    files = sorted(archive.glob("*.warc.gz"))
    build(files[:1], store)
    client = create_app(str(store)).test_client()
    options = ["--batch-size", "20k", "--cores", "1"]
    call = command("build", str(archive), "--store", str(store), *options)
    other = command("build", str(archive), "--store", str(tmp_path / "other.db"), *options)
    at = operations(disk, "/other.db", other, tmp_path) * 2 // 3
    process = subprocess.Popen(
        call,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=on_disk(disk, "/links.db", count=tmp_path / "count", at=at, how="stop"),
    )
    taken = []
    try:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        taken.append(back_up(store, backup).sums.batches)
        process.send_signal(signal.SIGCONT)
        while process.poll() is None:
            taken.append(back_up(store, backup).sums.batches)
            query = {"uri": PAGE, "format": "json"}
            assert client.get("/linkQuery", query_string=query).status_code == 200
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert taken == sorted(taken)
    assert taken[0] < back_up(store, backup).sums.batches
    assert graph(backup) == graph(store)


@pytest.mark.parametrize("verb", ["backup", "restore"])
def test_a_killed_backup_or_restore_leaves_the_old_file_or_the_new_one(
    verb: str, disk: Path, store: Path, backup: Path, tmp_path: Path
) -> None:
    back_up(store, backup)
    target = backup if verb == "backup" else store
    forget(store, SITE, "--no-clean")
    old, new = captures(backup), captures(store)
    options = ["--replace"] if verb == "restore" else []
    arguments = command(*called(verb), str(backup), "--store", str(store), *options)
    name = f"{target.parent}/"
    saved = tmp_path / "saved"
    shutil.copytree(target.parent, saved)
    total = operations(disk, name, arguments, tmp_path)
    for at in random.Random(verb).sample(range(1, total), 8):
        shutil.rmtree(target.parent)
        shutil.copytree(saved, target.parent)
        assert killed_at(disk, name, arguments, tmp_path, at)
        assert captures(target) in {old, new}
        assert not list(target.parent.glob("*-journal"))
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    assert captures(store) == new
    assert [name for name in names_in(target.parent) if name.startswith(".")] == []


def test_ctrl_c_ends_a_backup_and_leaves_nothing(disk: Path, store: Path, backup: Path) -> None:
    call = command("backup", "--into", str(backup), "--store", str(store))
    code, complaint = interrupted_at(disk, f"{backup.parent}/", call, backup.parents[1], 50)
    assert "Traceback" not in complaint
    assert code == 130
    assert names_in(backup.parent) == []


def test_a_damaged_store_does_not_replace_a_backup(store: Path, backup: Path) -> None:
    back_up(store, backup)
    before = backup.read_bytes()
    execute("UPDATE batches SET links = links + 1")(store)
    with pytest.raises(StoreError, match=r"is damaged .*nothing was replaced"):
        back_up(store, backup)
    assert backup.read_bytes() == before


def test_a_damaged_backup_does_not_replace_a_store(store: Path, backup: Path) -> None:
    back_up(store, backup)
    before = store.read_bytes()
    with backup.open("r+b") as file:
        file.seek(backup.stat().st_size // 2)
        file.write(bytes(4096))
    with pytest.raises(StoreError, match="damaged"):
        restore(backup, store, replaces=True)
    assert store.read_bytes() == before


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        pytest.param(lambda path: path.write_text("mine"), "not a backup", id="another file"),
        pytest.param(lambda path: path.mkdir(), "is a folder", id="folder"),
        pytest.param(lambda path: path.parent.rmdir(), "no folder", id="no folder"),
    ],
)
def test_a_backup_writes_over_backups_only(
    store: Path, backup: Path, prepare: Callable[[Path], object], message: str
) -> None:
    prepare(backup)
    with pytest.raises(StoreError, match=message):
        back_up(store, backup)


def test_a_backup_onto_the_store_itself_is_refused(store: Path) -> None:
    with pytest.raises(StoreError, match="the store itself"):
        back_up(store, store)
    with pytest.raises(StoreError, match="the store itself"):
        restore(store, store, replaces=True)


def test_a_store_that_is_there_is_replaced_only_on_request(store: Path, backup: Path) -> None:
    back_up(store, backup)
    forget(store, SITE)
    with pytest.raises(StoreError, match="--replace"):
        restore(backup, store)
    restore(backup, store, replaces=True)
    assert captures(store, SITE) == 0


def test_takedowns_in_a_replaced_store_are_applied_without_a_list(
    store: Path, backup: Path
) -> None:
    back_up(store, backup)
    forget(store, SITE)
    list_path(store).unlink()
    assert restore(backup, store, replaces=True).applied
    assert captures(store, SITE) == 0


def test_the_error_about_a_backup_in_cassandra_names_the_page_about_it() -> None:
    with pytest.raises(UsageError, match=r"docs/how-to/operations\.md"):
        CliRunner().invoke(
            backup_command,
            ["--into", "b.db", "--store", "cassandra://a/links"],
            catch_exceptions=False,
        )


@pytest.mark.parametrize("verb", ["backup", "restore"])
def test_a_full_disk_is_named_and_leaves_nothing(verb: str, store: Path, backup: Path) -> None:
    target = backup
    if verb == "restore":
        back_up(store, backup)
        lose(store)
        target = store
    limit = 60_000

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    result = subprocess.run(
        command(*called(verb), str(backup), "--store", str(store)),
        preexec_fn=full,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert f"{target} cannot be written" in result.stderr
    assert "Traceback" not in result.stderr
    assert not target.exists()
    assert [name for name in names_in(target.parent) if name.startswith(".")] == []


def test_files_next_to_a_store_are_valid_after_a_restore(store: Path, backup: Path) -> None:
    back_up(store, backup)
    with open_store(str(store)) as opened:
        before = opened.state()
    for folder in (cache_next_to(str(store)), work_folder(str(store))):
        folder.mkdir()
        (folder / "old").write_text("of the store that was lost")
    store.unlink()
    store.with_name("links.db-wal").write_bytes(b"of the store that was lost")
    CliRunner().invoke(
        restore_command, [str(backup), "--store", str(store)], catch_exceptions=False
    )
    assert names_in(store.parent) == ["links.db", "links.db.takedowns"]
    with open_store(str(store)) as opened:
        after = opened.state()
    # A cursor, slice or kept answer of the lost store is not one of what is built after the backup.
    assert (before.version != after.version, before.order != after.order) == (True, True)


def test_a_service_finds_the_restored_store_by_itself(store: Path, backup: Path) -> None:
    client = create_app(str(store)).test_client()
    query = {"uri": PAGE, "direction": "out", "format": "json"}
    before = client.get("/linkQuery", query_string=query).get_json()["outlinks"]
    back_up(store, backup)
    lose(store)
    assert client.get("/linkQuery", query_string=query).status_code == 503
    restore(backup, store)
    assert client.get("/linkQuery", query_string=query).get_json()["outlinks"] == before != []


def test_a_takedown_that_was_cut_off_before_its_commit_is_made_later(store: Path) -> None:
    from arclink.store.takedown_files import add_to_list

    add_to_list(store, [Takedown(Forgotten(Surt(SITE)), "letter", "2026-11-23T08:00:00Z")])
    assert captures(store, SITE) > 0
    with open_store(str(store), create=True) as opened:
        assert [takedown.reason for takedown, _ in opened.forgotten()] == ["letter"]
    assert captures(store, SITE) == 0
