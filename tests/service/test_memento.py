"""TimeMaps and the headers of Memento over HTTP; URIs in paths stay unchanged."""

import http.client
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, urljoin

import pytest
from flask.testing import FlaskClient

from arclink.access.formats.timemaps import ascii_uri
from arclink.access.replay import parse_replay
from arclink.service.collections import create_collections
from arclink.service.settings import Settings
from tests.service.conftest import PAGES, T1, T2, A, C, client_of, served
from tests.store.memory_store import MemoryStore, Page, link

SETTINGS = Settings(replay=parse_replay("--replay", "https://w.example/web/"))

WRITTEN = [
    pytest.param("http://a.example/x%2Fy", id="encoded slash"),
    pytest.param("http://a.example/x%3Fy", id="encoded question mark"),
    pytest.param("http://a.example/x//y///", id="slashes"),
    pytest.param("http://a.example/?q=1&r=http://b.example//z?s=%26", id="query with a URI"),
    pytest.param("http://a.example/caf%C3%A9%", id="escapes"),
    pytest.param("http://a.example/a;b,c=d'(e)|{f}", id="signs"),
    pytest.param("http://a.example/timemap/json/http://b.example/", id="a TimeMap's address"),
    pytest.param("mailto:a@b.example", id="opaque"),
    pytest.param("http://a.example/x%0D%0Ay", id="encoded line end"),
]


LINK = re.compile(r"<([^>]*)>; ([^<]*?)(?:, (?=<)|$)")

CAPTURED = [
    *PAGES,
    *(Page(str(one.values[0]), T1, []) for one in WRITTEN),
    Page("http://a.example/x%2Fy?q=1", T1, []),
    Page("http://a.example/?a=%2F", T1, []),
    Page("http://a.example/é", T1, []),
]
"""Also captures of the URIs that are asked for: only these have TimeMaps."""


