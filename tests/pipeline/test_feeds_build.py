"""Links of feeds and lazy images, from the archive file to the answer."""

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from arclink.errors import StoreError
from arclink.extract.settings import ExtractSettings
from arclink.model import Surt
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import http, warc
from tests.pipeline.store_contents import outlinks_of

ALONE = BuildSettings(runner="inline", cores=1)


@pytest.mark.parametrize(
    ("mime", "body"),
    [
        (
            "application/rss+xml",
            "<rss><item><title>Größe</title><link>/1</link></item></rss>".encode(),
        ),
        (
            "text/xml",
            (
                "<?xml version='1.0' encoding='ISO-8859-1'?><rss><item><title>Größe</title>"
                "<link>/1</link></item></rss>"
            ).encode("latin-1"),
        ),
        (
            "text/xml;charset=iso-8859-1",
            "<rss><item><title>Größe</title><link>/1</link></item></rss>".encode("latin-1"),
        ),
        (
            "application/xml",
            (
                "<?xml version='1.0' "
                "encoding='UTF-16'?><rss><item><title>Größe</title><link>/1</link></item></rss>"
            ).encode("utf-16"),
        ),
        ("text/html", "\ufeff<rss><item><title>Größe</title><link>/1</link></item></rss>".encode()),
    ],
    ids=["RSS", "XML that declares", "HTTP declares", "UTF-16", "called HTML"],
)
def test_a_feed_is_read_whatever_it_is_called_and_however_encoded(
    mime: str, body: bytes, tmp_path: Path
) -> None:
    (tmp_path / "a.warc").write_bytes(
        warc("http://h.example/feed", http(body, f"Content-Type: {mime}"))
    )
    build_store(tmp_path / "a.warc", tmp_path / "l.db", ALONE)
    with open_store(str(tmp_path / "l.db")) as store:
        links = outlinks_of(store, {Surt("example,h)/feed")})
    assert links == {
        ("http://h.example/feed", "20200102030405"): [
            ("http://h.example/1", "rss@link", "Größe", None)
        ]
    }


SITEMAP = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://h.example/ä</loc></url></urlset>".encode()


@pytest.mark.parametrize(
    ("mime", "coding", "body"),
    [
        pytest.param("application/x-gzip", "", gzip.compress(SITEMAP), id="a file"),
        pytest.param(
            "application/gzip",
            "",
            gzip.compress(SITEMAP[:100]) + gzip.compress(SITEMAP[100:]),
            id="two members",
        ),
        pytest.param(
            "text/xml", "gzip", gzip.compress(gzip.compress(SITEMAP)), id="a file, sent compressed"
        ),
        pytest.param("text/xml", "gzip", gzip.compress(SITEMAP), id="sent compressed"),
        pytest.param("text/xml", "", SITEMAP, id="not compressed at all"),
    ],
)
def test_a_compressed_sitemap_is_read(mime: str, coding: str, body: bytes, tmp_path: Path) -> None:
    headers = [f"Content-Type: {mime}", *([f"Content-Encoding: {coding}"] if coding else [])]
    (tmp_path / "a.warc").write_bytes(warc("http://h.example/Sitemap.XML.gz", http(body, *headers)))
    build_store(tmp_path / "a.warc", tmp_path / "l.db", ALONE)
    with open_store(str(tmp_path / "l.db")) as store:
        ((_, links),) = outlinks_of(store, {Surt("example,h)/sitemap.xml.gz")}).items()
    assert links == [("http://h.example/%C3%A4", "sitemap@loc", "", None)]


def test_a_compressed_file_that_is_no_document_has_no_links_and_a_bomb_is_cut(
    tmp_path: Path,
) -> None:
    file = gzip.compress(b"notes.txt\0 <a href=x>y</a>")
    bomb = gzip.compress(SITEMAP.replace(b"<url>", b"<url>" + b" " * (40 << 20)))
    records = [
        warc(f"http://h.example/{n}", http(body, "Content-Type: application/gzip"))
        for n, body in enumerate([file, bomb])
    ]
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    build_store(tmp_path / "a.warc", tmp_path / "l.db", ALONE)
    with open_store(str(tmp_path / "l.db")) as store:
        assert list(outlinks_of(store, {Surt("example,h)/0"), Surt("example,h)/1")}).values()) == [
            [],
            [],
        ]
        (batch,) = store.batches()
    counts = json.loads(batch.manifest)["counts"]
    assert counts["payloads"] == {"PAYLOAD_READ": 2}
    assert counts["notes"]["NOTE_PAYLOAD_CUT"] == 1


def test_a_compressed_sitemap_that_breaks_off_is_counted(tmp_path: Path) -> None:
    urls = "".join(
        f"<url><loc>http://h.example/{hashlib.sha1(bytes([n])).hexdigest()}</loc></url>"
        for n in range(200)
    )
    whole = gzip.compress(SITEMAP.replace(b"<url>", urls.encode() + b"<url>"))
    bodies = [whole[: len(whole) // 2], whole[:10] + b"\xff" * 50]
    records = [
        warc(f"http://h.example/{n}", http(body, "Content-Type: application/gzip"))
        for n, body in enumerate(bodies)
    ]
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    build_store(tmp_path / "a.warc", tmp_path / "l.db", ALONE)
    with open_store(str(tmp_path / "l.db")) as store:
        found = outlinks_of(store, {Surt("example,h)/0"), Surt("example,h)/1")})
        (batch,) = store.batches()
    half, damaged = (links for _, links in sorted(found.items()))
    assert half is not None
    assert (0 < len(half) < 200, damaged) == (True, [])
    assert json.loads(batch.manifest)["counts"]["notes"]["NOTE_PAYLOAD_TRUNCATED"] == 2


def test_lazy_links_are_looked_for_when_asked_and_the_store_remembers(tmp_path: Path) -> None:
    body = b"<img data-src=a.png alt=A>"
    (tmp_path / "a.warc").write_bytes(
        warc("http://h.example/", http(body, "Content-Type: text/html"))
    )
    lazy = BuildSettings(extract=ExtractSettings(lazy=True), runner="inline", cores=1)
    for settings, expected in (
        (ALONE, []),
        (lazy, [("http://h.example/a.png", "img@data-src", "A", None)]),
    ):
        path = tmp_path / f"{settings.extract.lazy}.db"
        build_store(tmp_path / "a.warc", path, settings)
        with open_store(str(path)) as store:
            assert outlinks_of(store, {Surt("example,h)/")}) == {
                ("http://h.example/", "20200102030405"): expected
            }
    with pytest.raises(StoreError, match="lazy links"):
        build_store(tmp_path / "a.warc", tmp_path / "False.db", lazy)
