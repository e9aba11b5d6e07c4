"""A real, unmodified pywb that uses ArcLink as index and archive, rewriting or as a proxy."""

import os
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from benchmarks.peers.pywb_server import PYWB, serving_pywb, write_config
from tests.browser.past import DAY, GONE, HOME, MOVED, NEVER, PNG, serving

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def pywb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not (PYWB / "wayback").exists():
        text = f"no pywb in {PYWB}: run `make test-wayback`"
        if os.environ.get("CI"):
            pytest.fail(text)
        pytest.skip(text)
    folder = tmp_path_factory.mktemp("over")
    with serving(folder) as past:
        write_config(folder / "pywb", past.base_url)
        with serving_pywb(folder / "pywb", {}) as (address, _):
            yield address


def get(address: str, proxy: str = "") -> tuple[int, bytes]:
    handlers = [urllib.request.ProxyHandler({"http": proxy} if proxy else {})]
    try:
        with urllib.request.build_opener(*handlers).open(address, timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_it_rewrites_pages_of_arclink(pywb: str) -> None:
    status, page = get(f"{pywb}/past/{DAY}060000mp_/{HOME}")
    assert status == 200
    assert b"Old page" in page
    assert f"/past/{DAY}060000mp_/{HOME}news.html".encode() in page
    assert get(f"{pywb}/past/{DAY}060000id_/{HOME}picture.png") == (200, PNG)
    assert b"News of 2010" in get(f"{pywb}/past/{DAY}060000mp_/{MOVED}")[1]
    status, page = get(f"{pywb}/past/{DAY}060000mp_/{GONE}")
    assert (status, b"Archived error" in page) == (404, True)
    assert get(f"{pywb}/past/{DAY}060000mp_/{NEVER}")[0] == 404


def test_it_is_a_proxy_over_arclink(pywb: str) -> None:
    """The paper's own design: the browser asks for the page; the proxy has the archive."""
    status, page = get(HOME, proxy=pywb)
    assert status == 200
    assert b"Old page" in page
    assert b"<a href=/news.html>" in page.replace(b'"', b"")
    assert get(f"{HOME}picture.png", proxy=pywb) == (200, PNG)
