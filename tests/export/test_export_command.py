"""``arclink export``: its output, its refusals, and no incomplete files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arclink.access.kinds import NAVIGATION, kinds_line
from arclink.access.queries import BadParameterError
from arclink.analysis.export import exports as exporting
from arclink.analysis.export.exports import export
from arclink.analysis.export.queries import ExportFormat, ExportQuery
from arclink.cli.main import group
from arclink.errors import ExportError
from arclink.store.location import open_store
from tests.store.memory_store import MemoryStore, Page


def run(store: Path, *options: object) -> Result:
    return CliRunner().invoke(group, ["export", "--store", str(store), *map(str, options)])


def test_the_summary_counts_what_was_written_and_left_out(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "links.gexf"
    done = run(
        store,
        "--format",
        "gexf",
        "--into",
        path,
        "--min-count",
        "3",
        "--top",
        "5",
        "--to",
        "20100301",
    )
    assert done.exit_code == 0, done.output
    manifest = json.loads((tmp_path / "links.gexf.json").read_bytes())
    counts = manifest["counts"]
    first, kinds, *cuts = done.output.splitlines()
    assert kinds == kinds_line(NAVIGATION)
    assert first == f"{counts['nodes']} nodes, {counts['links']} links"
    assert cuts[:2] == [
        f"{cut['rule']} left out {cut['nodes']} nodes and {cut['links']} links"
        for cut in manifest["cut"]
    ]
    assert [cut["rule"] for cut in manifest["cut"]] == ["--min-count 3", "--top 5"]
    assert (
        manifest["format"],
        manifest["level"],
        manifest["from"],
        manifest["to"],
        manifest["spells"],
    ) == (
        "gexf",
        "host",
        None,
        "20100301235959",
        "observed",
    )
    assert manifest["files"] == {"links.gexf": path.stat().st_size}
    assert manifest["cut"][0]["rule"] in path.read_text("utf-8")  # the picture says so itself


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        pytest.param({"format": "docx"}, "parquet, csv", id="format"),
        pytest.param({"format": "gexf", "level": "page"}, "uri, host or domain", id="level"),
        pytest.param(
            {"format": "parquet", "level": "host"}, "one row per link", id="level of a table"
        ),
        pytest.param(
            {"format": "csv", "top": "5"},
            "only graphml, gexf, arcs can be cut",
            id="cut of a table",
        ),
        pytest.param(
            {"format": "csv", "min-count": "5"}, "single links", id="count of a table of links"
        ),
        pytest.param(
            {"format": "graphml", "spells": "observed"}, "only gexf has spells", id="spells"
        ),
        pytest.param(
            {"format": "gexf", "at": "2010", "spells": "observed"},
            "one time has no spells",
            id="spells at a time",
        ),
        pytest.param({"format": "gexf", "min-count": "0"}, "a number from 1 on", id="count"),
        pytest.param({"format": "gexf", "backbone": "2"}, "at most 1", id="share"),
        pytest.param(
            {"format": "gexf", "from": "2011", "to": "2010"}, "not after to=2010", id="window"
        ),
        pytest.param({"format": "gexf", "from": "soon"}, "1 to 14 digits", id="time"),
        pytest.param(
            {"format": "gexf", "at": "2010", "to": "2011"},
            "cannot be used with from or to",
            id="time and window",
        ),
    ],
)
def test_impossible_options_are_refused(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(BadParameterError, match=message):
        ExportQuery.from_parameters(parameters.items())


def test_a_window_without_captures_says_when_there_are_some(store: Path, tmp_path: Path) -> None:
    query = ExportQuery.from_parameters([("format", "csv"), ("from", "1999"), ("to", "2001")])
    with (
        open_store(str(store)) as opened,
        pytest.raises(ExportError, match="from 20091101060001 to 20100328060102"),
    ):
        export(opened, query, tmp_path / "links.csv")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store_is_named_without_a_time(tmp_path: Path) -> None:
    query = ExportQuery.from_parameters([("format", "csv")])
    with pytest.raises(ExportError, match=r"the store, or its subset, has no captures$"):
        export(MemoryStore(), query, tmp_path / "links.csv")


@pytest.mark.parametrize("form", ["csv", "nquads", "graphml", "gexf"])
def test_a_gap_between_captures_is_named_with_its_ends(
    form: str, store: Path, tmp_path: Path
) -> None:
    query = ExportQuery.from_parameters(
        [("format", form), ("from", "20091130"), ("to", "20091201")]
    )
    with (
        open_store(str(store)) as opened,
        pytest.raises(
            ExportError, match="nearest captures are from 20091122060213 and 20091213060001"
        ),
    ):
        export(opened, query, tmp_path / "links")
    assert list(tmp_path.iterdir()) == []


def test_captures_without_a_link_are_an_empty_file(tmp_path: Path) -> None:
    store = MemoryStore([Page("http://a.example/", "20100101000000")])
    result = export(
        store,
        ExportQuery.from_parameters([("format", "csv"), ("from", "2010")]),
        tmp_path / "links.csv",
    )
    assert result.tally.rows == 0


def test_a_picture_too_large_for_gephi_says_how_large_and_what_helps(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "MOST_NODES", 100)
    monkeypatch.setattr(exporting, "MOST_LINKS", 500)
    (tmp_path / "links.gexf").write_text("what was there")
    query = ExportQuery.from_parameters([("format", "gexf"), ("level", "uri")])
    with open_store(str(store)) as opened, pytest.raises(ExportError) as caught:
        export(opened, query, tmp_path / "links.gexf")
    text = str(caught.value)
    for part in (
        "nodes and ",
        "up to 100 and 500",
        "--level host or domain",
        "--top",
        "--backbone",
        "--core",
        "graphml",
    ):
        assert part in text
    count = text.partition("--min-count ")[2].partition(" ")[0]
    nodes, left = (
        int(part.split()[0].replace(",", ""))
        for part in text.partition("(leaves ")[2].split(" and ")[:2]
    )
    query = ExportQuery.from_parameters(
        [("format", "graphml"), ("level", "uri"), ("min-count", count)]
    )
    with open_store(str(store)) as opened:
        tally = export(opened, query, tmp_path / "few.graphml").tally
    assert (tally.nodes, tally.links) == (nodes, left)
    assert nodes <= 100
    assert left <= 500
    assert (tmp_path / "links.gexf").read_text() == "what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "few.graphml",
        "few.graphml.json",
        "links.gexf",
    ]


def test_a_write_that_fails_leaves_what_was_there(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "links.csv"
    path.write_text("what was there")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting, "manifest_of", full)
    with (
        open_store(str(store)) as opened,
        pytest.raises(ExportError, match=r"links\.csv cannot be written: No space left"),
    ):
        export(opened, ExportQuery.from_parameters([("format", "csv")]), path)
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_missing_is_named(store: Path, tmp_path: Path) -> None:
    with open_store(str(store)) as opened:
        query = ExportQuery.from_parameters([("format", "csv")])
        with pytest.raises(ExportError, match=r"no folder .*/missing for links\.csv"):
            export(opened, query, tmp_path / "missing" / "links.csv")
        with pytest.raises(ExportError, match="is a folder"):
            export(opened, query, tmp_path)


EVERY_FORM = """
import sys
import arclink
with arclink.open(sys.argv[1]) as graph:
    for form in sys.argv[3:]:
        graph.export(f"{sys.argv[2]}/{form}", form)
"""


def test_the_time_zone_of_the_machine_changes_no_byte_of_an_export(
    store: Path, tmp_path: Path
) -> None:
    forms = [form.value for form in ExportFormat if form is not ExportFormat.DUCKDB]
    # A database file has an identifier of its own; its rows are those of the relations.
    folders = [tmp_path / "UTC", tmp_path / "Pacific" / "Auckland"]
    for folder in folders:
        folder.mkdir(parents=True)
        command = [sys.executable, "-c", EVERY_FORM, str(store), str(folder), *forms]
        zone = str(folder.relative_to(tmp_path))
        subprocess.run(command, check=True, env={**os.environ, "TZ": zone})
    files, others = (
        {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and path.suffix != ".json"
        }
        for folder in folders
    )
    assert files == others
    assert {name.partition("/")[0].removesuffix(".names") for name in files} == set(forms)
