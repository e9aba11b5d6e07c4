"""Paths of archive files in a sorted list, of which a look-up reads little."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.archives.byte_sources import LocalBytes
from arclink.archives.locations import known_as
from arclink.extract import listed_files
from arclink.extract.listed_files import ListedFiles, write_list

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


class Counted(LocalBytes):
    """A local file that counts the bytes that were read."""

    bytes_read = 0

    def read(self, offset: int, count: int) -> bytes:
        data = super().read(offset, count)
        self.bytes_read += len(data)
        return data


@settings(deadline=None)
@given(
    paths=st.dictionaries(NAMES, NAMES, max_size=40),
    others=st.lists(NAMES, max_size=5),
    block=st.sampled_from([1, 7, 64, 1 << 16]),
)
def test_a_list_answers_as_a_dictionary(
    paths: dict[str, str], others: list[str], block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Names with any characters, line ends too, and blocks that are smaller than a line."""
    target = tmp_path_factory.mktemp("list") / "archives"
    write_list(paths, target)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listed_files, "_BLOCK", block)
        found = ListedFiles(LocalBytes(str(target)))
        for name in [
            *paths,
            *others,
            *(name[:-1] for name in paths),
            *(name + "a" for name in paths),
        ]:
            assert found.get(name) == paths.get(name)
            assert known_as(name, found) == known_as(name, paths)
        assert dict(found) == paths
        assert len(found) == len(paths)


def test_a_look_up_reads_a_small_part_of_a_long_list(tmp_path: Path) -> None:
    paths = {
        f"crawl-{n:07d}.warc.gz": f"hdfs:///archive/crawl-{n:07d}.warc.gz" for n in range(200_000)
    }
    write_list(paths, tmp_path / "archives")
    source = Counted(str(tmp_path / "archives"))
    found = ListedFiles(source)
    names = [f"crawl-{n:07d}.warc.gz" for n in range(123_000, 124_000)]
    assert [found[name] for name in names] == [paths[name] for name in names]
    assert source.bytes_read < source.size / 10


def test_what_is_kept_of_a_list_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed_files, "_BLOCK", 100)
    monkeypatch.setattr(listed_files, "_KEPT", 8)
    monkeypatch.setattr(listed_files, "_CACHED", 5)
    paths = {str(n): f"/{n}" for n in range(1_000)}
    write_list(paths, tmp_path / "archives")
    found = ListedFiles(LocalBytes(str(tmp_path / "archives")))
    for name in paths:
        assert found[name] == paths[name]
        assert len(found._blocks) <= 8
        assert len(found._known) <= 5
