"""The links in the HTTP headers ``Link`` and ``Refresh``: their syntax, and builds with them."""

import re
from itertools import permutations
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.http import quote_header_value

from arclink.access.answers import follow
from arclink.access.queries import LinkQuery
from arclink.archives.payloads import redirect_checksum
from arclink.extract.header_links import HeaderLink, parse_link_header
from arclink.extract.settings import ExtractSettings
from arclink.model import Surt
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import http, warc
from tests.pipeline.store_contents import Link, outlinks_of

HTML = "Content-Type: text/html"


@pytest.mark.parametrize(
    ("value", "links"),
    [
        pytest.param("</a>", [HeaderLink("/a")], id="alone"),
        pytest.param("</a>;rel=next", [HeaderLink("/a", "next")], id="token"),
        pytest.param(
            '</a>; rel="prev index", <b>; REL=next',
            [HeaderLink("/a", "prev index"), HeaderLink("b", "next")],
            id="two, as in RFC 8288",
        ),
        pytest.param(" , </a>,, <b> ,", [HeaderLink("/a"), HeaderLink("b")], id="empty elements"),
        pytest.param("</a,b;c>;rel=x", [HeaderLink("/a,b;c", "x")], id="signs in a target"),
        pytest.param(
            r'</a>; title="A, <b>; \"c\" \\"; rel=x',
            [HeaderLink("/a", "x", 'A, <b>; "c" \\')],
            id="signs in a quoted string",
        ),
        pytest.param("</a>; rel=x; rel=y", [HeaderLink("/a", "x")], id="the first rel counts"),
        pytest.param(
            "</a>; title=no; title*=UTF-8'de'n%c3%a4chstes%20Kapitel",
            [HeaderLink("/a", "", "nächstes Kapitel")],
            id="title* of RFC 8187",
        ),
        pytest.param(
            "</a>; title=A; title*=UTF-8''%ff", [HeaderLink("/a", "", "A")], id="bad title*"
        ),
        pytest.param(
            "</a>; title=A; title*=x-none''b", [HeaderLink("/a", "", "A")], id="no charset"
        ),
        pytest.param(
            "</a>; rel=x; anchor=\"#f\", </b>; anchor='/c'",
            [HeaderLink("/a", "x", "", "#f"), HeaderLink("/b", "", "", "'/c'")],
            id="anchor",
        ),
        pytest.param(
            "</a> ; crossorigin ; as=font;;rel = preload",
            [HeaderLink("/a", "preload")],
            id="names without value",
        ),
        pytest.param('</a>; rel="x', [HeaderLink("/a", "x")], id="an open string"),
        pytest.param("<>; rel=self", [HeaderLink("", "self")], id="the page itself"),
        pytest.param("", [], id="nothing"),
        pytest.param("/a; rel=x", [None], id="no brackets"),
        pytest.param("</a", [None], id="no end"),
        pytest.param("</a> rel=x, <b>", [HeaderLink("/a"), None], id="no semicolon"),
        pytest.param('</a>; rel="x" y, <b>', [HeaderLink("/a", "x"), None], id="after a string"),
    ],
)
def test_a_link_header_is_read_as_the_rfc_says(value: str, links: list[HeaderLink | None]) -> None:
    assert list(parse_link_header(value)) == links


WRITTEN = st.builds(
    HeaderLink,
    st.text(st.characters(exclude_characters=">", max_codepoint=0x2FF)),
    st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)),
    st.text(st.characters(min_codepoint=0x20, max_codepoint=0x2FF)),
    st.none() | st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)),
)


@given(st.lists(WRITTEN))
def test_links_that_another_library_writes_are_read_back(links: list[HeaderLink]) -> None:
    def quoted(text: str) -> str:
        return quote_header_value(text, allow_token=False)

    written = ", ".join(
        f"<{link.target}>; rel={quoted(link.rel)}; title={quoted(link.title)}"
        + ("" if link.anchor is None else f"; anchor={quoted(link.anchor)}")
        for link in links
    )
    assert list(parse_link_header(written)) == links


@given(st.text(alphabet="<>;,=\"\\ \tarel*'%"))
def test_any_value_is_read(value: str) -> None:
    links = list(parse_link_header(value))
    assert None not in links[:-1]
    assert len(links) <= value.count("<") + 1


