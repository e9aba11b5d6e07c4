"""All links of a store, page by page, in store order.

Memory is limited to one block of contents. The vertex of the graph is a content, so its links come
once per page that shows it, with the mementos that count: those observed in the queried range, or
in force at the queried time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arclink.access.queries import LinkQuery
from arclink.access.reader import Reading
from arclink.model import ContentId, Outlink, Timestamp, UriR
from arclink.store.protocols import Scans


class Shown(NamedTuple):
    """The links of one content as one page shows them.

    Attributes:
        page: The URI-R of the page.
        timestamps: Times of the mementos that count, distinct, sorted, at least one.
        content: The vertex that holds the links.
        links: The links that the query selects, in page order, repetitions included; may be empty.
    """

    page: UriR
    timestamps: Sequence[Timestamp]
    content: ContentId
    links: Sequence[Outlink]


@dataclass(slots=True)
class LeftOut:
    """Counts of links that the query excludes, updated while others are read.

    Attributes:
        other_kinds: Number of links (link and memento) of other kinds.
    """

    other_kinds: int = 0


def links_shown(store: Scans, query: LinkQuery, left_out: LeftOut | None = None) -> Iterator[Shown]:
    """Yield each content with each page that shows it.

    Adjacent contents share most of their links, and equal links are then the same object.

    Args:
        store: The store to read.
        query: The query for the links.
        left_out: Counts of excluded links, to be updated.

    Raises:
        StoreError: The store cannot be reached.
    """
    reading = Reading(store, query)
    left_out = left_out or LeftOut()
    for block in store.scan_contents():
        wanted = [query.wants(link.kind) for link in block.links]
        for content, numbers, pages in zip(
            block.contents, block.lists, reading.pages(block.contents), strict=True
        ):
            links: list[Outlink] | None = None
            for page, timestamps in pages:
                if links is None:  # in a small window, most contents are not shown
                    links = [block.links[number] for number in numbers.tolist() if wanted[number]]
                left_out.other_kinds += (len(numbers) - len(links)) * len(timestamps)
                yield Shown(page, timestamps, content, links)
