"""Captures over HTTP: bytes as archived, the nearest capture, rows, single records."""

import gzip
import html
import http.client
import json
import re
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlencode

import ada_url
import pytest
from flask.testing import FlaskClient

from arclink.access.replay import ReplayPrefix
from arclink.model import Forgotten, Surt
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo
from arclink.store.location import open_store
from arclink.store.protocols import Takedown
from arclink.uris.resolution import serialised
from arclink.uris.wrapped import parse_in_path
from tests.captures.archives import T1, T2, T3, Record, store_of
from tests.demos import Demos
from tests.service.conftest import client_of, served

A, B = "http://a.example/", "http://b.example/x"
REPLAY = ReplayPrefix("http://w.example/web/")
GZIPPED = gzip.compress(b"<p>packed", mtime=0)

RECORDS = [
    Record(A, T1, b"<p>one"),
    Record(A, T3, b"<p>three"),
    Record(
        "https://a.example/",
        T2,
        b"",
        (b"HTTP/1.1 301 Moved", b"Location: http://www.a.example/"),
    ),
    Record(
        B,
        T1,
        b"moved",
        (b"HTTP/1.1 302 Found", b"Location: ../y?q=1", b"Set-Cookie: a=b"),
    ),
    Record(
        "http://b.example/packed",
        T1,
        GZIPPED,
        (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Content-Encoding: gzip"),
    ),
    Record(
        "http://b.example/claimed",
        T1,
        b"<p>not packed",
        (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Content-Encoding: gzip"),
    ),
    Record(
        "http://b.example/chunks",
        T1,
        b"3\r\n<p>\r\n5\r\nchunk\r\n0\r\n\r\n",
        (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Transfer-Encoding: chunked"),
    ),
    Record("http://b.example/gone", T1, b"gone", (b"HTTP/1.1 404 Not Found",)),
    Record(
        "http://b.example/again",
        T2,
        b"",
        (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"X-Of: revisit"),
        "revisit",
        digest=Record(A, T1, b"<p>one").to_bytes().split(b"sha1:")[1][:32].decode(),
    ),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(tmp_path_factory.mktemp("archived"), RECORDS)


@pytest.fixture
def client(store: Path) -> FlaskClient:
    return client_of(str(store))


def test_a_capture_comes_as_archived(client: FlaskClient) -> None:
    response = client.get(f"/web/{T1}id_/{A}")
    assert (response.status_code, response.data) == (200, b"<p>one")
    assert response.headers["Content-Type"] == "text/html"
    assert response.headers["X-Archive-Orig-Content-Type"] == "text/html"
    assert response.headers["Memento-Datetime"] == "Fri, 01 Jan 2010 00:00:00 GMT"
    assert "sandbox" in response.headers["Content-Security-Policy"]
    links = response.headers["Link"]
    assert f'<{A}>; rel="original"' in links
    assert f'</timegate/{A}>; rel="timegate"' in links
    assert f'</web/{T1}id_/{A}>; rel="first memento"' in links
    assert f'</web/{T3}id_/{A}>; rel="last memento"' in links


@pytest.mark.parametrize(
    ("asked", "timestamp"),
    [
        pytest.param(f"{T1}", T1, id="without id_"),
        pytest.param("20100301000000id_", T1, id="another time"),
        pytest.param("2012id_", T3, id="a year"),
        pytest.param("20110101000000id_", T1, id="its own redirect to itself"),
    ],
)
def test_another_time_leads_to_the_nearest_capture(
    client: FlaskClient, asked: str, timestamp: str
) -> None:
    response = client.get(f"/web/{asked}/{A}")
    assert response.status_code == 302
    assert response.headers["Location"] == f"/web/{timestamp}id_/{A}"


def test_the_timegate_leads_to_the_time_asked_for(client: FlaskClient) -> None:
    at = {"Accept-Datetime": "Mon, 01 Feb 2010 00:00:00 GMT"}
    response = client.get(f"/timegate/{A}", headers=at)
    assert response.headers["Location"] == f"/web/{T1}id_/{A}"
    assert "Accept-Datetime" in response.headers["Vary"]
    assert client.get(f"/timegate/{A}").headers["Location"] == f"/web/{T3}id_/{A}"
    for odd in ("soon", "Fri, 31 Dec 9999 23:59:59 -2359"):
        assert client.get(f"/timegate/{A}", headers={"Accept-Datetime": odd}).status_code == 400


def test_an_archived_redirect_stays_in_the_archive(client: FlaskClient) -> None:
    response = client.get(f"/web/{T1}id_/{B}")
    assert response.status_code == 302
    assert response.headers["Location"] == f"/web/{T1}id_/http://b.example/y?q=1"
    assert response.headers["X-Archive-Orig-Location"] == "../y?q=1"
    assert "Set-Cookie" not in response.headers


def test_content_encoding_is_sent_only_if_the_bytes_have_it(client: FlaskClient) -> None:
    packed = client.get(f"/web/{T1}id_/http://b.example/packed")
    assert (packed.data, packed.headers["Content-Encoding"]) == (GZIPPED, "gzip")
    claimed = client.get(f"/web/{T1}id_/http://b.example/claimed")
    assert claimed.data == b"<p>not packed"
    assert "Content-Encoding" not in claimed.headers
    assert claimed.headers["X-Archive-Orig-Content-Encoding"] == "gzip"


@pytest.mark.parametrize(
    ("count", "length", "sent"),
    [
        pytest.param(10, 10, 10, id="few"),
        pytest.param(79, 1, 79, id="as many as clients take"),
        pytest.param(20_000, 1, 79, id="many"),
        pytest.param(20, 1_000, 7, id="long"),
        pytest.param(3, 7_900, 1, id="one that is nearly too long"),
        pytest.param(3, 9_000, 0, id="too long"),
    ],
)
def test_archived_headers_are_as_many_as_clients_take(
    tmp_path: Path, count: int, length: int, sent: int
) -> None:
    """Those of the service come in any case, and what is left out is counted."""
    more = [b"X-%d: %s" % (number, b"v" * length) for number in range(count)]
    head = (b"HTTP/1.1 200 OK", b"Content-Type: text/html", *more)
    store = store_of(tmp_path, [Record(A, T1, b"<p>one", head)])
    with (
        served(str(store)) as port,
        closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection,
    ):
        connection.request("GET", f"/web/{T1}id_/{A}")
        response = connection.getresponse()  # an error if there are more than 100
        archived = [name for name in response.headers if name.startswith("X-Archive-Orig-X-")]
        assert (response.status, response.read()) == (200, b"<p>one")
    assert len(archived) == sent
    assert response.headers["ArcLink-Left-Out"] == (str(count - sent) if count > sent else None)
    assert response.headers["Content-Type"] == "text/html"
    assert response.headers["Memento-Datetime"]
    assert len(str(response.headers)) < 12_000


def test_chunks_are_joined(client: FlaskClient) -> None:
    response = client.get(f"/web/{T1}id_/http://b.example/chunks")
    assert response.data == b"<p>chunk"
    assert response.headers["Content-Length"] == "8"


def test_the_archived_status_is_the_status(client: FlaskClient) -> None:
    response = client.get(f"/web/{T1}id_/http://b.example/gone")
    assert (response.status_code, response.data) == (404, b"gone")
    assert "Memento-Datetime" in response.headers


def test_a_revisit_has_its_own_head_and_the_body_of_the_other_capture(client: FlaskClient) -> None:
    response = client.get(f"/web/{T2}id_/http://b.example/again")
    assert response.data == b"<p>one"
    assert response.headers["X-Archive-Orig-X-Of"] == "revisit"
    assert response.headers["Memento-Datetime"] == "Sat, 01 Jan 2011 00:00:00 GMT"


def test_what_was_never_captured_is_a_404(client: FlaskClient) -> None:
    response = client.get(f"/web/{T1}id_/http://never.example/")
    assert response.status_code == 404
    assert "Memento-Datetime" not in response.headers
    assert "no capture to show" in response.get_json()["detail"]


def test_rows_of_captures(client: FlaskClient) -> None:
    lines = client.get(f"/cdx?url={A}").get_data(as_text=True).splitlines()
    assert [line.split(" ", 2)[:2] for line in lines] == [
        ["example,a)/", T1],
        ["example,a)/", T2],
        ["example,a)/", T3],
    ]
    nearest = json.loads(client.get(f"/cdx?url={A}&closest={T3}&limit=1&output=json").data)
    assert nearest["timestamp"] == T3


def test_a_record_is_evidence(client: FlaskClient) -> None:
    row = json.loads(client.get(f"/cdx?url={A}&closest={T3}&limit=1&output=json").data)
    response = client.get(
        "/record", query_string={"file": row["filename"], "offset": row["offset"]}
    )
    assert response.data == RECORDS[1].to_bytes().removesuffix(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("file", "offset"),
    [
        pytest.param("crawl.warc.gz", "1", id="no record"),
        pytest.param("../archive/crawl.warc.gz", "0", id="dots"),
        pytest.param("/etc/passwd", "0", id="a path"),
        pytest.param("http://h.example/x.warc.gz", "0", id="a URL"),
    ],
)
def test_a_place_that_the_graph_does_not_have_is_a_404(
    client: FlaskClient, file: str, offset: str
) -> None:
    response = client.get("/record", query_string={"file": file, "offset": offset})
    assert response.status_code == 404


EVERY_ANSWER = (
    f"/web/{T1}id_/{A}",
    f"/web/2010id_/{A}",
    f"/timegate/{A}",
    "/record?file=crawl.warc.gz&offset=0",
)


def test_after_a_takedown_no_resource_returns_a_forgotten_byte(tmp_path: Path) -> None:
    """Neither from a resource, nor from a client's cache by its ETag."""
    path = store_of(tmp_path, RECORDS)
    client = client_of(str(path))
    tags = {}
    for target in (*EVERY_ANSWER, f"/cdx?url={A}", f"/web/{T2}id_/http://b.example/again"):
        response = client.get(target)
        assert response.status_code in (200, 302)
        assert response.headers["Cache-Control"] == "no-cache"
        tags[target] = response.headers.get("ETag", "")
    with open_store(str(path), create=True) as store:
        store.forget(Takedown(Forgotten(Surt("example,a)/")), "", "2026-11-23T00:00:00Z"))
    for target, tag in tags.items():
        for headers in ({"If-None-Match": tag} if tag else {}, {"Range": "bytes=0-5"}):
            response = client.get(target, headers=headers)
            if target.startswith("/cdx"):
                assert (response.status_code, response.data) == (200, b"")
            else:
                assert response.status_code == 404
                assert b"<p>one" not in response.data


@pytest.mark.parametrize("target", EVERY_ANSWER)
def test_hidden_captures_do_not_exist(store: Path, target: str) -> None:
    settings = Settings(embargo=Embargo(prefixes=(Surt("example,a)/"),)))
    client = client_of(str(store), settings)
    assert client.get(target).status_code == 404
    assert client.get(f"/cdx?url={A}").data == b""
    never = client.get("/record?file=crawl.warc.gz&offset=1")
    hidden = client.get("/record?file=crawl.warc.gz&offset=0")
    assert never.data == hidden.data
    assert client.get(f"/web/{T1}id_/http://b.example/gone").data == b"gone"


def test_a_missing_file_is_a_problem_that_names_it_without_its_path(tmp_path: Path) -> None:
    path = store_of(tmp_path, RECORDS[:1])
    (tmp_path / "archive").rename(tmp_path / "new")
    target = f"/web/{T1}id_/{A}"
    response = client_of(str(path)).get(target)
    assert response.status_code == 503
    assert response.get_json()["file"] == "crawl.warc.gz"
    assert response.get_json()["reason"] == "PAYLOAD_FILE_MISSING"
    assert str(tmp_path) not in response.get_data(as_text=True)
    found = client_of(str(path), Settings(archives=(str(tmp_path / "new"),)))
    assert found.get(target).data == b"<p>one"


def test_a_damaged_record_is_a_problem(tmp_path: Path) -> None:
    path = store_of(tmp_path, RECORDS[:1])
    file = tmp_path / "archive" / "crawl.warc.gz"
    file.write_bytes(file.read_bytes()[:-30])
    response = client_of(str(path)).get(f"/web/{T1}id_/{A}")
    assert response.status_code == 502
    assert response.get_json()["reason"] == "PAYLOAD_DAMAGED"


HOSTILE_HEAD = (
    b"HTTP/1.1 200 OK",
    b"Content-Type: text/html\x0b; charset=utf-8\x00",
    b"X-Split: a\rSet-Cookie: stolen=1",
    b"X Bad Name: x",
    b"X-Nul\x00: x",
    "X-Text: \u00e9\u4e2d".encode(),
    b"X-Bytes: \xe9\xff",
    b"X-Long: " + b"x" * 9_000,
    b"Set-Cookie: a=b",
    b"Link: <http://evil.example/>; rel=stylesheet",
    b"Refresh: 0; url=http://evil.example/",
    b"Content-Security-Policy: default-src *",
    b"Access-Control-Allow-Origin: *",
    b"Service-Worker-Allowed: /",
    b"Location: http://evil.example/",
    b"Content-Length: 5",
    b"Transfer-Encoding: identity",
    b"Memento-Datetime: never",
)


def test_archived_headers_mean_nothing_to_a_client(tmp_path: Path) -> None:
    """Over the wire, where a line end would begin another header."""
    path = store_of(tmp_path, [Record(A, T1, b"<p>hostile", HOSTILE_HEAD)])
    with served(str(path)) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", f"/web/{T1}id_/{A}")
        response = connection.getresponse()
        body = response.read()
        connection.close()
    headers = [(name.lower(), value) for name, value in response.getheaders()]
    own = {name for name, _ in headers if not name.startswith("x-archive-orig-")}
    assert body == b"<p>hostile"
    assert own.isdisjoint({"set-cookie", "refresh", "location", "service-worker-allowed"})
    assert not [name for name in own if name.startswith("access-control")]
    values = dict(headers)
    assert "evil.example" not in values["link"]
    assert "sandbox" in values["content-security-policy"]
    assert values["x-content-type-options"] == "nosniff"
    assert values["memento-datetime"] == "Fri, 01 Jan 2010 00:00:00 GMT"
    assert values["content-length"] == "10"
    assert "x-archive-orig-x-long" not in values
    assert values["x-archive-orig-x-text"].encode("latin-1").decode() == "\u00e9\u4e2d"


@pytest.mark.parametrize(
    "target",
    [
        pytest.param("/web/", id="nothing"),
        pytest.param("/web/20100101000000id_/", id="no URI"),
        pytest.param(f"/web/20100101000000id_/{'x' * 70_000}", id="a long URI"),
        pytest.param("/web/20100101000000id_/../../etc/passwd", id="dots"),
        pytest.param("/web/20100101000000id_/file:///etc/passwd", id="a file"),
        pytest.param("/web/20100101000000id_/http://%0d%0aSet-Cookie:x/", id="a line end"),
        pytest.param("/web/20100101000000id_//evil.example/", id="two slashes"),
        pytest.param("/web/99999999999999id_/http://never.example/", id="no date"),
        pytest.param("/web/20100101000000id_/\xff", id="no UTF-8"),
        pytest.param("/timegate/javascript:alert(1)", id="a script"),
    ],
)
def test_hostile_addresses_are_refused(client: FlaskClient, target: str) -> None:
    response = client.get(target)
    assert response.status_code in (400, 404)
    assert "Location" not in response.headers
    assert "Set-Cookie" not in response.headers


@pytest.mark.parametrize(
    "location",
    [
        b"//evil.example/",
        b"http://evil.example/",
        b"\\\\evil.example",
        b"javascript:alert(1)",
        b"[",
        b"\t/x",
        b"http://evil.example/../../../../../../select?subset=status:200",
        b"/..%2f..%2fx/../../../../../../docs",
        b"%2e%2e/%2E%2E/.%2e/%2e./../../docs",
        b"..\\..\\..\\..\\..\\docs",
        b"javascript:/../../../../../docs",
        b"urn:/../../../../../docs#x",
        b"/a#/../../../../../docs",
        b"?/../../../../../docs",
    ],
)
def test_a_redirect_never_leads_out(tmp_path: Path, location: bytes) -> None:
    """Where a client goes: it resolves dot segments, too."""
    head = (b"HTTP/1.1 302 Found", b"Location: " + location)
    path = store_of(tmp_path, [Record(A, T1, b"", head)])
    response = client_of(str(path)).get(f"/web/{T1}id_/{A}")
    url = f"http://service.example/web/{T1}id_/"
    assert ada_url.join_url(url, response.headers["Location"]).startswith(url)


def test_a_redirect_leads_where_a_browser_went(tmp_path: Path) -> None:
    head = (b"HTTP/1.1 302 Found", b"Location: ../../c/%2e%2e/d?e=/../f#g")
    path = store_of(tmp_path, [Record("http://a.example/a/b/x", T1, b"", head)])
    response = client_of(str(path)).get(f"/web/{T1}id_/http://a.example/a/b/x")
    assert response.headers["Location"] == f"/web/{T1}id_/http://a.example/d?e=/../f#g"


@pytest.mark.parametrize(
    "uri",
    [
        "http://a.example/a/../../../../docs",
        "http://a.example/%2e%2e/%2E%2e/.%2e/%2e%2e/docs",
        "http://a.example/a\\..\\..\\..\\..\\docs",
        "http://a.example/a#/../../../../docs",
        "http://a.example/..?b=/../../../../docs",
    ],
)
def test_a_uri_as_captured_stays_in_its_address(tmp_path: Path, uri: str) -> None:
    """A client resolves each address of an answer, and gets the capture or its page."""
    path = store_of(tmp_path, [Record(uri, T1, b"<title>found</title>")])
    client = client_of(str(path), Settings(public="http://service.example/"))
    encoded = quote(uri, safe="")
    found = client.get(f"/web/{T1}id_/{encoded}")
    assert found.data == b"<title>found</title>"
    links = re.findall("<([^>]+)>", found.headers["Link"])[1:]
    addresses = [found.headers["Content-Location"], *links]
    for start in ("/web/2009id_/", "/timegate/"):
        addresses.append(client.get(f"{start}{encoded}").headers["Location"])
    addresses.append(client.get("/browse/", query_string={"uri": uri}).headers["Location"])
    timemap = client.get(f"/timemap/json/{encoded}").get_json()
    addresses += [timemap["self"], *timemap["timemap_uri"].values()]
    addresses += [memento["uri"] for memento in timemap["mementos"]["list"]]
    page = client.get("/", query_string={"uri": uri, "view": "captures"}).text
    addresses += [html.unescape(one) for one in re.findall('href="(timemap/[^"]+)"', page)]
    assert len(addresses) == 13
    for address in addresses:
        path_asked = ada_url.join_url("http://service.example/", address)[22:]
        assert re.match(r"/(web|timegate|timemap|browse)/", path_asked)
        assert client.get(path_asked).status_code in (200, 302), address
    elsewhere = client_of(str(path), Settings(replay=REPLAY))
    address = elsewhere.get(f"/timegate/{encoded}").headers["Location"]
    assert ada_url.join_url("http://service.example/", address) == address
    assert parse_in_path(address.removeprefix(f"{REPLAY}{T1}/")) == uri


def test_a_long_body_comes_whole(tmp_path: Path) -> None:
    """With chunks, too, where its length is not known in advance."""
    body = bytes(range(256)) * 20_000
    pieces = [body[start : start + 50_000] for start in range(0, len(body), 50_000)]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    head = (b"HTTP/1.1 200 OK", b"Content-Type: video/mp4")
    in_chunks = Record(B, T1, chunks + b"0\r\n\r\n", (*head, b"Transfer-Encoding: chunked"))
    with served(str(store_of(tmp_path, [Record(A, T1, body, head), in_chunks]))) as port:
        for uri, length in ((A, str(len(body))), (B, None)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", f"/web/{T1}id_/{uri}")
            response = connection.getresponse()
            assert response.getheader("Content-Length") == length
            assert response.read() == body
            connection.close()


def test_rows_go_on_where_they_ended(client: FlaskClient) -> None:
    whole = client.get("/cdx?url=*.example&output=text&fl=timestamp,url").data.splitlines()
    assert len(whole) == len(RECORDS)
    for by in ("url=*.example", "url=example&matchType=domain", "url=b.example/*"):
        all_rows = client.get(f"/cdx?{by}").data.splitlines()
        rows: list[bytes] = []
        target: str | None = f"?{by}&limit=2"
        while target is not None:
            response = client.get(f"/cdx{target}")
            rows += response.data.splitlines()
            link = response.headers.get("Link")
            target = link[1 : link.index(">")] if link else None
        assert rows == all_rows


def test_rows_are_filtered_and_sorted(client: FlaskClient) -> None:
    def rows(query: str) -> list[str]:
        return client.get(f"/cdx?output=text&fl=timestamp,status&{query}").text.splitlines()

    assert rows(f"url={A}&filter==status:301") == [f"{T2} 301"]
    assert rows(f"url={A}&filter=!statuscode:30") == [f"{T1} 200", f"{T3} 200"]
    assert rows(f"url={A}&sort=reverse&limit=1") == [f"{T3} 200"]
    assert rows(f"url={A}&from=2011") == [f"{T2} 301", f"{T3} 200"]
    assert rows(f"url={A}&sort=closest&closest=201012&limit=2") == [f"{T2} 301", f"{T1} 200"]
    shown = client.get(f"/cdx?url={A}&limit=1&showResumeKey=true").text.splitlines()
    assert len(shown) == 3
    assert client.get("/cdx", query_string={"url": A, "resumeKey": shown[2]}).data.count(b"\n") == 2


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        pytest.param("url=*.example&closest=2010", "closest", id="nearest of a range"),
        pytest.param(f"url={A}&sort=closest", "sort", id="nearest to nothing"),
        pytest.param(f"url={A}&resumeKey=x", "resumeKey", id="no key"),
        pytest.param(f"url={A}&filter=~url:(", "filter", id="no expression"),
        pytest.param(f"url={A}&limit=0", "limit", id="no rows"),
        pytest.param("", "uri", id="no URI"),
    ],
)
def test_a_wrong_parameter_of_rows_is_named(
    client: FlaskClient, query: str, parameter: str
) -> None:
    response = client.get(f"/cdx?{query}")
    assert (response.status_code, response.get_json()["parameter"]) == (400, parameter)


def test_a_key_belongs_to_its_query(client: FlaskClient) -> None:
    key = client.get("/cdx?url=b.example/*&limit=1&showResumeKey=true").text.splitlines()[2]
    assert client.get("/cdx", query_string={"url": A, "resumeKey": key}).status_code == 400


def test_a_service_without_pages_shows_none(store: Path) -> None:
    client = client_of(str(store), Settings(has_pages=False))
    for path in (f"/web/{T1}id_/{A}", f"/timegate/{A}", f"/cdx?url={A}", "/record?file=a&offset=0"):
        assert client.get(path).status_code == 404


def test_a_uri_alone_leads_to_its_newest_capture(client: FlaskClient) -> None:
    for written in (A, "a.example", "http:/a.example/"):
        response = client.get(f"/web/{written}")
        assert (response.status_code, response.headers["Location"]) == (302, f"/web/{T3}id_/{A}")
        assert 'rel="timegate"' in response.headers["Link"]
    assert client.get("/web/http://never.example/").status_code == 404
    short = client.get(f"/web/201/{A}")
    assert (short.status_code, "4 to 14 digits" in short.text) == (404, True)


def test_a_star_and_a_uri_lead_to_the_list_of_captures(client: FlaskClient) -> None:
    for time in ("", "2010", "20100101000000"):
        response = client.get(f"/web/{time}*/{B}?q=1&r=2")
        assert response.status_code == 302
        page = client.get(response.headers["Location"])
        assert page.status_code == 200
        assert "view=captures" in response.headers["Location"]
    listed = client.get(client.get(f"/web/*/{A}").headers["Location"])
    assert "2012" in listed.text
    assert "When was" in listed.text


def rows_of(client: FlaskClient, query: str) -> list[str]:
    """Return the rows of an answer: time, status and URI of each."""
    response = client.get(f"/cdx?output=text&fl=timestamp,status,url&{query}")
    assert response.status_code == 200, response.text
    return response.text.splitlines()


def collapsed(rows: list[str], field: int, length: int) -> list[str]:
    """Return the rows whose field differs from that of the row before."""
    found, last = [], ""
    for row in rows:
        value = row.split(" ")[field][:length]
        found += [row] if value != last else []
        last = value
    return found


@pytest.fixture(scope="module")
def demo_client(demos: Demos) -> FlaskClient:
    return client_of(str(demos.store()))


DOMAIN = "url=*.example"


@pytest.mark.parametrize(
    ("word", "field", "length"),
    [
        ("collapse=timestamp:4", 0, 4),
        ("collapse=timestamp:8", 0, 8),
        ("collapse=statuscode", 1, 99),
        ("collapse=original", 2, 999),
        ("collapse=url:20", 2, 20),
    ],
)
def test_rows_that_repeat_a_field_are_left_out(
    demo_client: FlaskClient, word: str, field: int, length: int
) -> None:
    rows = rows_of(demo_client, DOMAIN)
    expected = collapsed(rows, field, length)
    assert len(rows) == 300 > len(expected) > 1
    assert rows_of(demo_client, f"{DOMAIN}&{word}") == expected
    assert rows_of(demo_client, f"{DOMAIN}&{word}&offset=3&limit=2") == expected[3:5]
    assert rows_of(demo_client, f"{DOMAIN}&{word}&limit=-2") == expected[-2:]
    assert rows_of(demo_client, f"{DOMAIN}&{word}&sort=reverse") == expected[::-1]
    found: list[str] = []
    address = f"/cdx?output=text&fl=timestamp,status,url&{DOMAIN}&{word}&limit=7"
    while True:  # the rows of several answers are those of one
        response = demo_client.get(address)
        found += response.text.splitlines()
        if "Link" not in response.headers:
            break
        address = f"/cdx{response.headers['Link'].partition('>')[0][1:]}"
    assert found == expected


def test_rows_of_one_time_and_status_are_collapsed(demo_client: FlaskClient) -> None:
    rows = rows_of(demo_client, DOMAIN)
    both = [f"{row[:6]} {row.split(' ')[1]}" for row in rows]
    expected = [
        row for row, one, before in zip(rows, both, ["", *both], strict=False) if one != before
    ]
    assert rows_of(demo_client, f"{DOMAIN}&collapseTime=6") == expected
    two = rows_of(demo_client, f"{DOMAIN}&collapse=statuscode&collapse=timestamp:4")
    assert two == collapsed(collapsed(rows, 1, 99), 0, 4)


def test_parts_of_the_rows(demo_client: FlaskClient) -> None:
    rows = rows_of(demo_client, DOMAIN)
    assert rows_of(demo_client, f"{DOMAIN}&limit=-1") == rows[-1:]
    assert rows_of(demo_client, f"{DOMAIN}&limit=-400") == rows
    assert rows_of(demo_client, f"{DOMAIN}&sort=reverse") == rows[::-1]
    assert rows_of(demo_client, f"{DOMAIN}&sort=reverse&limit=3&offset=1") == rows[::-1][1:4]
    assert rows_of(demo_client, f"{DOMAIN}&offset=290") == rows[290:]
    assert rows_of(demo_client, f"{DOMAIN}&page=0&pageSize=5") == rows
    assert rows_of(demo_client, f"{DOMAIN}&page=1") == []
    pages = demo_client.get(f"/cdx?{DOMAIN}&showNumPages=true")
    assert pages.get_json() == {"pages": 1, "pageSize": 1, "blocks": 1}
    assert demo_client.get("/cdx?url=never.example&showNumPages=true").get_json()["pages"] == 0


def test_pages_have_all_rows_once(
    demo_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(demo_client, DOMAIN)
    monkeypatch.setattr("arclink.access.captures.ROWS_OF_PAGE", 70)
    pages = demo_client.get(f"/cdx?{DOMAIN}&showNumPages=true").get_json()["pages"]
    assert pages == 5
    found = [rows_of(demo_client, f"{DOMAIN}&page={page}&limit=70") for page in range(pages)]
    assert [row for page in found for row in page] == rows


def test_too_many_captures_are_not_counted_in_part(
    demo_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.access.captures.MOST_READ", 100)
    for word in ("showNumPages=true", "limit=-1", "sort=reverse", "offset=250"):
        response = demo_client.get(f"/cdx?{DOMAIN}&{word}")
        assert response.status_code == 400
        assert "resumeKey reads any number" in response.text


@pytest.mark.parametrize(
    "words",
    [
        "gzip=false",
        "gzip=true",
        "allowFuzzy=false",
        "allowFuzzy=true",
        "resolveRevisits=false",
        "pageSize=5",
        "from=20000101000000123",
        "to=20991231235959999",
    ],
)
def test_words_that_change_nothing_are_accepted(demo_client: FlaskClient, words: str) -> None:
    assert rows_of(demo_client, f"{DOMAIN}&{words}") == rows_of(demo_client, DOMAIN)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("resolveRevisits=true", "resolveRevisits"),
        ("collapse=nothing", "collapse"),
        ("collapse=timestamp:0", "collapse"),
        ("limit=0", "limit"),
        ("limit=-10001", "limit"),
        ("limit=-1&sort=reverse", "limit"),
        ("page=1&offset=2", "page"),
        ("closest=2010", "closest"),
        ("from=201001010000001234", "from"),
        ("fastLatest=true", "fastLatest"),
    ],
)
def test_words_that_cannot_be_answered_are_named(
    demo_client: FlaskClient, words: str, name: str
) -> None:
    response = demo_client.get(f"/cdx?{DOMAIN}&{words}")
    assert (response.status_code, response.get_json()["parameter"]) == (400, name)


PLUS = "http://b.example/African+women?q=a+b"
BLANK = "http://b.example/African%20women?q=a%20b"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param(PLUS, PLUS, id="written out"),
        pytest.param("b.example/African+women?q=a+b", PLUS, id="without scheme"),
        pytest.param(urlencode({"": PLUS})[1:], PLUS, id="as a form sends it"),
        pytest.param(urlencode({"": BLANK.replace("%20", " ")})[1:], BLANK, id="blanks of a form"),
        pytest.param(BLANK.replace("%", "%25"), BLANK, id="escaped blanks"),
        pytest.param(BLANK, BLANK, id="blanks"),
    ],
)
def test_a_plus_in_an_address_is_a_plus(written: str, expected: str, tmp_path: Path) -> None:
    store = store_of(tmp_path, [Record(PLUS, T1, b"<p>plus"), Record(BLANK, T2, b"<p>blank")])
    client = client_of(str(store))
    for query in (f"url={written}", f"limit=5&url={written}&sort=default"):
        assert client.get(f"/cdx?output=text&fl=url&{query}").text.split() == [expected]
    shown = client.get(f"/linkQuery?url={written}&format=json").json
    assert shown is not None
    assert serialised(shown["uri"]) == expected


def test_a_blank_stays_in_other_parameters_and_after_a_method(client: FlaskClient) -> None:
    shown = client.get("/linkQuery?uri=POST+http://b.example/a+b&format=json").json
    assert shown is not None
    assert shown["uri"] == "POST http://b.example/a+b"
    refused = client.get(f"/cdx?url={A}&filter=a:b+c")
    assert "a:b c" in refused.text
