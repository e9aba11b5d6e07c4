"""Checksums of the files of a folder show every changed byte and every missing file."""

from pathlib import Path

import pytest

from arclink.files.sums import NAME, damage_in, write_sums


@pytest.fixture(name="folder")
def folder_with_sums(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    for name in ("a/one", "two\twords", "empty"):
        (tmp_path / name).write_bytes(b"" if name == "empty" else name.encode() * 100)
    write_sums(tmp_path, [path for path in tmp_path.rglob("*") if path.is_file()])
    return tmp_path


def test_whole_files_have_no_damage(folder: Path) -> None:
    assert damage_in(folder) is None
    (folder / "another").touch()
    assert damage_in(folder) is None


def test_a_folder_without_checksums_is_not_compared(tmp_path: Path) -> None:
    assert damage_in(tmp_path) is None


def test_each_changed_byte_is_seen(folder: Path) -> None:
    for name in ("a/one", "two\twords", NAME):
        whole = (folder / name).read_bytes()
        for place in range(len(whole)):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << place % 8
            (folder / name).write_bytes(damaged)
            damage = damage_in(folder)
            assert damage is not None, (name, place)
            assert str(folder / name) in damage
        (folder / name).write_bytes(whole[:-2])
        assert damage_in(folder) is not None
        (folder / name).write_bytes(whole)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "empty").unlink()
    assert damage_in(folder) == f"{folder / 'empty'} is missing"
