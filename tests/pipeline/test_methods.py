"""Answers to other methods than GET, from archive file to answers and exports."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.access.captures import CaptureQuery, answer_captures
from arclink.access.evidence import explain
from arclink.captures.locate import capture_at, capture_near, find_capture
from arclink.captures.read import PageReader
from arclink.cli.main import group
from arclink.errors import CaptureError
from arclink.filter.rules import Rules
from arclink.model import Surt, Timestamp, UriR
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from arclink.uris.surts import surt_of
from benchmarks.built_stores import build_store
from tests.archives.made_archives import gzipped, http, request, response, warc
from tests.pipeline.store_contents import graph_of

ALONE = BuildSettings(runner="inline", cores=1)
URI = "http://a.example/p"
SECOND = "2020-02-02T03:04:05Z"
METHODS = ("HEAD", "OPTIONS", "POST", "PUT")  # of the URI, in the order of their keys
PAGE = '<a href="/one">One</a>'


def records() -> list[bytes]:
    """Return a preflight, the page, a HEAD, and the answers to two POST, one equal to the page."""
    empty = warc(URI, http(b"", "Content-Length: 0"), "WARC-Record-ID: <urn:x:1>")
    redirect = http(b"moved", "Location: /thanks", status="303 See Other")
    return [
        empty,
        request("OPTIONS"),
        response(PAGE),
        request("GET"),
        response('<a href="/posted">Posted</a>', date=SECOND),
        request("POST", date=SECOND),
        response(PAGE, date=SECOND),
        request("PUT", date=SECOND),
        request("HEAD", date=SECOND),
        warc(URI, http(b"", "Content-Type: text/html"), date=SECOND),
        warc("http://a.example/form?a=1", redirect),
        request("POST", uri="http://a.example/form?a=1"),
    ]


def built(folder: Path, contents: Sequence[bytes], rules: Rules | None = None) -> Path:
    archive = folder / "archive"
    archive.mkdir()
    (archive / "a.warc.gz").write_bytes(gzipped(contents))
    store = folder / "links.db"
    settings = BuildSettings(runner="inline", cores=1, rules=rules or Rules())
    report = build_store(archive, store, settings)
    if rules is None:
        assert report.counts[Reason.MEMENTO_METHOD] == 5
    return store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return built(tmp_path, records())


def test_only_the_answer_to_get_answers_for_the_uri(store: Path) -> None:
    with open_store(str(store)) as graph:
        surt = surt_of(URI)
        assert [one.timestamp for one in graph.mementos(surt)] == ["20200102030405"]
        for found in (
            find_capture(graph, URI),
            find_capture(graph, URI, "2020-02-02T03:04:05Z"),
            capture_near(graph, URI, Timestamp("20200202030405")),
            capture_at(graph, URI, Timestamp("20200102030405")),
        ):
            assert found is not None
            with PageReader(graph).read(found) as page:
                assert b"".join(page.decoded()) == PAGE.encode()
        assert [link.target for link in graph.inlinks(surt_of("http://a.example/one"))] != []
        assert list(graph.inlinks(surt_of("http://a.example/posted"))) == []
        assert list(graph.inlinks(surt_of("http://a.example/thanks"))) == []
        with pytest.raises(CaptureError):
            find_capture(graph, "http://a.example/form?a=1")
        assert list(graph.verify()) == []


def test_a_method_before_the_uri_names_the_captures_that_answer_it(store: Path) -> None:
    with open_store(str(store)) as graph:
        found = find_capture(graph, f"POST {URI}")
        assert (found.surt, found.original, found.reason) == (
            "example,a)/p POST",
            URI,
            "MEMENTO_METHOD",
        )
        with PageReader(graph).read(found) as page:
            assert b"".join(page.decoded()) == b'<a href="/posted">Posted</a>'
        with pytest.raises(CaptureError):
            find_capture(graph, f"DELETE {URI}")


def test_explain_lists_the_captures_of_all_methods(store: Path) -> None:
    with open_store(str(store)) as graph:
        assert [(one.memento.surt, one.reason.name) for one in explain(graph, URI)] == [
            ("example,a)/p", "PAYLOAD_READ"),
            *(
                (f"example,a)/p {method}", "MEMENTO_METHOD")
                for method in ("OPTIONS", "HEAD", "POST", "PUT")
            ),
        ]
        assert len(list(explain(graph, f"POST {URI}"))) == 1


def test_lists_of_many_uris_have_all_captures_with_their_methods(store: Path) -> None:
    with open_store(str(store)) as graph:
        query = CaptureQuery.from_parameters([("url", "a.example/*"), ("output", "json")])
        rows = [json.loads(line) for line in answer_captures(graph, query).lines()]
        assert [(row["url"], row.get("method", "")) for row in rows] == [
            ("http://a.example/form?a=1", "POST"),
            (URI, ""),
            *((URI, method) for method in METHODS),
        ]
        exact = CaptureQuery.from_parameters([("url", URI), ("output", "cdxj")])
        assert b"method" not in b"".join(answer_captures(graph, exact).lines())
        named = CaptureQuery.from_parameters([("url", "a.example/*"), ("filter", "=method:POST")])
        lines = list(answer_captures(graph, named).lines())
        assert [line.split(b" ", 1)[0] for line in lines] == [
            b"example,a)/form?a=1%20POST",
            b"example,a)/p%20POST",
        ]


@pytest.mark.parametrize("form", ["warc", "wacz", "cdxj"])
def test_an_export_gives_the_same_graph(form: str, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    name = {"warc": "x.warc.gz", "wacz": "x.wacz", "cdxj": "x.cdxj"}[form]
    arguments = ["export", "--store", str(store), "--format", form, "--into", str(out / name)]
    assert CliRunner().invoke(group, arguments).exit_code == 0
    with open_store(str(store)) as before:
        expected = graph_of(before)
        wanted = [(one.surt, one.original, one.timestamp) for one in before.scan_mementos()]
    inputs = [str(out)]
    cdx: list[Path] = []
    if form == "cdxj":
        inputs, cdx = [str(tmp_path / "archive")], [out / name]
    else:
        for index in out.glob("*.cdxj"):  # the methods must be in the records
            index.unlink()
    again = tmp_path / "again.db"
    build_store(tmp_path, again, ALONE, inputs=inputs, cdx=cdx)
    with open_store(str(again)) as after:
        assert [(one.surt, one.original, one.timestamp) for one in after.scan_mementos()] == wanted
        assert graph_of(after) == expected


def test_a_stream_of_warc_records_gives_the_same_graph(store: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(group, ["stream", "--store", str(store), "--format", "warc"])
    (tmp_path / "stream.warc").write_bytes(done.stdout_bytes)
    again = tmp_path / "again.db"
    build_store(tmp_path, again, ALONE, inputs=[str(tmp_path / "stream.warc")])
    with open_store(str(store)) as before, open_store(str(again)) as after:
        wanted = [(one.surt, one.original) for one in before.scan_mementos()]
        assert [(one.surt, one.original) for one in after.scan_mementos()] == wanted


@pytest.mark.parametrize("prefix", ["example,a)/form?a=1", "example,a)/p", "example,a)/p POST"])
def test_a_takedown_removes_answers_to_all_methods(prefix: str, store: Path) -> None:
    with open_store(str(store)) as graph:
        left = [one for one in graph.scan_mementos() if not one.surt.startswith(prefix)]
    done = CliRunner().invoke(group, ["forget", prefix, "--store", str(store)])
    assert done.exit_code == 0
    with open_store(str(store)) as graph:
        assert list(graph.scan_mementos()) == left
        assert list(graph.verify()) == []


@pytest.mark.parametrize(
    ("selection", "methods"),
    [
        (f'uri:"{URI}"', ["", *METHODS]),
        ("uri:http://a.example/p/*", ["", *METHODS]),
        ("host:a.example", ["POST", "", *METHODS]),
        ("method:POST", ["POST", "POST"]),
        ("method:get", [""]),
        ("uri:http://a.example/p and not method:get", [*METHODS]),
    ],
)
def test_subsets_select_answers_to_all_methods(
    selection: str, methods: list[str], store: Path, tmp_path: Path
) -> None:
    out = tmp_path / "x.csv"
    arguments = ["export", "--store", str(store), "--subset", selection, "--into", str(out)]
    done = CliRunner().invoke(group, [*arguments, "--format", "captures-csv"])
    assert done.exit_code == 0, done.output
    with out.open() as rows:
        assert [row["method"] for row in csv.DictReader(rows)] == methods


def test_an_embargo_hides_answers_to_all_methods(store: Path) -> None:
    with open_store(str(store)) as graph:
        hidden = EmbargoedStore(graph, Embargo(prefixes=(surt_of(URI),)))
        assert [one.surt for one in hidden.scan_mementos()] == ["example,a)/form?a=1 POST"]


def test_the_rules_may_take_answers_to_post_for_captures_of_the_uri(tmp_path: Path) -> None:
    store = built(tmp_path, records(), Rules(methods=("GET", "POST")))
    with open_store(str(store)) as graph:
        assert len(list(graph.mementos(surt_of(URI)))) == 2
        assert [link.target for link in graph.inlinks(surt_of("http://a.example/posted"))]
        assert list(graph.verify()) == []


def test_a_request_in_an_index_of_all_records_is_not_a_capture(tmp_path: Path) -> None:
    """The index lists each request, as pywb does if it includes all records."""
    posted = warc(
        "http://a.example/form",
        b"POST /form HTTP/1.1\r\nHost: a.example\r\n\r\nq=a",
        record_type="request",
    )
    parts = [response(PAGE), request("GET"), posted]
    (tmp_path / "a.warc").write_bytes(b"".join(parts))
    offsets = [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    rows = [
        {"url": URI, "mime": "text/html", "status": "200", "digest": "A" * 32},
        {"url": URI, "mime": "-", "status": "-", "digest": "B" * 32},
        {
            "url": "http://a.example/form",
            "mime": "application/x-www-form-urlencoded",
            "status": "-",
            "digest": "C" * 32,
        },
    ]
    cdx = tmp_path / "a.cdxj"
    cdx.write_text(
        "".join(
            f"{surt_of(str(row['url']))} 20200102030405 "
            + json.dumps({**row, "offset": str(offset), "filename": "a.warc"})
            + "\n"
            for row, offset in zip(rows, offsets, strict=True)
        )
    )
    store = tmp_path / "links.db"
    report = build_store(tmp_path, store, ALONE, inputs=[str(tmp_path / "a.warc")], cdx=[cdx])
    assert report.counts[Reason.PAYLOAD_NOT_A_CAPTURE] == 2
    with open_store(str(store)) as graph:
        assert [(one.original, one.offset) for one in graph.scan_mementos()] == [(UriR(URI), 0)]
        assert list(graph.captured_surts(Surt(""))) == [surt_of(URI)]
        assert list(graph.verify()) == []
