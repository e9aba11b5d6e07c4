"""The archive files that the inputs of a build name."""

import errno
import os
import socket
import threading
import zipfile
from pathlib import Path

import pytest

from arclink.archives.locations import Location, RemotePath
from arclink.archives.marks import FileMark
from arclink.errors import InputError
from arclink.pipeline import inputs
from arclink.pipeline.inputs import batches_of, describe, find_archives, leave_out_foreign
from arclink.store.protocols import KnownFile


@pytest.fixture
def archives(tmp_path: Path) -> Path:
    for name in ("a/x.warc.gz", "a/deep/y.WARC", "b/x.warc.gz", "b/z.arc.gz", "b/notes.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    return tmp_path


def test_folders_globs_files_and_lists_name_archives(archives: Path) -> None:
    (archives / "files.txt").write_text("# the second crawl\nb/x.warc.gz\n\nb/z.arc.gz  # ARC\n")
    (archives / "of-an-editor.txt").write_text("\ufeffb/x.warc.gz\r\nb/z.arc.gz\r\n")
    everything = [
        archives / name for name in ("a/deep/y.WARC", "a/x.warc.gz", "b/x.warc.gz", "b/z.arc.gz")
    ]
    assert find_archives([str(archives)]) == everything
    assert find_archives([str(archives / "*" / "*.gz")]) == [
        path for path in everything if path.suffix == ".gz"
    ]
    for name in ("files.txt", "of-an-editor.txt"):
        assert find_archives([str(archives / name)]) == everything[2:]
    assert find_archives([str(archives / "a"), str(archives / "a/x.warc.gz")]) == everything[:2], (
        "each once"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("nowhere.warc.gz", "no such file or folder", id="missing"),
        pytest.param("*.warc", "no file matches", id="glob without match"),
        pytest.param("empty", "no archive file in this folder", id="folder without archives"),
        pytest.param("bad.txt", "bad.txt, line 2: .*gone.warc", id="list names a missing file"),
    ],
)
def test_missing_input_is_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.txt").write_text("\ngone.warc\n")
    with pytest.raises(InputError, match=message):
        find_archives([str(tmp_path / text)])


