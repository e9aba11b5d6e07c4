"""Builds of odd collections: files without captures, CDX files for a part, moved files."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from arclink.errors import StoreError
from arclink.filter.rules import Rules
from arclink.pipeline.build import build
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.settings import BuildSettings, ShownProgress
from arclink.progress import Silent
from arclink.reasons import Reason
from arclink.rows.cdx import LONGEST_URI
from arclink.store.location import open_store
from arclink.store.locks import only_build
from benchmarks.built_stores import build_store
from tests.archives.made_archives import gzipped, http, warc
from tests.pipeline.cdx_of_files import cdx_of
from tests.pipeline.store_contents import graph_of, outlinks_of

ALONE = BuildSettings(runner="inline", cores=1)


def test_files_without_captures_are_a_batch_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "empty.warc").write_bytes(b"")
    report = build_store(tmp_path, tmp_path / "links.db", ALONE)
    assert report.batches == 1
    assert build_store(tmp_path, tmp_path / "links.db", ALONE).skipped == 1


def test_a_cdx_may_cover_some_files_and_a_later_build_may_add_the_rest(
    demo: Path, store: Path, tmp_path: Path
) -> None:
    names = sorted(path.name for path in demo.glob("*.warc.gz"))
    cdx = [cdx_of(demo, names[:3], tmp_path / "part.cdxj")]
    path = tmp_path / "links.db"
    build_store(demo, path, ALONE, inputs=[str(demo / name) for name in names[:3]], cdx=cdx)
    report = build_store(demo, path, ALONE, cdx=cdx)
    assert report.counts[Reason.ROW_IN_STORE] == len(cdx[0].read_bytes().splitlines())
    with open_store(str(path)) as opened, open_store(str(store)) as whole:
        assert graph_of(opened) == graph_of(whole)


def test_rows_of_files_that_were_not_given_wait_for_their_file(
    demo: Path, store: Path, tmp_path: Path
) -> None:
    names = sorted(path.name for path in demo.glob("*.warc.gz"))
    cdx = [cdx_of(demo, names, tmp_path / "all.cdxj")]
    path = tmp_path / "links.db"
    first = build_store(demo, path, ALONE, inputs=[str(demo / name) for name in names[:4]], cdx=cdx)
    assert first.counts[Reason.ROW_FILE_NOT_GIVEN] > 50
    build_store(demo, path, ALONE, cdx=cdx)
    with open_store(str(path)) as opened, open_store(str(store)) as whole:
        assert graph_of(opened) == graph_of(whole)


def test_a_known_payload_is_found_where_its_file_is_now(
    demo: Path, store: Path, tmp_path: Path
) -> None:
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


def test_a_payload_that_is_no_longer_at_hand_is_reported_as_unknown(
    demo: Path, tmp_path: Path
) -> None:
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
                assert (
                    content is None
                    or opened.payload(memento.checksum) is None
                    or list(opened.sightings(content))
                )


def test_a_store_that_is_moved_during_a_build_is_an_error(demo: Path, tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    with open_store(str(path), create=True) as opened:
        path.rename(tmp_path / "moved.db")
        files = describe(find_archives([str(demo)]), {})
        with pytest.raises(StoreError, match="moved or removed while it was being built"):
            build(files, [], opened, ALONE, tmp_path / "work", ShownProgress(Silent()))


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


@pytest.mark.parametrize("with_cdx", [False, True], ids=["indexed", "with CDX"])
def test_captures_with_odd_dates_or_none_keep_their_links(tmp_path: Path, with_cdx: bool) -> None:
    def capture(name: str, date: str) -> bytes:
        body = f"<a href=/to-{name}>{name}</a>".encode()
        return warc(f"http://h/{name}", http(body, "Content-Type: text/html"), date=date)

    records = [
        warc("", b"", record_type="warcinfo", date="2009-03-01T00:00:00Z"),
        capture("clueweb", "2009-03-67T15:35:34-0700"),
        capture("leap", "2008-12-31T23:59:60Z"),
        capture("midnight", "2009-03-08T24:00:00Z"),
        capture("ordinal", "2009-066T15:35:34Z"),
        capture("none", "not known"),
        warc("http://h/moved", http(b"", "Location: /there", status="302 Found"), date="?"),
    ]
    (tmp_path / "a.warc.gz").write_bytes(gzipped(records))
    cdx = [cdx_of(tmp_path, ["a.warc.gz"], tmp_path / "a.cdxj")] if with_cdx else []
    path = tmp_path / "links.db"
    build_store(tmp_path, path, ALONE, inputs=[str(tmp_path / "a.warc.gz")], cdx=cdx)
    with open_store(str(path)) as opened:
        links = outlinks_of(opened, set(opened.surts("")))  # type: ignore[arg-type]  # all
    assert {
        (original, timestamp): [target for target, *_ in of_page or ()]
        for (original, timestamp), of_page in links.items()
    } == {
        ("http://h/clueweb", "20090308223534"): ["http://h/to-clueweb"],
        ("http://h/leap", "20081231235959"): ["http://h/to-leap"],
        ("http://h/midnight", "20090309000000"): ["http://h/to-midnight"],
        ("http://h/ordinal", "20090307153534"): ["http://h/to-ordinal"],
        ("http://h/none", "20090301000000"): ["http://h/to-none"],
        ("http://h/moved", "20090301000000"): ["http://h/there"],
    }


def test_rows_of_a_cdx_without_a_date_get_that_of_their_record(tmp_path: Path) -> None:
    records = [
        warc("", b"", record_type="warcinfo", date="2009-03-01T00:00:00Z"),
        warc("http://h/a", http(b"<a href=/b>b</a>", "Content-Type: text/html"), date="?"),
        warc("http://h/c", http(b"<a href=/d>d</a>", "Content-Type: text/html")),
        warc("http://h/dated", http(b"<a href=/e>e</a>", "Content-Type: text/html")),
    ]
    archive = tmp_path / "a.warc.gz"
    archive.write_bytes(gzipped(records))
    cdx = cdx_of(tmp_path, ["a.warc.gz"], tmp_path / "a.cdxj")
    lines = cdx.read_bytes().splitlines(keepends=True)
    cdx.write_bytes(b"".join(re.sub(rb"^(h\)/[ac]) \d{14}", rb"\1 -", line) for line in lines))
    with cdx.open("ab") as rows:  # there is no record at this offset
        rows.write(
            re.sub(rb'"offset":"\d+"', b'"offset":"999999"', re.sub(rb" \d{14} ", b" - ", lines[0]))
        )
    path = tmp_path / "links.db"
    report = build_store(tmp_path, path, ALONE, inputs=[str(archive)], cdx=[cdx])
    assert report.counts[Reason.NOTE_DATE_OF_WARCINFO] == 1
    assert report.counts[Reason.ROW_KEPT] == 3
    assert report.counts[Reason.ROW_MALFORMED] == 1
    with open_store(str(path)) as opened:
        assert set(outlinks_of(opened, set(opened.surts("")))) == {  # type: ignore[arg-type]  # all
            ("http://h/a", "20090301000000"),
            ("http://h/c", "20200102030405"),
            ("http://h/dated", "20200102030405"),
        }


@pytest.mark.parametrize("with_cdx", [False, True], ids=["indexed", "with CDX"])
@pytest.mark.parametrize(
    "name",
    [
        "a b.warc",
        "100%.warc",
        "%09.warc",
        'a"b.warc',
        "a\\b.warc",
        "#a.warc",
        "é.warc",
        "a,[b.warc",
    ],
)
def test_files_with_odd_names_keep_their_links(name: str, with_cdx: bool, tmp_path: Path) -> None:
    page = http(b"<a href=/b>b</a>", "Content-Type: text/html")
    (tmp_path / name).write_bytes(warc("http://h/", page))
    cdx = [cdx_of(tmp_path, [name], tmp_path / "a.cdxj")] if with_cdx else []
    path = tmp_path / "links.db"
    build_store(tmp_path, path, ALONE, cdx=cdx)
    with open_store(str(path)) as opened:
        (links,) = outlinks_of(opened, set(opened.surts(""))).values()  # type: ignore[arg-type]  # all
        assert links is not None
        assert [target for target, *_ in links] == ["http://h/b"]
        (memento,) = opened.mementos(next(iter(opened.surts(""))))  # type: ignore[arg-type]  # all
        assert memento.file == name


@pytest.mark.parametrize("how", ["indexed", "with CDX"])
def test_a_capture_of_a_very_long_uri_is_counted_not_kept(how: str, tmp_path: Path) -> None:
    page = http(b"<a href=/b>b</a>", "Content-Type: text/html")
    uris = ["http://h/" + "x" * (LONGEST_URI - 9), "http://h/" + "x" * (LONGEST_URI - 8)]
    (tmp_path / "a.warc").write_bytes(b"".join(warc(uri, page) for uri in uris))
    row = (
        '{"url":"%s","mime":"text/html","status":"200","digest":"%s","length":"9",'
        '"offset":"%d","filename":"a.warc"}'
    )
    cdx = tmp_path / "a.cdxj"
    cdx.write_text("".join(f"h)/ 2020 {row % (uri, 'A' * 32, 0)}\n" for uri in uris))
    report = build_store(
        tmp_path, tmp_path / "links.db", ALONE, cdx=[cdx] if how == "with CDX" else []
    )
    too_long = Reason.ROW_TOO_LONG if how == "with CDX" else Reason.RECORD_TOO_LONG
    assert report.counts[too_long] == 1
    assert report.counts[Reason.ROW_KEPT] == 1


@pytest.mark.parametrize("with_cdx", [False, True], ids=["indexed", "with CDX"])
@pytest.mark.parametrize("is_on", [True, False], ids=["on", "off"])
def test_html_at_the_name_of_an_image_is_read(is_on: bool, with_cdx: bool, tmp_path: Path) -> None:
    page = http(b"<a href=/b>b</a>", "Content-Type: text/html")
    image = http(b"<a href=/c>c</a>")
    records = [warc("http://h/wiki/File:X.jpg", page), warc("http://h/y.jpg", image)]
    (tmp_path / "a.warc.gz").write_bytes(gzipped(records))
    cdx = [cdx_of(tmp_path, ["a.warc.gz"], tmp_path / "a.cdxj")] if with_cdx else []
    path = tmp_path / "links.db"
    settings = replace(ALONE, rules=Rules(mime_before_extension=is_on))
    report = build_store(tmp_path, path, settings, cdx=cdx)
    assert report.counts[Reason.MEMENTO_EXTENSION] == 2 - is_on
    assert report.counts[Reason.LINK_KEPT] == is_on


def test_a_store_older_than_the_rule_of_mime_types_keeps_it_off(tmp_path: Path) -> None:
    """It has no word of the rule, and its graph is that of the rule switched off."""
    off = replace(ALONE, rules=Rules(mime_before_extension=False))
    assert "mime_before_extension" not in off.for_store()["rules"]
    (tmp_path / "a.warc").write_bytes(warc("http://h/", http(b"x")))
    build_store(tmp_path, tmp_path / "links.db", off)
    with pytest.raises(StoreError, match="mime_before_extension: stored None, now True"):
        build_store(tmp_path, tmp_path / "links.db", ALONE)
