"""All links of a store, page by page, in the order in which the store holds them: memory is that of one block.

The vertex of the graph is a content, so its links come once for each page that shows it, with the mementos that count: those observed
in the range, or in force at the time, that was asked for.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from arclink.access.queries import LinkQuery
from arclink.access.reading import Reading
from arclink.model import ContentId, Outlink, Timestamp, UriR
from arclink.store import GraphStore


class Shown(NamedTuple):
    """The links of one content, as one page shows them.

    Attributes:
        page: The page's original.
        timestamps: Of the mementos that count, distinct, sorted, at least one.
        links: Those asked for, in page order, repeated ones included; may be empty.
    """

    page: UriR
    timestamps: Sequence[Timestamp]
    content: ContentId
    links: Sequence[Outlink]


def links_shown(store: GraphStore, query: LinkQuery) -> Iterator[Shown]:
    """Yield each content with each page that shows it; neighbours share most of their links, which are equal objects then.

    Raises:
        StoreError: The store is away.
    """
    reading = Reading(store, query)
    for block in store.scan_contents():
        wanted = [query.wants(link.kind) for link in block.links]
        for content, places, pages in zip(block.contents, block.lists, reading.pages(block.contents), strict=True):
            links: list[Outlink] | None = None
            for page, timestamps in pages:
                if links is None:  # most contents of a window that is small are not shown in it
                    links = [block.links[place] for place in places.tolist() if wanted[place]]
                yield Shown(page, timestamps, content, links)
