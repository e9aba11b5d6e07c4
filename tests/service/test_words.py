"""Questions about the text of pages, over HTTP and on pages for people."""

import json
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient
from selectolax.lexbor import LexborHTMLParser

from arclink.analysis.relations.kept import relations_of
from arclink.analysis.relations.state import add_texts
from arclink.model import Surt
from arclink.others.federation.instances import Instance
from arclink.service.agents.tools import Tools
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo
from arclink.store.location import open_store
from tests.access.sqlite_pages import load_pages
from tests.service.conftest import NASTY, T1, T2, A, B, client_of, served
from tests.service.shown import hrefs, page, words
from tests.store.memory_store import Page, link

LONG = "barrier" * 15_000
Texts = Sequence[tuple[Page, str | None]]
TEXTS: Texts = [
    (Page(A, T1, [link(B, "News")], title="one"), "Nothing yet"),
    (Page(A, T2, [link(B, "News")], title=NASTY), f"{NASTY} Queryable\u202e state\nmore {LONG}"),
    (Page(B, T1, [link(A, "Official site")], title="two"), "A secret checkpoint"),
    (Page(B, T2, [link(A, "Official site")], title="three"), "Queryable states"),
    (Page("http://pdf.example/", "20080101000000", [], title="four"), None),
    (Page("http://lost.example/", T2, [], title="five"), ""),
]
UNREAD = Page("http://unread.example/", T1, [link(A)], title="six")
NO_TEXTS = "the text of pages was not read: run `arclink tables --text --store STORE`"


def add(path: Path, texts: Texts) -> None:
    rows = [
        (page.checksum, page.title, None, text, None if text is None else False)
        for page, text in texts
    ]
    with open_store(str(path)) as store:
        add_texts(str(path), store, sorted(rows))
        relations_of(str(path), store)


def load(folder: Path, texts: Texts, *others: Page) -> Path:
    """Return the path of a store with relations, but without texts."""
    path = folder / "links.db"
    load_pages(path, folder / "graph", [[*(one for one, _ in texts), *others]])
    with open_store(str(path)) as store:
        relations_of(str(path), store)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = load(tmp_path_factory.mktemp("words"), TEXTS, UNREAD)
    add(path, TEXTS)
    return path


@pytest.fixture(scope="module")
def client(path: Path) -> FlaskClient:
    return client_of(str(path))


@pytest.mark.parametrize("name", ["search", "frequency", "first-said"])
def test_without_words_a_page_has_their_field(client: FlaskClient, name: str) -> None:
    shown = page(client, f"?ask={name}&from=2009")
    field = shown.css_first("input[name=words]")
    assert field is not None
    assert "autofocus" in field.attributes
    assert "Type words, phrases in quotation marks" in words(shown.css_first(".note"))
    assert client.get(f"/?ask={name}").status_code == HTTPStatus.OK
    assert client.get(f"/ask/{name}").status_code == HTTPStatus.BAD_REQUEST


def test_a_hit_leads_to_the_page_then_and_to_who_linked_to_it(client: FlaskClient) -> None:
    shown = page(client, '?ask=search&words="queryable+state"')
    assert shown.css_first("input[name=words]").attributes["value"] == '"queryable state"'  # type: ignore[union-attr]  # it is there
    (row,) = shown.css("table.question tbody tr")
    there, linkers, *then = (node.attributes["href"] or "" for node in row.css("a"))
    assert parse_qs(urlsplit(there).query)["uri"] == [A]
    asked = {"uri": [A], "view": ["links"], "direction": ["in"], "at": [T2[:8]]}
    assert parse_qs(urlsplit(linkers).query) == asked
    assert then == [f"browse/{T2}/{A}"] * 2
    assert [words(one).split()[0] for one in row.css("td.number a")] == ["2"]
    following = {words(node): node.attributes["href"] for node in shown.css(".groups a")}
    assert "words=" in (following["Who said it first?"] or "")
    assert "words=" not in (following["Which sites linked to others?"] or "")
    assert words(shown.css_first("h1")) == "Which pages say “queryable state”?"


