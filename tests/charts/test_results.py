"""Results in Python: what every kind of them can do, on real answers and on hostile ones."""

import base64
import re
from collections.abc import Callable, Iterable, Sized
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import pandas as pd
import pyarrow as arrow
import pytest

import arclink
from arclink.analysis.charts.results import ResultRows
from arclink.errors import UsageError
from arclink.linkgraph import LinkGraph
from tests.demos import Demos
from tests.store.memory_store import MemoryStore, Page, link

PAGE = "http://www.kalvik2010.example/ceremony/opening.html"
TIME = arrow.timestamp("ms", tz="UTC")

Ask = Callable[[LinkGraph], Any]
RESULTS: dict[str, Ask] = {
    "inlinks": lambda graph: graph.inlinks(PAGE),
    "outlinks": lambda graph: graph.outlinks(PAGE),
    "inlinks at a time": lambda graph: graph.at("2010").inlinks(PAGE),
    "inlinks of a domain": lambda graph: graph.inlinks(PAGE, match_type="domain"),
    "some inlinks": lambda graph: graph.inlinks(PAGE, limit=3),
    "no links": lambda graph: graph.outlinks("http://never.example/"),
    "anchors": lambda graph: graph.anchors(PAGE),
    "anchors by day": lambda graph: graph.anchors(PAGE, by="day,host"),
    "no anchors": lambda graph: graph.anchors("http://never.example/", by="month"),
    "linkers": lambda graph: graph.ask("linkers", PAGE, by="month"),
    "host-links": lambda graph: graph.ask("host-links"),
    "captures": lambda graph: graph.ask("captures", by="year"),
    "unknown": lambda graph: graph.ask("linkers", PAGE, to="2008"),
    "stale": lambda graph: graph.ask("stale"),
    "sql": lambda graph: graph.sql("FROM links ORDER BY ALL LIMIT 3"),
}
of_all = pytest.mark.parametrize("ask", RESULTS.values(), ids=RESULTS)


@of_all
def test_frames_and_tables_have_a_row_per_row_and_one_type_of_time(ask: Ask, demos: Demos) -> None:
    with arclink.open(demos.store()) as graph:
        result = ask(graph)
        assert isinstance(result, ResultRows)
        assert isinstance(result, Iterable)
        assert isinstance(result, Sized)
        assert len(result) == len(list(result)) == result.size
        rows = [*result.as_rows().labelled()]
        table = arrow.table(result)
        frame = result.to_pandas()
    assert table.num_rows == len(frame) == len(rows) >= len(result)
    times = {"first", "last", "captured"} & {*table.column_names}
    for name in times:
        assert table.schema.field(name).type == TIME
        assert str(frame[name].dtype) == "datetime64[ms, UTC]"
        assert [None if pd.isna(one) else one.strftime("%Y%m%d%H%M%S") for one in frame[name]] == [
            row[name] for row in rows
        ]
    if "timestamps" in table.column_names:
        assert table.schema.field("timestamps").type == arrow.list_(TIME)
        seen = frame.explode("timestamps")["timestamps"]
        assert all(one.tzinfo is not None for one in seen)
        assert len(seen) == sum(frame["mementos"])
    for name in set(table.column_names) - times:
        assert not pd.api.types.is_float_dtype(frame[name]), (
            f"{name}: a number of unknown is not NaN"
        )


@of_all
def test_it_says_what_it_was_read_from(ask: Ask, demos: Demos) -> None:
    with arclink.open(demos.store()) as graph:
        result = ask(graph)
        said, shown = repr(result), text_of(result._repr_html_())
        assert said.startswith(f"<{result.title}: {len(result)} row")
        assert result.title in shown
        assert result.read_from in shown
    assert re.search(r"read from|unknown|of \d+ links", said)
    assert len(result) or "unknown" in said or "none (read from" in said


