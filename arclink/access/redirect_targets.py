"""Redirects of the queried URI: answer for the page that a moved page redirects to.

The newest memento that counts is followed if it is a redirect with a known target
(``http@location``, or ``http@refresh`` of a redirect without ``Location``), then likewise the
memento of its target, and so on. A redirect between variants of one URI (http to https, with or
without www.) is skipped: it says nothing about the page (`arclink.access.link_states`).
"""

from collections import deque
from dataclasses import replace
from itertools import filterfalse
from typing import NamedTuple

from arclink.access.queries import LinkQuery
from arclink.access.reader import Reading
from arclink.model import Timestamp, UriR
from arclink.store.known_captures import target_of_redirect
from arclink.store.protocols import Answers
from arclink.uris.surts import surt_of

MOST_HOPS = 5


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
        newest = deque(filterfalse(reading.says_nothing, reading.mementos()), maxlen=1)
        target = target_of_redirect(store, newest[0]) if newest else None
        if target is None or surt_of(target) in seen:
            break
        hops.append(Hop(newest[0].original, newest[0].timestamp, target))
        query = replace(query, uri=target, surt=surt_of(target))
        seen.add(query.surt)
    return query, tuple(hops)