def test_remote_files_are_described_concurrently_and_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No file is described before eight are looked at."""
    together = threading.Barrier(8, timeout=60)

    def look(path: Location) -> FileMark:
        together.wait()
        return FileMark(1, path.name)

    monkeypatch.setattr(inputs, "read_mark", look)
    paths = [RemotePath(f"http://archive.example/{number}.warc.gz") for number in range(16)]
    files = describe(paths, {})
    assert [file.fingerprint for file in files] == [path.name for path in paths]


def test_files_of_one_name_are_distinguished_by_their_folders(archives: Path) -> None:
    paths = find_archives([str(archives)])
    assert [file.name for file in describe(paths, {})] == [
        "y.WARC",
        "a/x.warc.gz",
        "b/x.warc.gz",
        "z.arc.gz",
    ]


def test_a_file_the_store_has_keeps_its_name_and_another_of_that_name_gets_its_own(
    archives: Path,
) -> None:
    (first,) = describe([archives / "a/x.warc.gz"], {})
    assert first.name == "x.warc.gz"
    known = {first.name: first}
    assert describe([archives / "a/x.warc.gz"], known) == [first]
    (second,) = describe([archives / "b/x.warc.gz"], known)
    assert second.name == "b/x.warc.gz"


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param([4, 4, 4], [[4, 4], [4]], id="filled up"),
        pytest.param([20, 1, 1], [[20], [1, 1]], id="a large file is alone"),
        pytest.param([], [], id="nothing"),
        pytest.param([10, 10], [[10], [10]], id="exactly full"),
    ],
)
def test_batches_hold_about_their_size(sizes: list[int], expected: list[list[int]]) -> None:
    files = [KnownFile(str(number), "", size, "") for number, size in enumerate(sizes)]
    assert [[file.size for file in batch] for batch in batches_of(files, 10)] == expected


def test_a_folder_that_links_to_itself_is_searched_once(archives: Path) -> None:
    before = find_archives([str(archives)])
    (archives / "a" / "back").symlink_to(archives)
    (archives / "a" / "again").symlink_to(archives / "a")
    assert find_archives([str(archives)]) == before


def test_a_list_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_bytes(b"caf\xe9.warc.gz\n")
    with pytest.raises(InputError, match=r"list\.txt: not a list file: byte 3 is not UTF-8"):
        find_archives([str(tmp_path / "list.txt")])


@pytest.mark.parametrize(
    ("lists", "message"),
    [(["a.txt"], "a.txt: the list names itself$"), (["b.txt", "a.txt"], "through another list")],
)
def test_a_list_that_names_itself_is_named(lists: list[str], message: str, tmp_path: Path) -> None:
    for name, entry in zip(["a.txt", *lists], lists, strict=False):
        (tmp_path / name).write_text(entry + "\n")
    with pytest.raises(InputError, match=message):
        find_archives([str(tmp_path / "a.txt")])


def test_a_list_may_be_named_twice(archives: Path) -> None:
    (archives / "one.txt").write_text("a/x.warc.gz\n")
    (archives / "two.txt").write_text("one.txt\none.txt\n")
    assert find_archives([str(archives / "two.txt"), str(archives / "one.txt")]) == [
        archives / "a/x.warc.gz"
    ]


@pytest.mark.parametrize("how", ["in a folder", "by a glob", "by its name"])
def test_a_name_that_is_not_utf_8_is_refused(how: str, archives: Path) -> None:
    odd = archives / "b" / os.fsdecode(b"caf\xe9.warc")
    odd.write_bytes(b"")
    given = {"in a folder": archives, "by a glob": archives / "b" / "*.warc", "by its name": odd}[
        how
    ]
    with pytest.raises(InputError, match=r"caf\\xe9\.warc: the name is not UTF-8.*rename it"):
        find_archives([str(given)])


@pytest.mark.parametrize("how", ["in a folder", "by a glob", "by its name"])
def test_the_error_about_a_broken_link_names_its_target(how: str, archives: Path) -> None:
    odd = archives / "b" / "gone.warc"
    odd.symlink_to("/mnt/crawls/gone.warc")
    given = {"in a folder": archives, "by a glob": archives / "b" / "*.warc", "by its name": odd}[
        how
    ]
    with pytest.raises(
        InputError, match=r"gone\.warc: a link to /mnt/crawls/gone\.warc, which does not exist"
    ):
        find_archives([str(given)])


def test_the_error_about_a_link_to_itself_names_it(archives: Path) -> None:
    (archives / "b" / "loop.warc").symlink_to("loop.warc")
    with pytest.raises(InputError, match=r"loop\.warc: a link to loop\.warc, which does not exist"):
        find_archives([str(archives)])


def test_an_unreadable_file_is_an_error_and_not_skipped(
    archives: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        os, "access", lambda path, mode: not str(path).endswith("z.arc.gz")
    )  # root may read everything
    (archives / "a/x.warc.gz").write_bytes(b"")
    with pytest.raises(InputError, match=r"z\.arc\.gz: this user may not read it"):
        leave_out_foreign([archives / "a/x.warc.gz", archives / "b/z.arc.gz"])


def test_input_that_is_not_a_file_is_skipped_and_named(archives: Path) -> None:
    """Opening a FIFO for reading waits until another process writes to it."""
    (archives / "a/x.warc.gz").write_bytes(b"")
    os.mkfifo(archives / "b/pipe.warc.gz")
    os.mkfifo(archives / "b/pipe.wacz")
    (archives / "b/null.warc").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(archives / "b/s.arc"))
    found, complaints = leave_out_foreign(find_archives([str(archives)]))
    assert archives / "a/x.warc.gz" in found
    for name, kind in [
        ("pipe.warc.gz", "FIFO"),
        ("pipe.wacz", "FIFO"),
        ("null.warc", "device"),
        ("s.arc", "socket"),
    ]:
        assert archives / "b" / name not in found
        assert any(name in said and f"it is a {kind}, not a file" in said for said in complaints)


@pytest.mark.parametrize("how", ["by a glob", "by its name"])
def test_a_fifo_alone_is_refused(how: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.warc.gz")
    given = tmp_path / ("*.gz" if how == "by a glob" else "pipe.warc.gz")
    with pytest.raises(InputError, match=r"pipe\.warc\.gz: it is a FIFO, not a file"):
        leave_out_foreign(find_archives([str(given)]))


def test_a_folder_that_cannot_be_listed_is_an_error(
    archives: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def refusing(path: str) -> object:  # root may list everything
        if str(path).endswith("deep"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(InputError, match="a/deep: this folder cannot be read: Permission denied"):
        find_archives([str(archives)])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("a\tb.warc", r"a\\tb\.warc", id="tab"),
        pytest.param("a\nb.warc", r"a\\nb\.warc", id="line end"),
        pytest.param("a\x1eb.warc", r"a\\x1eb\.warc", id="what parts rows"),
        pytest.param("a\u2028b.warc", r"a\\u2028b\.warc", id="line separator"),
        pytest.param("-", "-", id="a dash"),
    ],
)
def test_a_name_with_separators_of_rows_is_refused(name: str, shown: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"")
    with pytest.raises(InputError, match=rf"{shown}: its name has a tab.*rename it, or use"):
        describe(find_archives([str(path)]), {})
    (tmp_path / "link.warc").symlink_to(path)
    (file,) = describe(find_archives([str(tmp_path / "link.warc")]), {})
    assert file.name == "link.warc"


def test_a_name_with_separators_of_rows_in_a_wacz_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.wacz", "w") as packed:
        packed.writestr("archive/a\tb.warc", b"")
    with pytest.raises(InputError, match=r"a\\tb\.warc: its name has a tab.*pack the WACZ again"):
        describe(find_archives([str(tmp_path / "x.wacz")]), {})
