"""Files are complete or absent, even if the writing process is killed or the disk is full."""

import errno
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from arclink.errors import ExportError, OperatorError
from arclink.files.atomic import (
    folder_next_to,
    open_whole,
    room_for,
    write_whole,
    written_together,
    written_whole,
)

KILLED = """
import os, signal, sys
from pathlib import Path
from arclink.files.atomic import written_whole
with written_whole([Path(sys.argv[1])]) as (temporary_path,):
    temporary_path.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_process_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_bytes(b"before")
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    left = [one.name for one in tmp_path.iterdir() if one != path]
    assert len(left) == 1
    assert left[0].startswith(".links.csv.arclink-")
    assert path.read_bytes() == b"before"
    write_whole(tmp_path / "links.csv.json", b"another")
    assert (tmp_path / left[0]).exists(), "only the same path's"
    write_whole(path, b"after")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["links.csv", "links.csv.json"]
    assert path.read_bytes() == b"after"


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "links.csv")
    with (
        pytest.raises(OperatorError, match="is a device or pipe"),
        written_whole([pipe]) as (temporary_path,),
    ):
        temporary_path.write_bytes(b"links")
    assert pipe.is_fifo()
    assert [one.name for one in tmp_path.iterdir()] == ["links.csv"]


def test_a_link_to_an_open_file_is_not_replaced(tmp_path: Path) -> None:
    """As root, the new file would replace ``/dev/stdout`` for all programs."""
    with (tmp_path / "log").open("wb") as log:
        (link := tmp_path / "stdout").symlink_to(f"/proc/self/fd/{log.fileno()}")
        for path in (link, Path(f"/proc/self/fd/{log.fileno()}")):
            with pytest.raises(OperatorError, match=r"open\. Name the file itself"):
                write_whole(path, b"links")
        assert link.is_symlink()
    (other := tmp_path / "links").symlink_to(tmp_path / "log")
    write_whole(other, b"links")
    assert other.read_bytes() == b"links"


def test_a_store_is_not_replaced(tmp_path: Path) -> None:
    store = tmp_path / "links.db"
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("CREATE TABLE links (source)")
    before = store.read_bytes()
    with (
        pytest.raises(OperatorError, match="is a SQLite file"),
        written_whole([tmp_path / "nodes.csv", store]) as (_, temporary_path),
    ):
        temporary_path.write_bytes(b"links")
    assert store.read_bytes() == before


def test_a_file_in_progress_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    with folder_next_to(path) as one, folder_next_to(path) as other:
        assert one != other
        assert one.is_dir()
        assert other.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_another_process_removes_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the two steps, the folder looks like one that a killed process has left."""
    made, removals = Path.mkdir, iter([True, True])

    def removed(path: Path, mode: int = 0o777, *, exist_ok: bool = False) -> None:
        made(path, mode=mode, exist_ok=exist_ok)
        if next(removals, False):
            with folder_next_to(tmp_path / "links.csv"):
                assert not path.exists()

    monkeypatch.setattr(Path, "mkdir", removed)
    with folder_next_to(tmp_path / "links.csv") as work:
        assert work.is_dir()
    assert next(removals, None) is None
    assert list(tmp_path.iterdir()) == []


def test_a_link_of_that_name_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / ".a.arclink-1").symlink_to(tmp_path / "precious")
    write_whole(tmp_path / "a", b"")
    assert (tmp_path / "precious").is_dir()


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    paths[0].write_bytes(b"before")

    def fail() -> None:
        with written_whole(paths) as (one, _):
            one.write_bytes(b"after")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [one.name for one in tmp_path.iterdir()] == ["a"]
    assert paths[0].read_bytes() == b"before"


def test_a_device_is_written_directly() -> None:
    with open_whole(Path("/dev/null")) as temporary_path:
        assert temporary_path == Path("/dev/null")
    write_whole(Path("/dev/null"), b"x")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        pytest.param(OSError(errno.ENOSPC, "No space left on device"), "Free some", id="full"),
        pytest.param(OSError(errno.EIO, "Input/output error"), "another one", id="broken"),
        pytest.param(OSError("5 requested and 2 written"), "Check its folder", id="NumPy"),
    ],
)
def test_an_error_of_the_disk_names_the_file(tmp_path: Path, error: OSError, message: str) -> None:
    with (
        pytest.raises(ExportError, match=f"a.csv cannot be written: .*{message}"),
        room_for(tmp_path / "a.csv", ExportError),
    ):
        raise error


def test_an_error_of_another_file_stays(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), room_for(tmp_path / "a"):
        raise PermissionError(errno.EACCES, "Permission denied", "/elsewhere/b.warc.gz")


FULL = """
import sys
from pathlib import Path
from arclink.files.atomic import write_whole
write_whole(Path(sys.argv[1]), bytes(100_000))
"""


def test_a_file_that_grows_too_large_is_named(tmp_path: Path) -> None:
    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "a")],
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert f"WriteError: {tmp_path / 'a'} cannot be written: File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match=r"no folder .*Create the folder"):
        write_whole(tmp_path / "none/a", b"")


def test_files_with_names_that_are_found_later_are_moved_together(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"before")
    with written_together(tmp_path / "a") as (work, names):
        for name in ("b", "a", "draft"):
            (work / name).write_bytes(b"after")
        names += ["b", "a"]
        assert (tmp_path / "a").read_bytes() == b"before"
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == {
        "a": b"after",
        "b": b"after",
    }
    with pytest.raises(OperatorError, match="no folder"), written_together(tmp_path / "x" / "a"):
        pass
