"""Captures that are no pages of a host: records about a page, and URIs without a host."""

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.captures.subsets.catalog import open_graph
from arclink.cli.main import group
from arclink.filter.rules import Rules
from arclink.model import Surt
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.service.application import create_app
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import gzipped, http, warc

ALONE = BuildSettings(runner="inline", cores=1)
HTML = "Content-Type: text/html"
STARTS = ("urn:text:", "urn:view:", "urn:pageinfo:", "urn:thumbnail:", "screenshot:")
FILE = "file:///dom-snapshot.html"


def records() -> list[bytes]:
    """Return records of two hosts, each with a page and records about it, and of a file."""
    pages = ("http://www.a.example/P?b=1", "http://b.example/p")
    made = [warc(uri, http(f"<a href=/x>{uri}</a>".encode(), HTML)) for uri in pages]
    made += [
        warc(
            start + uri, (start + uri).encode(), "Content-Type: text/plain", record_type="resource"
        )
        for uri in pages
        for start in STARTS
    ]
    return [*made, warc(FILE, http(b"<a href=/one>1</a><a href=http://b.example/p>2</a>", HTML))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    (folder / "crawl.warc.gz").write_bytes(gzipped(records()))
    build_store(folder, folder / "links.db", ALONE)
    return folder


def originals(store: object, prefix: str = "") -> list[str]:
    return sorted({memento.original for memento in store.scan_mementos(prefix=Surt(prefix))})  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("selection", "number"),
    [
        pytest.param("host:a.example", 6, id="host"),
        pytest.param("domain:a.example", 6, id="domain"),
        pytest.param("*.a.example", 6, id="address"),
        pytest.param("uri:a.example/p?b=1", 6, id="URI"),
        pytest.param("uri:a.example/p*", 6, id="beginning of a URI"),
        pytest.param("uri:*example/p?b*", 6, id="asterisk in the middle"),
        pytest.param("host:*a.example", 6, id="asterisk in the host"),
        pytest.param("uri:urn:view:http://a.example/P?b=1", 1, id="record"),
        pytest.param(f"uri:{FILE}", 1, id="no host"),
        pytest.param("not host:*.example", 1, id="all others"),
    ],
)
def test_a_subset_of_a_page_has_the_records_about_it(
    folder: Path, selection: str, number: int
) -> None:
    with open_graph(str(folder / "links.db"), selection) as store:
        found = originals(store)
    assert len(found) == number
    assert all(("a.example" in uri) != (uri == FILE) for uri in found)


def test_a_sample_has_a_page_with_the_records_about_it(folder: Path) -> None:
    sizes = set()
    for seed in range(20):
        with open_graph(str(folder / "links.db"), f"sample:50% seed:{seed}") as store:
            found = [uri for uri in originals(store) if uri != FILE]
            sizes.add(len([uri for uri in found if "a.example" in uri]))
    assert sizes == {0, 6}


def test_an_embargo_of_a_page_hides_the_records_about_it(folder: Path) -> None:
    with open_store(str(folder / "links.db")) as store:
        shown = EmbargoedStore(store, Embargo(prefixes=(Surt("example,a)/"),)))
        assert [uri for uri in originals(shown) if "a.example" in uri] == []
        assert len(originals(shown)) == 7
        hidden = EmbargoedStore(store, Embargo(prefixes=(Surt("example"), Surt("file:/"))))
        assert originals(hidden) == []


