"""No page exceeds the bounds on the cost of its parser, and ordinary pages are read whole."""

import random
import re
from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser

from arclink.extract import bounds
from arclink.extract.bounds import bounded
from arclink.extract.html import extract_links
from arclink.reasons import Reason

LINK = b"<a href=before>t</a>"
NAMES = re.findall(
    r"\w+",
    "div p li ul ol dd dt dl table tr td th tbody thead caption colgroup col select option "
    "optgroup button object marquee applet form h1 h2 a b i font nobr xyz abc svg math g desc "
    "foreignObject mi title style script textarea template br img input link pre address section "
    "noscript iframe span ruby rt rp body html head image frameset frame noframes",
)


def targets(page: bytes) -> list[str]:
    return [link[1] for link in extract_links(page).links]


def depth_of(page: bytes) -> int:
    """Return how deep the parser nests a page."""
    root = LexborHTMLParser(page).root
    assert root is not None
    deepest, waiting = 0, [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        if node.tag == "template":
            waiting.extend((fragment, depth + 1) for fragment in node.template_fragments())
        child = node.first_child
        while child is not None:
            waiting.append((child, depth + 1))
            child = child.next
    return deepest


def soup(generator: random.Random) -> bytes:
    """Return a page that repeats a few tags of a few elements."""
    names = generator.sample(NAMES, generator.randrange(1, 6))

    def token() -> str:
        name, share = generator.choice(names), generator.random()
        if share < 0.55:
            return f"<{name}>"
        if share < 0.9:
            return f"</{name}>"
        if share < 0.93:
            return f"<{name}/>"
        return generator.choice(["x", " ", "<!--", "-->", "<!x>", '<a b="', '">'])

    unit = "".join(token() for _ in range(generator.randrange(1, 9)))
    return (generator.choice(["", "<table>", "<svg>", "<div>", "<p>"]) + unit * 100).encode()


@pytest.mark.parametrize("seed", range(10))
def test_the_estimate_of_open_elements_is_never_too_small(seed: int) -> None:
    generator = random.Random(seed)
    for _ in range(40):
        page = soup(generator)
        estimate = max((count for _, count in bounds._open_elements(page)), default=0)
        # The parser adds elements that tags imply: up to three for one.
        assert depth_of(page) <= 3 * estimate + 40, page[:200]


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param(b"<button><frameset>", id="a tag that would close"),
        pytest.param(b"<svg><frameset><p>", id="SVG that would end"),
        pytest.param(b"<table><tr><frameset>", id="a table"),
    ],
)
def test_tags_that_a_frameset_ignores_close_no_element(unit: bytes) -> None:
    page = b"<frameset>" + unit * 200
    assert depth_of(page) > 200
    assert max(count for _, count in bounds._open_elements(page)) >= 200


FORMATTING = set(re.findall(r"\w+", "b big code em font i nobr s small strike strong tt u"))


def depth_of_end(page: bytes) -> int:
    """Return how deep an element is that comes after a page; 0 if the parser does not see it."""
    node = LexborHTMLParser(page + b"<zzz>").css_first("zzz")
    depth = 0
    while node is not None:
        node, depth = node.parent, depth + 1
    return depth


def elements_of_formatting(page: bytes) -> int:
    root = LexborHTMLParser(page).root
    assert root is not None
    return sum(node.tag in FORMATTING for node in root.traverse())


