"""The web pages of the service: every view and state, with foreign text always escaped."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote, urljoin

import pytest
from flask.testing import FlaskClient
from jinja2 import Environment
from selectolax.lexbor import LexborHTMLParser, LexborNode

from arclink.access.examples import any_example, example_pages
from arclink.access.reader import Budget
from arclink.access.replay import parse_replay
from arclink.errors import StoreError
from arclink.service.pages.requests import View
from arclink.service.server import example_uri
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo
from arclink.store.protocols import GraphStore
from tests.service.conftest import NASTY, PAGES, T1, T2, A, B, C, client_of
from tests.service.shown import hrefs, page, words
from tests.store.memory_store import MemoryStore, Page, link

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
VIEWS = tuple(view.value for view in View)
REPLAY = Settings(replay=parse_replay("--replay", "https://w.example/web/"))


def cells(table: LexborNode) -> list[list[str]]:
    return [[words(cell) for cell in row.css("td, th")] for row in table.css("tbody tr")]


# The front


def test_the_front_has_a_form_and_pages_to_begin_with(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.service.tables._PATIENCE", 60)  # of a busy machine
    response = client.get("/")
    html = LexborHTMLParser(response.data)
    assert response.mimetype == "text/html"
    assert html.css_first("form[role=search] input[name=uri]") is not None
    assert words(html.css_first("label[for=uri]"))
    assert hrefs(html, "ul.beginnings a") == [
        "?uri=http%3A%2F%2Fa.example%2F",
        f"browse/{T2}/{A}",
        "?uri=http%3A%2F%2Fb.example%2F",
        f"browse/{T1}/{B}",
    ]
    assert words(html.css_first(".holdings")) == (
        "4 captures of 3 hosts, 3 Nov 2009 to 30 Jan 2010; the links of 4 are known. "
        "6 links (repeats on a page count) from 3 distinct contents."
    )


def test_pages_to_begin_with_are_pages_that_people_read_the_most_linked_first() -> None:
    pages = [
        Page("http://a.example/robots.txt", T1, [link(B)], mime="text/plain"),
        Page("http://a.example/dot.gif", T1, None, mime="image/gif", reason="MEMENTO_MIME"),
        Page("http://a.example/gone", T1, None, status="404", reason="MEMENTO_STATUS"),
        Page("http://a.example/unread", T1, None, reason="PAYLOAD_MISSING"),
        Page("http://a.example/icon.html", T1, [link(B, "1")]),
        Page("http://a.example/read.html", T1, [link(B, "2")]),
        *(
            Page(
                f"http://z{n}.example/",
                T1,
                [
                    link("http://a.example/read.html", str(n)),
                    link("http://a.example/robots.txt"),
                    link("http://a.example/icon.html", kind="link@href"),
                    link("http://a.example/icon.html", kind="img@src"),
                ],
            )
            for n in range(2)
        ),
    ]
    store = MemoryStore(pages)
    assert example_pages(store, 3) == [
        "http://a.example/read.html",
        "http://z0.example/",
        "http://z1.example/",
    ]
    assert example_pages(store, 9)[3:] == ["http://a.example/icon.html"]
    assert any_example(store) == "http://a.example/read.html"
    assert any_example(MemoryStore(pages[:1])) == "http://a.example/robots.txt"
    assert any_example(MemoryStore()) is None


def test_the_uri_that_is_announced_is_one_that_the_store_has() -> None:
    targets = [link(f"http://{n:03}.example/") for n in range(300)]  # sorted before any capture
    store = MemoryStore([Page("http://zz.test/", T1, targets)])
    assert example_uri(store, Embargo()) == "http://zz.test/"
    assert example_uri(MemoryStore(), Embargo()) is None


def lanes(html: LexborHTMLParser, panel: str) -> dict[str, tuple[list[float], str]]:
    """Return the heights of the bars of each row of small charts, and the number next to them."""
    return {
        words(row.css_first("th")): (
            [float(bar.attributes["height"] or "") for bar in row.css("rect:not(.gap)")],
            words(row.css_first("td.number")),
        )
        for row in html.css(f"section[aria-labelledby={panel}] tbody tr")
    }


def parts_of_scale(html: LexborHTMLParser, heading: str) -> list[float]:
    """Return how high the rows of a section are in the scale of all: the own one is 1."""
    found = []
    for group in html.css(f"section:has({heading}) svg.lane g"):
        matrix = str(group.attributes["transform"]).removeprefix("matrix(").rstrip(")").split()
        share = float(matrix[3])
        assert float(matrix[5]) == pytest.approx(26 * (1 - share), abs=0.01)
        found.append(share)
    return found


def test_a_glance_has_the_most_used_words_each_in_its_own_scale_or_all_in_one() -> None:
    texts = {"often": 4, "second": 3, **{f"t{n}": 1 for n in range(9)}}
    pages = [
        Page(f"http://{text}{n}.example/", T1, [link(A, text)])
        for text, times in texts.items()
        for n in range(times)
    ]
    pages += [  # texts that are seen at more times, by fewer links
        Page(f"http://t{n}0.example/", T2, [link(A, f"t{n}"), link(B)]) for n in range(9)
    ]
    html = page(client_of(lambda: MemoryStore(pages)), f"?uri={A}")
    by_words = lanes(html, "anchors")
    assert [*by_words][:2] == ["often", "second"]
    assert [number for _, number in by_words.values()] == ["4", "3", *["1"] * 6]
    assert {height for heights, _ in by_words.values() for height in heights} == {26.0}
    assert parts_of_scale(html, "#anchors")[:3] == [1.0, 0.75, 0.25]
    assert {*parts_of_scale(html, "#who")} == {0.25}  # one of four links
    scales = [words(node) for node in html.css("p.scale .one")]
    assert scales == ["A bar of full height: 4 links in one month."] * 2
    assert html.css_first("section:has(#who) input.one-scale[type=checkbox]")
    leads = [one.attributes["href"] for one in html.css("section:has(#who) tbody a[tabindex]")]
    assert f"?uri={quote(A, safe='')}&view=links&direction=in&from=2009-11&to=2009-11" in leads


@pytest.mark.parametrize("view", ["anchors", "places"])
def test_all_rows_of_a_list_can_have_one_scale_and_it_is_said(view: str) -> None:
    pages = [
        Page(B, T1, [link(A, "one"), link(A, "two"), link(A, "one", rel="me")]),
        Page(C, T1, [link(A, "three")]),
    ]
    html = page(client_of(lambda: MemoryStore(pages)), f"?uri={A}&view={view}")
    heights = [float(bar.attributes["height"] or "") for bar in html.css("td.wide rect:not(.gap)")]
    assert {*heights} == {26.0}
    expected = {"anchors": [0.5, 0.5, 1.0], "places": [0.33333, 1.0]}
    assert sorted(parts_of_scale(html, "p.scale")) == expected[view]
    (scale,) = html.css("p.scale .one")
    most = {"anchors": 2, "places": 3}[view]
    assert words(scale) == f"A bar of full height: {most} links in one day."


def test_every_view_counts_the_links_of_a_capture_alike() -> None:
    links = [link(B, "x"), link(B, "x"), link(B, "x"), link(C, "y", kind="img@src")]
    client = client_of(lambda: MemoryStore([Page(A, T1, links)]))
    (row,) = page(client, f"?uri={A}&view=captures").css("tbody tr")
    assert words(row.css_first("td.number")) == "2 links4 with repeats"
    marks = page(client, f"?uri={A}").css("svg.captures title")
    assert [words(mark) for mark in marks] == ["3 Nov 2009, 01:13: 2 links"]
    answer = client.get(f"/linkQuery?uri={A}&format=json&direction=out").get_json()
    assert len(answer["outlinks"]) == 2
    places = page(client, f"?uri={A}&view=places&direction=out").css("table.told tbody tr")
    assert [words(row.css("td.number")[0]) for row in places] == ["1 link", "1 link"]
    nothing = page(
        client_of(lambda: MemoryStore([Page(A, T1, links[2:])])), f"?uri={A}&view=captures"
    )
    assert "repeats" not in words(nothing.css_first("tbody tr"))


def test_the_graph_shows_what_a_reader_can_follow_and_names_other_kinds() -> None:
    links = [link(B, "to read"), link("http://cdn.example/s.css", kind="link@href")]
    client = client_of(lambda: MemoryStore([Page(A, T1, links)]))
    default, everything = (
        page(client, f"?uri={A}&view=graph{further}") for further in ("", "&kinds=all")
    )
    assert [words(node) for node in default.css(".side.out a")] == ["b.example"]
    assert "Only links that a reader can follow count" in words(default)
    assert len(everything.css(".side.out a")) == 2
    assert all("kinds=all" in href for href in hrefs(everything, ".side.out a"))
    assert not any("kinds" in href for href in hrefs(default, ".side.out a"))
    assert "Only links of these kinds count: all" in words(everything)
    old = page(client, f"?uri={A}&view=graph&kind=link@href")
    assert [words(node) for node in old.css(".side.out a")] == ["cdn.example"]
    for html, count in ((default, 1), (everything, 2)):
        (saved,) = [one for one in hrefs(html, "#save a") if one.endswith("-out-json")]
        assert len(client.get(f"/{saved}").get_json()["rows"]) == count


def test_an_empty_graph_says_that_it_is_being_filled_or_must_be() -> None:
    client = client_of(MemoryStore)
    assert "This graph is still empty" in words(page(client))
    assert "The graph is still empty" in words(page(client, f"?uri={A}"))
    assert client.get("/").status_code == 200


# Security


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_runs_no_script_but_its_own_and_asks_no_other_host(
    client: FlaskClient, view: str
) -> None:
    response = client.get(f"/?uri={A}&view={view}")
    html = LexborHTMLParser(response.data)
    assert response.status_code == 200
    assert [(node.attributes["src"], node.text()) for node in html.css("script")] == [
        ("/static/page.js", "")
    ]
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.findall(r"https?:", policy) == []
    for node in html.css("[href], [src], [action]"):
        for value in (node.attributes.get(name) or "" for name in ("href", "src", "action")):
            assert re.match(r"[a-z]+:|//", value) is None, value
    assert not html.css("[style], style, iframe, object, embed, base")


@pytest.mark.parametrize("path", [f"/?uri={A}", "/select", f"/browse/20100101000000/{A}"])
def test_the_script_of_a_page_and_what_it_imports_are_served_as_javascript(
    client: FlaskClient, path: str
) -> None:
    """Browsers refuse a module of another media type."""
    (element,) = LexborHTMLParser(client.get(path).data).css("script")
    assert element.attributes["type"] == "module"
    addresses = [element.attributes["src"] or ""]
    for address in addresses:
        with client.get(address) as response:
            assert (response.status_code, response.mimetype) == (200, "text/javascript"), address
            script = response.get_data(as_text=True)
        imported = re.findall(r'^import .* from "(.*)";$', script, re.MULTILINE)
        addresses += [urljoin(address, name) for name in imported]
    assert addresses[1:] == ["/static/fetch_page.js"]


HOSTILE = [
    Page(
        A,
        T1,
        [
            link('http://x.example/"><img src=x onerror=alert(1)>', NASTY, rel='"><b>'),
            link("javascript:alert(1)", "&amp;<b>&#60;"),
        ],
    ),
    Page(
        "http://h.example/\x00\"'><script>alert(2)</script>",
        T2,
        [link(A, "{{ 7*7 }}{% raw %}\ud800\x9b", kind="a@onclick")],
    ),
    Page("http://<b>.example/\u202e", T2, [link(A, "]]>-->\u2028\x00")]),
]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("extra", ["", "&validity=true&evidence=true", "&by=page", "&by=host"])
def test_hostile_texts_uris_and_hosts_stay_texts(view: str, extra: str) -> None:
    data = client_of(lambda: MemoryStore(HOSTILE), REPLAY).get(f"/?uri={A}&view={view}{extra}")
    text = data.get_data(as_text=True)
    html = LexborHTMLParser(text)
    assert data.status_code in (200, 400), text
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", text) == []
    assert [node.attributes.get("src") for node in html.css("script")] == ["/static/page.js"]
    assert not html.css("b, img, [onerror], [onclick]")
    assert "49" not in words(html.css_first("main"))
    for address in hrefs(html, "a, link"):
        assert re.match(r"[a-z]+:", address) is None or address.startswith(
            "https://w.example/web/2"
        ), address


@pytest.mark.parametrize(
    "query",
    [
        '?uri="><script>alert(1)</script>',
        '?uri=http://a.example/&at="><script>x</script>',
        "?uri=%00",
        '?"><script>=1&uri=a.example',
        '?view="><script>',
        "?uri=%ED%A0%80",
    ],
)
def test_a_hostile_question_stays_a_text(client: FlaskClient, query: str) -> None:
    response = client.get(f"/{query}", follow_redirects=True)
    html = LexborHTMLParser(response.data)
    assert response.status_code in (200, 400)
    scripts = [node.attributes.get("src") for node in html.css("script")]
    assert scripts in (["/static/page.js"], ["/static/page.js", "/static/table.js"])


def test_applications_of_one_process_compile_templates_once(
    own_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = own_client.get(f"/?uri={A}").data
    compiled: list[str | None] = []

    def compiling(self: Environment, source: str, name: str | None = None, *_: object) -> None:
        compiled.append(name)

    monkeypatch.setattr(Environment, "compile", compiling)
    assert client_of(lambda: MemoryStore(PAGES)).get(f"/?uri={A}").data == first
    assert compiled == []


def test_foreign_texts_keep_their_direction_to_themselves(client: FlaskClient) -> None:
    for view in ("links", "anchors", "glance"):
        html = page(client, f"?uri={A}&view={view}")
        nodes = [node for node in html.css("main *") if "اتصل" in node.text(deep=False)]
        assert nodes
        assert {node.tag for node in nodes} == {"bdi"}


# What a page says


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        pytest.param(
            "?uri=nobody.example",
            200,
            "No captures to show, and no links to it.",
            id="not captured",
        ),
        pytest.param("?uri=nobody.example", 200, "This page is unknown", id="not known"),
        pytest.param(
            "?uri=x.example/a|b",
            200,
            "No captures to show. The links on this page are unknown",
            id="linked to only",
        ),
        pytest.param(
            "?uri=x.example/a|b&view=links",
            200,
            "No captures to show, so the links on it are unknown",
            id="no outlinks known",
        ),
        pytest.param(
            "?uri=x.example/a|b&view=graph",
            200,
            "Its links are unknown",
            id="graph of one not captured",
        ),
        pytest.param(
            "?uri=x.example/a|b&view=places",
            200,
            "No captures to show, so the links on it are unknown",
            id="hosts of one not captured",
        ),
        pytest.param(
            "?uri=x.example/a|b&view=captures", 200, "No captures to show.", id="no captures"
        ),
        pytest.param(
            f"?uri={A}&at=2008", 200, "No captures to show by then.", id="before the first capture"
        ),
        pytest.param(
            f"?uri={A}&from=2008&to=2008",
            200,
            "No captures to show in this range.",
            id="no capture in range",
        ),
        pytest.param(
            f"?uri={A}&kind=frame@src",
            200,
            "No such links. 2 captures that were read show none.",
            id="read, and none",
        ),
        pytest.param(
            f"?uri={A}&at=20091201",
            200,
            "In force: the capture of 2009-11-03 01:13:07.",
            id="at a time",
        ),
        pytest.param(
            "?uri=http://c.example/%3Fq=1%26r=2&at=2011",
            200,
            "a capture with status 404 whose links are unknown",
            id="a 404 in force",
        ),
        pytest.param(
            "?uri=http://c.example/%3Fq=1%26r=2&direction=out",
            200,
            "Captured, but not read, so the links on it are unknown",
            id="not read",
        ),
        pytest.param(
            "?uri=http://c.example/%3Fq=1%26r=2&view=changes&from=2008&to=2010",
            200,
            "No captures to show by then",
            id="diff of not captured",
        ),
        pytest.param(f"?uri={A}&from=never", 400, "from: expected 1 to 14 digits", id="no time"),
        pytest.param("?uri=", 400, "The address of a page is missing.", id="no URI"),
        pytest.param(
            "?uri=a.example/%07", 400, "is no address that a page can have", id="wrong URI"
        ),
        pytest.param("?uri=a.example&limit=0", 400, "limit: expected at least 1", id="unlimited"),
        pytest.param(
            "?uri=a.example&view=map", 400, "view: expected glance or links", id="no such view"
        ),
        pytest.param(
            "?uri=a.example&view=words&by=week",
            400,
            "by: expected day, month, year or host",
            id="no such unit",
        ),
        pytest.param(
            "?uri=a.example&view=graph&by=planet",
            400,
            "by: expected page or host or domain",
            id="no such neighbours",
        ),
        pytest.param(f"?uri={C}", 400, "an '&' inside the URI must be written %26", id="ampersand"),
        pytest.param(
            f"?uri={A}&view=changes&from=2010&to=2009",
            400,
            "a time that is not after",
            id="wrong order",
        ),
        pytest.param(
            f"?uri={A}&view=captures&kind=a@href",
            400,
            "one of the parameters view, uri",
            id="not for captures",
        ),
    ],
)
def test_an_error_page_says_what_is_wrong(
    client: FlaskClient, query: str, status: int, says: str
) -> None:
    response = client.get(f"/{query}")
    html = LexborHTMLParser(response.data)
    assert response.status_code == status
    assert says in words(html.css_first("main"))
    assert html.css_first("form[role=search] input[name=uri]") is not None


def test_the_page_of_an_unknown_uri_leads_to_known_ones(client: FlaskClient) -> None:
    assert hrefs(page(client, "?uri=x.example/nothing"), "[aria-labelledby=near] a") == [
        "?uri=http%3A%2F%2Fx.example%2Fa%7Cb"
    ]
    assert not hrefs(page(client, "?uri=x.example/nothing"), "a[href^=aggregate]")


def lost() -> GraphStore:
    raise StoreError("the disk /dev/secret is gone")


def test_the_page_about_a_missing_store_keeps_the_query() -> None:
    client = client_of(lost)
    for query in ("", f"?uri={A}&view=graph&at=2010"):
        response = client.get(f"/{query}")
        html = LexborHTMLParser(response.data)
        assert (response.status_code, response.headers["Retry-After"]) == (503, "30")
        assert "cannot be read at the moment" in words(html.css_first("[role=alert] h1"))
        assert b"secret" not in response.data
        assert hrefs(html, "[role=alert] a") == [
            "?uri=http%3A%2F%2Fa.example%2F&view=graph&at=2010" if query else "?"
        ]


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/nothing", 404, "There is nothing at this address"),
        ("/linkQuery", 400, "uri"),
        (f"/linkQuery?uri={A}&at=never", 400, "at: 'never' is not allowed"),
        ("/timemap/link/http://never.example/", 404, "no capture to show"),
        (f"/linkQuery?uri={A}{'x' * 200_000}", 414, "Query too long"),
    ],
    ids=["path", "no uri", "wrong time", "never captured", "long"],
)
def test_errors_are_pages_for_browsers_and_problems_for_programs(
    client: FlaskClient, path: str, status: int, says: str
) -> None:
    response = client.get(path, headers=BROWSER)
    assert (response.status_code, response.mimetype) == (status, "text/html")
    assert "Accept" in response.vary
    assert says in words(LexborHTMLParser(response.data).css_first("main"))
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    for accept in ({}, {"Accept": "*/*"}, {"Accept": "application/json, text/html;q=0.5"}):
        assert client.get(path, headers=accept).mimetype == "application/problem+json"


def test_the_error_about_an_unknown_parameter_names_all_parameters(client: FlaskClient) -> None:
    for path in ("linkQuery", "anchors", "diff"):
        assert "format" in client.get(f"/{path}?uri={A}&unheard=of").get_json()["allowed"]


def test_browsers_find_an_icon(client: FlaskClient) -> None:
    icon = client.get("/favicon.ico")
    assert (icon.status_code, icon.mimetype) == (200, "image/svg+xml")
    with client.get(page(client).css_first("link[rel=icon]").attributes["href"] or "") as linked:  # type: ignore[union-attr]
        assert linked.data == icon.data


# At a glance


def test_a_glance_has_captures_hosts_and_words_on_one_axis(client: FlaskClient) -> None:
    html = page(client, f"?uri={A}")
    assert words(html.css_first(".known")).startswith(
        "Captured 2 times, 3 Nov 2009 to 30 Jan 2010. 2 links to it were seen, of all kinds."
    )
    sections = html.css("#view > section:has(h2)")
    lanes = {words(section.css_first("h2")): section for section in sections}
    assert cells(lanes["Who linked to it"]) == [["b.example", "Nov 2009: 2 links3 Nov 2009", "2"]]
    assert ["Official site", "Nov 2009: 1 link3 Nov 2009", "1"] in cells(lanes["In which words"])
    assert [row[0] for row in cells(lanes["Where it led"])] == [
        "b.example",
        "c.example",
        "x.example",
    ]
    assert len(html.css(".history circle.read")) == 2 + 1  # and one in the legend
    assert hrefs(html, ".history a")[0] == f"?uri=http%3A%2F%2Fa.example%2F&view=links&at={T1}"


def test_days_without_a_capture_are_hatched_and_days_with_none_of_its_links_are_not() -> None:
    pages = [
        Page(A, "20100101000000", [link(B)]),
        Page(A, "20100103000000", []),
        Page(A, "20100105000000", None, status="404", reason="MEMENTO_STATUS"),
    ]
    html = page(client_of(lambda: MemoryStore(pages)), f"?uri={A}")
    figure = html.css_first("figure.history")
    assert figure is not None
    gaps = [words(gap) for gap in figure.css("svg[role=img] rect.gap")]
    assert gaps == [  # links to it, which a page captured on any day would show; links on it
        "20 Dec 2009 to 31 Dec 2009: no captures to show, or none was read",
        "2 Jan 2010: no captures to show, or none was read",
        "4 Jan 2010: no captures to show, or none was read",
        "6 Jan 2010 to 17 Jan 2010: no captures to show, or none was read",
        "20 Dec 2009 to 31 Dec 2009: no captures to show",
        "2 Jan 2010: no captures to show",
        "4 Jan 2010 to 17 Jan 2010: no captures to show",
    ]
    assert [words(bar) for bar in figure.css("rect.out")] == ["1 Jan 2010: 1 link on it"]


def test_months_in_which_no_page_was_captured_are_hatched_in_every_chart_of_inlinks() -> None:
    pages = [Page(B, "20100110000000", [link(A, "x")]), Page(C, "20100420000000", [link(A, "x")])]
    html = page(client_of(lambda: MemoryStore(pages)), f"?uri={A}")
    figure = html.css_first("figure.history")
    assert figure is not None
    (unknown,) = [
        words(gap)
        for gap in figure.css_first("svg[role=img]").css("rect.gap")  # type: ignore[union-attr]
    ]
    assert unknown == "Feb 2010 to Mar 2010: no captures to show, or none was read"
    for panel in ("who", "anchors"):
        for row in html.css(f"section[aria-labelledby={panel}] tbody tr"):
            assert len(row.css("rect.gap")) == 1
    ends = [
        sum(float(str(gap.attributes["width"]).rstrip("%")) for gap in row.css("rect.gap"))
        for row in html.css("section[aria-labelledby=who] tbody tr")
    ]
    assert all(width > 70 for width in ends), "each host was captured in one of four months"


def test_a_host_with_one_link_has_a_bar_next_to_a_hub() -> None:
    pages = [
        Page(f"http://hub.example/{n}", T1, [link(A, "hub", rel=str(m)) for m in range(50)])
        for n in range(60)
    ]
    pages += [Page("http://small.example/", T1, [link(A, "small")])]
    html = page(client_of(lambda: MemoryStore(pages)), f"?uri={A}")
    assert {name: number for name, (bars, number) in lanes(html, "who").items() if bars} == {
        "hub.example": "3,000",
        "small.example": "1",
    }


def test_captures_that_are_no_page_have_a_mark_of_their_own() -> None:
    pages = [
        Page(A, "20100101000000", [link(B)]),
        Page(A, "20100220000000", None, status="404", reason="MEMENTO_STATUS"),
    ]
    html = page(client_of(lambda: MemoryStore(pages)), f"?uri={A}")
    figure = html.css_first("figure.history")
    assert figure is not None
    assert len(figure.css("tbody path.gone")) == 1


# Links


def test_links_are_tables_with_words_times_kind_and_rel(client: FlaskClient) -> None:
    html = page(client, f"?uri={A}&view=links")
    inlinks, outlinks = html.css("table.links")
    assert "Official site" in words(inlinks)
    assert cells(outlinks)[0] == [
        "News",
        B,
        "2009-11-03 01:13:07 to 2010-01-30 00:30:05",
        "2 times",
        "a@href",
    ]
    rel = MemoryStore([Page(A, T1, [link(B, "x", rel="nofollow ugc")])])
    assert (
        cells(page(client_of(lambda: rel), f"?uri={A}&view=links").css("table.links")[0])[0][-1]
        == "a@href rel nofollow ugc"
    )


def test_parameters_of_links_show_links_without_saying_so(client: FlaskClient) -> None:
    html = page(client, f"?uri={A}&direction=in&from=2009")
    assert [node.attributes["value"] for node in html.css(".narrow input[name=from]")] == ["2009"]
    assert [
        node.attributes["value"]
        for node in html.css(".narrow select[name=direction] option[selected]")
    ] == ["in"]
    assert [words(node) for node in html.css("#answer h2")] == ["Links to it 2"]
    assert [words(node) for node in html.css(".groups [aria-current=page]")] == [
        "Each link to it, and on it"
    ]


def test_more_links_are_on_the_next_page(client: FlaskClient) -> None:
    following = page(client, hrefs(page(client, f"?uri={A}&limit=1"), ".paging a[rel=next]")[0])
    assert "script" in words(following.css("table.links")[1])
    first = page(client, hrefs(following, ".paging a[rel=first]")[0])
    assert cells(first.css("table.links")[1])[0][0] == "News"


def test_the_page_shows_when_links_came_and_went(client: FlaskClient) -> None:
    rows = {
        row[1]: row[2]
        for row in cells(
            page(client, f"?uri={A}&direction=out&validity=true").css("table.links")[0]
        )
    }
    assert rows[B].endswith("unknown when it appeared; unknown when it disappeared")
    assert rows[C].endswith("unknown when it appeared; removed by 2010-01-30 00:30:05")


def test_evidence_has_file_offset_and_checksum(client: FlaskClient) -> None:
    html = page(client, f"?uri={A}&direction=out&evidence=true")
    assert re.search(
        r"2009-11-03 01:13:07 crawl\.warc\.gz at byte [\d,]+ [0-9A-F]{32}",
        words(html.css_first("details.evidence li")),
    )


def test_times_lead_to_the_mementos_where_a_replay_prefix_is_known(
    client: FlaskClient, store: MemoryStore
) -> None:
    with_replay = client_of(lambda: store, REPLAY)
    assert f"https://w.example/web/{T1}/{A}" in hrefs(
        page(with_replay, f"?uri={A}&direction=out"), "a.replay"
    )
    assert f"https://w.example/web/{T1}/{A}" in hrefs(
        page(with_replay, f"?uri={A}&view=captures"), "a.replay"
    )
    for view in VIEWS:
        assert hrefs(page(client, f"?uri={A}&view={view}"), "a.replay") == []


def test_time_can_be_walked_through_without_a_script(client: FlaskClient) -> None:
    at = f"?uri={A}&view=links&at="
    latest = page(client, f"?uri={A}&view=links")
    assert hrefs(latest, ".steps a[rel=prev]") == [
        f"?uri=http%3A%2F%2Fa.example%2F&view=links&at={T2}"
    ]
    second = page(client, at + T2)
    assert hrefs(second, ".steps a[rel=prev]") == [
        f"?uri=http%3A%2F%2Fa.example%2F&view=links&at={T1}"
    ]
    assert hrefs(second, ".steps a[rel=next]") == []
    first = page(client, at + T1)
    assert [row[0] for row in cells(first.css("table.links")[1])] == [
        "News",
        cells(first.css("table.links")[1])[1][0],
    ]
    assert hrefs(first, ".steps a[rel=next]") == [
        f"?uri=http%3A%2F%2Fa.example%2F&view=links&at={T2}"
    ]
    slider = first.css_first("input.slider")
    assert slider is not None
    assert "hidden" in slider.attributes
    assert slider.attributes["value"] == "0"


# Words, changes, graph, hosts, captures


def test_words_are_shown_through_time_or_by_period_and_host(client: FlaskClient) -> None:
    together = page(client, f"?uri={A}&view=anchors")
    official = next(
        row for row in cells(together.css("table.told")[0]) if row[0] == "Official site"
    )
    assert official == [
        "Official site",
        "Nov 2009: 1 link",
        "1 link",
        "1 page",
        "1 capture",
        "1 host",
        "2009-11-03 01:13:07",
        B,
        "a@href",
    ]
    assert len(together.css("table.told tbody rect.in")) == 2
    by_year = cells(page(client, f"?uri={A}&view=anchors&by=year,host").css("table.told")[0])
    assert [row[:2] for row in by_year] == [["2009", "b.example"]] * 2


def test_changes_compare_the_first_and_last_capture_if_no_times_are_given(
    client: FlaskClient,
) -> None:
    html = page(client, f"?uri={A}&view=changes&direction=out&kinds=all")
    tally = [words(node) for node in html.css(".tally li")]
    assert tally == ["1 added", "1 removed", "0 unknown", "1 kept"]
    assert [row[2] for row in cells(html.css("#added table")[0])] == ["http://x.example/a|b"]
    assert [row[2] for row in cells(html.css("#removed table")[0])] == [C]
    assert html.css("#unknown") == []
    assert hrefs(html, ".steps-between a") == [
        f"?uri=http%3A%2F%2Fa.example%2F&view=changes&direction=out&kinds=all&from={T1}&to={T2}"
    ]


def test_both_times_lead_to_their_captures_and_to_the_neighbours_of_these() -> None:
    first, second, third, fourth = (f"20{year}0101000000" for year in ("09", "10", "11", "12"))
    store = MemoryStore([Page(A, time, [link(B)]) for time in (first, second, third, fourth)])
    client = client_of(lambda: store)

    def sides(query: str) -> list[list[str]]:
        html = page(client, f"?uri={A}&view=changes{query}")
        address = "?uri=http%3A%2F%2Fa.example%2F&view=changes&"
        return [
            [(node.attributes["href"] or "").removeprefix(address) for node in side.css("a")]
            for side in html.css(".sides > div")
        ]

    assert sides("") == [
        [f"browse/{first}/{A}", f"from={second}&to={fourth}"],
        [f"browse/{fourth}/{A}", f"from={first}&to={third}"],
    ]
    assert sides("&from=2010&to=2011") == [
        [f"browse/{second}/{A}", f"from={first}&to=2011", f"from={third}&to=2011"],
        [f"browse/{third}/{A}", f"from=2010&to={fourth}"],
    ]
    assert sides("&from=2008&to=2009") == [
        [f"from={first}&to=2009"],
        [f"browse/{first}/{A}", f"from=2008&to={second}"],
    ]
    assert client.get(f"/browse/{first}/{A}").status_code == 200


def test_a_link_whose_page_was_not_captured_before_is_not_shown_as_new(client: FlaskClient) -> None:
    html = page(client, f"?uri={A}&view=changes&direction=in&from=2008&to=2010")
    assert [words(node) for node in html.css(".tally li")] == [
        "0 added",
        "0 removed",
        "2 unknown",
        "0 kept",
    ]
    assert {row[4] for row in cells(html.css("#unknown table")[0])} == {"not captured"}


def test_many_links_that_stayed_are_folded_away() -> None:
    menu = [link(f"http://m.example/{number}", "menu") for number in range(20)]
    store = MemoryStore([Page(A, T1, menu), Page(A, T2, [*menu, link(B, "new")])])
    html = page(client_of(lambda: store), f"?uri={A}&view=changes&limit=15")
    assert words(html.css_first("#kept details summary")) == "Show 15 links"
    assert len(cells(html.css("#kept table")[0])) == 15
    assert "These are the first 15" in words(html.css_first("#kept"))
    assert [row[1] for row in cells(html.css("#added table")[0])] == ["new"]


NEIGHBOURS = [
    Page(A, "20090101000000", [link(B, "one"), link(C, "x")]),
    Page(A, "20100101000000", [link(B, "one"), link("http://d.example/", "y")]),
    Page(A, "20110101000000", [link(B, "one"), link(C, "x")]),
    Page(B, "20100601000000", [link(A, "back")]),
]


@pytest.mark.parametrize(
    ("at", "outgoing", "incoming"),
    [
        ("", {"b": "now", "c": "now", "d": "now"}, {"b": "now"}),
        ("2009", {"b": "now", "c": "now", "d": "later"}, {"b": "later"}),
        ("20100301", {"b": "now", "c": "between", "d": "now"}, {"b": "later"}),
        ("2012", {"b": "now", "c": "now", "d": "earlier"}, {"b": "now"}),
    ],
    ids=["all times", "2009", "2010", "2012"],
)
@pytest.mark.parametrize("by", ["page", "host", "domain"])
def test_neighbours_keep_their_places_while_time_passes(
    by: str, at: str, outgoing: dict[str, str], incoming: dict[str, str]
) -> None:
    html = page(
        client_of(lambda: MemoryStore(NEIGHBOURS)),
        f"?uri={A}&view=graph&by={by}" + (f"&at={at}" if at else ""),
    )

    def states(side: str) -> Iterator[tuple[str, str]]:
        for node in html.css(f".side.{side} .node"):
            yield words(node.css_first("a"))[0], (node.attributes["class"] or "").split()[1]

    assert dict(states("out")) == outgoing
    assert [name for name, _ in states("out")] == ["b", "c", "d"]
    assert dict(states("in")) == incoming
    assert len(html.css("svg.edges path")) == 4
    assert [node.attributes["id"] for node in html.css("svg.edges.out path")] == [
        node.attributes["data-edge"] for node in html.css(".side.out .node")
    ]


@pytest.mark.parametrize(
    ("neighbours", "shown", "hidden"), [(12, 12, []), (13, 13, []), (14, 12, ["and 2 others"])]
)
def test_one_neighbour_more_is_shown_in_place_of_a_note(
    neighbours: int, shown: int, hidden: list[str]
) -> None:
    targets = [link(f"http://h{number}.example/", "") for number in range(neighbours)]
    store = MemoryStore([Page(A, T1, targets)])
    html = page(client_of(lambda: store), f"?uri={A}&view=graph")
    assert len(html.css(".side.out .node")) == len(html.css("svg.edges.out path")) == shown
    assert [words(note) for note in html.css(".hidden-ends")] == hidden


@pytest.mark.parametrize(
    ("hosts", "lanes", "offered"),
    [(1, 1, ""), (8, 8, ""), (9, 9, ""), (10, 8, "All 10 hosts · ")],
)
def test_a_glance_offers_more_hosts_and_words_only_if_there_are_more(
    hosts: int, lanes: int, offered: str
) -> None:
    pages = [
        Page(f"http://h{number}.example/", T1, [link(A, f"word {number}")])
        for number in range(hosts)
    ]
    html = page(client_of(lambda: MemoryStore(pages)), f"?uri={A}")
    who, said = (html.css_first(f"[aria-labelledby={name}]") for name in ("who", "anchors"))
    assert who is not None
    assert said is not None
    assert len(who.css("tbody tr")) == len(said.css("tbody tr")) == lanes
    assert words(who.css_first(".all")) == f"{offered}every link"
    assert words(said.css_first(".all")) == f"{offered.replace('hosts', 'texts')}year by year"


def test_a_graph_has_no_number_of_unknown_links() -> None:
    html = page(client_of(lambda: MemoryStore([Page(B, T1, [link(A)])])), f"?uri={A}&view=graph")
    assert words(html.css_first(".side.in h2")) == "Link to it 1"
    assert words(html.css_first(".side.out")) == "It links to Its links are unknown"


def test_a_graph_shows_the_busiest_neighbours_and_says_how_many_others_there_are() -> None:
    many = MemoryStore(
        [
            Page(
                A,
                T1,
                [link(f"http://h{number}.example/", "") for number in range(20)]
                + [link("http://h7.example/2", "")],
            )
        ]
    )
    html = page(client_of(lambda: many), f"?uri={A}&view=graph")
    nodes = [words(node.css_first("a")) for node in html.css(".side.out .node")]
    assert (len(nodes), nodes[0]) == (12, "h7.example")
    assert words(html.css_first(".hidden-ends")) == "and 8 others"


def test_hosts_and_domains_are_counted(client: FlaskClient) -> None:
    html = page(client, f"?uri={A}&view=places&level=domain")
    first, second = html.css("table.told")
    assert cells(first) == [
        [
            "b.example",
            "Nov 2009: 2 links",
            "2 links",
            "1 capture",
            "1 host",
            "2009-11-03 01:13:07",
        ]
    ]
    assert [row[0] for row in cells(second)] == ["b.example", "c.example", "x.example"]


@pytest.mark.parametrize(
    "about", ["", "&from=2009-11-03&direction=in", "&to=2010&kinds=a@href", "&at=2010"]
)
def test_downloads_of_hosts_have_the_numbers_of_the_page(client: FlaskClient, about: str) -> None:
    html = page(client, f"?uri={A}&view=places{about}")
    for side in ("in", "out"):
        shown = [
            (words(row.css_first("th")), words(row.css_first("td.number")).split()[0])
            for row in html.css(f"section[aria-labelledby=side-{side}] tbody tr")
        ]
        found = [one for one in hrefs(html, "#save a") if f"picture=hosts-{side}-" in one]
        assert len(found) == (5 if shown or "direction" not in about else 0)
        for address in found:
            assert client.get(f"/{address}").status_code == 200
        of_json = [one for one in found if one.endswith("-json")]
        rows = [row for one in of_json for row in client.get(f"/{one}").get_json()["rows"]]
        assert shown == [(row["name"], str(row["links"])) for row in rows]


def test_captures_show_their_reasons_and_lead_on(client: FlaskClient) -> None:
    html = page(client, f"?uri={A}&view=captures")
    rows = cells(html.css("table.told")[0])
    assert [row[0] for row in rows] == [f"2009-11-03 01:13:07{A}", f"2010-01-30 00:30:05{A}"]
    assert [row[2:4] for row in rows] == [["2 links", "200"], ["2 links", "200"]]
    assert f"?uri=http%3A%2F%2Fa.example%2F&view=changes&from={T1}&to={T2}" in hrefs(
        html, ".look a"
    )
    (missing,) = cells(
        page(client, "?uri=http://c.example/%3Fq=1%26r=2&view=captures").css("table.told")[0]
    )
    assert (missing[1].startswith("status is not 200"), missing[2], missing[3]) == (
        True,
        "not known",
        "404",
    )


def test_captures_show_the_titles_that_are_known() -> None:
    pages = [
        Page(A, T1, [link(B)], title="One & <b>"),
        Page(A, T2, [link(B)], title=""),
        Page(A, "20120101000000", [link(B)]),
    ]
    html = page(client_of(lambda: MemoryStore(pages)), f"?uri={A}&view=captures")
    assert [row[0] for row in cells(html.css("table.told")[0])] == [
        f"2009-11-03 01:13:07{A}One & <b>",
        f"2010-01-30 00:30:05{A}",
        f"2012-01-01 00:00:00{A}",
    ]


def test_captures_come_in_pages(monkeypatch: pytest.MonkeyPatch, client: FlaskClient) -> None:
    monkeypatch.setattr("arclink.service.pages.links.AT_ONCE", 1)
    first = page(client, f"?uri={A}&view=captures")
    second = page(client, hrefs(first, ".paging a[rel=next]")[0])
    assert [len(cells(html.css("table.told")[0])) for html in (first, second)] == [1, 1]
    assert words(second.css_first("tbody time")) == "2010-01-30 00:30:05"


# Every view


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_leads_to_the_others_and_to_its_downloads(
    client: FlaskClient, view: str
) -> None:
    html = page(client, f"?uri={A}&view={view}")
    assert len(hrefs(html, ".groups a")) == len(VIEWS) + 6  # with the page then, and questions
    assert len(html.css(".groups [aria-current=page]")) == (view != "glance")
    for address in [
        *hrefs(html, "#save a"),
        *hrefs(html, "#view a"),
    ]:
        if not address.startswith("#"):
            with client.get(f"/{address}", follow_redirects=True) as response:
                assert response.status_code == 200, address


@pytest.mark.parametrize("view", VIEWS)
def test_every_page_has_names_and_headings_for_screen_readers(
    client: FlaskClient, view: str
) -> None:
    html = page(client, f"?uri={A}&view={view}")
    assert html.css_first("html").attributes["lang"] == "en"  # type: ignore[union-attr]
    assert len(html.css("h1")) == len(html.css("main")) == 1
    ids = [node.attributes["id"] for node in html.css("[id]")]
    assert len(ids) == len(set(ids))
    for node in html.css("[aria-labelledby]"):
        assert node.attributes["aria-labelledby"] in ids
    for node in html.css("input:not([type=hidden]), select"):
        is_named = (
            node.attributes.get("aria-label")
            or (node.parent is not None and node.parent.tag == "label")
            or html.css(f"label[for={node.attributes.get('id')}]")
        )
        assert is_named, node.html
    for svg in html.css("svg"):
        is_within = svg.parent is not None and svg.parent.tag in ("svg", "a")
        assert svg.attributes.get("aria-hidden") or svg.attributes.get("aria-label") or is_within, (
            svg.html
        )


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_with_more_links_than_may_be_read_says_so(view: str) -> None:
    hub = MemoryStore(
        [
            Page(f"http://p{number}.example/", T1, [link(A, f"text {number}")])
            for number in range(30)
        ]
    )
    response = client_of(
        lambda: hub, Settings(budget=Budget(members=5, rows=10, look_ups=5, counted=5))
    ).get(f"/?uri={A}&view={view}")
    assert response.status_code == 200
    shown = words(LexborHTMLParser(response.data).css_first("main"))
    assert "At least 5 links to it were seen, of all kinds." in shown
    if view not in ("captures", "text"):
        assert re.search("nly the first|more links than|too long to group", shown), shown


def test_many_captures_are_drawn_by_units_of_time() -> None:
    many = MemoryStore(
        [
            Page(A, f"20{year:02}{month:02}{day:02}000000", [link(B)])
            for year in range(5)
            for month in range(1, 13)
            for day in range(1, 8)
        ]
    )
    html = page(client_of(lambda: many), f"?uri={A}")
    labels = [words(node) for node in html.css(".history .captures a title")]
    assert labels[0] == "Jan 2000: 7 captures"
    assert len(labels) == 60
    assert len(html.css(".history .labels text")) <= 7


@pytest.mark.parametrize("time", ["20100215120000", "00010101000000", "99991231235959"])
def test_the_bar_of_a_single_capture_is_narrow(time: str) -> None:
    html = page(client_of(lambda: MemoryStore([Page(A, time, [link(B)])])), f"?uri={A}")
    (bar,) = html.css(".history rect.out")
    assert float((bar.attributes["width"] or "").rstrip("%")) < 7
    assert 2 <= len(html.css(".history .labels text")) <= 7


def test_pages_show_captures_at_both_ends_of_the_calendar(store: MemoryStore) -> None:
    store.add([Page(A, "99991231235959", [link(B)]), Page(A, "00010101000000", [link(B)])])
    client = client_of(lambda: store)
    views: Sequence[str] = [*VIEWS, "links&at=9999", "graph&at=1"]
    assert {client.get(f"/?uri={A}&view={view}").status_code for view in views} == {200}
