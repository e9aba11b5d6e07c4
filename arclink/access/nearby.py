"""The captures of a URI by their distance from a time.

A store lists captures oldest first, so captures before a time are read in steps.
"""

from collections.abc import Iterator
from datetime import timedelta
from heapq import merge
from itertools import groupby, islice
from operator import attrgetter

from arclink.access.replay import moment_of
from arclink.model import ALL_TIME, Memento, Span, Surt, Timestamp
from arclink.store.protocols import Captures

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
