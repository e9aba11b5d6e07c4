"""Revisits without an available payload get the links that the crawler recorded for them."""

from pathlib import Path

import pytest

from arclink.access.evidence import explain
from arclink.access.formats.explanations import explanation_lines
from arclink.extract.settings import ExtractSettings
from arclink.model import Surt
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import warc
from tests.extract.wat_records import changed, write
from tests.pipeline.batch_orders import (
    DIGEST,
    damaged,
    links_of,
    page,
    revisit,
    row,
    same_in_all_batches,
)

DIGESTED = f"WARC-Payload-Digest: {DIGEST}"
HTML = "Content-Type: text/html"


def settings(*, is_on: bool = True) -> BuildSettings:
    extract = ExtractSettings(heritrix_outlinks=is_on)
    return BuildSettings(extract=extract, runner="inline", cores=1)


def recorded(
    uri: str,
    second: int,
    *targets: str,
    headers: tuple[str, ...] = (HTML,),
    status: str = "200 OK",
) -> bytes:
    """Return a revisit and, if there are targets, the metadata record after it."""
    name = f"WARC-Record-ID: <urn:{second}>"
    again = revisit(uri, second, DIGESTED, name, headers=headers, status=status)
    if not targets:
        return again
    lines = "\r\n".join(f"outlink: {target} L a/@href" for target in targets)
    about = f"WARC-Concurrent-To: <urn:{second}>"
    return again + warc(uri, lines.encode(), about, record_type="metadata")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "archive"
    path.mkdir()
    return path


def test_each_original_has_the_links_recorded_there(folder: Path, tmp_path: Path) -> None:
    """The addresses are those from one original, so they belong to no other."""
    (folder / "a.warc").write_bytes(
        recorded("http://h.example/a/", 1)
        + recorded("http://h.example/a/", 2, "http://h.example/a/next.html", "http://o.example/")
        + recorded("http://h.example/c/", 4)
    )
    (folder / "b.warc").write_bytes(
        recorded("http://h.example/b/", 3, "http://h.example/b/next.html")
    )
    store = same_in_all_batches(folder, tmp_path, settings(), [])
    with open_store(str(store)) as opened:
        found = links_of(opened, "example,h)/a", "example,h)/b", "example,h)/c")
        (target,) = opened.inlinks(Surt("example,o)/"))
        assert [
            (seen.original, seen.timestamp[-2:]) for seen in opened.sightings(target.content)
        ] == [
            ("http://h.example/a/", "01"),
            ("http://h.example/a/", "02"),
        ]
    of_a = ["http://h.example/a/next.html", "http://o.example/"]
    assert found == {
        ("http://h.example/a/", "01"): of_a,
        ("http://h.example/a/", "02"): of_a,
        ("http://h.example/b/", "03"): ["http://h.example/b/next.html"],
        ("http://h.example/c/", "04"): None,
    }


def test_the_payload_replaces_recorded_links_in_any_order(folder: Path, tmp_path: Path) -> None:
    (folder / "a.warc").write_bytes(
        recorded("http://h.example/a/", 1, "http://old.example/")
        + recorded("http://h.example/b/", 2, "http://old.example/")
    )
    (folder / "b.warc").write_bytes(page("http://h.example/c/", 3, DIGESTED))
    store = same_in_all_batches(folder, tmp_path, settings(), [])
    with open_store(str(store)) as opened:
        assert links_of(opened, "example,h)/a", "example,h)/b", "example,h)/c") == {
            ("http://h.example/a/", "01"): ["http://h.example/a/next.html"],
            ("http://h.example/b/", "02"): ["http://h.example/b/next.html"],
            ("http://h.example/c/", "03"): ["http://h.example/c/next.html"],
        }
        assert list(opened.inlinks(Surt("example,old)/"))) == []


def test_a_payload_without_a_checksum_in_its_row_replaces_recorded_links(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "a.warc").write_bytes(recorded("http://h.example/a/", 1, "http://old.example/"))
    (folder / "b.warc").write_bytes(page("http://h.example/b/", 2))
    cdx = tmp_path / "rows.cdx"
    cdx.write_text(
        row("http://h.example/a/", 1, "a.warc", 0, mime="warc/revisit")
        + row("http://h.example/b/", 2, "b.warc", 0, "-")
    )
    store = same_in_all_batches(folder, tmp_path, settings(), [cdx])
    with open_store(str(store)) as opened:
        assert links_of(opened, "example,h)/a", "example,h)/b") == {
            ("http://h.example/a/", "01"): ["http://h.example/a/next.html"],
            ("http://h.example/b/", "02"): ["http://h.example/b/next.html"],
        }


