"""Ranks, hosts against hosts, new and lost links, and graphs: what is drawn, and where."""

import re
from xml.etree import ElementTree

import numpy as np

from arclink.analysis.charts.comparisons import matrix, ranks, survival, up_and_down
from arclink.analysis.charts.network import NetworkNode, network, placed
from arclink.analysis.charts.pictures import Drawing
from arclink.analysis.charts.svg import LEAST_TALL

SVG = "{http://www.w3.org/2000/svg}"
YEARS = ["2009", "2010", "2011"]


def marks(picture: Drawing, kind: str) -> dict[str, ElementTree.Element]:
    """Return the elements of one kind that have a title, by it."""
    drawn = ElementTree.fromstring(picture.file("source"))
    return {
        title: mark
        for mark in drawn.iter(f"{SVG}{kind}")
        if (title := mark.findtext(f"{SVG}title")) is not None
    }


def test_ranks_are_from_top_to_bottom_and_a_gap_is_no_line() -> None:
    rows = {"a": {"2009": 1, "2010": 2, "2011": 1}, "<b>": {"2009": 2, "2011": 2}}
    picture = ranks("Places", YEARS, rows, YEARS)
    dots = marks(picture, "circle")
    assert {*dots} == {
        *(f"a: place {place} in {year}" for year, place in rows["a"].items()),
        *(f"<b>: place {place} in {year}" for year, place in rows["<b>"].items()),
    }
    y = {title: float(dot.attrib["cy"]) for title, dot in dots.items()}
    assert y["a: place 1 in 2009"] < y["a: place 2 in 2010"] == y["<b>: place 2 in 2009"]
    assert picture.elements.count('stroke-width="2.5"') == 2  # those of a


def test_periods_without_captures_are_hatched_and_have_their_width() -> None:
    """Ten years without captures are no step from one crawl to the next."""
    years = [str(year) for year in range(2005, 2017)]
    captured = {"2005", "2015", "2016"}
    of_ranks = ranks("Places", years, {"a": dict.fromkeys(sorted(captured), 1)}, captured)
    bars = up_and_down("Links", years, [{"2005": 1, "2016": 2}], {}, ["added", "removed"], captured)
    for picture in (of_ranks, bars):
        (gap,) = (one for title, one in marks(picture, "rect").items() if "no captures" in title)
        assert gap.findtext(f"{SVG}title") == "2006 to 2014: no captures to show, or none was read"
        assert gap.attrib["fill"] == "url(#hatch)"
    assert of_ranks.elements.count('stroke-width="2.5"') == 1  # from 2015 to 2016


def test_the_name_of_a_row_that_ends_reaches_no_other_place() -> None:
    """Its name is after its last place, up to the next place of another row at that height."""
    name = "http://example.org/a/very/long/path"
    rows = {"a": {"2009": 1, "2010": 1, "2011": 2}, name: {"2010": 2}, "b": {"2011": 1}}
    room = float(marks(ranks("", YEARS, rows, YEARS), "circle")["a: place 2 in 2011"].attrib["cx"])
    picture = ElementTree.fromstring(ranks("", YEARS, rows, YEARS).file("source"))
    (label,) = (one for one in picture.iter(f"{SVG}text") if "http" in (one.text or ""))
    assert float(label.attrib["x"]) + 6.2 * len(label.text or "") < room
    years = [str(year) for year in range(2009, 2019)]
    close = {name: {"2016": 1}, "a": {"2017": 1}, "b": dict.fromkeys(years, 2)}
    labels = ElementTree.fromstring(ranks("", years, close, years).file("source")).iter(
        f"{SVG}text"
    )
    assert not [one.text for one in labels if "http" in (one.text or "")]


