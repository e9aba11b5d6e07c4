"""Which capture a revisit means, and what it shows then: the same by every door.

The tables have captures as crawlers write them: (URI, day, body, status), revisits with the URI and
the day that they name.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from arclink.analysis.relations.database import ShownRelations
from arclink.captures.locate import capture_shown
from arclink.checksums import distance_of, in_other_form, is_reference
from arclink.model import Memento, UriR
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of
from tests.captures.archives import Record, sha1, store_of

PAGE = b'<title>P</title><a href="/rel">R</a><a href="http://t.example/">T</a>'
OTHER = b'<a href="/other">O</a>'
IDENTICAL = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"


def _time(day: int) -> str:
    return f"202001{day:02}000000"


def page(uri: str, day: int, body: bytes = PAGE) -> Record:
    return Record(uri, _time(day), body)


def revisit(uri: str, day: int, named: str, of_day: int, status: str = "200 OK") -> Record:
    """Return a revisit without digest that names a capture."""
    fields = {
        "WARC-Refers-To-Target-URI": named,
        "WARC-Refers-To-Date": f"2020-01-{of_day:02}T00:00:00Z",
        "WARC-Profile": IDENTICAL,
    }
    head = (f"HTTP/1.1 {status}".encode(), b"Content-Type: text/html")
    return Record(uri, _time(day), b"", head, "revisit", fields)


def unmodified(uri: str, day: int) -> Record:
    head = (b"HTTP/1.1 304 Not Modified",)
    return Record(uri, _time(day), b"", head, "revisit", {"WARC-Profile": NOT_MODIFIED})


def repeating(uri: str, day: int, status: str) -> Record:
    """Return a revisit with the digest of the page."""
    head = (f"HTTP/1.1 {status}".encode(),)
    fields = {"WARC-Payload-Digest": f"sha1:{sha1(PAGE)}", "WARC-Profile": IDENTICAL}
    return Record(uri, _time(day), b"", head, "revisit", fields)


H, H80, HS, HS443 = (
    f"{scheme}://h.example{port}/p"
    for scheme, port in (("http", ""), ("http", ":80"), ("https", ""), ("https", ":443"))
)
H8080, WWW = "http://h.example:8080/p", "http://www.h.example/p"

CASES: Mapping[str, tuple[list[Record], bytes | None]] = {
    "the page with port": ([page(H80, 1), revisit(H, 2, H, 1)], PAGE),
    "the revisit with port": ([page(H, 1), revisit(H80, 2, H80, 1)], PAGE),
    "https with port": ([page(HS443, 1), revisit(HS, 2, HS, 1)], PAGE),
    "the name with port": ([page(H, 1), revisit(H, 2, H80, 1)], PAGE),
    "the very URI first": ([page(H80, 1, OTHER), page(H, 1), revisit(H, 2, H, 1)], PAGE),
    "its form before a variant": ([page(HS, 1, OTHER), page(H80, 1), revisit(H, 2, H, 1)], PAGE),
    "a variant, by another name": ([page(H, 1), revisit(H, 2, WWW, 1)], PAGE),
    "another port is another page": ([page(H8080, 1), revisit(H, 2, H, 1)], None),
    "another second": ([page(H, 1), page(H, 3, OTHER), revisit(H, 4, H, 2)], None),
    "not modified": ([page(H80, 1), unmodified(H, 2)], PAGE),
    "not modified, the newest": ([page(H80, 1, OTHER), page(H, 2), unmodified(H, 3)], PAGE),
    "not modified, its form is newer": ([page(H, 1, OTHER), page(H80, 2), unmodified(H, 3)], PAGE),
    "with its digest": ([page(H, 1), repeating(H80, 2, "200 OK")], PAGE),
    "an error with its digest": ([page(H, 1), repeating(H, 2, "404 Not Found")], b""),
    "a failure with its digest": ([page(H, 1), repeating(H, 2, "503 Busy")], b""),
    "an error that names it": ([page(H, 1), revisit(H, 2, H, 1, "410 Gone")], b""),
    "not modified, with its digest": ([page(H, 1), repeating(H, 2, "304 Not Modified")], PAGE),
}
"""Captures, the revisit last, and what it shows: b"" for an error, None if it is not known."""

TARGETS = {PAGE: {"/rel", "http://t.example/"}, OTHER: {"/other"}, b"": set()}


@pytest.fixture(params=CASES, ids=str)
def case(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[Path, GraphStore, Memento, bytes | None]]:
    records, shown = CASES[request.param]
    path = store_of(tmp_path, records)
    with open_store(str(path)) as store:
        (memento,) = (
            one for one in store.scan_mementos() if one.timestamp == records[-1].timestamp
        )
        yield path, store, memento, shown


def test_a_revisit_has_the_links_of_the_capture_that_is_meant(
    case: tuple[Path, GraphStore, Memento, bytes | None],
) -> None:
    path, store, memento, shown = case
    content = store.content_of(memento)
    here = memento.original.replace(":80/", "/").replace(":443/", "/").removesuffix("/p")
    found = (
        {link.target.removeprefix(here) for link in store.outlinks(content)} if content else set()
    )
    assert found == TARGETS[shown or b""]
    assert (content is None) == (not shown)
    with ShownRelations(str(path), store) as database:
        rows = database.run(
            "SELECT content, shown_status, shown_mime FROM captures WHERE timestamp = "
            f"'{memento.timestamp}'"
        )
    status = int(memento.status) if memento.status != "304" else 200
    assert rows[0][:2] == (content, status)
    if shown:
        assert rows[0][2] == "text/html"


def test_links_to_a_page_are_those_of_the_captures_that_show_them(
    case: tuple[Path, GraphStore, Memento, bytes | None],
) -> None:
    """Of each content, all captures that show it, each once, and no others."""
    _, store, _, _ = case
    mementos = [*store.scan_mementos()]
    for content in {store.content_of(one) for one in mementos} - {None}:
        assert content is not None
        expected = sorted(
            (one.original, one.timestamp) for one in mementos if store.content_of(one) == content
        )
        assert [tuple(one) for one in store.sightings(content)] == expected
    assert not [*store.verify()]


def test_what_is_read_is_the_capture_that_is_meant(
    case: tuple[Path, GraphStore, Memento, bytes | None],
) -> None:
    _, store, memento, shown = case
    if shown and is_reference(memento.checksum):
        assert capture_shown(store, memento).checksum == sha1(PAGE)


@pytest.mark.parametrize("uri", [H, H80, HS, HS443, "http://[::1]/x", "http://u:p@h?q", "HTTP://H"])
def test_the_two_forms_of_a_uri_have_one_surt_and_are_next_to_each_other(uri: str) -> None:
    other = in_other_form(UriR(uri))
    assert other not in (None, uri)
    assert in_other_form(UriR(other or "")) == uri
    assert surt_of(UriR(other or "")) == surt_of(UriR(uri))
    assert distance_of(uri, other or "") == 1


@pytest.mark.parametrize(
    "uri", [H8080, "ftp://h/", "urn:x:y", "http://h:443/", "https://h:80/", ""]
)
def test_another_port_is_no_form_of_a_uri(uri: str) -> None:
    assert in_other_form(UriR(uri)) is None
