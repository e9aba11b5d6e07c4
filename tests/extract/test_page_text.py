"""Readable text: what a reader sees, in blocks; what the parser writes is read back exactly."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from arclink.extract import page_text
from arclink.extract.html import NOT_SHOWN
from arclink.extract.page_text import read_page_text
from arclink.model import UriR

URI = UriR("http://a.example/d/")

CASES = {
    "blocks": ("<h1>A</h1><ul><li>b<p>c</ul>d<br>e", "h1:A item:b item:c text:d text:e"),
    "inline": ("<p>a<b>b</b> <i> c", "text:ab c"),
    "pre": ("<pre>\n a\n  b<br>c</pre> d\n e", "pre: a\n  b pre:c text:d e"),
    "image": ("a<img alt='b  &lt;\"&amp;lt;' title=' alt='><img hidden alt=no>", 'text:ab <"&lt;'),
    "hidden": ("a<p hidden>b<p hidden>c</p><xmp hidden>d</xmp>e<br hidden>f", "text:aef"),
    "hidden body": ("<body hidden>a", "text:a"),
    "value": ('<p title="a>b<p hidden=\'">c', "text:c"),
    "names": ("<a<b c<d='>' e\"f hidden'>x</a<b>y<p\"q =hidden=1>z", "text:xyz"),
    "no-break": ("a&nbsp;<b>&nbsp; </b>b&#0;", "text:a\xa0\xa0 b\ufffd"),
    "script": ("a<script>x<!--<script>y</script>--><p>z</script>b", "text:ab"),
    "foreign": ("a<svg><style>&lt;/style>&lt;/svg>&lt;p></style><svg>b</svg>c</svg>d", "text:ad"),
    "raw": ("<xmp>a<p>&amp;</xmp><plaintext>b</plaintext><p>", "text:a<p>&amp;b</plaintext><p>"),
    "template": ("a<template><p>b<script></template></script></template>c", "text:ac"),
    "comment": ("a<!-- > <p> --!- --><!-->b<!--->c<!x<y><?p <q>d<!--<a -->e", "text:abcde"),
    "frames": ("<frameset><frame><noframes>a", ""),
    "nothing": ("", ""),
}


@pytest.mark.parametrize(("html", "expected"), CASES.values(), ids=CASES)
def test_the_text_is_what_a_reader_sees(html: str, expected: str) -> None:
    read = read_page_text(html.encode())
    shown = [f"{kind}:{''.join(text for text, _ in runs)}".rstrip() for kind, runs in read.blocks]
    assert " ".join(shown) == expected
    assert not read.is_cut


@pytest.mark.parametrize(
    ("html", "runs"),
    [
        (" <p> a <a href=b> c </a> d", [("a ", None), ("c ", "http://a.example/d/b"), ("d", None)]),
        (
            "<a href=b>x<table><td><a href=c>y</a>z",
            [("y", "http://a.example/d/c"), ("z", "http://a.example/d/b")],
        ),
        ("<a title=' href=' href=b>x", [("x", "http://a.example/d/b")]),
        ("<a xhref=c href=>x", [("x", "http://a.example/d/")]),
        ("<a href='javascript:x'>x</a><a name=b>y</a><a href=//[>z", [("xyz", None)]),
        ("<base target=x><base href=/e/><a href=b&amp;c>x", [("x", "http://a.example/e/b&c")]),
    ],
)
def test_a_run_has_its_target(html: str, runs: list[tuple[str, str | None]]) -> None:
    assert read_page_text(html.encode(), URI).blocks[-1][1] == runs


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=' de-AT '>", "de-at"),
        ("<html xml:lang=fr>", "fr"),
        ("<html lang='' xml:lang=fr>", "fr"),
        ("<p lang=de>", None),
        (f"<html lang={'x' * 36}>", None),
    ],
)
def test_the_language_is_what_the_page_declares(html: str, language: str | None) -> None:
    assert read_page_text(html.encode()).language == language


_NAMES = ("a", "p", "b", "table", "td", "li", "pre", "svg", "select", "xmp", "plaintext", "script")
_pieces = st.sampled_from(
    [
        *(f"<{name}>" for name in _NAMES),
        *(f"</{name}>" for name in _NAMES),
        *("<style>", "<textarea>", "<template>", "<div hidden>", "<a href=x>", "<br/>", "<a<b>"),
        *("<i a\"b='<c>' d=>", '<p title="<>\'&quot;">', "<!--", "-->", "<!x>", "<?x>", "&#0;"),
        *("a", " ", "\n ", "\u3000", "&nbsp;", "&amp;lt;", "<", ">", "\u00e9", "\u6f22", "\0"),
        *("<math><annotation-xml encoding=text/html>", "<foreignObject>", "<title>", "<object>"),
    ]
)
_pages = st.lists(_pieces, max_size=25).map("".join)
_LEFT_OUT = {*NOT_SHOWN, "template", "select", "title", "textarea", "object", "svg", "math"}


def texts_of(node: LexborNode) -> str:
    """Return the text in an element that is shown, node by node."""
    text, child = "", node.first_child
    while child is not None:
        if child.is_text_node:
            text += child.text_content or ""
        elif child.tag not in _LEFT_OUT and "hidden" not in child.attributes:
            text += texts_of(child)
        child = child.next
    return text


@given(_pages)
def test_all_text_is_read_in_order(page: str) -> None:
    body = LexborHTMLParser(page).body
    blocks = read_page_text(page.encode(), URI).blocks
    read = "".join(text for _, runs in blocks for text, _ in runs)
    assert "".join(read.split()) == "".join(texts_of(body).split() if body else [])


@given(_pages)
def test_texts_are_equal_without_links(page: str) -> None:
    with_links, without = (read_page_text(page.encode(), uri).blocks for uri in (URI, None))
    assert without == [
        (kind, [("".join(text for text, _ in runs), None)]) for kind, runs in with_links
    ]


def test_the_length_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_text, "MOST_TEXT", 5)
    whole = read_page_text(b" <p>  ab <a href=x>cd</a><p> <p>")
    cut = read_page_text(b"<p>ab <a href=x>cdef</a> g<p>h", URI)
    assert (whole.blocks, whole.is_cut) == ([("text", [("ab cd", None)])], False)
    assert cut.blocks == [("text", [("ab ", None), ("cd", "http://a.example/d/x")])]
    assert cut.is_cut


@pytest.mark.parametrize(
    "page",
    [
        "<p>x " * 100_000,
        "<b>x</b> " * 300_000,
        "<p " + "<" * 2_000_000 + ">x",
        "<!--" + "<->" * 1_000_000 + "-->x",
        "<a " + " ".join(f"a{number}" for number in range(900)) + " href=x>y</a>",
        "<svg>" * 100_000 + "x",
        "<template>" * 100_000 + "x",
        "<div hidden>" * 10_000 + "x",
        "&nbsp;" * 1_000_000,
        "<p> " + " \n" * 1_000_000 + "x",
    ],
    ids=lambda page: page[:12],
)
def test_hostile_pages_take_little_time(page: str) -> None:
    begin = time.process_time()
    read_page_text(page.encode(), URI)
    assert time.process_time() - begin < 10