def run(*arguments: str) -> str:
    result = CliRunner().invoke(group, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_an_export_of_a_host_has_the_records_about_its_pages(folder: Path, tmp_path: Path) -> None:
    into = tmp_path / "a.warc.gz"
    run(
        *("export", "--store", str(folder / "links.db"), "--format", "warc", "--into", str(into)),
        *("--subset", "host:a.example", "--archives", str(folder)),
    )
    report = build_store(tmp_path, tmp_path / "links.db", ALONE)
    assert report.counts[Reason.RECORD_INDEXED] == 6


def test_keys_in_cdx_files_are_those_of_the_package(folder: Path, tmp_path: Path) -> None:
    """A build that reads them finds nothing unusual, and makes its own keys."""
    into = tmp_path / "a.cdxj"
    run(*("export", "--store", str(folder / "links.db"), "--format", "cdxj", "--into", str(into)))
    keys = [line.split(" ")[0] for line in into.read_text().splitlines()]
    assert keys == sorted(keys)
    assert {"urn:view:http://b.example/p", "file:/dom-snapshot.html"} <= {*keys}
    (tmp_path / "crawl.warc.gz").write_bytes(gzipped(records()))
    report = build_store(tmp_path, tmp_path / "links.db", ALONE, cdx=[into])
    assert report.counts[Reason.NOTE_SURT_OTHER] == 0
    with open_store(str(tmp_path / "links.db")) as store:
        assert len(originals(store, "example,b)/p")) == 6
    into.write_text(into.read_text().replace("file:/dom", "file:/xxx"))
    build_store(tmp_path, tmp_path / "other.db", ALONE, cdx=[into])
    other = build_store(tmp_path, tmp_path / "third.db", ALONE, cdx=[into])
    assert other.counts[Reason.NOTE_SURT_OTHER] == 1


def test_a_uri_without_a_host_can_be_asked_by_every_command(folder: Path) -> None:
    store = ("--store", str(folder / "links.db"))
    said = run("links", FILE, *store, "--direction", "out", "--format", "jsonl")
    assert "file:///one" in said
    assert "http://b.example/p" in said
    assert FILE in run("explain", FILE, *store)
    assert "<a href=/one>" in run("get", FILE, *store, "--archives", str(folder))
    assert run("get", "urn:view:http://www.a.example/P?b=1", *store, "--archives", str(folder))
    assert FILE in run("timemap", FILE, *store)
    assert "1" in run("count", f"uri:{FILE}", *store)
    assert run("forget", "file:/dom-snapshot.html", *store, "--dry-run").startswith("file:/dom")


def test_a_uri_without_a_host_can_be_asked_by_every_resource(folder: Path) -> None:
    client = create_app(str(folder / "links.db"), Settings(archives=(str(folder),))).test_client()
    query = {"uri": FILE, "format": "json"}
    answer = client.get("/linkQuery", query_string=query).get_json()
    assert {link["uri"] for link in answer["outlinks"]} == {"file:///one", "http://b.example/p"}
    for path in (
        f"/web/20200102030405id_/{FILE}",
        f"/timemap/json/{FILE}",
        f"/explain?uri={FILE}",
        f"/cdx?url={FILE}",
        f"/?uri={FILE}",
    ):
        response = client.get(path)
        assert response.status_code == 200, path
        assert b"snapshot" in response.data or b"/one" in response.data


@pytest.mark.parametrize("is_read", [False, True])
def test_files_attached_to_a_page_of_a_wacz_are_not_read_by_default(
    is_read: bool, tmp_path: Path
) -> None:
    """Scoop attaches the rendered page, which has the links of the page."""
    page = b"<a href=http://b.example/p>2</a>"
    made = [warc("http://a.example/", http(page, HTML)), warc(FILE, http(page + b"!", HTML))]
    with zipfile.ZipFile(tmp_path / "scoop.wacz", "w") as zipped:
        zipped.writestr("archive/data.warc.gz", gzipped(made))
        zipped.writestr("datapackage.json", "{}")
    settings = replace(ALONE, rules=Rules(attachments=is_read))
    report = build_store(tmp_path / "scoop.wacz", tmp_path / "links.db", settings)
    assert report.counts[Reason.MEMENTO_ATTACHMENT] == (not is_read)
    with open_store(str(tmp_path / "links.db")) as store:
        assert len(list(store.inlinks(Surt("example,b)/p")))) == 1 + is_read
        assert len(list(store.mementos(Surt("file:/dom-snapshot.html")))) == 1


def test_a_prefix_selects_rows_whose_keys_were_made_by_other_rules(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(
        gzipped([warc("http://www3288.com/", http(b"<a href=/b>b</a>", HTML))])
    )
    settings = replace(ALONE, rules=Rules(prefixes=("com,www3288)/",)))
    assert settings.key_prefixes()[0] == "com"
    report = build_store(tmp_path, tmp_path / "links.db", settings)
    assert report.counts[Reason.ROW_KEPT] == 1
