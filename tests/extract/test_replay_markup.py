"""The changes that replay makes to a page are undone."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.extract.replay_markup import is_rewritten, undo_rewriting, undo_uri

BASE = "https://a.example/web"
TS = "20100203040506"

CASES = [
    pytest.param(f'<a href="/web/{TS}/http://h/x?y=1">', '<a href="http://h/x?y=1">', id="path"),
    pytest.param(f'<a href="{BASE}/{TS}/https://h/">', '<a href="https://h/">', id="absolute"),
    pytest.param(
        f'<a href="http://a.example/web/{TS}/https://h/">',
        '<a href="https://h/">',
        id="other scheme",
    ),
    pytest.param(
        f"<img src='//a.example/web/{TS}im_/http://h/i.png'>",
        "<img src='http://h/i.png'>",
        id="scheme-relative image",
    ),
    pytest.param(
        f'<script src="/web/{TS}js_/http://h/s.js">', '<script src="http://h/s.js">', id="script"
    ),
    pytest.param(
        f"<link href=/web/{TS}cs_/http://h/s.css rel=stylesheet>",
        "<link href=http://h/s.css rel=stylesheet>",
        id="unquoted",
    ),
    pytest.param(
        f'<img srcset="/web/{TS}im_/http://h/1.png 1x, /web/{TS}im_/http://h/2.png 2x">',
        '<img srcset="http://h/1.png 1x, http://h/2.png 2x">',
        id="srcset",
    ),
    pytest.param(
        f'<meta content="0; url=/web/{TS}/http://h/">',
        '<meta content="0; url=http://h/">',
        id="refresh",
    ),
    pytest.param(
        f"<style>a {{ background: url(/web/{TS}im_/http://h/b.png) }}</style>",
        "<style>a { background: url(http://h/b.png) }</style>",
        id="style",
    ),
    pytest.param(
        f'{{"u": "https:\\/\\/a.example\\/web\\/{TS}\\/http:\\/\\/h\\/"}}',
        '{"u": "http:\\/\\/h\\/"}',
        id="escaped",
    ),
    pytest.param(f'<a href="/web/{TS}/mailto:me@h">', '<a href="mailto:me@h">', id="mailto"),
    pytest.param('<a href="about/">', '<a href="about/">', id="relative, which pywb leaves"),
    pytest.param(
        f'<a href="http://other.example/web/{TS}/http://h/">',
        f'<a href="http://other.example/web/{TS}/http://h/">',
        id="other archive",
    ),
    pytest.param('<a href="/web/about.html">', '<a href="/web/about.html">', id="no timestamp"),
    pytest.param(
        f'<a href="http://h/web/{TS}/http://g/">',
        f'<a href="http://h/web/{TS}/http://g/">',
        id="another site's archive of the same path",
    ),
    pytest.param(
        "<html><head><!-- WB Insert -->\n<script>wbinfo</script>\n<!-- End WB Insert --><title>T",
        "<html><head><title>T",
        id="pywb's insertion",
    ),
    pytest.param(
        '<head lang="en"><script src="/_static/js/bundle.js"></script>\n<!-- End Wayback '
        "Rewrite JS Include -->\n<title>T",
        '<head lang="en">\n<title>T',
        id="the Internet Archive's insertion",
    ),
    pytest.param(
        "<body><!-- BEGIN WAYBACK TOOLBAR INSERT --><a href='/x'>x</a><!-- END WAYBACK "
        "TOOLBAR INSERT --><p>",
        "<body><p>",
        id="toolbar",
    ),
    pytest.param(
        "</html>\n<!--\n     FILE ARCHIVED ON 04:05:06 Feb 3, 2010 AND RETRIEVED …\n-->",
        "</html>\n",
        id="comment at the end",
    ),
]


@pytest.mark.parametrize(("page", "captured"), CASES)
def test_rewriting_is_undone(page: str, captured: str) -> None:
    assert undo_rewriting(page.encode(), BASE).decode() == captured


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        pytest.param(
            f'<!-- WB Insert --> <a href="/web/{TS}/http://h/">',
            False,
            id="no end of the insertion",
        ),
        pytest.param(
            f'<!-- WB Insert --><!-- End WB Insert --><a href="/web/{TS}/http://h/">',
            True,
            id="rewritten",
        ),
        pytest.param(
            "<!-- WB Insert --><!-- End WB Insert --><a href='http://h/'>",
            False,
            id="insertion only",
        ),
        pytest.param(
            f'<a href="/web/{TS}/http://h/">', False, id="links only: a page about archives"
        ),
    ],
)
def test_a_rewritten_page_is_recognised(page: str, answer: bool) -> None:
    assert is_rewritten(page.encode(), BASE) is answer


def test_where_a_redirect_leads_is_undone() -> None:
    assert undo_uri(f"{BASE}/{TS}id_/http://h/x", BASE) == "http://h/x"
    assert undo_uri("http://h/x", BASE) == "http://h/x"
    assert (
        undo_uri("http://localhost:8080/2010/http://h/x", "http://localhost:8080") == "http://h/x"
    )


@pytest.mark.parametrize(
    "mark",
    [
        b"<!-- WB Insert -->",
        b"<!-- FILE ARCHIVED ON ",
        b"<head",
        b"<head>",
        b"/web/2010",
        b"<!--" + b" " * 30,
    ],
)
def test_a_page_of_nothing_but_marks_takes_no_longer_than_another(mark: bytes) -> None:
    page = mark * (2_000_000 // len(mark))
    started = time.process_time()
    assert undo_rewriting(page, BASE) == page
    assert time.process_time() - started < 5


@given(
    st.lists(
        st.from_regex(r"https?://[a-z]{1,5}\.example/[a-z/?=.]{0,10}", fullmatch=True), max_size=5
    )
)
@settings(deadline=None)
def test_every_link_comes_back(links: list[str]) -> None:
    page = "".join(f'<a href="{link}">' for link in links)
    shown = "".join(f'<a href="{BASE}/{TS}mp_/{link}">' for link in links)
    assert undo_rewriting(shown.encode(), BASE).decode() == page
    assert undo_rewriting(page.encode(), BASE).decode() == page
