"""Captures as a download, over HTTP."""

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from arclink.model import Surt
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo
from tests.captures.archives import T1, T2, Record, store_of
from tests.captures.exporting import exported, read_by_fastwarc
from tests.service.conftest import client_of

A, B = "http://a.example/", "http://b.example/"


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(tmp_path_factory.mktemp("past"), [Record(A, T1), Record(B, T2)])


def get(path: Path, query: str, settings: Settings | None = None) -> tuple[int, bytes]:
    response = client_of(str(path), settings).get(f"/export?{query}")
    return response.status_code, response.data


def test_a_warc_file_has_the_records_of_an_export(past: Path, tmp_path: Path) -> None:
    response = client_of(str(past)).get("/export?format=warc")
    assert response.headers["Content-Type"] == "application/warc"
    disposition = response.headers["Content-Disposition"]
    assert disposition == 'attachment; filename="captures.warc.gz"'
    (tmp_path / "sent.warc.gz").write_bytes(response.data)
    exported(past, tmp_path / "out.warc.gz")
    sent = read_by_fastwarc(tmp_path / "sent.warc.gz")
    assert sent[1:-1] == read_by_fastwarc(tmp_path / "out.warc.gz")[1:]


@pytest.mark.parametrize(
    ("query", "uris"),
    [("", [A, B]), ("&from=2011", [B]), ("&to=2010", [A]), ("&subset=host:b.example", [B])],
    ids=["all", "from", "to", "subset"],
)
def test_a_wacz_has_the_captures_that_a_query_names(
    query: str, uris: list[str], past: Path
) -> None:
    status, data = get(past, f"format=wacz{query}")
    assert status == 200
    with zipfile.ZipFile(io.BytesIO(data)) as zipped:
        rows = gzip.decompress(zipped.read("indexes/index.cdx.gz")).decode().splitlines()
    assert [uri for uri in (A, B) if any(uri in row for row in rows)] == uris
    assert len(rows) == len(uris)


def test_the_manifest_names_the_selection(past: Path) -> None:
    _, data = get(past, "format=warc&subset=host:b.example%20or%20(host:c.example)")
    assert b"the subset host:b.example or host:c.example" in gzip.decompress(data)


def test_an_embargo_holds(past: Path, tmp_path: Path) -> None:
    settings = Settings(embargo=Embargo(prefixes=(Surt("example,a"),)))
    for form in ("cdxj", "captures-csv"):
        status, data = get(past, f"format={form}", settings)
        assert (status, b"a.example" in data, b"b.example" in data) == (200, False, True)
    status, data = get(past, "format=warc", settings)
    (tmp_path / "sent.warc.gz").write_bytes(data)
    records = read_by_fastwarc(tmp_path / "sent.warc.gz")
    assert [uri for _, uri, _, _ in records] == ["", B, "urn:arclink:manifest"]
    assert not any(b"a.example" in payload for _, _, payload, _ in records)
    status, data = get(past, "format=warc&to=2010", settings)
    assert (status, b"no capture in" in data) == (404, True)


def test_a_service_without_captures_has_no_downloads(past: Path) -> None:
    assert get(past, "format=warc", Settings(has_pages=False))[0] == 404


def test_wrong_parameters_are_problems(past: Path) -> None:
    assert get(past, "format=zip")[0] == 400
    assert get(past, "")[0] == 400
    status, data = get(past, "format=cdxj&file-size=5000000")
    assert (status, b"no records" in data) == (400, True)


def test_captures_that_cannot_be_read_are_not_an_empty_file(tmp_path: Path) -> None:
    path = store_of(tmp_path, [Record(A, T1)])
    (tmp_path / "archive" / "crawl.warc.gz").unlink()
    client: FlaskClient = client_of(str(path))
    response = client.get("/export?format=warc")
    assert response.status_code == 404
    assert b"none of 1 captures" in response.data
