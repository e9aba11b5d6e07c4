"""Builds of what real collections do: files without captures, CDX files that cover a part, files that move."""

from pathlib import Path

import pytest

from arclink.errors import StoreError
from arclink.pipeline.build import build, only_build
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.progress import Silent
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.store.opening import open_store
from tests.pipeline.reading import build_store, graph_of

ALONE = BuildSettings(runner="inline", cores=1)


def cdx_of(archive: Path, names: list[str], path: Path) -> Path:
    from collections import Counter

    from arclink.filter.index import index_archive

    rows = [row + b"\n" for name in names for row in index_archive(str(archive / name), name, Counter())]
    path.write_bytes(b"".join(sorted(rows)))
    return path


def test_files_without_captures_are_a_batch_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "empty.warc").write_bytes(b"")
    report = build_store(tmp_path, tmp_path / "links.db", ALONE)
    assert report.batches == 1
    assert build_store(tmp_path, tmp_path / "links.db", ALONE).skipped == 1


def test_a_cdx_may_cover_some_files_and_a_later_build_may_add_the_rest(demo: Path, store: Path, tmp_path: Path) -> None:
    names = sorted(path.name for path in demo.glob("*.warc.gz"))
    cdx = [cdx_of(demo, names[:3], tmp_path / "part.cdxj")]
    path = tmp_path / "links.db"
    build_store(demo, path, ALONE, inputs=[str(demo / name) for name in names[:3]], cdx=cdx)
    report = build_store(demo, path, ALONE, cdx=cdx)
    assert report.counts[Reason.ROW_IN_STORE] == len(cdx[0].read_bytes().splitlines())
    with open_store(str(path)) as opened, open_store(str(store)) as whole:
        assert graph_of(opened) == graph_of(whole)


def test_rows_of_files_that_were_not_given_wait_for_their_file(demo: Path, store: Path, tmp_path: Path) -> None:
    names = sorted(path.name for path in demo.glob("*.warc.gz"))
    cdx = [cdx_of(demo, names, tmp_path / "all.cdxj")]
    path = tmp_path / "links.db"
    first = build_store(demo, path, ALONE, inputs=[str(demo / name) for name in names[:4]], cdx=cdx)
    assert first.counts[Reason.ROW_FILE_NOT_GIVEN] > 50
    build_store(demo, path, ALONE, cdx=cdx)
    with open_store(str(path)) as opened, open_store(str(store)) as whole:
        assert graph_of(opened) == graph_of(whole)


def test_a_known_payload_is_found_where_its_file_is_now(demo: Path, store: Path, tmp_path: Path) -> None:
    names = sorted(path.name for path in demo.glob("*.warc.gz"))
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    for name in names:
        (old / name).write_bytes((demo / name).read_bytes())
    path = tmp_path / "links.db"
    build_store(old, path, ALONE, inputs=[str(old / name) for name in names[:4]])
    old.rename(new)
    build_store(new, path, ALONE)
    with open_store(str(path)) as opened, open_store(str(store)) as whole:
        assert list(opened.verify()) == []
        assert graph_of(opened) == graph_of(whole)


def test_a_payload_no_longer_at_hand_is_said_to_be_unknown(demo: Path, tmp_path: Path) -> None:
    names = sorted(path.name for path in demo.glob("*.warc.gz"))
    copies = tmp_path / "copies"
    copies.mkdir()
    for name in names:
        (copies / name).write_bytes((demo / name).read_bytes())
    path = tmp_path / "links.db"
    build_store(copies, path, ALONE, inputs=[str(copies / name) for name in names[:4]])
    for name in names[:4]:
        (copies / name).unlink()
    build_store(copies, path, ALONE)
    with open_store(str(path)) as opened:
        for surt in opened.surts(""):  # type: ignore[arg-type]  # the empty prefix: all
            for memento in opened.mementos(surt):
                content = opened.content_of(memento)
                assert content is None or opened.payload(memento.checksum) is None or list(opened.sightings(content))


def test_a_store_that_moves_while_it_is_built_is_no_quiet_loss(demo: Path, tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    with open_store(str(path), create=True) as opened:
        path.rename(tmp_path / "moved.db")
        files = describe(find_archives([str(demo)]), {})
        with pytest.raises(StoreError, match="moved or removed while it was being built"):
            build(files, [], opened, ALONE, tmp_path / "work", Silent())


def test_a_second_build_ends_at_once_and_the_lock_goes_with_the_first(tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    with only_build(path), pytest.raises(StoreError, match="another build"), only_build(path):
        pass
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError), only_build(path):
        raise FileNotFoundError("what a build did not find is its caller's to hear of")
    assert not list(tmp_path.iterdir())
    with only_build(path):
        assert list(tmp_path.iterdir())
