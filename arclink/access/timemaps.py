"""TimeMaps: the mementos of a URI in the graph, oldest first, in parts of limited size.

Source: RFC 7089, section 5 (TimeMaps) and 5.1 (paging them).
"""

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from arclink.access.queries import absolute_uri, surt_asked
from arclink.access.reader import of_one_state
from arclink.model import ALL_TIME, Memento, Span, Surt, Timestamp, UriR
from arclink.store.protocols import Answers

MOST_MEMENTOS = 10_000
"""Size of one TimeMap. Mementos of one time are not divided, so it may hold a few more."""


@dataclass(frozen=True, slots=True)
class TimeMap:
    """Mementos of one URI.

    Attributes:
        mementos: By timestamp and original, one per such pair; empty if the URI was never captured.
        is_first: Whether there are no older mementos.
        following: Time at which the next TimeMap starts; None if there are no newer mementos.
        start: Time from which on mementos were queried.
    """

    uri: UriR
    surt: Surt
    mementos: tuple[Memento, ...]
    is_first: bool
    following: Timestamp | None
    start: Timestamp


@of_one_state
def read_timemap(
    store: Answers, uri: str, start: Timestamp = ALL_TIME.first, most: int = MOST_MEMENTOS
) -> TimeMap:
    """Return up to ``most`` mementos of ``uri`` and its variants, from ``start`` on.

    More are returned only if they have the same time as the last one.

    Raises:
        BadParameterError: ``uri`` is not a URI.
        StoreError: The store cannot be reached.
    """
    surt = surt_asked("uri", uri)
    mementos: list[Memento] = []
    following: Timestamp | None = None
    for timestamp, same in groupby(
        store.mementos(surt, Span(first=start)), attrgetter("timestamp")
    ):
        if len(mementos) >= most:
            following = timestamp
            break
        mementos += {memento.original: memento for memento in same}.values()
    oldest = next(store.mementos(surt), None)
    is_first = oldest is None or oldest.timestamp >= start
    return TimeMap(absolute_uri(uri.strip()), surt, tuple(mementos), is_first, following, start)
