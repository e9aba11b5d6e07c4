"""Streams over HTTP have the bytes of the command line; errors are problem documents."""

import base64
import errno
import gzip
import http.client
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from arclink.analysis.relations.kept import relations_of
from arclink.model import Surt
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo
from arclink.store.location import open_store
from tests.access.sqlite_pages import load_pages
from tests.captures.archives import T1, Record, store_of
from tests.captures.reading import bytes_of, identities_in, identity, lines_of, query_of
from tests.demos import Demos
from tests.service.conftest import client_of, served
from tests.store.memory_store import Page, link

NEXT = "http://b.example/"


def problem_of(response: TestResponse) -> dict[str, str]:
    """Return the problem in an answer."""
    found: dict[str, str] = json.loads(response.data)
    return found


@pytest.mark.parametrize("order", ["surt", "file", "time"])
def test_a_stream_has_the_same_bytes(demos: Demos, order: str) -> None:
    response = client_of(str(demos.store())).get(f"/stream?order={order}")
    assert response.content_type == "application/x-ndjson"
    assert "ETag" not in response.headers
    assert response.data == bytes_of(demos.store(), query_of(order))


def test_a_stream_of_a_subset_has_its_captures(demos: Demos) -> None:
    client = client_of(str(demos.store()))
    query = {"subset": "host:kalvik2010.example"}
    captures, end = lines_of(client.get("/stream", query_string=query).data)
    assert {capture["surt"].split(")")[0] for capture in captures} == {"example,kalvik2010"}
    assert 0 < len(captures) < len(identities_in(demos.store()))
    assert end["complete"]
    other = client.get(f"/stream?after={end['after']}")
    assert "of another subset" in problem_of(other)["detail"]


def test_pages_of_a_stream_join(demos: Demos) -> None:
    client = client_of(str(demos.store()))
    found: list[tuple[str, ...]] = []
    after = ""
    while True:
        data = client.get("/stream", query_string={"limit": 90, "after": after, "order": "time"})
        captures, end = lines_of(data.data)
        found += map(identity, captures)
        after = end["after"]
        if end["complete"]:
            break
    assert sorted(found) == identities_in(demos.store())


def test_ranks_are_made_once_next_to_the_store(tmp_path: Path) -> None:
    record = Record("http://a.example/", T1, b"<a href=http://b.example/>b</a>")
    store = store_of(tmp_path, [record, Record("http://b.example/", T1)])
    client = client_of(str(store))
    captures, end = lines_of(client.get("/stream?order=rank").data)
    assert [capture["uri"] for capture in captures] == ["http://b.example/", "http://a.example/"]
    token = captures[0]["after"]
    rest, _ = lines_of(client.get(f"/stream?order=rank&after={token}").data)
    assert [capture["uri"] for capture in rest] == ["http://a.example/"]
    shutil.rmtree(tmp_path / "links.db.slices")
    gone = client.get(f"/stream?order=rank&after={token}")
    assert gone.status_code == 410
    assert "Start the stream again without a token" in problem_of(gone)["detail"]
    assert end["complete"]


def test_a_damaged_token_is_a_problem(demos: Demos) -> None:
    client = client_of(str(demos.store()))
    captures, _ = lines_of(client.get("/stream?limit=1").data)
    token = captures[0]["after"]
    response = client.get(f"/stream?after={token[:-3]}")
    assert (response.status_code, problem_of(response)["parameter"]) == (400, "after")
    assert "damaged or incomplete" in problem_of(response)["detail"]
    other = client.get(f"/stream?after={token}&order=file")
    assert "of order=surt" in problem_of(other)["detail"]
    assert problem_of(client.get("/stream?part=3/2"))["parameter"] == "part"


def test_a_service_without_pages_has_no_streams(demos: Demos) -> None:
    client = client_of(str(demos.store()), Settings(has_pages=False))
    assert client.get("/stream").status_code == 404


def test_hidden_captures_are_not_streamed(demos: Demos) -> None:
    hidden = identities_in(demos.store())[0][0].partition(")")[0]
    settings = Settings(embargo=Embargo(prefixes=(Surt(hidden),)))
    client = client_of(str(demos.store()), settings)
    for order in ("surt", "file", "time"):
        captures, _ = lines_of(client.get(f"/stream?order={order}").data)
        assert captures
        assert not [one for one in captures if one["surt"].startswith(hidden)]


