"""Exports, read by programs in Java: Gephi's own importer, and WebGraph."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import networkx as nx
import pytest

from arclink.analysis.export.exports import export
from arclink.analysis.export.queries import ExportQuery
from arclink.store.location import open_store
from tests.engines.conftest import ROOT, engines_folder, needs, run_script
from tests.pipeline.conftest import demo, store

__all__ = ["demo", "store"]  # fixtures


@pytest.fixture(autouse=True)
def readers() -> None:
    needs(engines_folder() / "readers" / "jars" / "read-gexf.jar")


def exported(store: Path, path: Path, form: str, **parameters: str) -> Path:
    with open_store(str(store)) as opened:
        export(opened, ExportQuery.from_parameters([("format", form), *parameters.items()]), path)
    return path


def read_by_gephi(path: Path) -> list[list[str]]:
    command = [str(ROOT / "engines" / "readers.sh"), "gexf", str(path)]
    done = subprocess.run(
        command, env=dict(os.environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def moments(day: str) -> str:
    """Return the beginning of a day as Gephi has it: milliseconds; of no day the end of time."""
    return (
        "Infinity"
        if day == "None"
        else str(float(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000))
    )


@pytest.mark.parametrize("spells", ["observed", "in-force"])
def test_gephi_imports_gexf_with_every_spell(spells: str, store: Path, tmp_path: Path) -> None:
    path = exported(store, tmp_path / "demo.gexf", "gexf", level="domain", spells=spells)
    graph, *rows = read_by_gephi(path)
    by_networkx = nx.read_gexf(path, version="1.3")
    nodes, links = by_networkx.number_of_nodes(), by_networkx.number_of_edges()
    assert graph == ["graph", "true", str(nodes), str(links), "true", "INTERVAL"]
    assert [row for row in rows if row[0] == "issue" and row[1] != "INFO"] == []
    labels = dict(by_networkx.nodes(data="label"))
    expected = {
        (labels[source], labels[target]): (
            str(data["weight"]),
            "<"
            + "; ".join(f"[{moments(start)}, {moments(end)}]" for start, end in data["spells"])
            + ">",
        )
        for source, target, data in by_networkx.edges(data=True)
    }
    assert {(row[1], row[2]): tuple(row[3:]) for row in rows if row[0] == "link"} == expected


def test_webgraph_compresses_arcs_and_gives_them_back(store: Path, tmp_path: Path) -> None:
    path = exported(store, tmp_path / "demo.arcs", "arcs", level="uri")
    run_script("readers.sh", "webgraph", path, tmp_path / "web")
    assert (tmp_path / "web.arcs").read_text() == path.read_text()
    properties = (tmp_path / "web.properties").read_text().splitlines()
    nodes = len(path.with_name("demo.arcs.names").read_text("utf-8").splitlines())
    assert {f"nodes={nodes}", f"arcs={len(path.read_text().splitlines())}"} <= set(properties)