def test_a_damaged_payload_leaves_the_recorded_links(folder: Path, tmp_path: Path) -> None:
    (folder / "a.warc").write_bytes(recorded("http://h.example/a/", 1, "http://old.example/"))
    (folder / "b.warc").write_bytes(damaged(page("http://h.example/a/", 2, DIGESTED)))
    cdx = tmp_path / "rows.cdx"
    cdx.write_text(
        row("http://h.example/a/", 1, "a.warc", 0, mime="warc/revisit")
        + row("http://h.example/a/", 2, "b.warc", 0)
    )
    store = same_in_all_batches(folder, tmp_path, settings(), [cdx])
    with open_store(str(store)) as opened:
        assert links_of(opened, "example,h)/a") == {
            ("http://h.example/a/", "01"): ["http://old.example/"],
            ("http://h.example/a/", "02"): ["http://old.example/"],
        }


def test_a_wat_replaces_recorded_links_in_any_order(folder: Path, tmp_path: Path) -> None:
    (folder / "a.warc").write_bytes(recorded("http://h.example/a", 1, "http://old.example/"))
    write(folder, changed("WARC-Header-Metadata/WARC-Payload-Digest", DIGEST))
    store = same_in_all_batches(folder, tmp_path, settings(), [])
    with open_store(str(store)) as opened:
        assert list(opened.inlinks(Surt("example,old)/"))) == []
        (links,) = links_of(opened, "example,h)/a").values()
    assert links is not None
    assert "http://h.example/base/b.html" in links


def test_links_known_elsewhere_are_not_mixed_with_recorded_ones(
    folder: Path, tmp_path: Path
) -> None:
    """The payload was read at one original; its file is gone when a revisit shows it at another."""
    (folder / "a.warc").write_bytes(page("http://h.example/a/", 1, DIGESTED))
    (folder / "b.warc").write_bytes(recorded("http://h.example/b/", 2, "http://old.example/"))
    build_store(folder, tmp_path / "l.db", settings(), inputs=[str(folder / "a.warc")])
    (folder / "a.warc").unlink()
    report = build_store(folder, tmp_path / "l.db", settings())
    assert report.counts[Reason.PAYLOAD_FILE_MISSING] == 1
    with open_store(str(tmp_path / "l.db")) as opened:
        assert list(opened.inlinks(Surt("example,old)/"))) == []
        assert links_of(opened, "example,h)/b") == {("http://h.example/b/", "02"): None}


@pytest.mark.parametrize(
    ("headers", "status", "reason"),
    [
        pytest.param(
            ("Content-Type: text/css",), "200 OK", Reason.PAYLOAD_NOT_AT_HAND, id="no page"
        ),
        pytest.param((HTML,), "404 Not Found", Reason.MEMENTO_STATUS, id="not found"),
    ],
)
def test_revisits_that_the_rules_leave_out_have_no_links(
    headers: tuple[str, ...], status: str, reason: Reason, folder: Path, tmp_path: Path
) -> None:
    (folder / "a.warc").write_bytes(
        recorded("http://h.example/a", 1, "http://o.example/", headers=headers, status=status)
    )
    report = build_store(folder, tmp_path / "l.db", settings())
    assert report.counts[Reason.PAYLOAD_RECORDED] == 0
    assert report.counts[reason] == 1


def test_recorded_links_are_counted_explained_and_read_only_with_the_option(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "a.warc").write_bytes(recorded("http://h.example/a", 1, "http://o.example/"))
    report = build_store(folder, tmp_path / "l.db", settings())
    assert report.counts[Reason.PAYLOAD_RECORDED] == 1
    assert report.counts[Reason.PAYLOAD_NOT_AT_HAND] == 0
    assert report.counts[Reason.LINK_KEPT] == 1
    with open_store(str(tmp_path / "l.db")) as opened:
        (explanation,) = explain(opened, "http://h.example/a")
    assert explanation.reason is Reason.PAYLOAD_RECORDED
    assert "recorded by the crawler" in "".join(explanation_lines(explanation))
    off = build_store(folder, tmp_path / "off.db", settings(is_on=False))
    assert off.counts[Reason.PAYLOAD_RECORDED] == 0
    assert off.counts[Reason.PAYLOAD_NOT_AT_HAND] == 1
