"""TimeMaps: the mementos of a URI that the graph knows, oldest first, in parts of bounded size.

Source: RFC 7089, section 5 (TimeMaps) and 5.1 (paging them).
"""

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from arclink.access.one_state import of_one_state
from arclink.access.queries import absolute_uri, surt_asked
from arclink.model import ALL_TIME, Memento, Span, Surt, Timestamp, UriR
from arclink.store import GraphStore

MOST_MEMENTOS = 10_000
"""Of one TimeMap; the next begins with another time, so it may hold a few more."""


@dataclass(frozen=True, slots=True)
class TimeMap:
    """Mementos of one URI.

    Attributes:
        mementos: By timestamp and original, one for each of these pairs; empty if the URI was never captured.
        is_first: Whether there are no older ones.
        following: Where the next TimeMap begins; None if there are no newer ones.
        start: From which time on it was asked for.
    """

    uri: UriR
    surt: Surt
    mementos: tuple[Memento, ...]
    is_first: bool
    following: Timestamp | None
    start: Timestamp


@of_one_state
def read_timemap(store: GraphStore, uri: str, start: Timestamp = ALL_TIME.first, most: int = MOST_MEMENTOS) -> TimeMap:
    """Return the mementos of ``uri`` and its variants from ``start`` on, up to ``most`` and those of the same time.

    Raises:
        BadParameterError: ``uri`` is no URI.
        StoreError: The store is away.
    """
    surt = surt_asked("uri", uri)
    mementos: list[Memento] = []
    following: Timestamp | None = None
    for timestamp, same in groupby(store.mementos(surt, Span(first=start)), attrgetter("timestamp")):
        if len(mementos) >= most:
            following = timestamp
            break
        mementos += {memento.original: memento for memento in same}.values()
    oldest = next(store.mementos(surt), None)
    is_first = oldest is None or oldest.timestamp >= start
    return TimeMap(absolute_uri(uri.strip()), surt, tuple(mementos), is_first, following, start)