@pytest.mark.parametrize(
    "piece", ["<a>", "<a>,", "<", "<a>;", ';"', '<a>;a="\\', " ", ",", "<a>;=,"]
)
def test_a_long_header_is_read_in_linear_time(piece: str) -> None:
    value = "<a>" + piece * (1_000_000 // len(piece)) + "x"
    started = process_time()
    for _ in parse_link_header(value):
        pass
    assert process_time() - started < 5


def test_many_links_in_one_header_take_linear_time() -> None:
    started = process_time()
    assert sum(1 for _ in parse_link_header("<a>;rel=x," * 400_000)) == 400_000
    assert process_time() - started < 5


def links_of(folder: Path, *records: bytes, wayback: bool = False) -> dict[str, list[Link] | None]:
    """Return the links of each original after a build of one archive file."""
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in/a.warc").write_bytes(b"".join(records))
    settings = BuildSettings(cores=1, extract=ExtractSettings(wayback=() if wayback else None))
    build_store(folder / "in", folder / "s.db", settings)
    with open_store(str(folder / "s.db")) as store:
        assert list(store.verify()) == []
        return {
            original: links
            for (original, _), links in outlinks_of(store, set(store.surts(Surt("")))).items()
        }


def test_headers_of_a_page_are_links_after_its_own(tmp_path: Path) -> None:
    record = warc(
        "http://h.example/d/page",
        http(
            b"<a href=b>B</a>",
            HTML,
            'Link: <c>; rel="Next"; title="Go  on", </s.css>; rel=preload',
            "link: <https://h.example/>; rel=canonical",
            "Link: <#f>; rel=x, </e>; anchor=http://o.example/, <javascript:x()>, broken",
            "Refresh: 5;url=r",
        ),
    )
    links = links_of(tmp_path, record)
    assert links == {
        "http://h.example/d/page": [
            ("http://h.example/d/b", "a@href", "B", None),
            ("http://h.example/d/c", "http@link", "Go on", "next"),
            ("http://h.example/s.css", "http@link", "", "preload"),
            ("https://h.example/", "http@link", "", "canonical"),
            ("http://h.example/d/r", "http@refresh", "", None),
        ]
    }
    with open_store(str(tmp_path / "s.db")) as store:
        payloads = [
            store.payload(memento.checksum)
            for surt in store.surts(Surt(""))
            for memento in store.mementos(surt)
        ]
    assert payloads[0] is not None
    assert dict(payloads[0].counts) == {
        "LINK_KEPT": 5,
        "LINK_SAME_PAGE": 1,
        "LINK_JAVASCRIPT": 1,
        "LINK_INVALID": 1,
        Reason.LINK_OTHER_CONTEXT.name: 1,
    }


def test_headers_do_not_resolve_against_the_base_of_the_page(tmp_path: Path) -> None:
    record = warc(
        "http://h.example/d/page",
        http(
            b"<base href=http://b.example/e/><a href=b>B</a>",
            HTML,
            "Link: <c>;rel=x, <http://[>;rel=x",
            "Refresh: 31;r",
        ),
    )
    assert links_of(tmp_path, record) == {
        "http://h.example/d/page": [
            ("http://b.example/e/b", "a@href", "B", None),
            ("http://h.example/d/c", "http@link", "", "x"),
            ("http://h.example/d/r", "http@delayed-refresh", "", None),
        ]
    }


def test_a_redirect_without_location_leads_where_its_refresh_does(tmp_path: Path) -> None:
    records = [
        warc("http://h.example/old", http(b"x", "Refresh: 0; url=/new", status="302 Found")),
        warc(
            "http://h.example/both",
            http(b"x", "Refresh: 0; url=/new", "Location: /other", status="302 Found"),
        ),
        warc("http://h.example/none", http(b"x", status="302 Found")),
        warc(
            "http://h.example/again",
            http(b"", "Refresh: 0; url=/new", status="302 Found"),
            record_type="revisit",
        ),
    ]
    assert links_of(tmp_path, *records) == {
        "http://h.example/old": [("http://h.example/new", "http@refresh", "", None)],
        "http://h.example/both": [("http://h.example/other", "http@location", "", None)],
        "http://h.example/none": [],
        "http://h.example/again": [("http://h.example/new", "http@refresh", "", None)],
    }
    with open_store(str(tmp_path / "s.db")) as store:
        query, hops = follow(store, LinkQuery.from_parameters([("uri", "http://h.example/old")]))
        assert (query.uri, len(hops)) == ("http://h.example/new", 1)


def test_redirects_by_location_and_by_refresh_have_different_checksums() -> None:
    assert redirect_checksum("302", "", "r") != redirect_checksum("302", "r")
    assert redirect_checksum("302", "", "r") != redirect_checksum("302", "", "s")
    assert redirect_checksum("302", "r") == redirect_checksum("302", "r", "")


def test_a_wayback_machine_repeats_the_headers_of_the_page(tmp_path: Path) -> None:
    record = warc(
        "http://web.archive.org/web/20090102030405/http://h.example/",
        http(
            b"<a href=/web/20090102030405/http://h.example/b>B</a>",
            HTML,
            "Link: <http://h.example/>; rel=original",
            "X-Archive-Orig-Link: </web/20090102030405/http://h.example/c>; rel=next",
        ),
    )
    assert links_of(tmp_path, record, wayback=True) == {
        "http://h.example/": [
            ("http://h.example/b", "a@href", "B", None),
            ("http://h.example/c", "http@link", "", "next"),
        ]
    }


def test_headers_are_those_of_the_capture_that_is_read_in_any_order(tmp_path: Path) -> None:
    """Within a batch that is the earliest of a payload, in whichever file it is."""
    records = [
        warc(
            f"http://h.example/{number}",
            http(b"<a href=/b>B</a>", HTML, f"Link: </{number}>; rel=x"),
            "WARC-Payload-Digest: sha1:4CLHQAFAZ6ZSNVHLNAPJBBKACA5ESCPJ",
            date=f"2020-01-0{number}T00:00:00Z",
        )
        for number in (1, 2, 3)
    ]
    answers = []
    for number, order in enumerate(permutations(records)):
        (tmp_path / str(number)).mkdir()
        answers.append(links_of(tmp_path / str(number), *order))
    own = ("http://h.example/b", "a@href", "B", None)
    header = ("http://h.example/1", "http@link", "", "x")
    assert answers == [{f"http://h.example/{n}": [own, header] for n in (1, 2, 3)}] * 6


def test_a_kind_of_each_header_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs/explanation/data-model.md").read_text("utf-8")
    for kind in ("http@link", "http@refresh", "http@delayed-refresh"):
        assert re.search(rf"^\|.*`{kind}`", text, re.MULTILINE), kind
