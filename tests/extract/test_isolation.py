"""A page that crashes its parser costs only that page."""

import os
import signal
import time

import pytest

from arclink.errors import PayloadError
from arclink.extract import isolation
from arclink.extract.feeds import links_of
from arclink.extract.html import DEFAULT_KINDS, OPTIONAL_KINDS, Limits, PageLinks, extract_links
from arclink.extract.isolation import IsolatedExtractor
from arclink.model import Kind
from arclink.reasons import Reason

PAGE = b'<a href="/x">X</a>'


def hostile(html: bytes | str, limits: Limits, kinds: frozenset[Kind]) -> PageLinks:
    if html == b"crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if html == b"hang":
        time.sleep(600)
    if html == b"swell":
        return PageLinks(base="x" * (8 << 30))
    return links_of(html, limits, kinds)


@pytest.fixture
def extractor(monkeypatch: pytest.MonkeyPatch) -> IsolatedExtractor:
    monkeypatch.setattr(isolation, "links_of", hostile)
    return IsolatedExtractor(Limits())


def test_links_from_a_child_process_are_those_of_the_extractor(
    extractor: IsolatedExtractor,
) -> None:
    assert extractor.extract(PAGE) == extract_links(PAGE)
    extractor.close()


@pytest.mark.parametrize("page", [b"crash", b"hang", b"swell"])
def test_a_page_that_kills_its_child_does_not_harm_the_next(
    extractor: IsolatedExtractor, page: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert extractor.extract(PAGE).links
    with monkeypatch.context() as patch:
        if page == b"hang":
            patch.setattr(isolation, "SECONDS", 1.0)
        with pytest.raises(PayloadError) as caught:
            extractor.extract(page)
    assert caught.value.reason is Reason.PAYLOAD_CRASHED
    assert extractor.extract(PAGE) == extract_links(PAGE)
    extractor.close()


def test_kinds_and_feeds_are_the_same_in_a_child() -> None:
    extractor = IsolatedExtractor(Limits(), DEFAULT_KINDS | OPTIONAL_KINDS)
    assert [link[0] for link in extractor.extract(b"<img data-src=x>").links] == ["img@data-src"]
    assert [link[0] for link in extractor.extract(b"<rss><link>x</link></rss>").links] == [
        "rss@link"
    ]
    extractor.close()
