"""Hostile pages: each is read in limited time without a crash, and omissions are counted.

The limit is a number of seconds: a page that exceeds it would take hours at its full size.
"""

import time

import pytest

from arclink.extract import html as module
from arclink.extract.html import Limits, extract_links
from arclink.reasons import Reason

SECONDS = 30.0

MANY = 100_000


pytestmark = pytest.mark.costly


@pytest.mark.parametrize(
    ("page", "links"),
    [
        pytest.param(b"<a href=x>t</a>" + b"<div>" * MANY, 1, id="100,000 nested blocks"),
        pytest.param(
            b"<a href=x>t</a>" + b"<span>" * MANY + b"</b>" * MANY,
            1,
            id="end tags without start, deep",
        ),
        pytest.param(b"<a href=x>t</a>" + b"<b>" * MANY, 1, id="100,000 nested inline elements"),
        pytest.param(b"<a href=x><object>" * 15_000, 15_000, id="nested links, no text"),
        pytest.param(
            b"<a href=x><object>" * 15_000 + b"y" * 1_000_000,
            15_000,
            id="nested links around a long text",
        ),
        pytest.param(b"<svg>" + b"<a href=x>" * 15_000, 15_000, id="nested links of SVG"),
        pytest.param(b"<template>" * 10_000 + b"<a href=x>", 1, id="nested templates"),
        pytest.param(
            b"<a href=x>t</a>" + b"<template><a href=y></template>" * 10_000,
            10_001,
            id="many templates",
        ),
        pytest.param(
            b'<img alt="' + b"x" * 1_000_000 + b'" srcset="' + b"/ 1x, " * 100_000 + b'">',
            100_000,
            id="many candidates",
        ),
        pytest.param(b'<img srcset="' + b"a (" * 500_000 + b'">', 0, id="parentheses"),
        pytest.param(b'<img srcset="a ' + b"1" * 2_000_000 + b'y">', 0, id="a long number"),
        pytest.param(
            b'<meta http-equiv=refresh content="' + b"1" * 2_000_000 + b'y">', 0, id="a long wait"
        ),
        pytest.param(b'<a href="' + b" " * 2_000_000 + b'">x</a>', 0, id="a long nothing"),
        pytest.param(b"<a href=x>t</a><!-- " + b"<a href=y>" * MANY, 1, id="unclosed comment"),
        pytest.param(b'<a href=x>t</a><a href="' + b"<a href=y>" * MANY, 1, id="unclosed tag"),
        pytest.param(b"\0" * 1_000_000 + b"<a href=x>\0t</a>", 1, id="NULs"),
        pytest.param(
            b"<a href=#></a>" + b"<base href=x><a href=#>" * 20_000, 20_001, id="many bases"
        ),
    ],
)
def test_hostile_page_ends(page: bytes, links: int) -> None:
    begin = time.process_time()
    assert len(extract_links(page).links) == links
    assert time.process_time() - begin < SECONDS


def test_page_of_too_many_links_keeps_the_limit_and_counts_the_rest() -> None:
    page = extract_links(b"<a href=x>" * 300_000)
    assert len(page.links) == 200_000
    assert page.counts == {Reason.LINK_TOO_MANY: 100_000}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(b"<div><p>x</div>" * MANY, id="closed blocks"),
        pytest.param(b"<TABLE><TR><TD><FONT>x</FONT></TD></TR></TABLE>" * 20_000, id="upper case"),
        pytest.param(b"<p>x<li>y<td>z<br>" * 50_000, id="elements that the next one closes"),
        pytest.param(b"<svg>" + b"<path d='M0 0'/>" * MANY, id="SVG closes itself"),
        pytest.param(b"</div>" * MANY, id="end tags"),
    ],
)
def test_long_page_that_does_not_nest_is_read_to_its_end(page: bytes) -> None:
    found = extract_links(page + b"<a href=x>t</a>")
    assert [link[1] for link in found.links] == ["x"]
    assert not found.counts


def test_texts_beyond_the_budget_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TEXT_BUDGET", 5)
    page = extract_links(
        "<a href=1><i>a</i></a><a href=2>plain</a><a href=3><i>b</i><i>c</i></a><a "
        "href=4><i>d</i></a>",
        Limits(),
    )
    assert [link[2] for link in page.links] == ["a", "plain", "b", ""]
    assert page.counts == {Reason.NOTE_TEXT_CUT: 2}