def test_text_of_pages_is_text_of_the_answer(client: FlaskClient) -> None:
    for asked in ("search&words=queryable", "first-said&words=barrier*&level=uri", "bursts"):
        response = client.get(f"/?ask={asked}")
        assert response.status_code == HTTPStatus.OK
        assert "<script>alert" not in response.text
        assert len(response.data) < 60_000
    (snippet,) = page(client, "?ask=search&words=queryable+state").css("td bdi.words")[1:]
    assert [mark.text() for mark in snippet.css("mark")] == ["Queryable", "state"]
    assert [one.tag for one in snippet.css("*")] == ["bdi", "mark", "mark"]
    for address in ("search?words=script", "first-said?words=script"):
        hostile = page(client, f"?ask={address.replace('?', '&')}").css("td bdi.words mark")
        assert [mark.text() for mark in hostile] == ["script"] * 2
        for form in ("json", "csv"):
            answer = client.get(f"/ask/{address}&format={form}").text
            assert "Queryable" in answer
            assert "<mark>" not in answer
    assert words(snippet).startswith('<script>alert("x")</script>')
    assert snippet.parent is not None
    assert snippet.parent.tag == "td"


def test_what_is_not_known_of_texts_is_beside_what_was_read(client: FlaskClient) -> None:
    shown = words(page(client, "?ask=frequency&words=queryable").css_first("section:has(#lanes)"))
    assert "1 Jan 2008 to 30 Jan 2010; text of 5 known" in shown
    others = "1 capture whose text was not read (arclink tables --text), 1 capture without text"
    assert f"Besides: {others}." in shown


def test_words_are_side_by_side_through_time(client: FlaskClient) -> None:
    shown = page(client, "?ask=frequency&words=state+secret+never")
    strip, *rows = shown.css(".lanes tbody tr")
    assert len(strip.css("rect.amount")) == 3  # days with captures
    of_captures = "captures with known text"
    assert [words(row.css_first("th")) for row in rows] == ["state", "secret", "never", of_captures]
    assert [row.css_first("rect.in title").text() for row in rows[:2]] == [  # type: ignore[union-attr]  # they are there
        "2010: 33.333 % of captures with known text",
        "2009: 50.0 % of captures with known text",
    ]
    assert not rows[2].css("rect.in")
    counts = [bar.text() for bar in rows[3].css("rect.in title")]
    assert counts == ["2009: 2 captures", "2010: 3 captures"]
    assert all(len(row.css("rect.gap")) == 1 for row in rows)  # in 2008, no text was known
    saved = client.get("/?ask=frequency&words=state&picture=lanes")
    assert saved.mimetype == "image/svg+xml"
    assert "state" in saved.text


def test_a_burst_is_a_span_of_time(tmp_path: Path) -> None:
    texts = [
        (
            Page(f"{A}{number}", f"2010{month:02}01000000", [], title=f"{month} {number}"),
            "thaw in spring" if month in (4, 5) and number < 6 else f"snow {number}",
        )
        for month in range(1, 13)
        for number in range(16)
    ]
    path = load(tmp_path, texts)
    add(path, texts)
    lanes = page(client_of(str(path)), "?ask=bursts").css(".lanes tbody tr")[1:]
    assert [words(lane.css_first("th")) for lane in lanes] == ["in", "spring", "thaw"]
    for lane in lanes:
        assert [bar.text() for bar in lane.css("rect.in title")] == [
            "Apr 2010: 37.5 % of pages",
            "May 2010: 37.5 % of pages",
        ]


