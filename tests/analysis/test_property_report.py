"""The report of `arclink analyze properties`: its HTML page and its table."""

import csv
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.store.location import open_store
from tests.analysis.small_graphs import a_graph
from tests.store.contract import load_next


class Tags(HTMLParser):
    """Holds that tags are closed in order, and keeps what pages ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.asked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.asked += [str(value) for name, value in attrs if name in {"src", "href"}]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def report(
    demo_store: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[dict[str, str]], str]:
    page = tmp_path_factory.mktemp("report") / "graph.html"
    words = [
        "analyze",
        "properties",
        "--store",
        demo_store,
        "--level",
        "host",
        "--into",
        str(page),
    ]
    run = CliRunner().invoke(group, words, catch_exceptions=False)
    with page.with_suffix(".csv").open(newline="") as table:
        return page.read_text("utf-8"), list(csv.DictReader(table)), run.output


def test_the_page_is_complete_and_loads_nothing(
    report: tuple[str, list[dict[str, str]], str],
) -> None:
    page, _, _ = report
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.asked == []
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    for chart in re.findall("<svg.*?</svg>", page):
        assert len(ElementTree.fromstring(chart)) > 10
    assert page.count("<svg") == 5


def test_page_table_and_lines_say_the_same(report: tuple[str, list[dict[str, str]], str]) -> None:
    page, rows, lines = report
    assert [row["window"] for row in rows] == [
        "all",
        "2009-11",
        "2009-12",
        "2010-01",
        "2010-02",
        "2010-03",
    ]
    whole = rows[0]
    for column in ("nodes", "captured", "edges"):
        assert f"<b>{int(whole[column]):,}</b>" in page
    share = float(whole["never_captured"]) / float(whole["targets"])
    assert float(whole["never_captured_share"]) == share
    assert f"{100 * share:.1f} %" in page
    assert f"{whole['never_captured']} of {whole['targets']} targets ({share:.1%})" in lines
    assert sum(
        int(whole[component]) for component in ("core", "in", "out", "tubes", "tendrils", "apart")
    ) == int(whole["nodes"])
    for row in rows:
        assert f"<td>{row['window']}</td>" in page


def test_degrees_of_each_window_add_up(demo_store: str, tmp_path: Path) -> None:
    page = tmp_path / "graph.html"
    words = [
        "analyze",
        "properties",
        "--store",
        demo_store,
        "--by",
        "2009-11,1999",
        "--into",
        str(page),
    ]
    run = CliRunner().invoke(group, words, catch_exceptions=False)
    assert "there are no captures in 1999" in run.output
    with (
        page.with_suffix(".csv").open(newline="") as table,
        page.with_suffix(".degrees.csv").open(newline="") as degrees,
    ):
        whole, rows = (
            {row["window"]: row for row in csv.DictReader(table)},
            list(csv.DictReader(degrees)),
        )
    assert {row["window"] for row in rows} == {"all", "2009-11"}
    for window in ("all", "2009-11"):
        for direction, most in (("in", "most_inlinks"), ("out", "most_outlinks")):
            some = [
                (int(row["links"]), int(row["nodes"]))
                for row in rows
                if (row["window"], row["direction"]) == (window, direction)
            ]
            assert sum(nodes for _, nodes in some) == int(whole[window]["nodes"])
            assert sum(links * nodes for links, nodes in some) == int(whole[window]["edges"])
            assert max(some)[0] == int(whole[window][most])


@pytest.mark.parametrize("name", ["graph.csv", "graph"])
def test_the_table_does_not_replace_the_page(name: str, demo_store: str, tmp_path: Path) -> None:
    words = [
        "analyze",
        "properties",
        "--store",
        demo_store,
        "--by",
        "all",
        "--into",
        str(tmp_path / name),
    ]
    run = CliRunner().invoke(group, words)
    assert (run.exit_code == 0) is (name == "graph")
    tables = ("graph.csv", "graph.degrees.csv")
    written = {"graph", *tables, *(f"{table}-metadata.json" for table in tables)}
    assert {path.name for path in tmp_path.iterdir()} == (written if name == "graph" else set())


def test_a_graph_without_a_core_has_no_bow_tie(tmp_path: Path) -> None:
    where = str(tmp_path / "links.db")
    with open_store(where, create=True) as opened:
        load_next(opened, a_graph(), 0, tmp_path / "graph")
    page = tmp_path / "graph.html"
    CliRunner().invoke(
        group,
        ["analyze", "properties", "--store", where, "--into", str(page)],
        catch_exceptions=False,
    )
    assert "no two URIs lead to each other in all, 2009-11." in page.read_text("utf-8")
    assert "<b>0.0 %</b><span>are in the core" in page.read_text("utf-8")
    assert "tendrils 100" not in page.read_text("utf-8")


def test_a_page_of_one_window_has_no_section_through_time(demo_store: str, tmp_path: Path) -> None:
    page = tmp_path / "all.html"
    words = [
        "analyze",
        "properties",
        "--store",
        demo_store,
        "--by",
        "all",
        "--level",
        "domain",
        "--into",
        str(page),
    ]
    CliRunner().invoke(group, words, catch_exceptions=False)
    assert "Through time" not in page.read_text("utf-8")
    assert "a node is a domain" in page.read_text("utf-8")
