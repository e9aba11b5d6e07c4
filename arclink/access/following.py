"""Where a URI redirects at the time asked for: asked for a page that moved, an answer can be that of the page it moved to.

Followed is the newest memento that counts, if it is a redirect whose target is known (``http@location``), and then the same
of where it leads. A redirect between variants of one URI (http to https, with or without www.) leads nowhere else here.
"""

from collections import deque
from dataclasses import replace
from typing import NamedTuple

from arclink.access.queries import LinkQuery
from arclink.access.reading import Reading
from arclink.access.states import NOT_MODIFIED
from arclink.model import Kind, Memento, Timestamp, UriR
from arclink.store import GraphStore
from arclink.uris.surts import surt_of

MOST_HOPS = 5

_LOCATION = Kind("http@location")


class Hop(NamedTuple):
    """A redirect that was followed.

    Attributes:
        original: The URI that redirects.
        timestamp: Of the memento that says so.
        target: Where it leads.
    """

    original: UriR
    timestamp: Timestamp
    target: UriR


def follow(store: GraphStore, query: LinkQuery) -> tuple[LinkQuery, tuple[Hop, ...]]:
    """Return the query for the URI that redirects lead to, and the redirects; the same query if there are none.

    Redirects that go in a circle, or on after `MOST_HOPS`, are followed until there.
    """
    query = replace(query, is_following=False)
    hops: list[Hop] = []
    seen = {query.surt}
    while len(hops) < MOST_HOPS:
        reading = Reading(store, query)
        newest = deque(reading.mementos(), maxlen=1)
        target = _target(reading, newest[0]) if newest else None
        if target is None or surt_of(target) in seen:
            break
        hops.append(Hop(newest[0].original, newest[0].timestamp, target))
        query = replace(query, uri=target, surt=surt_of(target))
        seen.add(query.surt)
    return query, tuple(hops)


def _target(reading: Reading, memento: Memento) -> UriR | None:
    """Return where a memento redirects; None if it does not, or nobody knows."""
    if not memento.status.startswith("3") or memento.status == NOT_MODIFIED:
        return None
    content = reading.content_of(memento)
    links = () if content is None else reading.store.outlinks(content)
    return next((link.target for link in links if link.kind == _LOCATION), None)