def test_a_real_server_streams(demos: Demos) -> None:
    with served(str(demos.store())) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/stream?order=file&format=warc&part=1/2")
        response = connection.getresponse()
        data = response.read()
        connection.close()
    assert response.getheader("Content-Type") == "application/warc"
    ends = re.findall(rb'\{"complete":.*\}', data)
    assert json.loads(ends[-1])["complete"]


def test_seed_lists_over_http(demos: Demos) -> None:
    with open_store(str(demos.store())) as store:
        relations_of(str(demos.store()), store)
    client = client_of(str(demos.store()))
    listed = client.get("/ask/gaps?limit=5&format=seeds")
    rows = json.loads(client.get("/ask/gaps?limit=5&format=json").data)
    assert listed.text.splitlines() == [row["name"] for row in rows["rows"]]
    assert (len(rows["rows"]), listed.headers["ArcLink-Found"]) == (5, str(rows["total"]))
    assert client.get("/ask/stale?from=2010-02&format=browsertrix").text.startswith("seeds:")
    assert problem_of(client.get("/ask/anchors?format=seeds"))["parameter"] == "format"
    plain = {"Accept": "text/plain"}
    assert client.get("/ask/gaps?limit=5", headers=plain).text == listed.text
    assert client.get("/ask/anchors", headers=plain).status_code == 406


def test_lists_over_http_say_what_they_do_not_have(tmp_path: Path) -> None:
    page = Page("http://a.example/", T1, [link("ftp://x.example/a"), link("http://y.example/")])
    where = str(tmp_path / "links.db")
    load_pages(Path(where), tmp_path / "graph", [[page]])
    with open_store(where) as store:
        relations_of(where, store)
    client = client_of(where)
    for form in ("seeds", "browsertrix"):
        listed = client.get(f"/ask/broken?format={form}")
        assert "ftp:" not in listed.text
        assert listed.headers["ArcLink-Left-Out"] == "1"
        assert "ArcLink-Unknown" not in listed.headers
        none = client.get(f"/ask/gaps?from=2050&format={form}")
        assert none.headers["ArcLink-Unknown"] == "there are no captures to show from then"
    assert "ArcLink-Left-Out" not in client.get("/ask/broken?format=csv").headers
    assert client.get("/ask/gaps?from=2050").get_json()["unknown"].startswith("there are no capt")
    assert "unknown" not in client.get("/ask/stale").get_json()


def test_a_capture_that_decodes_to_gigabytes_is_cut(tmp_path: Path) -> None:
    head = (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Content-Encoding: gzip")
    bomb = gzip.compress(bytes(40 << 20), mtime=0)
    store = store_of(tmp_path, [Record("http://a.example/", T1, bomb, head), Record(NEXT)])
    captures, end = lines_of(client_of(str(store)).get("/stream").data)
    assert [len(base64.b64decode(capture["body"])) for capture in captures] == [16 << 20, 7]
    assert [capture.get("reason") for capture in captures] == ["PAYLOAD_TOO_LONG", None]
    assert end["lost"] == {"PAYLOAD_TOO_LONG": 1}
    assert end["complete"]


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_a_rank_table_that_cannot_be_written_is_no_internal_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    store = store_of(tmp_path, [Record("http://a.example/", T1)])
    client = client_of(str(store))
    mkdir = os.mkdir

    def read_only(path: str | Path, *rest: Any) -> None:
        if "links.db.slices" in str(path):
            name = tmp_path / "links.db.slices"
            raise (
                OSError(code, os.strerror(code), str(path))
                if Path(path) == name
                else FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
            )
        mkdir(path, *rest)

    monkeypatch.setattr(os, "mkdir", read_only)
    response = client.get("/stream?order=rank")
    assert response.status_code == 503
    detail = problem_of(response)["detail"]
    assert "needs a file that the service cannot write" in detail
    assert str(tmp_path) not in detail
    assert client.get("/stream?order=surt").status_code == 200
