"""A record in several segments is one capture, whatever door it leaves by."""

from pathlib import Path

import pytest

from arclink.captures.locate import find_capture
from arclink.reasons import Reason
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.segmented import BODY, segment, written
from tests.captures.exporting import built, exported, facts_of
from tests.captures.reading import bytes_of, opened, query_of
from tests.pipeline.batch_orders import ALONE


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_links_and_body_are_those_of_all_segments(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    written(folder / name, [segment(1), segment(3), segment(2)])
    store = tmp_path / "links.db"
    report = build_store(folder, store, ALONE)
    assert report.counts[Reason.RECORD_CONTINUATION] == 2
    assert report.counts[Reason.NOTE_PAYLOAD_TRUNCATED] == 0
    copies = [tmp_path / "exported/a.warc.gz", tmp_path / "streamed/a.warc"]
    for copy in copies:
        copy.parent.mkdir()
    exported(store, copies[0])
    copies[1].write_bytes(bytes_of(store, query_of(form="warc")))
    stores = [store, *(built(copy.parent, [copy]) for copy in copies)]
    for path in stores:
        assert facts_of(path) == facts_of(store)
        with opened(path) as (graph, reader):
            memento = find_capture(graph, "http://a.example/p")
            content = graph.content_of(memento)
            assert content is not None
            assert [link.target for link in graph.outlinks(content)] == ["http://a.example/tail"]
            with reader.read(memento) as page:
                assert b"".join(page.decoded()) == BODY
            assert reader.http_head(memento).startswith(b"HTTP/1.1 200 OK")


def test_a_missing_segment_is_noted(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    written(folder / "a.warc", [segment(1), segment(2)])
    (folder / "b.warc").write_bytes(segment(3))
    report = build_store(folder, tmp_path / "links.db", ALONE)
    assert report.counts[Reason.RECORD_CONTINUATION] == 2
    assert report.counts[Reason.NOTE_PAYLOAD_TRUNCATED] == 1
    with open_store(str(tmp_path / "links.db")) as store:
        assert find_capture(store, "http://a.example/p").status == "200"
