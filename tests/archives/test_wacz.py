"""Any bytes are either read as a WACZ or refused with an error."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arclink.archives.locations import entry_of
from arclink.archives.reader import ArchiveFile
from arclink.archives.wacz import (
    archives_in,
    described,
    described_together,
    find_entry,
    indexes_in,
    open_entry,
)
from arclink.errors import InputError, MissingFileError
from arclink.rows.cdx_files import read_lines

NAMES = ("archive/a.warc.gz", "indexes/index.cdx")


def zipped(start: bytes = b"content of ") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as file:
        for name in NAMES:
            file.writestr(name, start + name.encode())
    return content.getvalue()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wacz") / "a.wacz"


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 9), st.binary(max_size=6)), max_size=4)
    | st.binary(max_size=80)
)
@example(
    [(61, 1, b"[\x1b"), (0, 2, b"3\xbe"), (51, 8, b"")]
)  # found so: the directory begins before where it says
def test_any_bytes_are_read_or_refused(
    path: Path, changed: bytes | list[tuple[int, int, bytes]]
) -> None:
    data = zipped()
    if isinstance(changed, bytes):
        data = changed
    else:
        for offset, removed, added in changed:
            data = data[:offset] + added + data[offset + removed :]
    path.write_bytes(data)
    for read in (archives_in, indexes_in):
        try:
            found = read(str(path))
        except InputError:
            continue
        assert found == sorted(found)
    for name in NAMES:
        try:
            find_entry(str(path), name)
            open_entry(str(path), name).close()
        except InputError:
            continue


@pytest.mark.parametrize(
    ("file", "entry"),
    [("a.wacz", "archive/gone.warc.gz"), ("gone.wacz", NAMES[0])],
    ids=["entry", "WACZ"],
)
def test_a_missing_wacz_or_entry_is_a_missing_file(tmp_path: Path, file: str, entry: str) -> None:
    (tmp_path / "a.wacz").write_bytes(zipped())
    with pytest.raises(MissingFileError, match="gone"):
        ArchiveFile(f"{tmp_path / file}!/{entry}")


VERSION, FLAGS, METHOD, NAME = 6, 9, 10, 46
"""Offsets in an entry of the directory (APPNOTE.TXT, 4.3.12)."""


def with_changed_entry(*changes: tuple[int, int], start: bytes = b"content of ") -> bytes:
    """Return a WACZ with other bytes in the last entry of its directory, which is the index."""
    data = bytearray(zipped(start))
    entry = data.rfind(b"PK\x01\x02")
    for offset, value in changes:
        data[entry + offset] = value
    return bytes(data)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(((VERSION, 148),), id="a version of zip that there is not"),
        pytest.param(((FLAGS, 8), (NAME, 0xFF)), id="a name that is not UTF-8"),
    ],
)
def test_a_damaged_directory_is_an_error_that_names_the_file(
    tmp_path: Path, changes: tuple[tuple[int, int], ...]
) -> None:
    path = tmp_path / "a.wacz"
    path.write_bytes(with_changed_entry(*changes))
    for read in (archives_in, indexes_in, lambda wacz: open_entry(wacz, NAMES[1])):
        with pytest.raises(InputError, match=r"is not a WACZ: .*leave it out of the input"):
            read(str(path))


@pytest.mark.parametrize("method", [8, 12, 14], ids=["deflate", "bzip2", "lzma"])
def test_an_index_compressed_in_another_way_than_stated_is_an_error(
    tmp_path: Path, method: int
) -> None:
    path = tmp_path / "a.wacz"
    head_of_lzma = b"\x09\x14\x05\x00" + b"\xff" * 5  # with properties that there are not
    path.write_bytes(with_changed_entry((METHOD, method), start=head_of_lzma))
    with pytest.raises(InputError, match="cannot be read as a CDX file"):
        list(read_lines(Path(f"{path}!/{NAMES[1]}")))


def test_an_entry_at_an_impossible_offset_is_an_error(tmp_path: Path) -> None:
    data = bytearray(zipped())
    entry = data.find(b"PK\x01\x02")
    data[entry + 42 : entry + 46] = b"\xff" * 4  # the offset follows in 64 bits
    data[entry + 30] = 12
    extra = b"\x01\x00\x08\x00" + b"\xff" * 8
    end = data.rfind(b"PK\x05\x06")
    offset = entry + 46 + len(NAMES[0])
    size = int.from_bytes(data[end + 12 : end + 16], "little") + len(extra)
    data[end + 12 : end + 16] = size.to_bytes(4, "little")
    path = tmp_path / "a.wacz"
    path.write_bytes(data[:offset] + extra + data[offset:])
    with pytest.raises(InputError, match="no entry begins at byte 18446744073709551615"):
        find_entry(str(path), NAMES[0])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"title": " The thaw ", "description": "Pages of 2010"}', ("The thaw", "Pages of 2010")),
        (b'{"title": "The thaw"}', ("The thaw", "")),
        (b'{"metadata": {"title": "The thaw"}}', ("The thaw", "")),
        (b'{"title": "New", "metadata": {"title": "Old"}}', ("New", "")),
        (b'{"title": ["odd"], "metadata": ["odd"]}', ("", "")),
        (b"[1]", ("", "")),
        (b"not json", ("", "")),
        (None, ("", "")),
    ],
)
def test_the_title_of_a_collection_is_that_of_its_package(
    tmp_path: Path, content: bytes | None, expected: tuple[str, str]
) -> None:
    file = tmp_path / "c.wacz"
    with zipfile.ZipFile(file, "w") as made:
        if content is not None:
            made.writestr("datapackage.json", content)
        made.writestr("archive/a.warc", b"")
    assert described(str(file)) == expected
    entry = entry_of(str(file), "archive/a.warc")
    assert described_together([str(file)]) == described_together([entry, entry]) == expected
    for other in (str(tmp_path / "a.warc"), str(tmp_path / "d.wacz"), "https://x.example/c.wacz"):
        assert described_together([entry, other]) == described_together([other]) == ("", "")
    assert described_together([]) == ("", "")
