"""Pages about a site or the whole archive, and questions over HTTP while relations are made."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qsl, quote_plus

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from arclink.analysis.questions.asking import ask
from arclink.analysis.questions.completion import addresses_like
from arclink.analysis.questions.queries import AskQuery
from arclink.analysis.questions.table import QUESTIONS, Group
from arclink.analysis.relations import sql_texts
from arclink.analysis.relations.database import ShownRelations
from arclink.analysis.relations.kept import relations_of
from arclink.model import Forgotten, Surt
from arclink.service.pages.requests import View
from arclink.service.settings import Settings
from arclink.service.tables import ServiceTables
from arclink.store.embargo import Embargo
from arclink.store.location import open_store
from arclink.store.protocols import Takedown
from tests.access.sqlite_pages import load_pages
from tests.relations.rows import database_of
from tests.service.conftest import NASTY, PAGES, A, client_of
from tests.service.shown import hrefs, page, page_with_answers, words
from tests.service.tables import store_with_tables
from tests.store.memory_store import MemoryStore, Page, link

SITE = "?uri=*.a.example"
ENDLESS = "SELECT 0 AS number, NULL AS period, count(*) AS text FROM range(1000000000000)"


def glance(client: FlaskClient, query: str) -> LexborHTMLParser:
    """Return a page at a glance, when all its answers are made."""
    end = time.monotonic() + 60
    while (shown := page(client, query)).css("[data-block]"):
        assert time.monotonic() < end
        time.sleep(0.1)
    return shown


@pytest.mark.parametrize("name", [one for one in QUESTIONS if not QUESTIONS[one].is_of_texts])
@pytest.mark.parametrize(
    "about",
    [
        pytest.param("", id="archive"),
        pytest.param(f"uri={A}&scope=page&", id="page"),
        pytest.param("uri=http://a.example/*&", id="prefix"),
        pytest.param("uri=a.example&scope=host&", id="host"),
        pytest.param("uri=*.a.example&", id="domain"),
    ],
)
def test_a_page_shows_the_rows_of_the_answer(client: FlaskClient, name: str, about: str) -> None:
    if not about and QUESTIONS[name].needs_address:
        assert client.get(f"/?ask={name}").status_code == HTTPStatus.BAD_REQUEST
        return
    shown = page(client, f"?{about}ask={name}&limit=50")
    is_of_site = about.startswith(("uri=a.example", "uri=*."))
    others = "&external=true" if is_of_site and QUESTIONS[name].is_of_others else ""
    found = client.get(f"/ask/{name}?{about}{others}").get_json()
    sentence = QUESTIONS[name].asks_about("\0" if about else "", "…")
    begins, _, ends = sentence.partition("\0")
    heading = words(shown.css_first("h1"))
    assert heading.startswith(begins)
    assert heading.endswith(ends)
    assert heading == sentence or "a.example" in heading.removeprefix(begins)
    assert shown.css_first(".how summary")
    assert len(shown.css("[data-answer]")) == 1
    rows = shown.css("table.question tbody tr")
    assert len(rows) == found["total"]
    for row, answered in zip(rows, found["rows"], strict=True):
        numbers = [
            round(value, 3)
            for column, value in [*answered.items()][1:]  # the first one is the head of its row
            if isinstance(value, int | float) and column not in ("status", "status_before")
        ]
        assert [float(words(cell).split()[0]) for cell in row.css("td.number")] == numbers
    assert f"ask/{name}?" in hrefs(shown, "#save a")[0]
    if rows:
        told = zip(shown.css(".columns-told dt"), shown.css(".columns-told dd"), strict=True)
        assert [
            words(column).lower().replace(" ", "_") for column, meaning in told if words(meaning)
        ] == [*found["rows"][0]]


def test_names_in_an_explanation_are_distinct_from_its_words(client: FlaskClient) -> None:
    about = page(client, "?ask=diff").css(".how p")[0]
    assert {"from", "to", "state", "not known before"} <= {
        words(name) for name in about.css("code")
    }
    assert words(about) == QUESTIONS["diff"].about.replace("`", "")


def test_a_site_at_a_glance_leads_to_every_question(client: FlaskClient) -> None:
    shown = glance(client, SITE)
    assert words(shown.css_first("h1")) == "*.a.example"
    panels = [words(node) for node in shown.css(".panel h2")]
    assert panels == [group.value for group in Group]
    assert words(shown.css_first(".panel .asks")) == "Who linked to it? Links from other sites."
    asked = [href.partition("ask=")[2] for href in hrefs(shown, ".panel .asks a, .panel .next a")]
    listed = {name: one for name, one in QUESTIONS.items() if "d" in one.listed}
    # Without texts, words are looked for elsewhere.
    names = [name.partition("&")[0] for name in asked]
    assert sorted(names) == sorted(
        ["find", *(one for one in listed if not listed[one].is_of_texts)]
    )
    assert words(shown.css_first(".known")) == "All pages of a.example and of the hosts below it"
    for href in [*hrefs(shown, ".panel a"), *hrefs(shown, ".scopes a")]:
        assert client.get(f"/{href}").status_code == 200, href


def test_a_number_at_a_glance_says_what_it_is(client: FlaskClient) -> None:
    for query in ("", SITE):
        for panel in glance(client, query).css(".panel"):
            if heads := panel.css("thead th"):
                last = words(heads[-1])
                assert last in (
                    *(
                        "Linking hosts",
                        "Linking pages",
                        "Links",
                        "Pages",
                        "Contents",
                        "Captures",
                        "Changes",
                        "Last seen",
                    ),
                ), words(panel)
                assert not heads[-1].css(".hidden")


def test_rows_with_one_number_show_the_first_other_one_that_tells_them_apart() -> None:
    """Without any, they have no bars: all of them would be full."""
    pages = [
        Page(f"http://b.example/{number}", "20100101000000", [link(f"http://a.example/{to}", "x")])
        for to, times in {"one": 3, "two": 2, "three": 1}.items()
        for number in (range(times) if to == "one" else range(10, 10 + times))
    ]
    pages += [Page("http://b.example/10", "20100102000000", [link("http://a.example/two", "x")])]
    client = client_of(lambda: MemoryStore(pages))

    def panel(query: str) -> tuple[str, dict[str, str], int]:
        section = glance(client, query).css_first(f"section[aria-labelledby={'broken'}]")
        assert section is not None
        rows = {
            words(row.css_first("th")): words(row.css("td")[-1]) for row in section.css("tbody tr")
        }
        return words(section.css("thead th")[-1]), rows, len(section.css("tbody svg rect"))

    head, rows, bars = panel(SITE)
    assert (head, [*rows.values()], bars) == ("Linking pages", ["3", "2", "1"], 3)
    head, rows, bars = panel("?uri=http://a.example/t*")
    assert (head, [*rows.values()], bars) == ("Linking pages", ["2", "1"], 2)
    head, rows, bars = panel("?uri=http://a.example/th*")
    assert (head, [*rows.values()], bars) == ("Linking hosts", ["1"], 0)


def test_none_from_other_sites_leads_to_the_links_within_the_site() -> None:
    own = [link("http://a.example/b", "own")]
    client = client_of(lambda: MemoryStore([Page(A, "20100101000000", own)]))
    (panel,) = (
        node for node in glance(client, SITE).css(".panel") if "Who linked to it?" in words(node)
    )
    assert "Links within a site are not among these: see all links." in words(panel)
    (href,) = [node.attributes["href"] or "" for node in panel.css(".none a")]
    (row,) = page(client, href).css("table.question tbody tr")
    assert words(row).startswith("a.example")


@pytest.mark.parametrize(
    ("typed", "linkers"),
    [
        pytest.param("http://b.example/  http://c.example/?q=1&r=2", ["a.example"], id="pages"),
        pytest.param("*.b.example *.a.example", [], id="sites"),
    ],
)
def test_several_addresses_in_the_field_are_asked_about_together(
    client: FlaskClient, typed: str, linkers: list[str]
) -> None:
    response = client.get(f"/?uri={quote_plus(typed)}", follow_redirects=True)
    shown = LexborHTMLParser(response.data)
    assert words(shown.css_first("h1")).startswith("Who links to all of ")
    assert all(one in words(shown.css_first(".how")) for one in typed.split())
    rows = shown.css("table.question tbody tr")
    assert [words(row.css_first("th")) for row in rows] == linkers


def test_a_changed_page_leads_to_its_changes_between_these_times(client: FlaskClient) -> None:
    shown = page(client, "?ask=diff&from=2009&to=2011")
    rows = client.get("/ask/diff?from=2009&to=2011").get_json()["rows"]
    assert rows
    for href, row in zip(hrefs(shown, "table.question th a"), rows, strict=True):
        times = [f"from={row['first']}"] if row["first"] else []
        assert {"view=changes", *times, f"to={row['last']}"} <= {*href[1:].split("&")}
        assert client.get(f"/{href}").status_code == 200, href


def test_times_and_numbers_of_rows_lead_to_the_page_then_and_to_those_who_still_pointed() -> None:
    gone = "http://gone.example/x"
    client = client_of(
        lambda: MemoryStore(
            [
                Page(gone, "20100101000000", []),
                Page(gone, "20110101000000", None, status="404", reason="MEMENTO_STATUS"),
                Page("http://b.example/", "20120101000000", [link(gone)]),
            ]
        )
    )
    shown = page(client, "?ask=vanished")
    (row,) = client.get("/ask/vanished").get_json()["rows"]
    assert row["pages"] == 1
    leads = hrefs(shown, "table.question td a")
    assert leads == [
        f"browse/20100101000000/{gone}",
        f"browse/20110101000000/{gone}",
        f"?uri={quote_plus(gone)}&view=links&direction=in&from=20100101000000",
    ]
    assert "http://b.example/" in words(page(client, leads[2]).css_first("table.links"))
    linkers = page(client, "?uri=*.gone.example&ask=linkers&level=uri")
    assert hrefs(linkers, "td.times a") == ["browse/20120101000000/http://b.example/"] * 2
    assert not page(client, "?ask=linkers").css("td.times a")  # of a host, which page?
    assert not page(client, "?ask=most-linked").css("td.times a")  # of pages that link to it


def test_page_host_domain_and_archive_are_one_click_apart(client: FlaskClient) -> None:
    seen = {}
    deep = "?uri=http://sub.a.example/one/two"
    for query in (
        *(f"?uri={A}", "?uri=a.example&scope=host", SITE, "?ask=anchors"),
        *("?uri=http://a.example/*", f"{deep}/*", f"{deep}&scope=page&ask=anchors"),
    ):
        shown = page(client, query)
        seen[query] = [words(node) for node in shown.css(".scopes a")]
        assert len(shown.css(".scopes [aria-current]")) == 1
    assert seen[f"?uri={A}"] == ["page", "a.example", "*.a.example", "the whole archive"]
    assert seen["?uri=a.example&scope=host"] == [
        *("page", "a.example", "*.a.example", "the whole archive")
    ]
    assert seen[SITE] == seen["?uri=a.example&scope=host"]
    assert seen["?ask=anchors"] == ["the whole archive"]
    assert seen[f"{deep}&scope=page&ask=anchors"] == [
        *("page", "http://sub.a.example/one/*", "sub.a.example"),
        *("*.sub.a.example", "*.a.example", "the whole archive"),
    ]


@pytest.mark.parametrize("view", View)
def test_each_view_of_a_page_leads_to_the_others_and_to_questions(
    client: FlaskClient, view: View
) -> None:
    uri = "http://c.example/?q=1&r=2"
    shown = LexborHTMLParser(client.get("/", query_string={"uri": uri, "view": view.value}).data)
    assert words(shown.css_first("h1")) == view.asks.sentence.format(it=uri)
    here = [words(node) for node in shown.css(".groups [aria-current=page]")]
    assert here == [view.asks.then] * (view is not View.GLANCE)
    sentences, names = {words(node) for node in shown.css(".groups a")}, []
    for href in hrefs(shown, "nav.groups a"):
        asked = dict(parse_qsl(href[1:]))
        if "ask" not in asked:
            continue
        response = client.get(f"/{href}")
        there = LexborHTMLParser(response.data)
        assert response.status_code == 200
        assert uri in words(there.css_first("h1"))
        assert [words(node) for node in there.css(".groups [aria-current=page]")]
        assert sentences <= {words(node) for node in there.css(".groups a")}
        assert asked["scope"] == "page"
        names.append(asked["ask"])
    assert {*names} == {one for one, question in QUESTIONS.items() if "p" in question.listed}


def test_a_site_is_asked_about_links_from_other_sites_unless_all_are_wanted() -> None:
    own = [link("http://a.example/b", "own")]
    others = [link(A, "other")]
    client = client_of(
        lambda: MemoryStore(
            [
                Page(A, "20100101000000", own),
                Page("http://b.example/", "20100101000000", others),
            ]
        )
    )
    for about, asked, found in (
        ("uri=a.example&scope=host", "", ["b.example"]),
        ("uri=*.a.example", "", ["b.example"]),
        ("uri=*.a.example", "&external=false", ["a.example", "b.example"]),
        (f"uri={A}&scope=page", "", ["b.example"]),
        ("uri=http://a.example/*", "", ["a.example", "b.example"]),
    ):
        shown = page(client, f"?{about}&ask=linkers{asked}")
        rows = shown.css("table.question tbody th")
        assert sorted(words(row) for row in rows) == found
        is_of_others = not asked and not about.startswith((f"uri={A}&", "uri=http://a.example/*"))
        line = words(shown.css_first(".how summary"))
        assert ("links from other sites" in line.lower()) is is_of_others
        assert any("external=true" in one for one in hrefs(shown, "#save a")) is is_of_others
        assert len(client.get(f"/ask/linkers?{about}").get_json()["rows"]) == len(
            client.get(f"/ask/linkers?{about}&external=false").get_json()["rows"]
        )


def test_a_page_shows_the_first_rows_and_leads_to_all() -> None:
    links = [link(f"http://h{number:02}.example/", "x") for number in range(20)]
    client = client_of(lambda: MemoryStore([Page(A, "20100101000000", links)]))
    shown = page(client, "?ask=most-linked")
    assert len(shown.css("table.question tbody tr")) == 12
    assert "12 of 20 rows." in words(shown.css_first(".paging"))
    (href,) = hrefs(shown, ".paging a")
    assert words(shown.css_first(".paging a")) == "All 20 rows ▸"
    assert len(page(client, href).css("table.question tbody tr")) == 20


def test_lanes_answer_before_the_rows_and_rows_without_a_known_number_are_counted() -> None:
    b, c = "http://b.example/", "http://c.example/"
    client = client_of(
        lambda: MemoryStore(
            [
                Page(b, "20090101000000", [link(A, "x")]),
                Page(c, "20090101000000", [link(A, "x")]),
                Page(b, "20100101000000", [link(A, "x")]),
            ]
        )
    )
    shown = page(client, "?uri=a.example&scope=host&ask=linkers&by=year")
    captures, first, *_ = shown.css("[data-answer] tbody th")
    assert words(captures).startswith("Captures of the archive")
    assert words(first) == "b.example"
    html = shown.html or ""
    assert html.index("data-answer") < html.index('class="told question"')
    assert len(shown.css("table.question tbody tr")) == 3
    assert "Nothing is known of 1 row in 1 period" in words(shown.css_first("#answer"))
    every = page(client, "?uri=a.example&scope=host&ask=linkers&by=year&limit=0")
    assert len(every.css("table.question tbody tr")) == 4


def test_a_year_of_the_next_question_is_the_last_one_with_known_links(
    client: FlaskClient,
) -> None:
    for query in ("?uri=a.example&scope=host&ask=linkers", SITE, f"?uri={A}"):
        (node,) = (
            one
            for one in page(client, query).css(".groups a, .next a")
            if "were new in" in words(one)
        )
        asked = dict(parse_qsl((node.attributes["href"] or "")[1:]))
        assert words(node) == f"Which of them were new in {asked['from']}?"
        assert asked["ask"] == "first-linkers"
        assert asked["from"] == asked["to"] == "2010"


def test_what_is_not_captured_is_unknown_and_not_none(client: FlaskClient) -> None:
    nothing = page(client, "?uri=*.nowhere.example&ask=led-to")
    assert "Unknown. There are no captures to show from then." in words(nothing)
    assert not nothing.css(".none")
    none = page(client, "?uri=*.nowhere.example&ask=linkers")
    assert "None, in the captures that were read." in words(none)
    answer = client.get("/ask/led-to?uri=*.nowhere.example").get_json()
    assert (answer["total"], answer["captures"]["count"]) == (0, 0)


@pytest.mark.parametrize(
    "typed", ["İstanbul", "istanbul", "ΟΔΟΣ", "Straße", "strasse", "CAFÉ", "cafe\u0301"]
)
def test_words_are_found_whatever_their_case_in_any_alphabet(typed: str) -> None:
    """DuckDB and Python have other small letters for İ and for Σ at the end of a word."""
    says = "İstanbul ΟΔΟΣ STRAßE café"
    found = client_of(
        lambda: MemoryStore([Page(A, "20100101000000", [link("http://b.example/", says)])])
    )
    rows = found.get("/ask/find", query_string={"words": typed}).get_json()["rows"]
    assert [row["name"] for row in rows] == ["http://b.example/"]


def test_links_of_captures_that_were_not_read_are_unknown_and_not_none() -> None:
    """Also at a glance; an error is known to have no links."""
    lost = Page("http://lost.example/", "20100101000000", None, reason="PAYLOAD_DAMAGED")
    error = Page("http://error.example/", "20100101000000", None, status="404")
    client = client_of(lambda: MemoryStore([lost, error]))
    says = "the links of the only capture from then are not known"
    answer = client.get("/ask/led-to?uri=*.lost.example")
    assert (answer.get_json()["total"], answer.get_json()["unknown"]) == (0, says)
    assert answer.headers["ArcLink-Unknown"] == says
    assert f"Unknown: {says}." in words(page(client, "?uri=*.lost.example&ask=led-to"))
    assert "links of 0 known" in words(page_with_answers(client, "?uri=*.lost.example"))
    for about in ("led-to?uri=*.error.example", "linkers", "hosts?uri=*.lost.example"):
        assert "unknown" not in client.get(f"/ask/{about}").get_json()


def test_a_glance_at_one_capture_has_nothing_to_compare_and_says_so() -> None:
    client = client_of(
        lambda: MemoryStore([Page(A, "20100101000000", [link("http://b.example/")])])
    )
    for query in ("", SITE):
        panels = {
            words(node.css_first("h2")): words(node) for node in glance(client, query).css(".panel")
        }
        changed = panels[Group.CHANGED.value]
        assert "between two times?" in changed
        assert "Unknown: " in changed
        assert "None" not in changed


def test_an_unknown_page_leads_to_addresses_that_are_almost_the_same(tmp_path: Path) -> None:
    """Other pages of the host, the same page at another host, and hosts; only with tables."""
    known = "http://www.example.org/news/index"
    linked = Page("http://example.org/a/longer/path", "20100101000000", [link(known, "")])
    pages = [linked, Page("http://example.com/news/inde", "20100101000000", ())]
    path = tmp_path / "links.db"
    load_pages(path, tmp_path / "graph", [pages])
    client = client_of(str(path))
    typed = "?uri=http://example.org/news/inde"
    waits = client.get(f"/{typed}")
    assert "Almost the same" not in words(LexborHTMLParser(waits.data))
    assert "ETag" not in waits.headers
    with open_store(str(path)) as store:
        relations_of(str(path), store)
    shown = page(client, typed)
    found = [words(one) for one in shown.css("[aria-labelledby=similar] li")]
    assert found == [
        f"{known} only linked",
        "http://example.com/news/inde 1 capture",
        "example.com 1 capture",
    ]
    for href in hrefs(shown, "[aria-labelledby=similar] a"):
        answer = client.get(f"/{href}")
        assert answer.status_code == 200
        assert "This page is unknown" not in answer.text


@pytest.mark.parametrize(
    ("typed", "addresses"),
    [
        pytest.param("A.", ["a.example"], id="host"),
        pytest.param("http://www.a.", ["http://www.a.example"], id="host as written"),
        pytest.param("*.b", ["*.b.example"], id="site"),
        pytest.param("x.example/", ["x.example/a|b"], id="only linked"),
        pytest.param("https://x.example/a", ["https://x.example/a|b"], id="page as written"),
        pytest.param("x.example/b", [], id="no such page"),
        pytest.param("two words", [], id="words"),
        pytest.param("http://[::", [], id="part of an address"),
        pytest.param("'; DROP VIEW links; --/", [], id="hostile"),
    ],
)
def test_an_address_is_completed_as_it_is_typed(
    client: FlaskClient, typed: str, addresses: list[str]
) -> None:
    answer = client.get("/complete", query_string={"begins": typed})
    assert answer.status_code == 200
    assert answer.get_json() == {"addresses": addresses}


def test_whatever_is_typed_has_an_answer() -> None:
    with database_of(MemoryStore(PAGES[:1])) as database:

        @given(st.text(max_size=20) | st.from_regex(r"(https?://)?[a-z\[:%]{0,9}/[^ ]{0,9}"))
        def check(typed: str) -> None:
            begins = typed.split("/")[0]
            assert all(one.startswith(begins) for one in addresses_like(database, typed))

        check()


def test_hostile_words_are_words(client: FlaskClient) -> None:
    response = client.get("/?ask=anchors")
    assert b"<script>alert" not in response.data
    assert NASTY.split()[0] in words(LexborHTMLParser(response.data))


def test_an_asterisk_in_the_address_field_is_the_archive_or_a_part_of_it(
    client: FlaskClient,
) -> None:
    assert client.get("/?uri=*").headers["Location"].endswith("/")
    everything = page(client, "?uri=*&ask=pages")
    assert words(everything.css_first("h1")) == QUESTIONS["pages"].of_archive
    assert words(page(client, "?uri=http://*.a.example/").css_first("h1")) == "*.a.example"
    assert words(page(client, "?uri=http://a.example/o*").css_first("h1")) == "http://a.example/o*"
    assert words(page(client, "?uri=http://a.example/%252A").css_first("h1")).endswith("/%2A")


def test_words_in_the_address_field_are_found(client: FlaskClient) -> None:
    """In addresses, titles and words of links; also pages that were never captured."""
    for typed in ("official SITE", "news"):
        response = client.get("/", query_string={"uri": typed}, follow_redirects=True)
        assert response.status_code == 200
        rows = LexborHTMLParser(response.data).css("table.question tbody tr")
        assert rows
        assert all("words" in words(row) for row in rows)
    assert client.get("/ask/find?words=x.example&kinds=all").get_json()["rows"][0]["captures"] == 0
    assert client.get("/", query_string={"uri": A}).status_code == 200


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("?ask=nothing", "one of linkers"),
        ("?uri=mailto:a@b.example&scope=host", "an address with a host"),
        ("?scope=host", "needs an address"),
        ("?ask=anchors&by=week", "day, month, year, all, or times"),
        ("?ask=rising&by=2009,2010", "day, month or year in this question"),
        ("?ask=anchors&view=links", "one of the parameters"),
    ],
)
def test_a_wrong_parameter_is_named(client: FlaskClient, query: str, says: str) -> None:
    response = client.get(f"/{query}", headers={"Accept": "text/html"})
    assert response.status_code == 400
    assert says in words(LexborHTMLParser(response.data))


def test_what_an_embargo_hides_is_in_no_answer() -> None:
    settings = Settings(embargo=Embargo(prefixes=(Surt("example,b)/"),)))
    hidden = client_of(lambda: MemoryStore(PAGES), settings)
    assert hidden.get(f"/ask/linkers?uri={A}").get_json()["rows"] == []
    assert "Official site" not in hidden.get("/?ask=anchors").get_data(as_text=True)
    assert "Official site" in client_of(lambda: MemoryStore(PAGES)).get("/?ask=anchors").text


def test_a_request_never_makes_relations_and_says_so(tmp_path: Path) -> None:
    store = tmp_path / "links.db"
    load_pages(store, tmp_path / "graph", [PAGES])
    client = client_of(str(store))
    for resource in ("/ask/linkers", "/ask/gaps", "/ask/stale?format=seeds"):
        first = client.get(resource)
        assert first.status_code == HTTPStatus.SERVICE_UNAVAILABLE
        assert "are being made" in first.get_json()["detail"]
        assert first.headers["Retry-After"]
    completed = client.get("/complete?begins=a.")
    assert (completed.status_code, completed.data) == (HTTPStatus.NO_CONTENT, b"")
    assert client.get("/?ask=anchors&block=answer").status_code == HTTPStatus.SERVICE_UNAVAILABLE
    alone = client.get("/?ask=anchors&block=answer")
    waits, front = client.get("/?ask=anchors"), client.get("/")
    end = time.monotonic() + 60
    while (answer := client.get("/ask/linkers")).status_code == 503 and time.monotonic() < end:
        time.sleep(0.2)
    assert (alone.status_code, alone.headers["Retry-After"]) == (503, "2")
    assert alone.text in waits.text
    assert "The tables of this store are being made." in words(LexborHTMLParser(waits.data))
    assert LexborHTMLParser(waits.data).css("form.narrow, #save .cite")
    assert (waits.status_code, waits.headers.get("ETag")) == (200, None)
    assert (front.status_code, front.headers.get("ETag")) == (200, None)
    assert answer.get_json()["total"] == 2


def test_what_is_forgotten_is_in_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    load_pages(path, tmp_path / "graph", [PAGES])
    client = client_of(str(path))
    with open_store(str(path), create=True) as store:
        relations_of(str(path), store)
        assert "Official site" in client.get("/ask/anchors?by=year").text
        store.forget(Takedown(Forgotten(Surt("example,b)/")), "", "2026-11-26T00:00:00Z"))
        relations_of(str(path), store)
    assert "Official site" not in client.get("/ask/anchors?by=year").text


def test_answers_that_take_long_are_made_meanwhile(
    own_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.service.tables._PATIENCE", -1)
    for query in (SITE, "", "?ask=linkers"):
        first = own_client.get(f"/{query}")
        shown = LexborHTMLParser(first.data)
        pending = shown.css("[data-block]")
        begins = not query  # "Begin here" has nothing to save
        assert len(pending) == (1 if "ask" in query else len(shown.css("#save dl div")) + begins)
        assert {words(part.css_first("[role=status]")) for part in pending} == {"Being made."}
        assert shown.css_first("noscript meta[http-equiv=refresh]")
        assert "ETag" not in first.headers  # else a browser that reloads it gets a 304
    glance(own_client, SITE)
    last = own_client.get(f"/{SITE}")
    assert len(LexborHTMLParser(last.data).css(".panel tbody tr")) > 3
    known = {"If-None-Match": last.headers["ETag"]}
    assert own_client.get(f"/{SITE}", headers=known).status_code == 304


def test_a_part_alone_waits_for_its_answer(
    own_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does its picture; a page is there at once."""
    monkeypatch.setattr("arclink.service.tables._PATIENCE", -1)
    monkeypatch.setattr(ServiceTables, "_prepare", lambda *_: False)
    for address, part in ((f"/{SITE}", "broken"), ("/?ask=pages", "captures")):
        assert "Being made" in own_client.get(address).text
        alone = own_client.get(f"{address}&block={part}")
        assert (alone.status_code, "data-block" in alone.text) == (HTTPStatus.OK, False)
        assert alone.text in own_client.get(address).text
    assert own_client.get(f"/{SITE}&picture=linkers").mimetype == "image/svg+xml"
    monkeypatch.setattr("arclink.service.tables._SECONDS", -1)
    for part in ("block=hosts", "picture=hosts"):
        waits = own_client.get(f"/{SITE}&{part}")
        assert waits.status_code == HTTPStatus.SERVICE_UNAVAILABLE
        assert waits.headers["Retry-After"]
        assert "ETag" not in waits.headers


