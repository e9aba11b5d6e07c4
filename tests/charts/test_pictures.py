"""Pictures as files: whole, with their colours, in any program."""

import re
from xml.etree import ElementTree

import pytest

from arclink.access.tallies import Period
from arclink.access.texts import printable
from arclink.analysis.charts.pictures import COLOURS, Drawing, Strip, share, strips, text
from arclink.analysis.charts.svg import Axis
from arclink.model import Timestamp
from tests.access.example_answers import NASTY
from tests.sources import ROOT

SVG = "{http://www.w3.org/2000/svg}"


def file_of(picture: Drawing, source: str = "ArcLink · http://127.0.0.1/") -> ElementTree.Element:
    return ElementTree.fromstring(picture.file(source))


def test_the_colours_are_those_of_light_pages() -> None:
    style = (ROOT / "arclink/service/static/arclink.css").read_text()
    light = dict(re.findall(r"--([a-z]+): (#[0-9a-f]+);", style.partition("@media")[0]))
    assert {name: light[name] for name in COLOURS} == COLOURS


@pytest.mark.parametrize("words", NASTY)
def test_a_file_holds_any_words(words: str) -> None:
    words = printable(words)
    row = Strip(words, amount=words)
    drawn = file_of(strips(words, [row]), words)
    assert (drawn.findtext(f"{SVG}title"), drawn.findtext(f"{SVG}desc")) == (words, words)


def test_a_file_has_title_source_and_every_colour_in_it() -> None:
    axis = Axis(Period.YEAR, Timestamp("20090101000000"), Timestamp("20121231000000"), ["2009"])
    bars = axis.bars({"2009": 4, "2012": 1}, "link", "links")
    drawn = file_of(strips("Links", [Strip("a.example", bars, "in", "5")], axis, "scale"))
    texts = [mark.text for mark in drawn.iter(f"{SVG}text")]
    assert {"Links", "a.example", "5", "2009", "scale"} <= {*texts}
    assert texts[-1] == "ArcLink · http://127.0.0.1/"
    for mark in drawn.iter():
        if mark.tag in (f"{SVG}rect", f"{SVG}text", f"{SVG}circle", f"{SVG}path"):
            assert mark.attrib["fill"], mark.attrib
        assert "style" not in mark.attrib
        assert not mark.tag.endswith(("style", "script", "image"))
    titles = [mark.findtext(f"{SVG}title") for mark in drawn.iter(f"{SVG}rect")]
    assert titles[1:] == ["2009: 4 links", "2012: 1 link"]


def test_a_file_has_no_links_and_a_page_has() -> None:
    picture = Drawing("a", 10, 10, f'<a href="?uri=a&amp;b">{text(0, 0, "<a>")}</a>')
    assert 'href="?uri=a&amp;b"' in picture.inline
    drawn = file_of(picture)
    assert [mark.text for mark in drawn.iter(f"{SVG}text")][1] == "<a>"
    assert not [*drawn.iter(f"{SVG}a")]


def test_a_share_of_nothing_has_no_bar_and_one_of_a_million_has_one() -> None:
    assert [bar.height for bar in share("a", 0, 10).bars] == [0]
    drawn = file_of(strips("One", [share("a", 1, 1_000_000), share("b", 1_000_000, 1_000_000)]))
    one, all_of_them = [float(bar.get("width", 0)) for bar in [*drawn.iter(f"{SVG}rect")][-2:]]
    assert (one, all_of_them) == (1.5, 580)


def test_a_long_name_keeps_its_end() -> None:
    name = f"http://example.org/{'long/' * 40}page.html"
    (label,) = [
        mark.text or ""
        for mark in file_of(strips("Links", [Strip(name)])).iter(f"{SVG}text")
        if "page.html" in (mark.text or "")
    ]
    assert len(label) < 40
