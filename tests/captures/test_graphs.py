"""A graph that is built from exported captures is the graph of these captures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from arclink.filter.index import index_archive
from arclink.model import Checksum
from arclink.rows.cdx import Repeated, format_row, parse_row
from arclink.rows.cdx_files import find_cdx
from arclink.store.location import open_store
from tests.captures.archives import T1, T2, T3, Record, sha1, store_of, write_warc
from tests.captures.exporting import built, exported, facts_of
from tests.demos import Demos

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"


def graph_of_export(store: Path, folder: Path, form: str = "warc", **more: str) -> Path:
    """Return the store of the exported captures, built with their own index."""
    folder.mkdir(exist_ok=True)
    if form == "wacz":
        exported(store, folder / "out.wacz", form, **more)
        return built(folder, [folder / "out.wacz"], folder / "out.wacz")
    done = exported(store, folder / "out.warc.gz", **more)
    files = [folder / name for name in done.files if name.endswith(".gz")]
    return built(folder, files, folder / "out.cdxj")


@pytest.mark.parametrize("form", ["warc", "wacz"])
def test_it_is_equal_for_the_demo_archive(form: str, demos: Demos, tmp_path: Path) -> None:
    facts = facts_of(demos.store())
    assert facts_of(graph_of_export(demos.store(), tmp_path, form)) == facts


def test_it_is_equal_without_the_index(demos: Demos, tmp_path: Path) -> None:
    exported(demos.store(), tmp_path / "out.warc.gz")
    assert facts_of(built(tmp_path, [tmp_path / "out.warc.gz"])) == facts_of(demos.store())


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["aut/example.arc.gz"], id="ARC"),
        pytest.param(["aut/example.warc.gz"], id="Heritrix"),
        pytest.param(["flink_web/flink.apache.org-2015.warc.gz"], id="pywb recording"),
        pytest.param(["pywb/warcs"], id="pywb samples"),
        pytest.param(["cdx/cdx_writer"], id="odd records"),
    ],
)
def test_it_is_equal_for_real_archives(
    names: Sequence[str], shared_data: Path, demos: Demos, tmp_path: Path
) -> None:
    store = demos.real(*(shared_data / name for name in names))
    assert facts_of(graph_of_export(store, tmp_path / "out")) == facts_of(store)


def test_it_is_equal_for_captures_of_a_wayback_machine(tmp_path: Path) -> None:
    uri = f"http://web.archive.org/web/20090102030405id_/{A}"
    store = store_of(tmp_path, [Record(uri, T1, b"<a href=/x>x</a>")])
    assert facts_of(graph_of_export(store, tmp_path / "out")) == facts_of(store)


def test_with_the_index_added_originals_are_not_part_of_it(tmp_path: Path) -> None:
    """Without it, they are the only difference."""
    body = b"<a href=/x>x</a>"
    refers = {"WARC-Refers-To-Target-URI": A, "WARC-Refers-To-Date": "2010-01-01T00:00:00Z"}
    records = [
        Record(A, T1, body),
        Record(B, T2, b"", record_type="revisit", fields=refers, digest=sha1(body)),
        Record(C, T3, b"<a href=/y>y</a>"),
    ]
    store = store_of(tmp_path, records)
    whole = facts_of(store)
    selected = {fact for fact in whole if fact[0].timestamp >= T2}
    assert len(selected) == 2
    graph = graph_of_export(store, tmp_path / "out", from_="2011")
    assert facts_of(graph) == selected
    (tmp_path / "all").mkdir()
    without = built(tmp_path / "all", [tmp_path / "out" / "out.warc.gz"])
    assert facts_of(without) == whole


def test_originals_that_the_rules_leave_out_stay_unread(tmp_path: Path) -> None:
    body = b"<a href=/x>x</a>"
    refers = {"WARC-Refers-To-Target-URI": A, "WARC-Refers-To-Date": "2010-01-01T00:00:00Z"}
    records = [
        Record(A, T1, body, head=[b"HTTP/1.1 200 OK", b"Content-Type: image/png"]),
        Record(B, T2, b"", record_type="revisit", fields=refers, digest=sha1(body)),
    ]
    store = store_of(tmp_path, records)
    selected = {fact for fact in facts_of(store) if fact[0].timestamp >= T2}
    assert [content for _, content, _ in selected] == [None]
    graph = graph_of_export(store, tmp_path / "out", from_="2011")
    assert facts_of(graph) == selected
    with open_store(str(graph)) as opened:
        payload = opened.payload(next(iter(selected))[0].checksum)
        assert payload is not None
        assert payload.reason == "PAYLOAD_LEFT_OUT"


def test_an_original_in_a_missing_file_is_not_at_hand(tmp_path: Path) -> None:
    records = [Record(A, T1, b"", record_type="revisit", digest=sha1(b"<a href=/x>x</a>"))]
    path = write_warc(tmp_path / "archive" / "crawl.warc.gz", records)
    (row,) = index_archive(str(path), path.name, Counter())
    address = Repeated("other.warc.gz", 7, 8)
    index = tmp_path / "index.cdxj"
    index.write_bytes(format_row(replace(parse_row(row), repeated=address)) + b"\n")
    with open_store(str(built(tmp_path, [path], index))) as opened:
        payload = opened.payload(Checksum(sha1(b"<a href=/x>x</a>")))
        assert payload is not None
        assert payload.reason == "PAYLOAD_NOT_AT_HAND"


def test_an_index_of_the_present_places_gives_the_graph(demos: Demos, tmp_path: Path) -> None:
    exported(demos.store(), tmp_path / "places.cdxj", "cdxj")
    assert find_cdx([str(tmp_path / "places.cdxj")])
    store = built(tmp_path, sorted(demos.archive().glob("*.gz")), tmp_path / "places.cdxj")
    assert facts_of(store) == facts_of(demos.store())