def test_a_store_without_texts_names_the_command_until_they_are_read(tmp_path: Path) -> None:
    path = load(tmp_path, TEXTS)
    client, typed = client_of(str(path)), "/?uri=queryable+state"
    for asked in ("search?words=state", "bursts", "frequency?words=state"):
        problem = client.get(f"/ask/{asked}")
        assert problem.status_code == HTTPStatus.CONFLICT
        assert problem.get_json()["detail"].startswith(NO_TEXTS)
    shown = client.get("/?ask=search&words=state")
    assert NO_TEXTS.replace("`", "") in words(LexborHTMLParser(shown.data))
    assert 'value="state"' in shown.text
    assert "ETag" not in shown.headers
    merged = client.get("/aggregate/ask/bursts")
    assert "not every archive knows" in merged.headers["ArcLink-Unknown"]
    assert merged.get_json()["archives"][0]["unknown"].startswith(NO_TEXTS)
    answer = Tools(str(path)).call(
        "ask", {"question": "search", "words": "state"}, has_left=lambda: False
    )
    assert answer.is_error
    assert answer.content.startswith(NO_TEXTS)
    assert "ask=find" in client.get(typed).headers["Location"]
    add(path, TEXTS)
    assert client.get("/ask/search?words=state").get_json()["total"] == 1
    assert "ask=search" in client.get(typed).headers["Location"]


def test_texts_that_another_process_reads_are_in_all_answers(tmp_path: Path) -> None:
    """Nothing is loaded meanwhile: the state of the store stays the same."""
    path = load(tmp_path, TEXTS, UNREAD)
    client = client_of(str(path))
    search, of_links = "/ask/search?words=secret", f"/linkQuery?uri={A}&format=json"
    assert client.get(search).status_code == HTTPStatus.CONFLICT
    assert client.get("/count?subset=text:secret").status_code == HTTPStatus.CONFLICT

    def counts() -> list[int]:
        subsets = ("text:secret", "not text:secret", "text:secret or host:b.example")
        answers = (client.get("/count", query_string={"subset": one}) for one in subsets)
        return [answer.get_json()["captures"] for answer in answers]

    add(path, TEXTS[:2])
    assert client.get(search).get_json()["total"] == 0
    assert counts() == [0, 2, 2]
    addresses = [search, "/?ask=bursts", f"{of_links}&subset=text:secret", of_links]
    first = [client.get(one) for one in addresses]
    add(path, TEXTS[2:])
    known = [{"If-None-Match": one.headers["ETag"]} for one in first]
    statuses = [
        client.get(address, headers=headers).status_code
        for address, headers in zip(addresses, known, strict=True)
    ]
    assert statuses == [HTTPStatus.OK] * 3 + [HTTPStatus.NOT_MODIFIED]
    assert client.get(search).get_json()["total"] == 1
    assert counts() == [1, 4, 2]


def test_texts_that_are_not_in_the_tables_yet_are_added(tmp_path: Path) -> None:
    """A process that was killed has read them."""
    path = load(tmp_path, TEXTS)
    client = client_of(str(path))
    assert client.get("/ask/bursts").status_code == HTTPStatus.CONFLICT
    rows = sorted((one.checksum, one.title, None, text, False) for one, text in TEXTS if text)
    with open_store(str(path)) as store:
        add_texts(str(path), store, rows)
    waits = client.get("/ask/bursts")
    assert waits.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert "the text of pages is being added" in waits.get_json()["detail"]
    with open_store(str(path)) as store:
        relations_of(str(path), store)
    assert client.get("/ask/bursts").status_code == HTTPStatus.OK


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        pytest.param("queryable state", "queryable state", id="words"),
        pytest.param('"a.example"', '"a.example"', id="a quotation mark begins no address"),
        pytest.param("a.example", None, id="a host"),
        pytest.param("http://a.example/a b", None, id="an address with a blank"),
    ],
)
def test_the_field_takes_words_and_addresses(
    client: FlaskClient, typed: str, asked: str | None
) -> None:
    response = client.get("/", query_string={"uri": typed})
    given = parse_qs(urlsplit(response.headers.get("Location", "")).query)
    assert given == ({"ask": ["search"], "words": [asked]} if asked else {})


