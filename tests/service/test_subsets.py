"""Subsets over HTTP."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient
from jsonschema_rs import validator_for

from arclink.access.reader import Budget
from arclink.analysis.relations.kept import relations_of
from arclink.captures.subsets.catalog import SubsetCatalog
from arclink.captures.subsets.language import parse_selection
from arclink.model import Surt
from arclink.service.schemas import SCHEMAS
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo
from arclink.store.location import open_store
from tests.demos import Demos
from tests.service.conftest import client_of

PAGE = "http://www.kalvik2010.example/"


@pytest.fixture
def path(demos: Demos, tmp_path: Path) -> Path:
    return demos.copy(tmp_path)


@pytest.fixture
def demo_client(path: Path) -> FlaskClient:
    return client_of(str(path))


def put(path: Path, name: str, text: str, *, keep: bool = False) -> None:
    with open_store(str(path)) as store:
        SubsetCatalog(str(path)).put(store, name, parse_selection(text), keep=keep)


def sources(client: FlaskClient, subset: str) -> set[str]:
    query = {"uri": PAGE, "direction": "in", "format": "json", "subset": subset}
    answer = client.get("/linkQuery", query_string=query).get_json()
    return {link["uri"].split("/")[2] for link in answer["inlinks"]}


def test_links_are_of_the_subset(path: Path, demo_client: FlaskClient) -> None:
    put(path, "aurora", "host:aurora-daily.example")
    assert sources(demo_client, "aurora") == {"aurora-daily.example"}
    assert sources(demo_client, "host:fjordpost.example") == {"www.fjordpost.example"}
    assert len(sources(demo_client, "")) > 2


@pytest.mark.parametrize(
    "resource",
    [
        f"/anchors?uri={PAGE}",
        f"/diff?uri={PAGE}&from=20091101&to=201003",
        f"/explain?uri={PAGE}",
        f"/cdx?url={PAGE}",
        "/ask/gaps?limit=9",
        "/ask/stale?from=2010",
    ],
)
def test_every_resource_takes_a_subset(path: Path, demo_client: FlaskClient, resource: str) -> None:
    with open_store(str(path)) as store:
        relations_of(str(path), store)
    whole = demo_client.get(resource)
    part = demo_client.get(f"{resource}&subset=host:nobody.example")
    assert (whole.status_code, part.status_code) == (200, 200)
    assert whole.data != part.data
    of_all = demo_client.get(f"{resource}&subset=uri:*").data
    assert of_all.replace(b" --subset 'uri:*'", b"") == whole.data  # the question is cited as asked


def test_a_wrong_subset_is_a_problem_with_its_place(demo_client: FlaskClient) -> None:
    for subset, words in (("host:", "at character 6"), ("nothing", "no subset 'nothing'")):
        response = demo_client.get("/count", query_string={"subset": subset})
        assert response.status_code == 400
        assert response.get_json()["parameter"] == "subset"
        assert words in response.get_json()["detail"]


def test_captures_are_counted(path: Path, demo_client: FlaskClient) -> None:
    query = {"subset": "host:kalvik2010.example and status:200", "by": "year"}
    counts = demo_client.get("/count", query_string=query).get_json()
    with open_store(str(path)) as store:
        years = [
            one.timestamp[:4]
            for one in store.scan_mementos()
            if one.surt.startswith("example,kalvik2010)") and one.status == "200"
        ]
    assert counts["captures"] == len(years)
    assert counts["complete"]
    assert counts["counts"] == [
        {"value": year, "captures": years.count(year)} for year in sorted(set(years))
    ]
    assert demo_client.get("/count").get_json()["captures"] == 300


def test_a_count_reads_no_more_than_the_budget(path: Path) -> None:
    client = client_of(str(path), Settings(budget=Budget(rows=100)))
    counts = client.get("/count").get_json()
    assert (counts["captures"], counts["complete"]) == (100, False)
    answer = client.get(f"/count?subset=within:9 of:{PAGE} direction:both")
    assert answer.status_code == 400
    assert "more than 100 pages" in answer.get_json()["detail"]


def test_named_subsets_are_listed_and_shown(path: Path, demo_client: FlaskClient) -> None:
    assert demo_client.get("/subsets").get_json() == {"subsets": []}
    put(path, "a", "status:200 and pick:first", keep=True)
    put(path, "b", "subset:a")
    listed = demo_client.get("/subsets").get_json()
    assert [(one["name"], one["kind"]) for one in listed["subsets"]] == [
        ("a", "list"),
        ("b", "view"),
    ]
    shown = demo_client.get("/subsets/a").get_json()
    assert shown["json"] == {"and": [{"status": "200"}, {"pick": "first"}]}
    assert demo_client.get("/subsets/c").status_code == 404
    for schema, answer in (
        ("Subsets", listed),
        ("Subset", shown),
        ("Count", demo_client.get("/count?subset=a&by=host").get_json()),
    ):
        whole = {"$ref": f"#/components/schemas/{schema}", "components": {"schemas": SCHEMAS}}
        assert [one.message for one in validator_for(whole).iter_errors(answer)] == []


def test_an_answer_is_current_until_its_subset_is_defined_anew(
    path: Path, demo_client: FlaskClient
) -> None:
    put(path, "a", "host:aurora-daily.example")
    url = f"/linkQuery?uri={PAGE}&format=json&subset=a"
    tag = demo_client.get(url).headers["ETag"]
    assert demo_client.get(url, headers={"If-None-Match": tag}).status_code == 304
    put(path, "a", "host:fjordpost.example")
    assert demo_client.get(url, headers={"If-None-Match": tag}).status_code == 200


def test_an_embargo_holds_in_every_subset(path: Path) -> None:
    hidden = Surt("example,aurora-daily)/")
    client = client_of(str(path), Settings(embargo=Embargo(prefixes=(hidden,))))
    put(path, "kept", "host:aurora-daily.example", keep=True)
    for subset in ("kept", "host:aurora-daily.example", "batch:1 and host:aurora-daily.example"):
        assert client.get("/count", query_string={"subset": subset}).get_json()["captures"] == 0
        assert sources(client, subset) == set()


def test_a_service_may_show_a_subset_only(path: Path) -> None:
    client = client_of(str(path), Settings(subset="host:aurora-daily.example"))
    assert sources(client, "") == {"aurora-daily.example"}
    assert sources(client, "host:fjordpost.example") == set()
    assert client.get("/count?by=host").get_json()["counts"] == [
        {"value": "aurora-daily.example", "captures": 45}
    ]


def test_no_count_of_a_list_includes_hidden_captures(path: Path) -> None:
    put(path, "kept", "uri:*", keep=True)
    count = SubsetCatalog(str(path)).get("kept").captures
    plain = client_of(str(path))
    assert plain.get("/subsets/kept").get_json()["captures"] == count
    assert f"a list of {count}" in plain.get("/select").text
    for settings in (
        Settings(embargo=Embargo(prefixes=(Surt("example,aurora-daily)/"),))),
        Settings(subset="host:kalvik2010.example"),
    ):
        client = client_of(str(path), settings)
        assert client.get("/subsets/kept").get_json()["captures"] is None
        assert client.get("/subsets").get_json()["subsets"][0]["captures"] is None
        assert "a list<" in client.get("/select").text
        assert client.get("/count?subset=kept").get_json()["captures"] < count
