"""Spread of links: which pages linked to a target first, and how many pages and hosts followed.

A page links to the target from its first capture on that shows a link. If an earlier capture of the
page is known not to have one (`arclink.access.link_states`), the link appeared in between, and is
*dated*. Otherwise it may be older than it appears.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from arclink.access.groups import UNLIMITED
from arclink.access.link_states import State, state_of
from arclink.access.queries import LinkQuery
from arclink.access.reader import Reading
from arclink.access.tallies import Extent, sighted_inlinks
from arclink.analysis.link_scope import LinkScope
from arclink.analysis.targets import Target
from arclink.analysis.windows import Window
from arclink.model import Span, Timestamp, UriR
from arclink.store.protocols import Answers
from arclink.uris.hosts import Host, host_of
from arclink.uris.surts import surt_of


class FirstLink(NamedTuple):
    """The first time at which a page was seen to link to the target.

    Attributes:
        last_without: The newest capture before that is known not to have the link; None without
            one.
        text: Text of its first link at that time, by target, kind, text.
    """

    first_with: Timestamp
    page: UriR
    last_without: Timestamp | None
    target: UriR
    text: str


class Adoption(NamedTuple):
    """The pages and hosts that one window added.

    Attributes:
        new_pages: Number of pages that were first seen to link in it.
        dated: Number of those that were captured before without the link.
        new_hosts: Number of hosts without a page that was seen to link before.
        pages: Number of pages that were seen to link by its end.
        hosts: Number of hosts likewise.
    """

    window: str
    new_pages: int
    dated: int
    new_hosts: int
    pages: int
    hosts: int


def first_links(
    store: Answers, target: Target, links: LinkQuery, scope: LinkScope
) -> list[FirstLink]:
    """Return the first link of each page to the target, oldest first, then by page.

    Args:
        store: The store with the links.
        target: The target of the links.
        links: The query with the kinds that count.
        scope: Whether links from within the target count; its level is that of ``target``.

    Raises:
        StoreError: The store cannot be reached.
    """
    first: dict[UriR, tuple[Timestamp, UriR, str, str]] = {}
    for surt in target.surts(store):
        reading = Reading(store, replace(links, surt=surt))
        for inlink, page, timestamps in sighted_inlinks(reading, UNLIMITED, Extent()):
            found = (timestamps[0], inlink.target, inlink.kind, inlink.text)
            if (page not in first or found < first[page]) and scope.leads_out(
                surt_of(page), target.level.name_of(surt)
            ):
                first[page] = found
    found_links = (
        FirstLink(time, page, _last_without(store, page, time), uri, text)
        for page, (time, uri, _, text) in first.items()
    )
    return sorted(found_links, key=lambda one: (one.first_with, one.page))


def adoption(links: Sequence[FirstLink], windows: Iterable[Window]) -> Iterator[Adoption]:
    """Yield the pages and hosts that each window added.

    Args:
        links: The first links, oldest first.
        windows: The windows, in any order.
    """
    hosts: dict[Host, Timestamp] = {}
    for link in links:
        hosts.setdefault(host_of(surt_of(link.page)), link.first_with)
    hosts.pop(Host(""), None)
    for name, span in windows:
        new = [link for link in links if link.first_with in span]
        yield Adoption(
            name,
            len(new),
            sum(link.last_without is not None for link in new),
            sum(time in span for time in hosts.values()),
            sum(link.first_with <= span.last for link in links),
            sum(time <= span.last for time in hosts.values()),
        )


def _last_without(store: Answers, page: UriR, first: Timestamp) -> Timestamp | None:
    """Return the newest capture with known links of a page before its first one with a link."""
    before = [
        one
        for one in store.mementos(surt_of(page), Span(last=first))
        if one.original == page and one.timestamp < first
    ]
    for memento in reversed(before):
        if state_of(memento, is_known=store.content_of(memento) is not None) is not State.NOT_READ:
            return memento.timestamp
    return None
