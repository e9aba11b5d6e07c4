"""The notebook: its stored outputs are those of a run, and it runs on other archives."""

import os
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import arclink
from tests.pipeline.conftest import demo, store

__all__ = ["demo", "store"]  # fixtures

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs/how-to/olympics.ipynb"
_THE_LINE = re.compile(r'ARCHIVE = "".*')


def read() -> nbformat.NotebookNode:
    return nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-any-return,no-untyped-call]


def outputs_of(notebook: nbformat.NotebookNode) -> list[list[dict[str, str]]]:
    """Return the outputs of each code cell by media type; what is printed is one, as ``text``.

    A kernel may send what a cell prints in several parts.
    """
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            outputs: list[dict[str, str]] = []
            for output in cell.outputs:
                if "text" not in output:
                    outputs.append(dict(output.get("data", {})))
                elif outputs and "text" in outputs[-1]:
                    outputs[-1]["text"] += output.text
                else:
                    outputs.append({"text": output.text})
            cells.append(outputs)
    return cells


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, archive: Path | None = None) -> list[str]:
    """Run the notebook in ``folder``, with its one line changed; return the text of its outputs."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    notebook = read()
    if archive is not None:
        (cell,) = (one for one in notebook.cells if _THE_LINE.match(one.source))
        cell.source = _THE_LINE.sub(lambda _: f"ARCHIVE = {str(archive)!r}", cell.source)
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    (folder / "run.ipynb").write_text(nbformat.writes(notebook))  # type: ignore[no-untyped-call]
    return ["".join("".join(one.values()) for one in cell) for cell in outputs_of(notebook)]


def test_it_is_stored_with_outputs_and_pictures_and_says_nothing_of_a_machine() -> None:
    notebook = read()
    nbformat.validate(notebook)
    kinds = {kind for cell in outputs_of(notebook) for output in cell for kind in output}
    assert {"text", "text/plain", "text/html", "image/svg+xml"} <= kinds
    assert not re.search(r"/(home|root|tmp|work|usr|Users)/", NOTEBOOK.read_text())
    assert not any("error" in str(one.get("output_type")) for one in notebook.cells)


def test_its_outputs_are_those_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, monkeypatch)
    done = nbformat.read(tmp_path / "run.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    assert outputs_of(done) == outputs_of(read())


def test_it_runs_on_a_wacz_when_one_line_is_changed(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wacz = tmp_path / "own.wacz"
    with arclink.open(store) as graph:
        graph.export_captures(wacz, "wacz", from_="201002")
    said = "".join(run(tmp_path, monkeypatch, wacz))
    (mementos,) = re.findall(r"^(\d+) mementos", said)
    assert 50 < int(mementos) < 300  # some are not in it
    assert "2010-02 with 2010-03" in said
    assert (tmp_path / "notebook-work/own/graph.gexf").exists()


def test_it_runs_on_a_real_site(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "".join(run(tmp_path, monkeypatch, shared_data / "flink_web"))
    assert "3647 mementos" in said
    assert "2017 with 2018" in said
    assert "flink.apache.org" in said
