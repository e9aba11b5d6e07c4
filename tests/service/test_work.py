"""What a request costs follows what it shows, not what the page has."""

import cProfile
import pstats
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from arclink.service.settings import Settings
from tests.access.sqlite_pages import load_pages
from tests.service.conftest import client_of
from tests.store.memory_store import Page, link

LINKED, CAPTURED = "http://linked.example/", "http://captured.example/"
FEW, MANY = 12_000, 22_000
"""Numbers of links of a page, and of captures of another; more than an answer that is grouped."""


def pages(count: int) -> Iterator[Page]:
    # An axis has the days of the archive: they are the same, however many captures there are.
    for number in range(300 * (MANY // 1200 + 1)):
        year, month, day = 2000 + number // 300, number // 25 % 12 + 1, number % 25 + 1
        yield Page("http://daily.example/", f"{year}{month:02}{day:02}120000", [])
    for time, words in (("20100101000000", "old"), ("20110101000000", "new")):
        links = [
            link(
                f"http://h{number % 50}.example/{number}", f"{words if number % 9 else ''} {number}"
            )
            for number in range(count)
        ]
        yield Page(LINKED, time, links)
    for number in range(count):
        month, day = number // 100 % 12 + 1, number % 25 + 1
        time = f"{2000 + number // 1200}{month:02}{day:02}0000{number % 60:02}"
        yield Page(CAPTURED, time, [link("http://other.example/", f"link {number % 7}")])


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> dict[int, FlaskClient]:
    found = {}
    for count in (FEW, MANY):
        folder = tmp_path_factory.mktemp(f"pages-{count}")
        load_pages(folder / "links.db", folder / "graph", [[*pages(count)]])
        found[count] = client_of(str(folder / "links.db"), Settings(has_pages=True))
    return found


def calls(client: FlaskClient, path: str) -> int:
    """Return the number of calls of functions that an answer takes, when nothing is new to it."""
    client.get(path)
    profile = cProfile.Profile()
    response = profile.runcall(client.get, path)
    assert response.status_code in (200, 302), response.text
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("path", "most"),
    [
        pytest.param("/linkQuery?uri={linked}&direction=out&limit=50", 0.5, id="a page of links"),
        pytest.param("/?uri={linked}&view=links&at=2010", 2.5, id="links, as a page"),
        pytest.param("/?uri={linked}&view=captures", 2.5, id="captures of a page with many links"),
        pytest.param("/browse/20110101000000/{LINKED}", 26, id="a page in the past"),
        pytest.param("/?uri={linked}&view=changes", 26, id="changes"),
        pytest.param("/web/2005id_/{CAPTURED}", 1, id="a capture"),
        pytest.param("/browse/?uri={captured}&at=2005", 1, id="address of the past"),
        pytest.param("/browse/20050101000000/{CAPTURED}", 26, id="one of many captures"),
    ],
)
def test_more_links_or_captures_cost_few_calls_each(
    clients: dict[int, FlaskClient], path: str, most: float
) -> None:
    path = path.format(
        linked=quote(LINKED, safe=""),
        captured=quote(CAPTURED, safe=""),
        LINKED=LINKED,
        CAPTURED=CAPTURED,
    )
    few, many = (calls(clients[count], path) for count in (FEW, MANY))
    assert (many - few) / (MANY - FEW) <= most