class Html(HTMLParser):
    """What a browser finds in HTML: elements and text."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(html: str) -> Html:
    page = Html()
    page.feed(html)
    page.close()
    return page


def text_of(html: str) -> str:
    return "".join(parsed(html).texts)


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</bdi></td><td>more",
    "\u202eright to left",
    "\x1b[2J",
    "&lt;b&gt;",
    "]]><!--",
    "x" * 5_000,
    "line\nend",
    "\U0001d49c\ud800",
    "",
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_page_puts_nothing_but_text_into_a_notebook(text: str) -> None:
    where = "http://b.example/?" + text.translate(dict.fromkeys(b"\x1b\n", None)).strip("\ud800")
    pages = [Page("http://a.example/", "20100101000000", [link(where, text=text)])]
    graph = LinkGraph(MemoryStore(pages))
    for result in (graph.outlinks("http://a.example/"), graph.anchors(where), graph.inlinks(where)):
        page = parsed(result._repr_html_())
        assert {tag for tag, _ in page.elements} <= {
            *("div", "b", "bdi", "img", "table", "thead", "tbody", "tr", "th", "td")
        }
        assert {name for _, attributes in page.elements for name in attributes} <= {
            *("alt", "src", "style")
        }
        for tag, attributes in page.elements:
            if tag == "img":
                kind, _, data = str(attributes["src"]).partition(";base64,")
                assert kind == "data:image/svg+xml"
                ElementTree.fromstring(base64.b64decode(data))
        assert max(map(len, page.texts)) < 200
        assert "\x1b" not in repr(result) + "".join(page.texts)
        frame = result.to_pandas()
        assert len(frame) == len(result)


def test_links_are_edges(demos: Demos) -> None:
    with arclink.open(demos.store()) as graph:
        inlinks, outlinks = graph.inlinks(PAGE), graph.outlinks(PAGE)
        to_page, from_page = inlinks.to_networkx(), outlinks.to_networkx()
        assert isinstance(to_page, nx.MultiDiGraph)
        assert to_page.in_degree(PAGE) == len(inlinks) == to_page.number_of_edges()
        assert from_page.out_degree(PAGE) == len(outlinks)
        assert {data["text"] for *_, data in to_page.edges(data=True)} == {
            one.text for one in inlinks
        }
        assert len(graph.ask("host-links").to_networkx().edges) == len(graph.ask("host-links"))
        for result in (graph.anchors(PAGE), graph.ask("linkers", PAGE)):
            with pytest.raises(UsageError, match="no links with source and target"):
                result.to_networkx()


def test_frames_of_anchors_have_periods_of_which_nothing_is_known(demos: Demos) -> None:
    with arclink.open(demos.store()) as graph:
        anchors = graph.anchors(PAGE, by="month", from_="200910", to="201004")
        frame = anchors.to_pandas()
    unknown = frame[frame["text"].isna()]
    assert {*unknown["period"]} == {"2009-10", "2010-04"}
    assert [*unknown["read"]] == [0, 0]
    assert str(frame["links"].dtype) == "Int64"
    assert unknown["links"].isna().all()
    assert [row["read"] for row in anchors if row["text"] is None] == [0, 0]
    assert anchors
    with arclink.open(demos.store()) as graph:
        assert not graph.anchors(PAGE, by="month", from_="200908", to="200909")


def test_more_links_than_one_answer_have_no_len_and_are_all_there() -> None:
    targets = [f"http://b.example/{number}" for number in range(10_050)]
    pages = [Page("http://a.example/", "20100101000000", [link(target) for target in targets])]
    graph = LinkGraph(MemoryStore(pages))
    links = graph.outlinks("http://a.example/")
    with pytest.raises(TypeError, match="known after they are read"):
        len(links)
    assert links
    assert links.size is None
    assert len(list(links)) == len(list(links)) == links.to_arrow().num_rows == 10_050
    assert "The first 20 rows of more." in links._repr_html_()
    assert len(graph.outlinks("http://a.example/", limit=70)) == 70
    for limit in (9_999, 10_000, 10_050, 20_000):
        some = graph.outlinks("http://a.example/", limit=limit)
        assert len(list(some)) == min(limit, 10_050)
        assert some.size in (None, limit)


def test_times_of_which_nothing_is_known_are_hatched(tmp_path: Path) -> None:
    page, other = "http://a.example/", "http://b.example/"
    pages = [
        Page(page, "20100101000000", [link(other, text="a")]),
        Page(page, "20100103000000", None),
        Page(page, "20100105000000", [link(other, text="b")]),
    ]
    graph = LinkGraph(MemoryStore(pages))
    for result in (graph.outlinks(page), graph.anchors(other), graph.anchors(other, by="day")):
        drawing = result.picture()
        assert drawing is not None
        assert drawing.elements.count('class="gap"') >= 1
        assert "4 Jan 2010" in drawing.elements


def test_a_result_whose_graph_is_closed_says_so(demos: Demos) -> None:
    graph = arclink.open(demos.store())
    links = graph.inlinks(PAGE)
    graph.close()
    assert "closed" in repr(links)
