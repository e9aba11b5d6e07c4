"""A payload of very many URIs is divided among the tasks of join, and the graph is the same."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from arclink.filter import selection
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import gzipped, http, warc
from tests.pipeline.store_contents import graph_of

BODIES = {
    "relative": b"<a href=next>a</a><a href=/>b</a><a href=//c.example/>c</a>",
    "origin": b"<a href=/>b</a>",
    "scheme": b"<a href=//c.example/>c</a>",
    "nothing relative": b"<a href=http://c.example/>c</a>",
}


def uris(first: int) -> Iterator[str]:
    """Yield 90 URIs; other numbers give further pages of the same hosts, and of others."""
    for number in range(first, first + 90):
        scheme = ("http", "https", "HTTP", "ftp")[number % 4]
        yield f"{scheme}://h{number % 40}.example/{number % 7}/{number}.html"


def write(path: Path, first: int) -> None:
    records = [
        warc(uri, http(body, "Content-Type: text/html"), f"WARC-Payload-Digest: sha1:{name:A<32}")
        for name, body in zip("ABCD", BODIES.values(), strict=True)
        for uri in uris(first)
    ]
    path.write_bytes(gzipped(records))


@pytest.mark.parametrize("conf", [None, "runners: {}\n"], ids=["this machine", "tasks choose"])
@pytest.mark.parametrize("batches", [1, 2])
def test_a_divided_payload_gives_the_graph_of_one_task(
    batches: int, conf: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second batch has originals of origins that the first one had."""
    archive = tmp_path / "archive"
    archive.mkdir()
    write(archive / "one.warc.gz", 0)
    write(archive / "two.warc.gz", 60)
    (tmp_path / "mrjob.conf").write_text(conf or "")
    settings = BuildSettings(cores=2, batch_bytes=1 if batches == 2 else 1 << 30)
    if conf is None:
        settings = BuildSettings(runner="inline", cores=1, batch_bytes=settings.batch_bytes)
    engine = tmp_path / "mrjob.conf" if conf else None

    def graph(name: str) -> object:
        report = build_store(archive, tmp_path / name, settings, conf=engine)
        assert report.batches == batches
        with open_store(str(tmp_path / name)) as store:
            return report.counts, graph_of(store)

    expected = graph("whole.db")
    parts: set[str] = set()
    by_part = selection._by_part

    def noted(originals: Iterable[str]) -> Iterator[tuple[list[str], str]]:
        for portion, part in by_part(originals):
            parts.add(part)
            yield portion, part

    monkeypatch.setattr(selection, "_by_part", noted)
    monkeypatch.setattr(selection, "ORIGINALS", 10)
    monkeypatch.setattr(selection, "UNDIVIDED", 2)
    assert graph("divided.db") == expected
    if conf is None:
        assert len(parts) > 20
