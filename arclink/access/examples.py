"""Example pages of a store: pages that a person would read and that many links lead to."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from arclink.access.kinds import NAVIGATION
from arclink.model import Surt, UriR
from arclink.store.protocols import Answers

_MOST_TRIED = 200
"""Largest number of SURTs of captured pages to read."""
_OF_HOST = 8
"""Number of SURTs to read per host, if there are enough hosts."""
_MEMENTOS = 5
_COUNTED = 1_000
_HTML = ("text/html", "application/xhtml+xml")


class _Page(NamedTuple):
    uri: UriR
    host: str
    links: int


def example_pages(store: Answers, most: int) -> list[UriR]:
    """Return pages that a person would read: captured with status 200 as HTML, and read by ArcLink.

    First comes the page with the most links to it of each host, sorted by that number of links.
    Further pages follow, also by number of links. At most `_MOST_TRIED` pages are read. Only links
    that a reader can follow count.

    Args:
        store: The graph.
        most: Largest number of pages to return.

    Raises:
        StoreError: The store cannot be reached.
    """
    found = list(_pages(store, _OF_HOST))
    if len(found) < most:  # few hosts: look at more pages of each
        found = list(_pages(store, _MOST_TRIED))
    found.sort(key=lambda page: (-page.links, page.uri))
    best = list({page.host: page for page in reversed(found)}.values())[::-1]
    best.sort(key=found.index)
    further = [page for page in found if page not in best]
    return [page.uri for page in [*best, *further][:most]]


def any_example(store: Answers) -> UriR | None:
    """Return a URI for which the store has an answer; None if the store is empty.

    It is an example page if there is one, else any captured URI, else any link target.

    Raises:
        StoreError: The store cannot be reached.
    """
    for uri in example_pages(store, 1):
        return uri
    for surt in islice(store.captured_surts(Surt("")), 1):
        for memento in store.mementos(surt):
            return memento.original
    for surt in islice(store.surts(Surt("")), _MOST_TRIED):
        for inlink in store.inlinks(surt):
            return inlink.target
    return None


def _pages(store: Answers, of_host: int) -> Iterator[_Page]:
    """Yield the pages among the first ``of_host`` SURTs of each host, in SURT order."""
    after: Surt | None = None
    tried = 0
    while tried < _MOST_TRIED:
        surts = list(
            islice(store.captured_surts(Surt(""), after), min(of_host, _MOST_TRIED - tried))
        )
        if not surts:
            return
        host = surts[0].partition(")")[0]
        for surt in surts:
            if surt.partition(")")[0] != host:
                break
            tried += 1
            uri = _page_at(store, surt)
            if uri is not None:
                yield _Page(uri, host, _links_to(store, surt))
        after = Surt(f"{host}*")  # after ")": after all SURTs of this host


def _page_at(store: Answers, surt: Surt) -> UriR | None:
    for memento in islice(store.mementos(surt), _MEMENTOS):
        if (
            memento.status == "200"
            and memento.mime in _HTML
            and store.content_of(memento) is not None
        ):
            return memento.original
    return None


def _links_to(store: Answers, surt: Surt) -> int:
    return sum(
        count for kind, count in islice(store.inlink_kinds(surt), _COUNTED) if kind in NAVIGATION
    )
