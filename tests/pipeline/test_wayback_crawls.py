"""Crawls of a Wayback Machine give the graph of the original pages and times.

Builds are with and without CDX.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arclink.cli.build import show_counts
from arclink.cli.main import group
from arclink.errors import StoreError, UsageError
from arclink.extract.settings import ExtractSettings
from arclink.pipeline.build import BuildReport
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import gzipped, http, warc
from tests.pipeline.cdx_of_files import cdx_of
from tests.pipeline.store_contents import outlinks_of

ALONE = BuildSettings(runner="inline", cores=1)
UNWRAPPING = replace(ALONE, extract=ExtractSettings(wayback=()))
WEB = "http://web.archive.org/web"
T1, T2 = "20090102030405", "20100102030405"
HTML = "Content-Type: text/html"

ORIGINAL = (
    b'<html><head><title>x</title></head><body><a href="b.html">b</a> <a href="/c">c</a>'
    b' <a href="http://other.example/">o</a> <img src="/i.png"></body></html>'
)
REWRITTEN = (
    b'<html><head><script src="/static/js/ait.js"></script>'
    b"<!-- End Wayback Rewrite JS Include --><title>x</title></head><body>"
    b'<!-- BEGIN WAYBACK TOOLBAR INSERT --><a href="/web/">Wayback</a><!-- END WAYBACK '
    b"TOOLBAR INSERT -->"
    b'<a href="/web/20090102030405/http://h.example/d/b.html">b</a>'
    b' <a href="http://web.archive.org/web/20090102030405/http://h.example/c">c</a>'
    b' <a href="//web.archive.org/web/20090102030405/http://other.example/">o</a>'
    b' <img src="/web/20090102030405im_/http://h.example/i.png"></body></html>'
)
TARGETS = [
    "http://h.example/d/b.html",
    "http://h.example/c",
    "http://other.example/",
    "http://h.example/i.png",
]

RECORDS = [
    warc(f"{WEB}/{T1}id_/http://h.example/d/", http(ORIGINAL, HTML)),
    warc(f"{WEB}/{T2}/http://h.example/d/", http(REWRITTEN, HTML)),
    warc(
        f"{WEB}/{T1}/http://h.example/old",
        http(b"", f"Location: {WEB}/{T2}/http://h.example/new", status="302 Found"),
    ),
    warc("http://web.archive.org/web/*/http://h.example/", http(b"<a href=/x>x</a>", HTML)),
    warc(
        f"{WEB}/{T2}/http://h.example/again",
        http(b"", status="304 Not Modified"),
        "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified",
        f"WARC-Refers-To-Target-URI: {WEB}/{T1}/http://h.example/again",
        "WARC-Refers-To-Date: 2019-01-02T03:04:05Z",
        record_type="revisit",
    ),
    warc(f"{WEB}/{T1}/http://h.example/again", http(b"<a href=y>y</a>", HTML)),
]


def built(
    folder: Path, settings: BuildSettings, with_cdx: bool
) -> tuple[dict[tuple[str, str], list[str]], BuildReport]:
    (folder / "a.warc.gz").write_bytes(gzipped(RECORDS))
    cdx = [cdx_of(folder, ["a.warc.gz"], folder / "a.cdxj")] if with_cdx else []
    path = folder / "links.db"
    report = build_store(folder, path, settings, inputs=[str(folder / "a.warc.gz")], cdx=cdx)
    with open_store(str(path)) as store:
        links = outlinks_of(store, set(store.surts("")))  # type: ignore[arg-type]  # all
    return {page: [target for target, *_ in of or ()] for page, of in links.items()}, report


@pytest.mark.parametrize("with_cdx", [False, True], ids=["indexed", "with CDX"])
@pytest.mark.parametrize("prefixes", [(), ("web.archive.org/web",)], ids=["any", "prefix"])
def test_the_graph_is_that_of_the_original_pages(
    tmp_path: Path, prefixes: tuple[str, ...], with_cdx: bool
) -> None:
    settings = replace(ALONE, extract=ExtractSettings(wayback=prefixes))
    links, report = built(tmp_path, settings, with_cdx)
    assert links == {
        ("http://h.example/d/", T1): TARGETS,
        ("http://h.example/d/", T2): TARGETS,
        ("http://h.example/old", T1): ["http://h.example/new"],
        ("http://h.example/again", T1): ["http://h.example/y"],
        ("http://h.example/again", T2): ["http://h.example/y"],
        ("http://web.archive.org/web/*/http://h.example/", "20200102030405"): [
            "http://web.archive.org/x"
        ],
    }
    assert report.counts[Reason.NOTE_UNWRAPPED] == 5
    assert report.counts[Reason.NOTE_WAYBACK_URI] == 0


def test_without_the_option_captures_are_taken_literally_and_counted(tmp_path: Path) -> None:
    links, report = built(tmp_path, ALONE, with_cdx=False)
    assert (f"{WEB}/{T1}id_/http://h.example/d/", "20200102030405") in links
    assert report.counts[Reason.NOTE_WAYBACK_URI] == 5


def test_a_store_built_without_the_option_refuses_it_later(tmp_path: Path) -> None:
    built(tmp_path, ALONE, with_cdx=False)
    with pytest.raises(StoreError, match="unwrapped wayback"):
        built(tmp_path, UNWRAPPING, with_cdx=False)


def test_stages_one_by_one_do_what_filter_was_told(tmp_path: Path) -> None:
    archive, batch = tmp_path / "a.warc.gz", tmp_path / "batch"
    archive.write_bytes(gzipped(RECORDS))

    def run(*words: str | Path) -> Result:
        given = [*map(str, words), "--into", str(batch), "--runner", "inline"]
        done = CliRunner().invoke(group, given, catch_exceptions=False)
        assert done.exit_code == 0
        return done

    run("index", archive)
    run("filter", "--wayback-prefix", "web.archive.org/web", "--prefix", "example,h)/d")
    run("extract", archive)
    printed = run("graph").stdout
    links = [
        line
        for path in batch.glob("graph/outlinks/part-*")
        for line in path.read_text("utf-8").splitlines()
    ]
    assert "8  kept" in printed
    assert links
    assert not any("web.archive.org" in line for line in links)


@pytest.mark.parametrize(
    ("wrapped", "others", "has_hint"),
    [(10, 0, True), (9, 0, False), (10, 990, True), (10, 991, False)],
)
def test_many_captures_of_a_wayback_machine_get_a_hint(
    wrapped: int, others: int, has_hint: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    show_counts(Counter({Reason.ROW_KEPT: wrapped + others, Reason.NOTE_WAYBACK_URI: wrapped}))
    assert ("--unwrap-wayback" in capsys.readouterr().out) is has_hint


def test_a_prefix_that_names_no_host_is_refused() -> None:
    given = ["build", "x.warc", "--store", "x.db", "--wayback-prefix", "/web"]
    with pytest.raises(UsageError, match="--wayback-prefix '/web': not the beginning of a URI"):
        CliRunner().invoke(group, given, catch_exceptions=False)
