"""Files that are not a store of this version, and places where no store can be made."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from arclink.errors import StoreError, UsageError
from arclink.model import Surt
from arclink.store.location import open_store, path_of
from arclink.store.sqlite import schema
from arclink.store.sqlite.store import SqliteStore


@pytest.fixture(name="path")
def path_of_empty_store(tmp_path: Path) -> Path:
    path = tmp_path / "links.db"
    open_store(str(path), create=True).close()
    return path


def change(path: Path, statement: str) -> None:
    with closing(schema.connect(path, "mode=rwc")) as connection:
        connection.execute(statement)


def test_a_missing_store_is_named_and_not_made(tmp_path: Path) -> None:
    path = tmp_path / "missing.db"
    with pytest.raises(StoreError, match=rf"no store at {path}. Build one: arclink build"):
        open_store(str(path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("create", [False, True], ids=["to read", "to load"])
class TestRefused:
    def test_a_text_file(self, tmp_path: Path, create: bool) -> None:
        path = tmp_path / "links.db"
        path.write_text("not a database, but long enough to have been one " * 9)
        with pytest.raises(StoreError, match="is not an ArcLink store: not a SQLite file"):
            open_store(str(path), create=create)

    def test_a_store_of_another_program(self, tmp_path: Path, create: bool) -> None:
        change(tmp_path / "other.db", "CREATE TABLE cookies (a)")
        before = (tmp_path / "other.db").read_bytes()
        with pytest.raises(StoreError, match="a SQLite file of another program"):
            open_store(str(tmp_path / "other.db"), create=create)
        assert (tmp_path / "other.db").read_bytes() == before

    def test_a_newer_store(self, path: Path, create: bool) -> None:
        change(path, "PRAGMA user_version = 99")
        with pytest.raises(
            StoreError,
            match=r"written by a newer ArcLink \(store layout 99, this one reads 3 to 4\)",
        ):
            open_store(str(path), create=create)

    def test_an_older_store(self, path: Path, create: bool) -> None:
        change(path, "PRAGMA user_version = 0")
        with pytest.raises(StoreError, match="store layout 0, which no released ArcLink wrote"):
            open_store(str(path), create=create)

    def test_a_folder(self, tmp_path: Path, create: bool) -> None:
        with pytest.raises(StoreError, match="is a folder"):
            open_store(str(tmp_path), create=create)

    def test_a_store_on_a_network_file_system(
        self, path: Path, create: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(schema, "NETWORK_FILE_SYSTEMS", _kinds_here())
        with pytest.raises(StoreError, match=r"is on a network file system .* local disk"):
            open_store(str(path), create=create)


def _kinds_here() -> frozenset[str]:
    return frozenset(line.split(" ")[2] for line in Path("/proc/mounts").read_text().splitlines())


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "links.db").touch()
    with pytest.raises(StoreError, match="is not an ArcLink store"):
        open_store(str(tmp_path / "links.db"))
    with open_store(str(tmp_path / "links.db"), create=True) as store:
        assert store.stats().batches == 0


def test_a_new_store_does_not_read_the_log_of_a_removed_one(tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    logs = [tmp_path / f"links.db{name}" for name in ("-wal", "-shm")]
    with open_store(str(path), create=True), closing(schema.connect(path)) as writer:
        writer.execute("INSERT INTO names VALUES (1, 'removed')")
        left = {log: log.read_bytes() for log in logs}  # as a killed process leaves them
    path.unlink()
    for log, data in left.items():
        log.write_bytes(data)
    with open_store(str(path), create=True), closing(schema.connect(path)) as found:
        assert found.execute("SELECT count(*) FROM names").fetchone() == (0,)


@pytest.mark.parametrize("is_there", [False, True], ids=["to nothing", "to an empty file"])
def test_a_symbolic_link_to_a_store_is_not_replaced(tmp_path: Path, is_there: bool) -> None:
    path, target = tmp_path / "links.db", tmp_path / "elsewhere" / "large.db"
    target.parent.mkdir()
    if is_there:
        target.touch()
    path.symlink_to(target)
    open_store(str(path), create=True).close()
    assert path.is_symlink()
    with open_store(str(target)) as store:
        assert store.stats().batches == 0


def test_an_empty_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    path.touch(mode=0o600)
    open_store(str(path), create=True).close()
    assert path.stat().st_mode & 0o777 == 0o600


MAKE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from arclink.store.sqlite import schema

class Killing:
    left = int(sys.argv[2])

    def __init__(self, connection):
        self.close = connection.close
        self.reserve_bytes = connection.reserve_bytes
        self.connection = connection

    def execute(self, statement):
        Killing.left -= 1
        if not Killing.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.connection.execute(statement)

connect = schema.connect
schema.connect = lambda path, mode="mode=rw": Killing(connect(path, mode))
schema.open_for_loading(Path(sys.argv[1]))
"""
"""Makes a store, and is killed at one of the statements that do it."""


def test_a_store_is_whole_or_not_there_whenever_its_maker_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    died = 0
    while (
        subprocess.run(
            [sys.executable, "-c", MAKE_AND_DIE, str(path), str(died + 1)], check=False
        ).returncode
        == -signal.SIGKILL
    ):
        died += 1
        if path.exists():
            with open_store(str(path)) as store:
                assert store.sums().batches == 0
            path.unlink()
    assert died > 10
    with open_store(str(path)) as store:
        assert list(store.verify()) == []


