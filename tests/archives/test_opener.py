"""Files opened by offset and as streams, on this machine and inside a WACZ."""

import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from arclink.archives.locations import entry_of, is_wacz, short_name, split_entry
from arclink.archives.opener import open_bytes, open_stream
from arclink.archives.wacz import archives_in, find_entry, indexes_in
from arclink.errors import InputError

DATA = bytes(range(256)) * 5
ENTRY = "archive/data.warc.gz"


@pytest.fixture
def wacz(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.WACZ"
    with zipfile.ZipFile(path, "w") as zipped:
        zipped.writestr("datapackage.json", "{}", zipfile.ZIP_DEFLATED)
        zipped.writestr(ENTRY, DATA)
        zipped.writestr("archive/packed.warc", DATA, zipfile.ZIP_DEFLATED)
        zipped.writestr("archive/notes.txt", "no archive")
        zipped.writestr("indexes/index.cdxj", b"one\ntwo\n", zipfile.ZIP_DEFLATED)
    return path


@pytest.fixture(params=["file", "entry"])
def location(request: pytest.FixtureRequest, wacz: Path, tmp_path: Path) -> str:
    if request.param == "entry":
        return entry_of(str(wacz), ENTRY)
    (tmp_path / "data").write_bytes(DATA)
    return str(tmp_path / "data")


@pytest.mark.parametrize(
    ("offset", "count"), [(0, 10), (700, 100), (0, 9999), (1279, 5), (1280, 5), (5000, 5), (3, 0)]
)
def test_bytes_are_those_of_the_range(location: str, offset: int, count: int) -> None:
    with closing(open_bytes(location)) as source:
        assert source.size == len(DATA)
        assert source.read(offset, count) == DATA[offset : offset + count]


def test_a_stream_reads_forward_and_seeks_backward(location: str) -> None:
    with open_stream(location) as stream:
        assert stream.read(300) == DATA[:300]
        assert stream.read() == DATA[300:]
        assert stream.seek(-4, 2) == len(DATA) - 4
        assert stream.read() == DATA[-4:]


def test_an_entry_that_is_compressed_can_be_read_as_a_stream_only(wacz: Path) -> None:
    with open_stream(entry_of(str(wacz), "indexes/index.cdxj")) as stream:
        assert list(stream) == [b"one\n", b"two\n"]
    with pytest.raises(
        InputError, match=r"archive/packed\.warc is compressed once more in it.*zip -0"
    ):
        open_bytes(entry_of(str(wacz), "archive/packed.warc"))


def test_a_wacz_says_what_it_holds(wacz: Path) -> None:
    assert archives_in(str(wacz)) == [ENTRY, "archive/packed.warc"]
    assert indexes_in(str(wacz)) == ["indexes/index.cdxj"]


def test_an_entry_has_the_offset_and_size_of_its_bytes(wacz: Path) -> None:
    entry = find_entry(str(wacz), ENTRY)
    assert wacz.read_bytes()[entry.start : entry.start + entry.size] == DATA


def test_a_file_that_cannot_be_opened_is_named_with_its_cause(wacz: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        open_bytes(str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"gone\.wacz: cannot be read: No such file"):
        open_bytes(entry_of(str(tmp_path / "gone.wacz"), ENTRY))
    with pytest.raises(InputError, match=r"it has no archive/gone\.warc"):
        open_bytes(entry_of(str(wacz), "archive/gone.warc"))
    cut = tmp_path / "cut.wacz"
    cut.write_bytes(wacz.read_bytes()[:-30])
    with pytest.raises(InputError, match=r"cut\.wacz is not a WACZ: .*; leave it out"):
        archives_in(str(cut))
    empty = tmp_path / "empty.wacz"
    zipfile.ZipFile(empty, "w").close()
    with pytest.raises(InputError, match=r"empty\.wacz has no archive file"):
        archives_in(str(empty))


def test_a_directory_that_points_elsewhere_is_noticed(wacz: Path) -> None:
    data = wacz.read_bytes()
    start = data.index(b"PK\x03\x04", 4)  # the local header of the second entry
    wacz.write_bytes(data[:start] + b"XXXX" + data[start + 4 :])
    with pytest.raises(InputError, match=f"no entry begins at byte {start}"):
        find_entry(str(wacz), ENTRY)


@pytest.mark.parametrize(
    ("name", "parts", "short"),
    [
        ("/a/b.warc.gz", None, "b.warc.gz"),
        (
            "/a/c.wacz!/archive/b.warc.gz",
            ("/a/c.wacz", "archive/b.warc.gz"),
            "c.wacz!/archive/b.warc.gz",
        ),
        ("C.WACZ!/archive/b", ("C.WACZ", "archive/b"), "C.WACZ!/archive/b"),
        ("/a/c.wacz", None, "c.wacz"),
    ],
)
def test_a_name_is_split_into_wacz_and_entry(
    name: str, parts: tuple[str, str] | None, short: str
) -> None:
    assert split_entry(name) == parts
    assert short_name(name) == short
    assert parts is None or entry_of(*parts) == name
    assert is_wacz(name) == name.endswith(".wacz")
