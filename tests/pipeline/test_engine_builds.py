"""Whole builds in which tasks do what they do on an engine."""

from pathlib import Path

import pytest

from arclink.demo import write_demo_archive
from arclink.errors import InputError
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from tests.pipeline.cdx_of_files import cdx_of
from tests.pipeline.store_contents import build_store, graph_of


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
