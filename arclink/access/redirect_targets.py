"""Redirects of the queried URI: answer for the page that a moved page redirects to.

The newest memento that counts is followed if it is a redirect with a known target
(``http@location``, or ``http@refresh`` of a redirect without ``Location``), then likewise the
memento of its target, and so on. A redirect between variants of one URI (http to https, with or
without www.) is not followed: it leads to the same SURT.
"""

from collections import deque
from dataclasses import replace
from typing import NamedTuple

from arclink.access.queries import LinkQuery
from arclink.access.reader import Reading
from arclink.known import NOT_MODIFIED
from arclink.model import Kind, Memento, Timestamp, UriR
from arclink.store.protocols import Answers
from arclink.uris.surts import surt_of

MOST_HOPS = 5

_REDIRECTS = frozenset({Kind("http@location"), Kind("http@refresh")})


class Hop(NamedTuple):
    """A redirect that was followed.

    Attributes:
        original: The URI that redirects.
        timestamp: Time of the memento with the redirect.
        target: The URI it redirects to.
    """

    original: UriR
    timestamp: Timestamp
    target: UriR


def follow(store: Answers, query: LinkQuery) -> tuple[LinkQuery, tuple[Hop, ...]]:
    """Return the query for the final target of redirects, and the redirects that lead to it.

    Without redirects, the query is for the same URI. Following stops at a circle and after
    `MOST_HOPS` redirects.
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
    """Return the target of a redirect; None for other mementos and for unknown targets."""
    if not memento.status.startswith("3") or memento.status == NOT_MODIFIED:
        return None
    content = reading.content_of(memento)
    links = () if content is None else reading.store.outlinks(content)
    return next((link.target for link in links if link.kind in _REDIRECTS), None)
