"""Archived bytes in a browser: a reader may open them, a page of the service has no use of them."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from arclink.service.replay.application import create_replay
from tests.captures.archives import T1, Record, store_of
from tests.service.conftest import A, client_of


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(tmp_path_factory.mktemp("destinations"), [Record(A, T1, b"<p>one")])


@pytest.fixture
def client(store: Path) -> FlaskClient:
    return client_of(str(store))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({}, 200, id="a program"),
        pytest.param({"Dest": "document", "Site": "none", "Mode": "navigate"}, 200, id="a reader"),
        pytest.param({"Dest": "document", "Site": "same-origin"}, 200, id="a link of the service"),
        pytest.param({"Dest": "empty", "Site": "cross-site"}, 200, id="an allowed origin"),
        pytest.param({"Dest": "image", "Site": "cross-site"}, 200, id="an image elsewhere"),
        pytest.param(
            {"Dest": "empty", "Site": "same-origin", "Mode": "navigate"}, 200, id="a download"
        ),
        pytest.param({"Dest": "empty", "Site": "same-origin", "Mode": "cors"}, 403, id="data"),
        pytest.param({"Dest": "image", "Site": "same-origin"}, 403, id="an image here"),
        *(
            pytest.param({"Dest": use, "Site": "same-origin"}, 403, id=use)
            for use in ("script", "style", "worker", "serviceworker", "iframe", "object", "new")
        ),
    ],
)
def test_archived_bytes_are_no_part_of_a_page(
    client: FlaskClient, headers: dict[str, str], status: int
) -> None:
    sent = {f"Sec-Fetch-{name}": value for name, value in headers.items()}
    targets = [
        f"/web/{T1}id_/{A}",
        "/stream",
        "/export?format=warc",
        "/record?file=x.warc&offset=0",
    ]
    for target in targets:
        response = client.get(target, headers=sent)
        assert response.status_code in (status, 404 if status == 200 else status), target
        assert "Sec-Fetch-Dest" in response.headers["Vary"]
    rows = client.get("/cdx", query_string={"url": A}, headers=sent)
    assert rows.status_code == 200  # no bytes of captures


@pytest.mark.parametrize(
    ("referrer", "status"),
    [("http://pywb.example/past/", 200), ("http://localhost/", 403), ("/x", 403), ("", 403)],
)
def test_a_replay_system_may_pass_on_the_headers_of_its_client(
    client: FlaskClient, referrer: str, status: int
) -> None:
    headers = {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "same-origin", "Referer": referrer}
    assert client.get(f"/web/{T1}id_/{A}", headers=headers).status_code == status


@pytest.mark.parametrize(
    ("use", "status"), [("empty", 200), ("document", 403), ("script", 403), ("iframe", 403)]
)
def test_at_the_replay_origin_only_the_worker_reads_captures(
    store: Path, use: str, status: int
) -> None:
    client = create_replay(str(store)).test_client()
    headers = {"Sec-Fetch-Dest": use, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    assert client.get(f"/web/{T1}id_/{A}", headers=headers).status_code == status


@pytest.mark.parametrize(
    ("path", "fetched"),
    [
        ("/", "h.example:8080/"),
        (f"/?uri={A}", "h.example:8080/"),
        (f"/browse/2010/{A}", "h.example:8080/browse/"),
        ("/select", "h.example:8080/select"),
        ("/docs", "'none'"),
    ],
)
def test_policies_of_pages_name_paths(client: FlaskClient, path: str, fetched: str) -> None:
    response = client.get(path, headers={"Host": "h.example:8080"}, follow_redirects=True)
    policy = dict(
        part.strip().split(" ", 1)
        for part in response.headers["Content-Security-Policy"].split(";")
    )
    for kind in ("script-src", "style-src"):
        assert policy[kind] == "h.example:8080/static/"
    assert policy["img-src"] == "h.example:8080/static/ blob:"  # made by the script of a page
    assert policy["connect-src"] == fetched
    assert policy["default-src"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"


def test_an_address_that_no_policy_can_name_is_self(client: FlaskClient) -> None:
    policy = client.get("/", headers={"Host": "[::1]:8080"}).headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
