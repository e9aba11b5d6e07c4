"""Exported captures in a real pywb, which makes its own index of them."""

import urllib.error
import urllib.request
from collections import defaultdict
from pathlib import Path

import pytest

from arclink.captures.read import PageReader
from arclink.captures.subsets.catalog import SubsetCatalog, subset_of
from arclink.model import Memento
from arclink.store.location import open_store
from benchmarks.peers.pywb_server import PYWB, serving_pywb
from tests.captures.exporting import exported
from tests.demos import Demos

pytestmark = pytest.mark.engine

SELECTION = (
    "host:kalvik2010.example and from:2010 "
    "and not uri:http://www.kalvik2010.example/press/never.html "
    "and not uri:http://www.kalvik2010.example/go/secure.html"
)
"""Revisits among these refer to captures outside.

Two pages are left out: the payload of one is missing, and pywb passes over the other's redirect
from http to https, which has the same SURT.
"""


def test_pywb_replays_exported_captures(demos: Demos, tmp_path: Path) -> None:
    """Status and body of every capture of a subset are those that ArcLink reads."""
    assert PYWB.is_dir(), "no pywb: make test-wayback installs it"
    with open_store(str(demos.store())) as store:
        catalog = SubsetCatalog(str(demos.store()))
        subset = subset_of(store, catalog.define(catalog.named_or_written(SELECTION)))
        exported(subset, tmp_path / "part.warc.gz")
        reader = PageReader(store)
        captures = list(subset.scan_mementos())
        expected = defaultdict(set)  # captures of one second with one SURT are one for pywb
        for one in captures:
            expected[one.timestamp, one.surt].add(answer_of(reader, one))
        reader.close()
    with serving_pywb(tmp_path / "pywb", {"part": [tmp_path / "part.warc.gz"]}) as (base_url, _):
        differing = [
            one
            for one in captures
            if fetched(f"{base_url}/part/{one.timestamp}id_/{one.original}")
            not in expected[one.timestamp, one.surt]
        ]
    assert len(captures) > 50
    assert differing == []


def answer_of(reader: PageReader, memento: Memento) -> tuple[int, bytes]:
    if memento.status == "304":
        return 304, b""  # ArcLink shows the page that was not modified, pywb the status
    with reader.read(memento) as page:
        # pywb answers 200 for a record without HTTP.
        return int(page.status.replace("-", "200")), b"".join(page.sent())


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def fetched(uri: str) -> tuple[int, bytes]:
    opener = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))
    try:
        request = urllib.request.Request(uri, headers={"Accept-Encoding": "gzip, deflate, br"})
        with opener.open(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