@pytest.mark.parametrize("seed", range(10))
def test_the_quick_estimate_is_never_too_small(seed: int) -> None:
    generator = random.Random(seed)
    compared = 0
    for _ in range(80):
        page = soup(generator)
        found = bounds.nesting(page)
        after = bounds.nesting(page + b"<!>")
        if found is None or after is None:
            continue
        compared += 1
        # The parser adds elements that tags imply: up to three for one.
        assert depth_of_end(page) <= 3 * (after[0] - found[0]) + 40, page[:200]
        tags = len(re.findall(rb"<(?:%s)[> /]" % "|".join(FORMATTING).encode(), page))
        # Misnested end tags: the adoption agency clones up to four elements at each of eight steps.
        assert elements_of_formatting(page) <= tags + 32 * found[1] + 40, page[:200]
    assert compared > 40


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        pytest.param(b"<div><p>x</p></div>", (0 + 1 + 2 + 1, 0), id="closed"),
        pytest.param(b"<DIV><P>x</p></Div>", (4, 0), id="in either case"),
        pytest.param(b"<div></p></p>", (0 + 1 + 1, 0), id="never opened"),
        pytest.param(b"<b><b></b><br></b>", (0 + 1 + 2 + 1 + 1, 5), id="formatting"),
        pytest.param(b"<i><!-- </i> --><br>", (0 + 1 + 1, 2), id="in a comment"),
        pytest.param(b"<i title='</i>'><br>", (1, 1), id="in a value"),
        pytest.param(b"<i><script></i></script><br>", (0 + 1 + 1 + 1, 3), id="in a script"),
        pytest.param(b"<select><option>x<option></select><br>", (0 + 1 + 2 + 3, 0), id="select"),
        pytest.param(b"<select><div></select>", None, id="odd select"),
        pytest.param(b"<p><svg></svg>", None, id="SVG"),
    ],
)
def test_the_quick_estimate(page: bytes, expected: tuple[int, int] | None) -> None:
    assert bounds.nesting(page) == expected


def test_closed_formatting_of_many_kinds_is_kept() -> None:
    """Real documentation has 10 kinds of formatting tags in 15,000 tags, and closes them all."""
    part = b"".join(
        b"<code class=%d>x <em>y</em></code><div><strong>z</strong></div>" % number
        for number in range(20)
    )
    page = part * 200 + LINK
    assert bounded(page) == (page, {})


def test_attributes_after_the_thousandth_are_left_out_and_the_rest_is_read() -> None:
    many = b" ".join(b"a%d=1" % number for number in range(80_000))
    page = extract_links(LINK + b"<a href=x " + many + b" rel=late>y</a><a href=after>t</a>")
    assert [link[1:] for link in page.links] == [
        ("before", "t", None),
        ("x", "y", None),
        ("after", "t", None),
    ]
    assert page.counts == {Reason.NOTE_ATTRIBUTES_CUT: 1}


@pytest.mark.parametrize("name", [b"body", b"HTML"])
def test_attributes_of_repeated_roots_are_counted_together(name: bytes) -> None:
    page = b"".join(b"<%b a%d=1>" % (name, number) for number in range(20_000))
    kept, notes = bounded(page + LINK)
    assert kept.count(b"=1") == bounds.MOST_ATTRIBUTES
    assert notes == {Reason.NOTE_ATTRIBUTES_CUT: 20_000 - bounds.MOST_ATTRIBUTES}
    assert targets(page + LINK) == ["before"]