@pytest.fixture
def client() -> FlaskClient:
    return client_of(lambda: MemoryStore(CAPTURED), SETTINGS)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A service on waitress, whose request target comes over the wire."""
    with served(lambda: MemoryStore(CAPTURED), settings=SETTINGS) as port:
        yield port


def asked(port: int, target: str) -> tuple[int, dict[str, object]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest("GET", target, skip_accept_encoding=True)
    connection.endheaders()
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


@pytest.mark.parametrize("uri", WRITTEN)
def test_a_uri_in_a_path_survives_as_it_was_written(
    port: int, client: FlaskClient, uri: str
) -> None:
    status, answer = asked(port, f"/timemap/json/{uri}")
    assert (status, answer["original_uri"]) == (200, uri)
    assert client.get(f"/timemap/json/{uri}").get_json()["original_uri"] == uri
    text = client.get(f"/timemap/link/{uri}").text
    assert text.startswith(f'<{ascii_uri(uri)}>; rel="original",')


def test_a_uri_that_was_encoded_whole_is_decoded_once(port: int) -> None:
    uri = "http://a.example/x%2Fy?q=1"
    assert asked(port, f"/timemap/json/{quote(uri, safe='')}")[1]["original_uri"] == uri


def test_a_slash_that_a_proxy_merged_comes_back(port: int) -> None:
    assert asked(port, "/timemap/json/http:/a.example/")[1]["original_uri"] == A


@pytest.mark.parametrize(
    ("written", "status"),
    [
        pytest.param("http://a.example/\xc3\xa9", 200, id="UTF-8"),
        pytest.param("http://a.example/\xe9", 400, id="other bytes"),
        pytest.param("99999999999999/http://a.example/", 400, id="part of no date"),
    ],
)
def test_bytes_in_a_path_are_utf_8(client: FlaskClient, written: str, status: int) -> None:
    """A server hands on what no URI may hold as Latin-1."""
    response = client.get(
        "/timemap/json/x", environ_overrides={"REQUEST_URI": f"/timemap/json/{written}"}
    )
    assert response.status_code == status
    if status == 200:
        assert response.get_json()["original_uri"] == "http://a.example/é"


def test_a_timemap_lists_the_mementos(client: FlaskClient) -> None:
    response = client.get(f"/timemap/link/{A}")
    assert (response.status_code, response.content_type) == (200, "application/link-format")
    lines = response.text.splitlines()
    assert lines[0] == f'<{A}>; rel="original",'
    assert lines[1] == f'<http://localhost/timegate/{A}>; rel="timegate",'
    assert lines[2].startswith(f'<http://localhost/timemap/link/{A}>; rel="self"; type="appl')
    assert lines[3:] == [
        (
            f'<https://w.example/web/{T1}/{A}>; rel="first memento"; datetime="Tue, 03 Nov 2009 '
            '01:13:07 GMT",'
        ),
        (
            f'<https://w.example/web/{T2}/{A}>; rel="last memento"; datetime="Sat, 30 Jan 2010 '
            '00:30:05 GMT"'
        ),
    ]
    answer = client.get(f"/timemap/json/{T2}/{A}").get_json()
    assert [one["timestamp"] for one in answer["mementos"]["list"]] == [T2]
    assert (answer["mementos"]["first"], answer["self"]) == (
        None,
        f"http://localhost/timemap/json/{T2}/{A}",
    )


@pytest.mark.parametrize("replay", ["", "https://w.example/web/"])
def test_a_memento_has_one_uri_m(replay: str) -> None:
    client = client_of(
        lambda: MemoryStore(PAGES), Settings(replay=parse_replay("--replay", replay))
    )
    uri_m = f"{replay or 'http://localhost/web/'}{T2}{'' if replay else 'id_'}/{A}"
    in_link = client.get(f"/timemap/link/{A}").text
    assert f'<{uri_m}>; rel="last memento"; datetime="Sat, 30 Jan 2010 00:30:05 GMT"' in in_link
    in_json = client.get(f"/timemap/json/{A}").get_json()
    assert in_json["mementos"]["last"]["uri"] == uri_m
    assert in_json["timemap_uri"]["link_format"] == f"http://localhost/timemap/link/{A}"
    assert in_json["timegate_uri"] == f"http://localhost/timegate/{A}"
    gate = client.get(f"/timegate/{A}")
    assert urljoin("http://localhost/", gate.headers["Location"]) == uri_m
    near = client.get(f"/web/2010/{A}")
    at = client.get(f"/linkQuery?uri={A}&at=2010&format=json")
    for response in (gate, near, at):
        links = {
            attributes: urljoin("http://localhost/", address)
            for address, attributes in LINK.findall(response.headers["Link"])
        }
        assert uri_m in links.values()
        assert links['rel="timemap"; type="application/link-format"'] == (
            f"http://localhost/timemap/link/{A}"
        )
        assert links['rel="original"'] == A


def test_a_uri_that_was_never_captured_has_no_timemap(client: FlaskClient) -> None:
    for form in ("link", "json"):
        response = client.get(f"/timemap/{form}/http://never.example/")
        assert response.status_code == 404
        assert "no capture to show" in response.get_json()["detail"]
        after = client.get(f"/timemap/{form}/20990101000000/{A}")
        assert after.status_code == 200


def test_without_captures_and_replay_prefix_there_is_no_timemap_in_link_format() -> None:
    client = client_of(lambda: MemoryStore(PAGES), Settings(has_pages=False))
    refused = client.get(f"/timemap/link/{A}")
    assert (refused.status_code, refused.content_type) == (404, "application/problem+json")
    assert "--replay" in refused.get_json()["detail"]
    answer = client.get(f"/timemap/json/{A}").get_json()
    assert all("uri" not in one for one in answer["mementos"]["list"])


def test_an_invalid_uri_is_a_problem(client: FlaskClient) -> None:
    response = client.get("/timemap/json/http://a.example/%00")
    assert response.status_code == 404  # an escape is no control character
    response = client.get(f"/timemap/json/http://a.example/{'x' * 65536}")
    assert (response.status_code, response.content_type) == (400, "application/problem+json")


def test_at_a_time_headers_name_the_memento_in_force(client: FlaskClient) -> None:
    response = client.get(f"/linkQuery?uri={A}&at=2009&format=json")
    assert response.headers["Memento-Datetime"] == "Tue, 03 Nov 2009 01:13:07 GMT"
    assert response.headers["Link"] == (
        f'<{A}>; rel="original", </timemap/link/{A}>; rel="timemap"; '
        'type="application/link-format", '
        f'<https://w.example/web/{T1}/{A}>; rel="memento"; datetime="Tue, 03 Nov 2009 01:13:07 GMT"'
    )
    assert response.get_json()["in_force"][0]["uri_m"] == f"https://w.example/web/{T1}/{A}"


def test_without_a_time_no_memento_is_claimed(client: FlaskClient) -> None:
    response = client.get(f"/linkQuery?uri={quote(C, safe='')}&format=json")
    assert "Memento-Datetime" not in response.headers
    assert response.headers["Link"] == (
        f'<{C}>; rel="original", </timemap/link/{C}>; rel="timemap"; type="application/link-format"'
    )
    without = client_of(lambda: MemoryStore(PAGES), Settings(has_pages=False))
    bare = without.get(f"/linkQuery?uri={A}&at=2009&format=json")
    assert "Link" not in bare.headers
    assert bare.headers["Memento-Datetime"] == "Tue, 03 Nov 2009 01:13:07 GMT"


def test_a_header_cannot_be_broken_by_a_uri() -> None:
    nasty = 'http://a.example/é">\u2028,<b>; rel="evil"'
    client = client_of(lambda: MemoryStore([Page(nasty, T1, [link(A)])]), SETTINGS)
    response = client.get(
        "/linkQuery",
        query_string={"uri": nasty.replace("\u2028", ""), "at": "2010", "format": "json"},
    )
    assert response.status_code == 200
    assert response.headers["Link"].isascii()
    assert 'evil"' not in response.headers["Link"]


def test_evidence_over_http(client: FlaskClient) -> None:
    answer = client.get(f"/linkQuery?uri={A}&format=json&evidence=true&direction=out").get_json()
    assert [proof["timestamp"] for proof in answer["outlinks"][0]["evidence"]] == [T1, T2]
    problem = client.get(f"/linkQuery?uri={A}&evidence=true")
    assert (problem.status_code, problem.get_json()["parameter"]) == (400, "evidence")
    assert client.get(f"/aggregate?uri={A}&format=json&evidence=true").status_code == 400


def test_collections_have_timemaps_of_their_own() -> None:
    client = create_collections({"olympics": lambda: MemoryStore(CAPTURED)}, SETTINGS).test_client()
    answer = client.get(f"/olympics/timemap/json/{A}?a=%2F").get_json()
    assert answer["self"] == f"http://localhost/olympics/timemap/json/{A}?a=%2F"
    headers = client.get(f"/olympics/linkQuery?uri={A}&format=json").headers
    assert f"</olympics/timemap/link/{A}>" in headers["Link"]
    refused = client.get(f"/timemap/json/{A}")
    assert (refused.status_code, "/olympics/timemap" in refused.get_json()["detail"]) == (404, True)