def test_an_address_that_people_type_leads_to_words(client: FlaskClient, tmp_path: Path) -> None:
    def leads_to(one: FlaskClient, typed: str) -> tuple[str, dict[str, list[str]]]:
        response = one.get("/search", query_string={"q": typed}, base_url="http://h/")
        assert response.status_code == HTTPStatus.FOUND
        found = urlsplit(response.headers["Location"])
        return found.path, parse_qs(found.query)

    typed = ' "queryable state" caf\xe9&x=1 '
    asked = {"ask": ["search"], "words": [typed.strip()]}
    assert leads_to(client, typed) == ("/", asked)
    assert leads_to(client, " ") == ("/", {})
    assert client.get("/search").headers["Location"] == "/"
    without = client_of(str(load(tmp_path, TEXTS)))
    assert leads_to(without, "state") == ("/", {"ask": ["find"], "words": ["state"]})


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "spreadsheet", "parquet", "seeds"])
@pytest.mark.parametrize(
    "asked",
    ["search?words=state", "frequency?words=state*", "first-said?words=state&level=uri", "bursts"],
)
def test_answers_have_all_formats(client: FlaskClient, asked: str, form: str) -> None:
    response = client.get(f"/ask/{asked}{'&' if '?' in asked else '?'}format={form}")
    has_pages = asked.startswith(("search", "first-said"))
    is_possible = form != "seeds" or has_pages
    assert response.status_code == (HTTPStatus.OK if is_possible else HTTPStatus.BAD_REQUEST)


@pytest.mark.parametrize(
    "asked", ["search?words=state", "frequency?words=state&by=year", "first-said?words=state"]
)
def test_others_are_asked_about_text_and_say_what_is_not_known(
    path: Path, client: FlaskClient, tmp_path: Path, asked: str
) -> None:
    """Of two archives with the same captures, one has read no text."""
    alone = json.loads(client.get(f"/ask/{asked}").text.replace(r"\u001b", "\ufffd"))
    with served(str(path)) as other, served(str(load(tmp_path, TEXTS))) as without:
        urls = {"other": other, "without": without}
        instances = (Instance(name, f"http://127.0.0.1:{port}") for name, port in urls.items())
        here = client_of(str(path), Settings(instances=(*instances,)))
        merged = here.get(f"/aggregate/ask/{asked}").get_json()
    own, there, unread = merged["archives"]
    assert [one["outcome"] for one in merged["archives"]] == ["answered"] * 3
    assert own["texts"] == there["texts"] == {"cut": 0, "others": 1, "unread": 1}
    assert own["captures"] == there["captures"] == alone["captures"]
    assert unread["unknown"].startswith(NO_TEXTS)
    of_one = [row for row in merged["rows"] if len(row["archives"]) == 1]
    for name in ("here", "other"):
        rows = [row for row in of_one if row["archives"] == [name]]
        assert rows == [{"archives": [name], **row} for row in alone["rows"]]
    together = [row for row in merged["rows"] if len(row["archives"]) == 2]
    assert [(row["term"], row["said"]) for row in together] == (
        [("state", 0), ("state", None)] if "frequency" in asked else []
    )


@pytest.mark.parametrize(
    "asked", ["search?words=secret", "first-said?words=secret", "frequency?words=secret", "bursts"]
)
def test_an_embargo_hides_words(path: Path, client: FlaskClient, asked: str) -> None:
    hidden = client_of(str(path), Settings(embargo=Embargo(prefixes=(Surt("example,b)/"),))))
    answer = hidden.get(f"/ask/{asked}").get_json()
    assert not any(row.get("said") or row.get("snippet") for row in answer["rows"])
    assert answer["captures"]["count"] == 5
    seen = hidden.get(f"/?ask={asked.replace('?', '&')}")
    assert "checkpoint" not in seen.text
    assert "checkpoint" in client.get("/ask/search?words=secret").text


def test_links_of_a_page_with_words_work(client: FlaskClient) -> None:
    for address in hrefs(page(client, "?ask=search&words=queryable+state"), "table.question td a"):
        assert client.get(f"/{address}").status_code == HTTPStatus.OK
