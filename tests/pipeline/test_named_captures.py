"""Revisits without a usable digest show the capture that they name, in any order of input."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from arclink.access.evidence import explain
from arclink.access.formats.explanations import explanation_lines
from arclink.captures.locate import capture_at
from arclink.captures.read import PageReader
from arclink.errors import CaptureError
from arclink.extract.settings import ExtractSettings
from arclink.model import NO_CHECKSUM, Forgotten, Surt, Timestamp
from arclink.reasons import Reason
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore, Takedown
from benchmarks.built_stores import build_store
from tests.archives.made_archives import http, warc
from tests.captures.exporting import built, exported
from tests.pipeline.batch_orders import (
    ALONE,
    BODY,
    DIGESTED,
    HTML,
    digest_of,
    links_of,
    page,
    revisit,
    row,
    same_in_all_batches,
)
from tests.pipeline.store_contents import outlinks_of

OWN, OTHER = "http://a.example/p", "http://c.example/dir/q"
LATER = b'<a href="/later">Later</a>'
IDENTICAL = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
UNMODIFIED = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified"
SHA256 = "WARC-Payload-Digest: sha256:" + hashlib.sha256(BODY).hexdigest()


def naming(uri: str = "", second: int | None = None) -> list[str]:
    fields = [f"WARC-Refers-To-Target-URI: {uri}"] if uri else []
    return (
        fields
        if second is None
        else [*fields, f"WARC-Refers-To-Date: 2020-01-01T00:00:{second:02}Z"]
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "archive"
    path.mkdir()
    return path


def body_of(store: GraphStore, uri: str, second: int) -> bytes:
    memento = capture_at(store, uri, Timestamp(f"202001010000{second:02}"))
    assert memento is not None
    with closing_reader(store) as reader, reader.read(memento) as shown:
        return b"".join(shown.decoded())


class closing_reader:  # noqa: N801
    def __init__(self, store: GraphStore) -> None:
        self._reader = PageReader(store)

    def __enter__(self) -> PageReader:
        return self._reader

    def __exit__(self, *_: object) -> None:
        self._reader.close()


NAMED = {
    "another URI": (OTHER, OTHER, IDENTICAL),
    "default port": (OTHER, OTHER.replace(".example", ".example:80"), IDENTICAL),
    "another scheme": (OTHER, OTHER.replace("http:", "https:"), IDENTICAL),
    "www": (OTHER, OTHER.replace("//", "//www."), IDENTICAL),
    "own": (OWN.replace("http:", "https:"), OWN.replace("http:", "https:"), IDENTICAL),
    "empty digest": (
        OTHER,
        OTHER,
        IDENTICAL,
        "WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
    ),
    "digest of another algorithm": (OTHER, OTHER, IDENTICAL, DIGESTED),
    "not modified": (OTHER, OTHER, UNMODIFIED),
}
"""URI of the capture that a revisit names, how it names it, and its further fields."""


def test_the_named_capture_is_shown_and_never_the_own_one(folder: Path, tmp_path: Path) -> None:
    """Its relative links lead to where they lead from the URI of the revisit.

    Each case has hosts and payloads of its own.
    """
    bodies = {}
    records: list[list[bytes]] = [[], [], []]
    for number, (uri, named, *fields) in enumerate(NAMED.values()):
        body, later = BODY + b"%d" % number, LATER + b"%d" % number
        own, other, uri, named = (
            one.replace(".example", f"{number}.example") for one in (OWN, OTHER, uri, named)
        )
        fields = [
            field.replace(DIGESTED, f"WARC-Payload-Digest: {digest_of(body)}") for field in fields
        ]
        records[0] += page(own, 1, body=later), page(other, 2, body=later)
        records[1].append(revisit(own, 9, *fields, *naming(named, 5), headers=(HTML,)))
        sha256 = "WARC-Payload-Digest: sha256:" + hashlib.sha256(body).hexdigest()
        records[2].append(page(uri, 5, sha256, body=body))
        bodies[own] = body
    for name, written in zip("abc", records, strict=True):
        (folder / f"{name}.warc").write_bytes(b"".join(written))
    store = same_in_all_batches(folder, tmp_path, ALONE, [])
    with open_store(str(store)) as opened:
        for (case, _), (own, body) in zip(NAMED.items(), bodies.items(), strict=True):
            host = own.split("/")[2].removesuffix(".example")
            links = links_of(opened, f"example,{host})/p")
            assert links[own, "09"] == [f"http://{host}.example/next.html"], case
            assert links[own, "01"] == [f"http://{host}.example/later"], case
            assert body_of(opened, own, 9) == body, case
            inlinks = list(opened.inlinks(Surt(f"example,{host})/next.html")))
            shown = {
                (seen.original, seen.timestamp[-2:])
                for link in inlinks
                for seen in opened.sightings(link.content)
            }
            assert (own, "09") in shown, case
            assert (own, "01") not in shown, case


def test_a_capture_that_is_missing_is_not_replaced_by_the_own_one(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "a.warc").write_bytes(page(OWN, 1) + page(OWN, 5))
    (folder / "b.warc").write_bytes(
        revisit(OWN, 8, IDENTICAL, *naming(OTHER, 5))
        + revisit(OWN, 9, UNMODIFIED, *naming(OTHER, 5))
    )
    store = same_in_all_batches(folder, tmp_path, ALONE, [])
    with open_store(str(store)) as opened:
        links = links_of(opened, "example,a)/p")
        assert links[OWN, "08"] is None
        assert links[OWN, "09"] is None
        with pytest.raises(CaptureError, match=r"names the capture of http://c\.example/dir/q at"):
            body_of(opened, OWN, 9)
        explained = {one.memento.timestamp[-2:]: one for one in explain(opened, OWN)}
        assert explained["09"].reason is Reason.PAYLOAD_NOT_AT_HAND
        said = list(explanation_lines(explained["09"]))
        assert said[-1] == f"  it repeats the capture of {OTHER} at 2020-01-01 00:00:05"
    counted = build_store(folder, tmp_path / "again.db", ALONE).counts
    assert counted[Reason.PAYLOAD_NOT_AT_HAND] == 1


def test_only_not_modified_without_a_name_shows_the_capture_before(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "a.warc").write_bytes(page(OWN, 1, body=LATER) + page(OTHER, 2))
    (folder / "b.warc").write_bytes(
        revisit(OWN, 4, UNMODIFIED)
        + revisit(OWN, 5, UNMODIFIED, *naming(OWN))
        + revisit(OWN, 6, UNMODIFIED, *naming(OTHER))
        + revisit(OWN, 7, IDENTICAL)
        + revisit(OWN, 8, IDENTICAL, *naming(OWN))
    )
    store = same_in_all_batches(folder, tmp_path, ALONE, [])
    with open_store(str(store)) as opened:
        links = links_of(opened, "example,a)/p")
        later = ["http://a.example/later"]
        assert [links[OWN, f"0{second}"] for second in (4, 5)] == [later, later]
        assert [links[OWN, f"0{second}"] for second in (6, 7, 8)] == [None, None, None]


def test_a_redirect_of_another_uri_gives_its_target(folder: Path, tmp_path: Path) -> None:
    block = http(b"", "Location: /moved", status="302 Found")
    (folder / "a.warc").write_bytes(warc(OTHER, block, date="2020-01-01T00:00:05Z") + page(OWN, 1))
    (folder / "b.warc").write_bytes(
        revisit(OWN, 9, IDENTICAL, *naming(OTHER, 5), status="302 Found")
    )
    store = same_in_all_batches(folder, tmp_path, ALONE, [])
    with open_store(str(store)) as opened:
        assert outlinks_of(opened, {Surt("example,a)/p")})[OWN, "20200101000009"] == [
            ("http://a.example/moved", "http@location", "", None)
        ]


def test_rows_without_names_are_completed_from_the_records(folder: Path, tmp_path: Path) -> None:
    """Two revisits of one capture, at two URIs, in files that come before it or after it."""
    (folder / "a.warc").write_bytes(revisit(OWN, 8, IDENTICAL, *naming(OTHER, 5)))
    (folder / "b.warc").write_bytes(page(OTHER, 5, SHA256))
    (folder / "c.warc").write_bytes(revisit("http://a.example/x/", 9, *naming(OTHER, 5)))
    cdx = tmp_path / "rows.cdx"
    cdx.write_text(
        row(OWN, 8, "a.warc", 0, NO_CHECKSUM, "warc/revisit")
        + row(OTHER, 5, "b.warc", 0)
        + row("http://a.example/x/", 9, "c.warc", 0, NO_CHECKSUM, "warc/revisit")
    )
    store = same_in_all_batches(folder, tmp_path, ALONE, [cdx])
    with open_store(str(store)) as opened:
        assert links_of(opened, "example,a)/p", "example,a)/x") == {
            (OWN, "08"): ["http://a.example/next.html"],
            ("http://a.example/x/", "09"): ["http://a.example/x/next.html"],
        }


def test_of_several_names_the_one_that_is_at_hand_counts(folder: Path, tmp_path: Path) -> None:
    """The revisits have one digest, so any capture that they name is theirs."""
    (folder / "a.warc").write_bytes(revisit(OWN, 8, DIGESTED, *naming("http://b.example/", 3)))
    (folder / "b.warc").write_bytes(revisit("http://z.example/", 9, DIGESTED, *naming(OTHER, 5)))
    (folder / "c.warc").write_bytes(page(OTHER, 5, SHA256))
    store = same_in_all_batches(folder, tmp_path, ALONE, [])
    with open_store(str(store)) as opened:
        assert links_of(opened, "example,a)/p", "example,z)/") == {
            (OWN, "08"): ["http://a.example/next.html"],
            ("http://z.example/", "09"): ["http://z.example/next.html"],
        }


def test_recorded_links_count_after_the_named_capture(folder: Path, tmp_path: Path) -> None:
    about = "WARC-Concurrent-To: <urn:1>"
    recorded = warc(OWN, b"outlink: http://old.example/ L a/@href", about, record_type="metadata")
    again = revisit(OWN, 8, DIGESTED, "WARC-Record-ID: <urn:1>", *naming(OTHER, 5), headers=(HTML,))
    (folder / "a.warc").write_bytes(again + recorded + page(OTHER, 5, SHA256))
    settings = replace(ALONE, extract=ExtractSettings(heritrix_outlinks=True))
    build_store(folder, tmp_path / "named.db", settings)
    (folder / "a.warc").write_bytes(again + recorded)
    build_store(folder, tmp_path / "recorded.db", settings)
    links = {}
    for name in ("named", "recorded"):
        with open_store(str(tmp_path / f"{name}.db")) as opened:
            links[name] = links_of(opened, "example,a)/p")[OWN, "08"]
    assert links == {"named": ["http://a.example/next.html"], "recorded": ["http://old.example/"]}


def test_an_export_of_the_revisit_has_the_named_capture(folder: Path, tmp_path: Path) -> None:
    (folder / "a.warc").write_bytes(page(OWN, 1, body=LATER) + page(OTHER, 5, SHA256))
    (folder / "b.warc").write_bytes(
        revisit(OWN, 8, IDENTICAL, *naming(OTHER, 5))
        + revisit("http://a.example/x/", 9, DIGESTED, *naming(OTHER, 5))
    )
    build_store(folder, tmp_path / "links.db", ALONE)
    (tmp_path / "copy").mkdir()
    done = exported(tmp_path / "links.db", tmp_path / "copy/a.warc.gz", from_="20200101000007")
    assert done.tally.added == 1
    with open_store(str(built(tmp_path / "copy", [tmp_path / "copy/a.warc.gz"]))) as opened:
        assert links_of(opened, "example,a)/p", "example,a)/x") == {
            (OWN, "08"): ["http://a.example/next.html"],
            ("http://a.example/x/", "09"): ["http://a.example/x/next.html"],
        }
        assert body_of(opened, OWN, 8) == BODY


def test_the_digest_counts_before_the_name(folder: Path, tmp_path: Path) -> None:
    (folder / "a.warc").write_bytes(revisit(OWN, 8, DIGESTED, *naming(OTHER, 5)))
    (folder / "b.warc").write_bytes(page(OTHER, 5, SHA256, body=LATER))
    (folder / "c.warc").write_bytes(page("http://z.example/", 6, DIGESTED))
    store = tmp_path / "links.db"
    build_store(folder, store, ALONE)
    with open_store(str(store)) as opened:
        assert links_of(opened, "example,a)/p")[OWN, "08"] == ["http://a.example/next.html"]
        assert body_of(opened, OWN, 8) == BODY


def test_a_takedown_removes_the_names_of_what_it_forgets(folder: Path, tmp_path: Path) -> None:
    (folder / "a.warc").write_bytes(
        revisit(OWN, 8, DIGESTED, *naming(OTHER, 5)) + page("http://z.example/", 6, body=LATER)
    )
    path = tmp_path / "links.db"
    build_store(folder, path, ALONE)
    with open_store(str(path), create=True) as store:
        ((_, reference),) = list(store.named_payloads())
        assert OTHER in reference
        store.forget(Takedown(Forgotten(Surt("example,a)/")), "", ""))
        assert list(store.named_payloads()) == []
        assert list(store.verify()) == []
    assert OTHER.encode() not in path.read_bytes()
