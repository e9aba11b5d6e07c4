"""Whole builds in which tasks do what they do on an engine."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from arclink.demo import write_demo_archive
from arclink.errors import InputError
from arclink.extract.settings import ExtractSettings
from arclink.model import ALL_TIME, Checksum, Forgotten, Payload, Surt, UriR
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.store.location import open_store
from arclink.store.protocols import Takedown
from arclink.store.sqlite.store import SqliteStore
from benchmarks.built_stores import build_store
from tests.archives.made_archives import warc
from tests.pipeline.batch_orders import DIGEST, HTML, links_of, page, revisit, row
from tests.pipeline.cdx_of_files import cdx_of
from tests.pipeline.store_contents import graph_of


def test_rows_that_tasks_share_out_give_the_same_store(tmp_path: Path) -> None:
    """One archive file has no rows, so that it is indexed; each batch has one file."""
    archive = tmp_path / "archive"
    write_demo_archive(archive, captures=60, hosts=4, seed=2)
    names = sorted(path.name for path in archive.glob("*.warc*"))
    cdx = cdx_of(archive, names[1:], tmp_path / "all.cdxj")
    with cdx.open("ab") as rows:
        rows.write(b"not a row\n")
    (conf := tmp_path / "mrjob.conf").write_text("runners: {}\n")
    settings = BuildSettings(batch_bytes=1, cores=2)
    graphs, counts = [], []
    for name, engine in (("here", None), ("there", conf)):
        store = tmp_path / f"{name}.db"
        first = build_store(archive, store, settings, [str(archive / names[1])], [cdx], engine)
        report = build_store(archive, store, settings, (), [cdx], engine)
        counts.append((first.counts, report.counts))
        for some in counts[-1]:
            del some[Reason.FILE_OPENED]  # two tasks may read one file
        assert not store.with_suffix(".build").exists()
        with open_store(str(store)) as opened:
            graphs.append(graph_of(opened))
    assert graphs[0] == graphs[1]
    assert counts[0] == counts[1]


def test_rows_of_other_files_are_refused_as_they_are_here(tmp_path: Path) -> None:
    write_demo_archive(tmp_path / "archive", captures=20, hosts=2, seed=2)
    cdx = tmp_path / "all.cdx"
    cdx.write_text("org,a)/ 2010 http://a.org/ text/html 200 A - - 10 0 other.warc\n")
    (conf := tmp_path / "mrjob.conf").write_text("runners: {}\n")
    with pytest.raises(InputError, match=r"^no row of .*all\.cdx names one of the given"):
        build_store(tmp_path / "archive", tmp_path / "a.db", BuildSettings(), (), [cdx], conf)


def forget_some(store: Path) -> None:
    what = Forgotten(Surt("example,kalvik2010)/lists"), ALL_TIME)
    with open_store(str(store), create=True) as opened:
        removed = opened.forget(Takedown(what, "", "2026-01-01T00:00:00Z"))
        assert removed.payloads


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Checksum]:
    """Return a list that gets the checksum of each question to a SQLite store."""
    checksums: list[Checksum] = []
    known_contents, originals_of = SqliteStore.known_contents, SqliteStore.originals_of

    def noted_contents(
        store: SqliteStore, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        pointers = list(wanted)
        checksums.extend(checksum for checksum, _ in pointers)
        return known_contents(store, pointers)

    def noted_originals(store: SqliteStore, checksum: Checksum) -> Iterator[UriR]:
        checksums.append(checksum)
        return originals_of(store, checksum)

    monkeypatch.setattr(SqliteStore, "known_contents", noted_contents)
    monkeypatch.setattr(SqliteStore, "originals_of", noted_originals)
    return checksums


@pytest.mark.parametrize("are_forgotten", [False, True], ids=["later", "after a takedown"])
def test_the_driver_asks_what_a_store_on_this_machine_knows(
    are_forgotten: bool, tmp_path: Path, asked: list[Checksum]
) -> None:
    """Two batches in one build, and three in the next; it asks the same with and without tasks."""
    archive = tmp_path / "archive"
    write_demo_archive(archive, captures=60, hosts=4, seed=2)
    names = sorted(path.name for path in archive.glob("*.warc*"))
    (conf := tmp_path / "mrjob.conf").write_text("runners: {}\n")
    settings = BuildSettings(batch_bytes=1, cores=2)
    graphs, counts, questions = [], [], []
    for name, engine in (("here", None), ("there", conf)):
        store = tmp_path / f"{name}.db"
        inputs = [str(archive / file) for file in names[:2]]
        first = build_store(archive, store, settings, inputs, (), engine)
        if are_forgotten:
            forget_some(store)
        asked.clear()
        second = build_store(archive, store, settings, (), (), engine)
        counts.append((first.counts, second.counts))
        for some in counts[-1]:
            del some[Reason.FILE_OPENED]  # two tasks may read one file
        questions.append(len(asked))
        with open_store(str(store)) as opened:
            graphs.append(graph_of(opened))
    assert graphs[0] == graphs[1]
    assert counts[0] == counts[1]
    assert counts[0][1][Reason.PAYLOAD_KNOWN]
    assert questions[0] == questions[1] > 20


def test_the_driver_asks_about_digested_captures_and_recorded_links_too(
    tmp_path: Path, asked: list[Checksum]
) -> None:
    """A revisit waits for a payload whose row has no checksum; another one has recorded links."""
    archive = tmp_path / "archive"
    archive.mkdir()
    digest = f"WARC-Payload-Digest: {DIGEST}"
    links = warc(
        "http://h.example/c/",
        b"outlink: http://h.example/recorded L a/@href",
        "WARC-Concurrent-To: <urn:1>",
        record_type="metadata",
    )
    other = "WARC-Payload-Digest: sha1:" + "A" * 32
    (archive / "a.warc").write_bytes(revisit("http://h.example/b/", 2, digest))
    (archive / "b.warc").write_bytes(page("http://h.example/a/", 1))
    (archive / "c.warc").write_bytes(
        revisit("http://h.example/c/", 3, other, "WARC-Record-ID: <urn:1>", headers=(HTML,)) + links
    )
    cdx = tmp_path / "rows.cdx"
    cdx.write_text(
        row("http://h.example/b/", 2, "a.warc", 0, mime="warc/revisit")
        + row("http://h.example/a/", 1, "b.warc", 0, "-")
        + row("http://h.example/c/", 3, "c.warc", 0, "A" * 32, mime="warc/revisit")
    )
    (conf := tmp_path / "mrjob.conf").write_text("runners: {}\n")
    extract = ExtractSettings(heritrix_outlinks=True)
    settings = BuildSettings(extract=extract, batch_bytes=1, cores=2)
    graphs, questions = [], []
    for name, engine in (("here", None), ("there", conf)):
        store = tmp_path / f"{name}.db"
        asked.clear()
        build_store(archive, store, settings, (), [cdx], engine)
        questions.append(len(asked))
        with open_store(str(store)) as opened:
            graphs.append(graph_of(opened))
            surts = ("example,h)/b", "example,h)/c")
            assert links_of(opened, *surts) == {
                ("http://h.example/b/", "02"): ["http://h.example/b/next.html"],
                ("http://h.example/c/", "03"): ["http://h.example/recorded"],
            }
    assert graphs[0] == graphs[1]
    assert questions[0] > questions[1] > 0  # tasks know that an empty store knows nothing