def test_a_question_that_several_ask_is_answered_once(
    own_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By those who wait for it, and by what is made meanwhile."""
    asked = Counter[AskQuery]()

    def slow(database: Any, query: AskQuery) -> Any:
        asked[query] += 1
        time.sleep(0.3)
        return ask(database, query)

    monkeypatch.setattr("arclink.analysis.questions.asking.ask", slow)
    monkeypatch.setattr("arclink.service.tables._PATIENCE", -1)
    assert "Being made" in own_client.get(f"/{SITE}").text
    with ThreadPoolExecutor(3) as threads:
        alone = [
            threads.submit(own_client.application.test_client().get, f"/{SITE}&block={name}")
            for name in ("hosts", "hosts", "captures")
        ]
        assert {one.result().status_code for one in alone} == {HTTPStatus.OK}
    glance(own_client, SITE)
    assert {*asked.values()} == {1}
    (opened,) = own_client.application.extensions["arclink"].tables._opened.values()
    assert len(opened.answers) == len(asked)
    assert not [*opened.asked], "a lock is kept"


def test_rows_with_one_number_are_drawn_in_the_order_of_the_answer() -> None:
    """Of pages that one host links to, those that most pages link to come first."""
    much, few = "http://b.example/z", "http://b.example/a"
    pages = [Page(f"{A}{name}", "20100101000000", [link(much)]) for name in ("1", "2")]
    store = MemoryStore([*pages, Page(A, "20110101000000", [link(few)])])
    shown = page(client_of(lambda: store), "?ask=most-linked&by=year")
    lanes = [words(row) for row in shown.css(".lanes tbody th")]
    assert lanes[0].startswith("Captures of the archive")
    assert [name.replace(" ", "") for name in lanes[1:]] == [few, much]
    more = MemoryStore([*pages, Page(A, "20100101000000", [link(few)])])
    shown = page(client_of(lambda: more), "?ask=most-linked&by=year")
    lanes = [words(row) for row in shown.css(".lanes tbody th")]
    assert [name.replace(" ", "") for name in lanes[1:]] == [much, few]
    assert "A bar of full height: 1 host in one year." in words(shown)


def test_answers_about_the_archive_are_kept_for_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For this state of the store, and what the service shows of it."""
    path = store_with_tables(tmp_path)
    monkeypatch.setattr("arclink.service.tables._PATIENCE", -1)
    client = client_of(str(path))
    assert "data-block" in client.get("/").text
    end = time.monotonic() + 60
    kept = tmp_path / "links.db.tables" / "answers"
    while not kept.exists() and time.monotonic() < end:
        time.sleep(0.1)
    shown = client.get("/").text
    assert "Official site" in shown
    next_process = client_of(str(path)).get("/").text
    assert next_process == shown
    hides = Settings(embargo=Embargo(prefixes=(Surt("example,b)/"),)))
    hidden = client_of(str(path), hides).get("/").text
    assert "data-block" in hidden
    assert "Official site" not in hidden
    with open_store(str(path), create=True) as store:
        store.forget(Takedown(Forgotten(Surt("example,b)/")), "", "2026-11-26T00:00:00Z"))
        relations_of(str(path), store)
    assert not kept.exists()
    assert "data-block" in client.get("/").text


def test_questions_go_on_while_a_subset_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All captures of a subset are read for that, which may take a minute."""
    path = store_with_tables(tmp_path)
    client = client_of(str(path))
    assert client.get("/ask/anchors").status_code == HTTPStatus.OK
    begun, may_end = Event(), Event()
    show_part = ShownRelations._show_part

    def slow(*given: Any) -> None:
        begun.set()
        assert may_end.wait(30)
        show_part(*given)

    monkeypatch.setattr(ShownRelations, "_show_part", slow)
    monkeypatch.setattr("arclink.service.tables._SECONDS_OF_OPENING", 0.1)
    subset = "/ask/anchors?subset=status:200"
    with ThreadPoolExecutor(1) as threads:
        opening = threads.submit(client.application.test_client().get, subset)
        try:
            assert begun.wait(30)
            assert client.get("/ask/anchors?limit=1").status_code == HTTPStatus.OK
            waits = client.get("/ask/anchors?subset=not%20status:200")
            assert (waits.status_code, "being opened" in waits.get_json()["detail"]) == (503, True)
        finally:
            may_end.set()
        assert opening.result().status_code == HTTPStatus.OK
    assert client.get(subset).status_code == HTTPStatus.OK


def test_relations_of_an_earlier_state_are_closed(tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    load_pages(path, tmp_path / "graph", [PAGES[:1]])
    tables = ServiceTables(str(path))
    query = AskQuery(name="anchors")
    with open_store(str(path)) as store:
        relations_of(str(path), store)
        tables.answer(store, query)
        late = [Page("http://d.example/", "20110101000000", [link(A, "late")])]
        load_pages(path, tmp_path / "more", [late])
        relations_of(str(path), store)
        assert "late" in tables.answer(store, query).table.column("text").to_pylist()
    assert len(tables._opened) == 1


def test_relations_of_an_earlier_state_are_closed_by_any_request(tmp_path: Path) -> None:
    """Without a question: their files may have what was forgotten since."""
    path = tmp_path / "links.db"
    load_pages(path, tmp_path / "graph", [PAGES])
    client = client_of(str(path))
    tables = client.application.extensions["arclink"].tables
    with open_store(str(path), create=True) as store:
        relations_of(str(path), store)
        assert client.get("/ask/anchors?by=month").status_code == HTTPStatus.OK
        assert client.get(f"/linkQuery?uri={A}").status_code == HTTPStatus.OK
        assert len(tables._opened) == 1
        store.forget(Takedown(Forgotten(Surt("example,b)/")), "", "2026-11-26T00:00:00Z"))
    assert client.get(f"/linkQuery?uri={A}").status_code == HTTPStatus.OK
    assert len(tables._opened) == 0


def test_tables_that_could_not_be_made_are_tried_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "links.db"
    load_pages(path, tmp_path / "graph", [PAGES])
    (tmp_path / "links.db.tables").write_bytes(b"")  # no folder can be made here
    client = client_of(str(path))

    def says(text: str) -> None:
        end = time.monotonic() + 60
        while text not in (said := client.get("/ask/anchors?by=month").get_json()["detail"]):
            assert time.monotonic() < end, said
            time.sleep(0.1)

    monkeypatch.setattr("arclink.service.tables._PAUSES", (0.5, 1.0, 1000.0))
    for pause in ("0", "1", "1000"):
        says("are being made")
        says("could not be made, which is tried again later")
        assert f"again in {pause} seconds: arclink: " in caplog.messages[-1]
        assert "links.db.tables" in caplog.messages[-1]
    assert len(caplog.messages) == 3


def test_the_front_says_what_the_archive_is_and_shows_it_at_a_glance() -> None:
    settings = Settings(title="The <thaw>", description="Pages of 2010")
    client = client_of(lambda: MemoryStore(PAGES), settings)
    front = page_with_answers(client)
    assert words(front.css_first("h1")) == "The <thaw>"
    assert "Pages of 2010" in words(front.css_first(".lead"))
    assert [words(node) for node in front.css(".panel h2")] == [
        *(group.value for group in Group),
        "Begin here",
    ]
    assert max(len(panel.css("tbody tr")) for panel in front.css(".panel")) == 3
    assert words(front.css_first(".holdings")).startswith("4 captures of 3 hosts, ")
    for href in hrefs(front, ".panel a"):
        assert client.get(f"/{href}").status_code == 200, href


def test_the_front_has_pages_of_different_hosts_to_begin_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each with its title, the words that lead to it, its links, and its replay."""
    monkeypatch.setattr("arclink.service.tables._PATIENCE", 60)  # of a busy machine
    hub = [link("http://one.example/", "the best"), link("http://one.example/b", "second")]
    pages = [
        Page("http://one.example/", "20100101000000", [], title="One <i>"),
        Page("http://one.example/", "20100201000000", None, status="404", reason="MEMENTO_STATUS"),
        Page("http://one.example/b", "20100101000000", [], title="Second of one"),
        Page("http://two.example/", "20100101000000", hub),
        Page("http://three.example/", "20100101000000", [*hub, link("http://two.example/")]),
        Page("http://four.example/", "20100101000000", None, reason="PAYLOAD_DAMAGED"),
    ]
    client = client_of(lambda: MemoryStore(pages))
    shown = page(client).css("ul.beginnings li")
    assert [words(row) for row in shown] == [
        "One <i> http://one.example/ 2 hosts link to it, most often as “the best”. "
        "See the page then",
        "http://two.example/ 1 host links to it. See the page then",
        "Second of one http://one.example/b 2 hosts link to it, most often as “second”. "
        "See the page then",
    ]
    links = hrefs(page(client), "ul.beginnings a")
    assert links[:2] == [
        "?uri=http%3A%2F%2Fone.example%2F",
        "browse/20100101000000/http://one.example/",
    ]
    for href in links:
        assert client.get(f"/{href}").status_code == 200, href


def test_the_front_without_tables_has_pages_to_begin_with(tmp_path: Path) -> None:
    store = tmp_path / "links.db"
    load_pages(store, tmp_path / "graph", [PAGES])
    (tmp_path / "links.db.tables").write_text("in the way")  # no tables can be made here
    client = client_of(str(store))
    front = page(client)
    assert [words(node) for node in front.css(".beginnings .title")] == [A, "http://b.example/"]
    assert words(front.css_first("[data-page] [role=status]")).startswith("The tables of this")
    for href in hrefs(front, "ul.beginnings a"):
        found = client.get(f"/{href}", follow_redirects=True)
        assert found.status_code == 200, href


def test_all_pages_with_titles_are_one_click_from_the_front(client: FlaskClient) -> None:
    (href,) = (href for href in hrefs(page(client), ".ways a") if "pages" in href)
    table = page(client, href).css_first("table[data-sortable]")
    assert [words(cell) for cell in table.css("thead th")][:2] == ["Name", "Title"]  # type: ignore[union-attr]  # it is there


def test_few_questions_run_at_a_time_and_the_others_are_told(
    own_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = own_client.application.extensions["arclink"].tables
    for _ in range(4):
        assert tables._queue.acquire(timeout=0)
    busy = own_client.get("/ask/anchors?by=month")
    assert busy.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert "too many questions" in busy.get_json()["detail"]
    assert own_client.get(f"/linkQuery?uri={A}").status_code == HTTPStatus.OK
    tables._queue.release(4)
    assert own_client.get("/ask/anchors?by=month").status_code == HTTPStatus.OK


@pytest.fixture(name="times")
def question_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The question `words` never ends, as often as the list has a text."""
    read, texts = sql_texts._read, [ENDLESS] * 9
    monkeypatch.setattr(
        sql_texts,
        "_read",
        lambda folder, name: texts.pop() if name == "anchors" and texts else read(folder, name),
    )
    monkeypatch.setattr("arclink.service.tables._SECONDS", 0.3)
    monkeypatch.setattr("arclink.service.tables._SECONDS_BETWEEN", 0.3)
    return texts


def prepared(client: FlaskClient) -> list[Thread]:
    """Return the threads that answer between requests, when they have ended."""
    threads: list[Thread] = client.application.extensions["arclink"].tables._preparing
    for thread in threads:
        thread.join()
    return [*threads]


@pytest.mark.usefixtures("times")
def test_an_answer_that_exceeds_its_time_says_so_and_is_no_empty_one(
    own_client: FlaskClient,
) -> None:
    """Between requests it gets more time, once."""
    slow = own_client.get("/ask/anchors?by=year")
    assert slow.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert slow.headers["Retry-After"]
    assert "is being answered meanwhile" in slow.get_json()["detail"]
    begun = prepared(own_client)
    refused = own_client.get("/ask/anchors?by=year")
    assert refused.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert refused.content_type == "application/problem+json"
    assert refused.get_json()["limit"] == "time"
    assert "takes longer than this service allows" in refused.get_json()["detail"]
    shown = own_client.get("/?ask=anchors&by=year", headers={"Accept": "text/html"})
    assert shown.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "takes longer than this service allows" in shown.text
    assert "arclink ask" in shown.text
    assert "None, in the captures" not in shown.text
    assert prepared(own_client) == begun


def test_a_question_that_takes_long_is_answered_between_requests(
    own_client: FlaskClient, times: list[str]
) -> None:
    del times[1:]
    assert own_client.get("/ask/anchors?by=year").status_code == HTTPStatus.SERVICE_UNAVAILABLE
    prepared(own_client)
    assert own_client.get("/ask/anchors?by=year").get_json()["total"] > 0


def test_a_question_that_waits_for_others_exceeds_no_limit_yet(
    own_client: FlaskClient, times: list[str]
) -> None:
    """It is answered once these have ended: a 422 would tell clients never to ask again."""
    del times[2:]
    tables, may_end = own_client.application.extensions["arclink"].tables, Event()
    other = Thread(target=may_end.wait, args=(30,))
    other.start()
    tables._preparing[:] = [other]
    waits = own_client.get("/ask/anchors?by=year")
    may_end.set()
    assert (waits.status_code, waits.headers["Retry-After"]) == (503, "5")
    assert "others come before it" in waits.get_json()["detail"]
    prepared(own_client)
    assert "is being answered" in own_client.get("/ask/anchors?by=year").get_json()["detail"]
    prepared(own_client)
    assert own_client.get("/ask/anchors?by=year").get_json()["total"] > 0


@pytest.fixture(name="large")
def question_that_needs_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    read = sql_texts._read
    large = "SELECT 0 AS number, NULL AS period, list(range)::VARCHAR AS text FROM range(300000000)"
    monkeypatch.setattr(
        sql_texts, "_read", lambda folder, name: large if name == "anchors" else read(folder, name)
    )


@pytest.mark.usefixtures("large")
def test_an_answer_that_exceeds_its_memory_says_so(own_client: FlaskClient) -> None:
    answer = own_client.get("/ask/anchors?by=year")
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert answer.get_json()["limit"] == "memory"
    assert "needs more memory than this service allows" in answer.get_json()["detail"]


@pytest.mark.usefixtures("large")
def test_memory_that_other_questions_use_is_asked_for_again(own_client: FlaskClient) -> None:
    tables = own_client.application.extensions["arclink"].tables
    tables._running = 1
    answer = own_client.get("/ask/anchors?by=year")
    assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert answer.headers["Retry-After"]


@pytest.mark.usefixtures("large")
def test_the_front_page_says_which_answers_exceed_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are tried once for each state of the store."""
    path = store_with_tables(tmp_path)
    client = client_of(str(path))
    client.get("/")
    begun = prepared(client)
    assert "needs more memory than this service allows" in client.get("/").text
    assert prepared(client) == begun


def test_an_answer_with_too_many_rows_is_over_the_limit(
    own_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.analysis.relations.database._BYTES_OF_MEGABYTE", 1)
    assert own_client.get("/ask/tlds?limit=1").status_code == 200
    refused = own_client.get("/ask/pages?limit=0")
    assert (refused.status_code, refused.get_json()["limit"]) == (422, "memory")


def test_answers_are_kept_by_their_bytes(
    own_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_client.get("/ask/pages?limit=0")
    own_client.get("/ask/hosts?limit=0")
    (opened,) = own_client.application.extensions["arclink"].tables._opened.values()
    pages, hosts = [*opened.answers][-2:]
    assert (pages.name, hosts.name) == ("pages", "hosts")
    size = opened.answers[hosts].bytes
    monkeypatch.setattr("arclink.service.tables._BYTES_KEPT", size)
    opened.keep(hosts, opened.answers[hosts])
    assert [*opened.answers] == [hosts]
    monkeypatch.setattr("arclink.service.tables._BYTES_KEPT", size - 1)
    large = opened.answers.pop(hosts)
    opened.keep(hosts, large)
    assert not opened.answers


def test_long_questions_and_days_count_among_the_bytes_of_answers(own_client: FlaskClient) -> None:
    """Else an address of 60,000 letters, or 20 years of days, would be kept 32,000 times."""
    letters, addresses = 60_000, ("http://a.example/", "http://b.example/")
    for address in addresses:
        own_client.get(f"/ask/linkers?uri={address}{'x' * letters}")
    own_client.get("/ask/pages?uri=*.a.example")
    (opened,) = own_client.application.extensions["arclink"].tables._opened.values()
    *long, pages = [*opened.answers.values()][-3:]
    assert [one.bytes > 8 * letters for one in long] == [True, True]
    assert long[0].known is long[1].known  # all questions about links to something share them
    without_days = replace(pages, known=replace(pages.known, by_day={}))
    assert pages.bytes - without_days.bytes == 200 * len(pages.known.by_day) > 0