def test_survival_goes_down_in_steps_and_names_each_month() -> None:
    rows = [
        {"months": month, "at_risk": 10 - month, "share": share, "low": low, "high": high}
        for month, (share, low, high) in enumerate(
            [(1, None, None), (0.8, 0.6, 0.9), (0, None, None)]
        )
    ]
    picture = survival("Links", {"": rows})
    assert {*marks(picture, "rect")} == {
        "100.0 % live longer than 0 months; 10 links observed so long",
        "80.0 % live longer than 1 month; 9 links observed so long",
        "0.0 % live longer than 2 months; 8 links observed so long",
    }
    assert picture.elements.count('opacity="0.2"') == 1  # the interval of the second month
    several = survival("Links", {"2009": rows, "<2010>": rows[:1]})
    assert several.elements.count("<polyline") == 2
    assert "&lt;2010&gt;: 100.0 % live longer" in several.elements
    assert 'opacity="0.2"' not in several.elements


def test_survival_of_a_century_has_a_scale_of_years() -> None:
    row = {"at_risk": 1, "share": 1, "low": None, "high": None}
    for months in (1, 40, 400, 1_200, 120_000):
        picture = survival("Links", {"": [{**row, "months": month} for month in range(months)]})
        assert "Age in years" in picture.elements or months < 100


def test_days_of_ten_years_have_a_picture() -> None:
    days = [str(day) for day in np.arange("2005-01-01", "2015-01-01", dtype="datetime64[D]")]
    ends = days[0], days[-1]
    of_ranks = ranks("Places", days, {"a": dict.fromkeys(ends, 1)}, ends)
    bars = up_and_down("Links", days, [dict.fromkeys(ends, 1)], {}, ["added", "removed"], ends)
    assert max(len(of_ranks.elements), len(bars.elements)) < 5_000


def test_a_row_of_the_matrix_links_to_its_columns() -> None:
    picture = matrix("Links", ["a", "b"], {("a", "b"): 100, ("b", "a"): 1, ("a", "c"): 5})
    squares = marks(picture, "rect")
    assert [*squares] == ["a → b: 100 links", "b → a: 1 links"]
    there, back = squares.values()
    assert there.attrib["x"] > back.attrib["x"]
    assert there.attrib["y"] < back.attrib["y"]
    strengths = [float(one) for one in re.findall(r'<g opacity="([0-9.]+)"', picture.elements)]
    assert strengths[0] == 1
    assert 0.2 < strengths[1] < 0.5


def test_what_came_is_above_and_what_went_below_in_one_scale() -> None:
    up = [{"2009": 10, "2010": 1}, {"2009": 10}]
    picture = up_and_down("Links", YEARS, up, {"2010": 20}, ["added", "first", "removed"], YEARS)
    bars = marks(picture, "rect")
    tall = {title: float(bar.attrib["height"]) for title, bar in bars.items()}
    assert tall["2009: 10 added"] * 2 == tall["2010: 20 removed"]
    assert tall["2010: 1 added"] >= LEAST_TALL
    below = float(bars["2010: 20 removed"].attrib["y"])
    added = bars["2009: 10 added"].attrib
    assert float(added["y"]) + float(added["height"]) == below
    first = bars["2009: 10 first"].attrib
    assert float(first["y"]) + float(first["height"]) == float(added["y"])


def test_nodes_are_apart_in_the_picture_and_at_the_same_places_each_time() -> None:
    pairs = [(0, other) for other in range(1, 40)] + [(1, 2), (2, 1), (5, 6)]
    places = placed(40, pairs)
    assert np.array_equal(places, placed(40, pairs))
    apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)) + np.eye(40) * 99
    assert apart.min() > 12
    assert (places >= 0).all()
    assert (places <= [900, 620]).all()
    assert placed(1, []).tolist() == [[450, 310]]
    assert placed(0, []).shape == (0, 2)


def test_a_graph_has_an_arrow_for_each_direction_and_links_of_nodes() -> None:
    nodes = [
        NetworkNode("a", True, "?uri=a&b=c", "leave out"),
        NetworkNode("<b>", False, "?uri=b", "show"),
    ]
    picture = network("Graph", nodes, {("a", "<b>"): 5, ("<b>", "a"): 1})
    assert {*marks(picture, "path")} == {"a → <b>: 5 links", "<b> → a: 1 links"}
    assert [*marks(picture, "g")] == ["a: leave out", "<b>: show"]
    assert 'href="?uri=a&amp;b=c"' in picture.inline
    assert "href" not in picture.file("source")