def test_two_that_make_a_store_at_once_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "links.db"
    connect = schema.connect

    def connect_late(new: Path, mode: str = "mode=rw") -> schema.Connection:
        if new != path and not path.exists():  # the other one comes first
            monkeypatch.setattr(schema, "connect", connect)
            open_store(str(path), create=True).close()
            change(path, "INSERT INTO names VALUES (1, 'first')")
        return connect(new, mode)

    monkeypatch.setattr(schema, "connect", connect_late)
    with open_store(str(path), create=True):
        pass
    with closing(schema.connect(path)) as found:
        assert found.execute("SELECT name FROM names").fetchall() == [("first",)]
    assert [entry.name for entry in tmp_path.iterdir()] == ["links.db"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no folder .*nowhere"):
        open_store(str(tmp_path / "nowhere" / "links.db"), create=True)


def test_a_reader_changes_nothing(path: Path) -> None:
    with SqliteStore(path) as store, pytest.raises(apsw.ReadOnlyError):
        store._connection.execute("DELETE FROM batches")


def test_the_error_about_a_damaged_block_says_so(path: Path) -> None:
    change(path, "INSERT INTO runs VALUES (1, 2, 0, 1)")
    change(path, "INSERT INTO fences VALUES (1, x'61', 1)")
    change(path, "INSERT INTO blocks VALUES (1, x'00')")
    with (
        open_store(str(path)) as store,
        pytest.raises(
            StoreError, match=r"links.db is damaged: run 1 block 1 fails its checksum. Restore"
        ),
    ):
        list(store.mementos(Surt("b")))


def test_the_error_about_a_truncated_file_says_that_it_is_damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: 3 * 4096 - 1000])
    with pytest.raises(StoreError, match="damaged"), open_store(str(path)) as store:
        store.stats()


MOUNTS = """\
/dev/root / ext4 rw 0 0
server:/srv/all /srv nfs4 rw 0 0
/dev/sdb /srv/me/local\\040disk ext4 rw 0 0
me@server:/x /mnt/far fuse.sshfs rw 0 0
//server/share /mnt/share cifs rw 0 0
host /mnt/host 9p rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        pytest.param("/var/links.db", None, id="local"),
        pytest.param("/srv/me/links.db", "nfs4", id="NFS"),
        pytest.param("/srv/me/local disk/links.db", None, id="local disk below NFS"),
        pytest.param("/srvs/links.db", None, id="begins like a mount point"),
        pytest.param("/mnt/far/a/b/links.db", "fuse.sshfs", id="sshfs"),
        pytest.param("/mnt/share/links.db", "cifs", id="SMB"),
        pytest.param("/mnt/host/links.db", "9p", id="9p"),
    ],
)
def test_a_network_file_system_is_recognized_by_its_mount(
    tmp_path: Path, path: str, kind: str | None
) -> None:
    (tmp_path / "mounts").write_text(MOUNTS)
    if kind is None:
        schema.refuse_network_file_system(Path(path), tmp_path / "mounts")
    else:
        with pytest.raises(StoreError, match=rf"network file system \({kind} at /"):
            schema.refuse_network_file_system(Path(path), tmp_path / "mounts")


def test_without_a_table_of_mounts_nothing_is_refused(tmp_path: Path) -> None:
    schema.refuse_network_file_system(tmp_path / "links.db", tmp_path / "none")


@pytest.mark.parametrize(
    ("where", "path"),
    [
        pytest.param("links.db", "links.db", id="path"),
        pytest.param("/srv/links.db", "/srv/links.db", id="absolute path"),
        pytest.param("sqlite:///links.db", "links.db", id="URL"),
        pytest.param(
            "sqlite:////srv/my%20links.db", "/srv/my links.db", id="URL of an absolute path"
        ),
    ],
)
def test_a_path_or_url_names_a_file(where: str, path: str) -> None:
    assert path_of(where) == Path(path)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        pytest.param("cassandra://localhost", "keyspace", id="Cassandra without keyspace"),
        pytest.param("postgres://localhost/links", "not a store", id="other URL"),
        pytest.param("sqlite://links.db", "not a store", id="two slashes"),
        pytest.param("sqlite:///", "not the name of a file", id="no path"),
        pytest.param("", "not the name of a file", id="nothing"),
        pytest.param("a\0b", "not the name of a file", id="NUL"),
    ],
)
def test_an_address_that_names_no_store_is_a_usage_error(where: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        open_store(where)


@pytest.mark.parametrize("name", ["links 100%?#.db", "länk.db"])
def test_a_store_may_have_any_file_name(tmp_path: Path, name: str) -> None:
    open_store(str(tmp_path / name), create=True).close()
    with open_store(str(tmp_path / name)) as store:
        assert store.stats().batches == 0
    assert os.listdir(tmp_path) == [name]


def test_opening_a_store_never_changes_its_layout(path: Path) -> None:
    """The version that wrote it can go on, until it is upgraded."""
    change(path, "PRAGMA user_version = 3")
    for create in (False, True):
        with open_store(str(path), create=create) as store:
            assert store.layout == 3