@pytest.mark.parametrize(
    "tag", [b"<br>", b"<!x>", b"</p>", b"<br a b c>", b"</x y z>", b"<template></template>"]
)
def test_page_is_cut_where_its_tree_takes_too_much_memory(tag: bytes) -> None:
    page = LINK + tag * (4_000_000 // len(tag))
    assert bounded(page)[1].keys() <= {Reason.NOTE_TREE_CUT}
    longer = LINK + tag * (16_000_000 // len(tag)) + b"<a href=after>"
    kept, notes = bounded(longer)
    assert len(kept) < len(longer)
    assert notes == {Reason.NOTE_TREE_CUT: 1}


def test_formatting_left_open_costs_no_link() -> None:
    parts = [
        b"<p><font size=%d><a href=%d>t <b>x</b></a>" % (number, number) for number in range(3_000)
    ]
    page = b"".join(parts) + b"<!-- <i> --><textarea><b></textarea>" + LINK
    kept, notes = bounded(page)
    assert notes == {Reason.NOTE_FORMATTING_LEFT_OUT: 1}
    assert b"<!-- <i> --><textarea><b></textarea>" in kept
    assert [link[1:3] for link in extract_links(page).links] == [
        *((str(number), "t x") for number in range(3_000)),
        ("before", "t"),
    ]


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(b"<p><font size=2>x", id="the same element left open"),
        pytest.param(b"<p><font size=2>x</font><b>y</b></p>", id="closed"),
    ],
)
def test_ordinary_formatting_is_kept(part: bytes) -> None:
    page = part * 10_000
    assert bounded(page) == (page, {})


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "unknown elements and end tags of links": lambda n: b"<xyz>" * n + b"</a>" * n,
    "forms in tables": lambda n: b"<table><td><form>" * n,
    "list items": lambda n: b"<ul><li>" * n,
    "SVG": lambda n: b"<svg>" + b"<g>" * n + b"</h>" * n,
    "blocks in headings": lambda n: b"<h1><div>" * n,
    "ruby": lambda n: b"<rtc><rp>" * n,
    "adoption": lambda n: b"<b>" + b"<div>" * n + b"</b>" * n,
    "after the body": lambda n: b"<div>" * n + b"</body>x" * n,
    "formatting, blocks and end tags": lambda n: (
        (b"<b>" * 3 + b"<i>" * 3 + b"<u>" * 3 + b"<div>" * 8 + b"</b></i></u>" * 3) * (n // 10)
    ),
    "hidden in comments": lambda n: b"<div><!--</div>-->" * n,
    "hidden in scripts": lambda n: b"<div><script></div></script>" * n,
    "hidden in values": lambda n: b"<div><br a='</div>'>" * n,
    "a closed element that is not one of SVG": lambda n: b"<svg><p>" + b"<xyz/>" * n,
}


@pytest.mark.parametrize("family", HOSTILE, ids=str)
def test_hostile_nesting_is_cut(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps, not seconds: the kept part has at most this number of open elements, summed over its
    tags.
    """
    monkeypatch.setattr(bounds, "MOST_STEPS", 1_000_000)
    page = LINK + HOSTILE[family](50_000)
    kept, notes = bounded(page)
    assert notes[Reason.NOTE_NESTING_CUT] == 1
    # A square of the tags left, unless many are closed again.
    assert kept.count(b"<") < 12_000
    assert targets(page) == ["before"]


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(b"<div><p>x<b>y</div>", id="closed blocks"),
        pytest.param(b"<TABLE><TR><TD><FONT>x</FONT></TD></TR></TABLE>", id="upper case"),
        pytest.param(b"<div><table><tr><td>y<td>z<tr><td></table></div>", id="tables"),
        pytest.param(b"<ul><li>x<li>y</ul><dl><dt>x<dd>y</dl>", id="lists"),
        pytest.param(b"<p>x<p>y<br>", id="paragraphs"),
        pytest.param(b"<svg><g><path d='M0 0'/></g></svg>", id="SVG"),
        pytest.param(b"<my-element><span><a href=x></a></span></my-element>", id="custom"),
        pytest.param(b"<form><input><select><option>1<option>2</select></form>", id="forms"),
        pytest.param(b"<button><span>x</span></button>", id="buttons"),
        pytest.param(b"<span><i><b>x</i></b></span><p>", id="wrongly nested"),
    ],
)
def test_long_ordinary_page_is_read_to_its_end(part: bytes) -> None:
    page = part * 4_000
    assert max(count for _, count in bounds._open_elements(page)) < 30
    kept, notes = bounded(page)
    assert notes == {} or notes.keys() == {Reason.NOTE_FORMATTING_LEFT_OUT}
    assert kept.endswith(part[-5:])


@pytest.mark.parametrize("page", [b"", b"<", b"</", b"<a", b"<a b='", b"<!--", b"<svg><![CDATA["])
def test_page_may_end_anywhere(page: bytes) -> None:
    filler = b"x" * bounds.SMALL
    assert bounded(filler + page) == (filler + page, {})
    assert list(bounds._open_elements(page)) in ([], [(0, 0)], [(0, 0), (5, 1)])
