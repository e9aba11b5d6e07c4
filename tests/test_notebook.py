"""The notebook runs completely, on the demo archive and on the captures of a real site."""

import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from arclink.pipeline.settings import BuildSettings
from benchmarks.built_stores import build_store
from tests.pipeline.conftest import demo, store

__all__ = ["demo", "store"]  # fixtures

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs/how-to/olympics.ipynb"


def run(folder: Path, demo_store: Path, flink: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run the notebook in ``folder``; return the output of each of its code cells, in order."""
    monkeypatch.setenv("ARCLINK_DEMO", str(demo_store))
    monkeypatch.setenv("ARCLINK_FLINK", str(flink))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    return [
        "".join(
            output.get("text", "") or output.get("data", {}).get("text/plain", "")
            for output in cell.outputs
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_it_holds_no_output() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    assert [
        cell.outputs
        for cell in notebook.cells
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count)
    ] == []


def test_it_analyses_the_demo_archive_and_says_that_the_other_is_missing(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, captured, ranks, months, words, first, picture, *flink = run(
        tmp_path, store, tmp_path / "none.db", monkeypatch
    )
    assert captured.startswith("300 mementos of 158 URIs")
    assert "kalvik2010.example" in ranks
    assert "200911 with 200912" in months
    assert "Opening ceremony set for 12 February" in words
    assert "2010-02-13 7 links to the page in force" in first
    assert (tmp_path / "domains.gexf").exists()
    assert "--min-count 2" in picture
    assert all("no results" in said for said in flink)


def test_it_analyses_the_captures_of_apache_flink(
    shared_data: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flink = tmp_path / "flink.db"
    files = sorted(map(str, (shared_data / "flink_web").glob("*.warc.gz")))
    build_store(shared_data, flink, BuildSettings(cores=2), files)
    *_, ranks, agreement, words = run(tmp_path, store, flink, monkeypatch)
    assert "3647 mementos" in ranks
    assert "2017 with 2018" in agreement
    assert "Downloads" in words or "Download" in words
