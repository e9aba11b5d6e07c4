"""The form that builds a selection: its addresses, its counts, and its messages about mistakes."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient
from hypothesis import example, given

from arclink.access.reader import Budget
from arclink.captures.subsets.catalog import SubsetCatalog
from arclink.captures.subsets.evaluation import Evaluation
from arclink.captures.subsets.language import Selection, parse_selection, text_of
from arclink.model import Surt
from arclink.service.selecting import SelectionForm
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo
from arclink.store.location import open_store
from tests.demos import Demos
from tests.service.conftest import client_of
from tests.subsets.selections import selections

PAGE = "http://www.kalvik2010.example/"


@pytest.fixture
def demo_client(demos: Demos) -> FlaskClient:
    return client_of(str(demos.store()))


def form_of(text: str) -> dict[str, str]:
    return dict(SelectionForm.of(parse_selection(text)).values)


def page(client: FlaskClient, subset: str) -> str:
    return client.get("/select", query_string={"subset": subset}).get_data(as_text=True)


@pytest.mark.filterwarnings("ignore:prefix:FutureWarning")
@given(selection=selections)
@example(parse_selection("(uri:http://a.example/ and pick:latest) and pick:latest"))
def test_a_form_builds_the_selection_that_filled_it(demos: Demos, selection: Selection) -> None:
    again, mistakes = SelectionForm.of(selection).selection()
    assert mistakes == []
    with open_store(str(demos.store())) as store:
        expected, found = (
            [(one.surt, one.timestamp, one.original) for one in Evaluation(store, which).scan()]
            for which in (selection, again)
        )
    assert found == expected


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("uri:*", {}),
        ("domain:gov", {"place": "domain", "where": "gov"}),
        (
            "from:2001 and host:a.example and status:200 and pick:latest",
            {
                "from": "2001",
                "place": "host",
                "where": "a.example",
                "status": "200",
                "pick": "latest",
            },
        ),
        (
            "host:a.example and host:*.example and not status:4*",
            {
                "place": "host",
                "where": "a.example",
                "subset": "host:*.example and not status:4*",
            },
        ),
        ("host:a.example or host:b.example", {"subset": "host:a.example or host:b.example"}),
        (
            "links-to:a.example kinds:a@href and links-to:b.example",
            {"subset": "links-to:a.example kinds:a@href", "links-to": "b.example"},
        ),
        ("pick:nearest@2010", {"pick": "nearest@2010"}),
    ],
)
def test_conditions_are_in_their_fields(text: str, fields: dict[str, str]) -> None:
    assert form_of(text) == fields


def test_filled_fields_lead_to_the_address_of_the_selection(demo_client: FlaskClient) -> None:
    fields = {
        "place": "domain",
        "where": "Kalvik2010.example",
        "from": "2010-01",
        "to": "",
        "mime": "",
        "status": "200",
        "links-to": "",
        "pick": "latest",
        "subset": "not uri:*/archive/* and not mime:image/*",
    }
    answer = demo_client.get("/select", query_string=fields)
    assert answer.status_code == 302
    address = urlsplit(answer.headers["Location"])
    assert address.path == "/select"
    (text,) = parse_qs(address.query)["subset"]
    assert text == (
        "domain:kalvik2010.example and from:2010 and status:200 and not uri:*/archive/* and "
        "not mime:image/* and pick:latest"
    )
    shown = page(demo_client, text)
    assert 'value="kalvik2010.example"' in shown
    assert ">not uri:*/archive/* and not mime:image/*</textarea>" in shown
    counts = demo_client.get("/count", query_string={"subset": text, "by": "year"}).get_json()
    assert f"<strong>{counts['captures']}</strong> captures" in shown
    assert f"<strong>{counts['uris']}</strong> pages" in shown


def test_an_empty_form_leads_to_the_page_without_parameters(demo_client: FlaskClient) -> None:
    answer = demo_client.get("/select?place=host&where=&from=&pick=&subset=")
    assert answer.headers["Location"] == "/select"
    assert "all captures are selected" in demo_client.get("/select").get_data(as_text=True)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("subset=host:a.example and frm:2010", ["<mark>frm:2010</mark>", "At character 20."]),
        ("subset=host:", ["host:<mark>\u00a0</mark>", "At character 6."]),
        ("from=20x0&where=gov", ['id="mistake-from"', "Expected a time", 'value="20x0"']),
        ("place=host&where=%2a", ['id="mistake-where"', "Expected a host"]),
        ("subset=missing", ["no subset &#39;missing&#39;"]),
        ("pick=latest&subset=status:200 and pick:first", ["There are two picks"]),
    ],
)
def test_a_mistake_is_shown_at_its_place(
    demo_client: FlaskClient, query: str, says: list[str]
) -> None:
    answer = demo_client.get(f"/select?{query}")
    assert answer.status_code == 200
    shown = answer.get_data(as_text=True)
    assert all(text in shown for text in says), shown
    assert "Nothing is counted yet" in shown
    assert 'aria-invalid="true"' in shown


@pytest.mark.parametrize("query", ["uri=example.org", "place=all&where=gov"])
def test_parameters_of_other_pages_are_refused(demo_client: FlaskClient, query: str) -> None:
    assert demo_client.get(f"/select?{query}").status_code == 400


def test_a_count_and_a_search_for_links_stop_at_the_budget(demos: Demos) -> None:
    client = client_of(str(demos.store()), Settings(budget=Budget(rows=100)))
    assert "At least <strong>" in page(client, "status:200")
    shown = page(client, f"within:9 of:{PAGE} direction:both")
    assert "selects more than 100 pages" in shown
    assert "Expected" not in shown


def test_stored_subsets_are_offered(demos: Demos, tmp_path: Path) -> None:
    path = demos.copy(tmp_path)
    with open_store(str(path)) as store:
        text = "host:aurora-daily.example and pick:first"
        SubsetCatalog(str(path)).put(store, "aurora", parse_selection(text), keep=True)
    client = client_of(str(path))
    shown = page(client, "aurora")
    assert '<a href="?subset=aurora">aurora</a>' in shown
    assert ">subset:aurora</textarea>" in shown
    assert page(client, text).count("<strong>") == 2
    assert text_of(SelectionForm.from_parameters([("subset", "aurora")]).selection()[0]) == (
        "subset:aurora"
    )


def test_an_embargo_holds_in_the_page(demos: Demos) -> None:
    hidden = Surt("example,aurora-daily)/")
    client = client_of(str(demos.store()), Settings(embargo=Embargo(prefixes=(hidden,))))
    assert "<strong>0</strong> captures of" in page(client, "host:aurora-daily.example")


def test_captures_are_offered_where_the_service_has_them(demos: Demos) -> None:
    text = "host:aurora-daily.example"
    assert 'href="/export?format=wacz&amp;subset=host%3Aaurora' in page(
        client_of(str(demos.store())), text
    )
    assert "export?" not in page(client_of(str(demos.store()), Settings(has_pages=False)), text)


def test_foreign_text_stays_text(demo_client: FlaskClient) -> None:
    shown = page(demo_client, '"><script>alert(1)</script>')
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
