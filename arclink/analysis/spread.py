"""Spread of links: which pages linked to a target first, and how many pages and hosts followed.

A page links to the target from its first capture on that shows a link. If an earlier capture of the
page is known not to have one (`arclink.access.link_states`), the link appeared in between, and is
*dated*. Otherwise it may be older than it appears.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from arclink.analysis.link_scope import LinkScope, ask_about_links
from arclink.analysis.targets import Target
from arclink.analysis.windows import Window
from arclink.model import Timestamp, UriR

if TYPE_CHECKING:
    from arclink.relations.database import RelationsDatabase


class FirstLink(NamedTuple):
    """The first time at which a page was seen to link to the target.

    Attributes:
        last_without: The newest capture before that is known not to have the link; None without
            one.
        text: Text of its first link at that time, by target, kind, text.
        host: Host of the page; an empty text for a page without a host.
    """

    first_with: Timestamp
    page: UriR
    last_without: Timestamp | None
    target: UriR
    text: str
    host: str


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


def first_links(database: "RelationsDatabase", target: Target, scope: LinkScope) -> list[FirstLink]:
    """Return the first link of each page to the target, oldest first, then by page.

    Args:
        database: The relations.
        target: The target of the links.
        scope: The links that count; its level is that of ``target``.

    Raises:
        OperatorError: The files of the relations cannot be read.
    """
    rows = ask_about_links(database, "spread", scope=scope, part=target.part)
    return [FirstLink(**row) for row in rows]


def adoption(links: Sequence[FirstLink], windows: Iterable[Window]) -> Iterator[Adoption]:
    """Yield the pages and hosts that each window added.

    Args:
        links: The first links, oldest first.
        windows: The windows, in any order.
    """
    hosts: dict[str, Timestamp] = {}
    for link in links:
        hosts.setdefault(link.host, link.first_with)
    hosts.pop("", None)
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
