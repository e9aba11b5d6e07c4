"""Every changed, missing or additional byte of a sealed file or folder is seen."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arclink.errors import SealError
from arclink.files.sealed import (
    SUMS,
    OpenSealedFile,
    check_folder,
    is_whole,
    make_sealed,
    problems_in,
    read_rows,
    read_sealed,
    seal_folder,
    seal_rows,
    write_sealed,
)

row_lists = st.lists(st.binary(max_size=12).filter(lambda row: b"\n" not in row), max_size=4)


def is_row(row: bytes) -> bool:
    return not row.startswith((b"#end ", b"#arclink "))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sealed") / "file"


def is_read(path: Path, data: bytes) -> bool:
    path.write_bytes(data)
    try:
        read_sealed(path, "test")
    except SealError:
        return False
    return True


@settings(deadline=None)
@given(row_lists, st.binary(max_size=20))
def test_what_is_written_reads_back(path: Path, rows: list[bytes], data: bytes) -> None:
    rows = list(filter(is_row, rows))
    write_sealed(path, "test", rows, data)
    assert read_sealed(path, "test") == (rows, data)
    assert read_rows(path, "test") == rows
    assert list(problems_in(path)) == []


@settings(deadline=None, max_examples=300)
@given(row_lists, st.binary(max_size=20), st.data())
def test_no_damaged_file_is_read(
    path: Path, rows: list[bytes], data: bytes, draw: st.DataObject
) -> None:
    whole = seal_rows("test", filter(is_row, rows), data)
    index = draw.draw(st.integers(0, len(whole) - 1))
    end = draw.draw(st.integers(index + 1, len(whole)))
    size = end - index
    damages = {
        "flipped": whole[:index] + bytes([whole[index] ^ 1 << index % 8]) + whole[index + 1 :],
        "cut": whole[:index],
        "zeroed": whole[:index] + bytes(size) + whole[end:],
        "removed": whole[:index] + whole[end:],
        "repeated": whole[:end] + whole[index:],
        "noise": whole[:index] + draw.draw(st.binary(min_size=size, max_size=size)) + whole[end:],
        "longer": whole + b"\n",
    }
    for name, damaged in damages.items():
        assert damaged == whole or not is_read(path, damaged), name


def test_every_line_end_is_a_cut_that_is_seen(path: Path) -> None:
    whole = seal_rows("test", [b"one", b"two", b"three"])
    for index in range(len(whole)):
        assert not is_read(path, whole[:index])


def test_a_file_of_another_kind_or_version_is_refused(path: Path) -> None:
    path.write_bytes(seal_rows("other", [b"one"]))
    with pytest.raises(SealError, match="is a file of another kind: 'other'"):
        read_sealed(path, "test")
    assert list(problems_in(path)) == []
    path.write_bytes(seal_rows("test 2", []))
    with pytest.raises(SealError, match="has a format that this ArcLink does not know"):
        read_sealed(path, "test")
    path.write_bytes(b'{"prefix": "a"}\n')
    with pytest.raises(SealError, match="is damaged: it does not begin as"):
        read_sealed(path, "test")
    path.unlink()
    with pytest.raises(SealError, match="is missing") as caught:
        read_sealed(path, "test")
    assert caught.value.is_missing


@pytest.mark.parametrize("row", [b"a\nb", b"#end 0", b"#arclink x"])
def test_what_is_no_row_is_not_written(row: bytes) -> None:
    with pytest.raises(ValueError, match="not a row"):
        seal_rows("test", [row])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    for name in ("a/one", "two\twords", "empty"):
        (tmp_path / name).write_bytes(b"" if name == "empty" else name.encode() * 100)
    seal_folder(tmp_path, [path for path in tmp_path.rglob("*") if path.is_file()])
    return tmp_path


def test_a_whole_folder_has_no_damage(folder: Path) -> None:
    files = {"a/one", "two\twords", "empty"}
    assert {str(path.relative_to(folder)) for path in check_folder(folder)} == files
    assert list(problems_in(folder)) == []
    (folder / "another").touch()
    assert len(check_folder(folder)) == 3
    assert [problem.path for problem in problems_in(folder)] == [folder / "another"]


def test_each_changed_byte_of_a_folder_is_seen(folder: Path) -> None:
    for name in ("a/one", "two\twords", SUMS):
        whole = (folder / name).read_bytes()
        for index in range(len(whole)):
            damaged = bytearray(whole)
            damaged[index] ^= 1 << index % 8
            (folder / name).write_bytes(damaged)
            with pytest.raises(SealError) as caught:
                check_folder(folder)
            assert caught.value.path == folder / name
        (folder / name).write_bytes(whole[:-2])
        with pytest.raises(SealError):
            check_folder(folder)
        (folder / name).write_bytes(whole)


def test_a_missing_file_and_missing_checksums_are_named(folder: Path) -> None:
    (folder / "empty").unlink()
    with pytest.raises(SealError, match="empty is missing"):
        check_folder(folder)
    (folder / SUMS).unlink()
    with pytest.raises(SealError, match=f"{SUMS} is missing"):
        check_folder(folder)


def test_a_damaged_folder_is_removed_and_made_again(tmp_path: Path) -> None:
    def make(folder: Path) -> None:
        folder.mkdir()
        (folder / "numbers").write_bytes(b"123")

    made = tmp_path / "kept" / "name"
    assert not is_whole(made)
    make_sealed(made, make)
    assert is_whole(made)
    make_sealed(made, make)  # as if another process had been quicker
    assert is_whole(made)
    (made / "numbers").write_bytes(b"124")
    assert not is_whole(made)
    assert not made.exists()


SIZE = 50_000
"""Bytes of the file that the tests below open: some blocks, and a part of one."""


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[OpenSealedFile, Path, bytes]]:
    """A file of a sealed folder that is open, with its path and bytes."""
    data = bytes(number * 7919 % 251 for number in range(SIZE))
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    path.write_bytes(data)
    seal_folder(path.parent, [path])
    with OpenSealedFile(path) as file:
        yield file, path, data


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    start=st.integers(0, SIZE + 10),
    length=st.integers(0, SIZE + 10),
    where=st.integers(0, SIZE - 1),
    bit=st.integers(0, 7),
)
def test_a_read_of_an_open_file_is_right_or_an_error(
    opened: tuple[OpenSealedFile, Path, bytes], start: int, length: int, where: int, bit: int
) -> None:
    """Whatever bit of it is changed after it was opened, in whatever way it is read."""
    file, path, data = opened
    assert file.read(start, length) == data[start : start + length]
    with path.open("r+b") as stream:
        stream.seek(where)
        stream.write(bytes([data[where] ^ 1 << bit]))
    try:
        if start <= where < start + length:
            with pytest.raises(SealError, match="is damaged"):
                file.read(start, length)
        else:
            with suppress(SealError):  # another byte of the same block
                assert file.read(start, length) == data[start : start + length]
    finally:
        path.write_bytes(data)
    assert file.read(start, length) == data[start : start + length]


@pytest.mark.parametrize("size", [0, 1, SIZE - 1, SIZE + 1, 2 * SIZE])
def test_an_open_file_that_is_cut_or_grows_is_damaged_at_its_end(
    opened: tuple[OpenSealedFile, Path, bytes], size: int
) -> None:
    file, path, data = opened
    with path.open("r+b") as stream:
        stream.truncate(size)
    with pytest.raises(SealError):
        file.read(SIZE - 10, 10)
    path.unlink()
    path.write_bytes(data)
    with pytest.raises(SealError):  # it is the file that was opened, not the one of this name
        file.read(SIZE - 10, 10)


def test_a_file_that_is_damaged_or_not_sealed_is_not_opened(
    opened: tuple[OpenSealedFile, Path, bytes],
) -> None:
    _, path, data = opened
    other = path.with_name("other")
    other.write_bytes(data)
    with pytest.raises(SealError, match="has no checksum"):
        OpenSealedFile(other)
    path.write_bytes(data[:-1])
    with pytest.raises(SealError, match="is damaged"):
        OpenSealedFile(path)
    path.unlink()
    with pytest.raises(SealError, match="is missing"):
        OpenSealedFile(path)
