"""TimeMaps: the mementos of a URI in the graph, oldest first, in parts of limited size.

Source: RFC 7089, section 5 (TimeMaps) and 5.1 (paging them).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from heapq import merge
from itertools import groupby, islice
from operator import attrgetter

from arclink.access.queries import absolute_uri, surt_asked
from arclink.access.reader import of_one_state
from arclink.access.replay import moment_of
from arclink.model import ALL_TIME, Memento, Span, Surt, Timestamp, UriR
from arclink.store.protocols import Answers, Captures

# The captures of a URI by their distance from a time.
#
# A store lists captures oldest first, so captures before a time are read in steps.

MOST_AT_ONCE = 64
"""Number of captures that are read in one step, without search."""

_STEPS = (timedelta(days=1), timedelta(days=40), timedelta(days=400), timedelta(days=4000))
"""Time before a capture that is searched in one step."""


def by_distance(store: Captures, surt: Surt, timestamp: Timestamp) -> Iterator[Memento]:
    """Yield the captures of a SURT, the nearest to a time first; of equal distance, older first."""
    moment = moment_of(timestamp)

    def distance(memento: Memento) -> timedelta:
        return abs(moment_of(memento.timestamp) - moment)

    newer = (
        memento
        for memento in store.mementos(surt, Span(first=timestamp))
        if memento.timestamp != timestamp
    )
    return merge(backwards(store, surt, timestamp), newer, key=distance)


def backwards(store: Captures, surt: Surt, last: Timestamp) -> Iterator[Memento]:
    """Yield the captures of a SURT that are not newer than ``last``, newest first."""
    few = list(islice(store.mementos(surt, Span(last=last)), MOST_AT_ONCE + 1))
    if len(few) <= MOST_AT_ONCE:
        yield from _newest_first(few)
        return
    end = last
    for first in (*_starts(last), ALL_TIME.first):
        yield from _newest_first(list(store.mementos(surt, Span(first, end))))
        if first == ALL_TIME.first:
            return
        end = Timestamp(f"{int(first) - 1:014d}")


def _newest_first(captures: list[Memento]) -> Iterator[Memento]:
    """Yield captures in the reverse order of their times; within one time, the order stays."""
    for _, same in groupby(reversed(captures), attrgetter("timestamp")):
        yield from reversed(list(same))


def _starts(last: Timestamp) -> Iterator[Timestamp]:
    if last == ALL_TIME.last:
        return  # also the time of a query without time: one scan
    moment = moment_of(last)
    for step in _STEPS:
        try:
            earlier = moment - step
        except OverflowError:
            return
        yield Timestamp(f"{earlier.year:04}{earlier:%m%d%H%M%S}")


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
