"""TimeMaps: the mementos of a URI in the graph, oldest first, in parts of limited size.

Source: RFC 7089, section 5 (TimeMaps) and 5.1 (paging them).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import groupby, islice
from operator import attrgetter
from typing import NewType

from arclink.access.queries import absolute_uri, surt_asked
from arclink.access.reader import of_one_state
from arclink.errors import UsageError
from arclink.model import ALL_TIME, Memento, Span, Surt, Timestamp, UriM, UriR
from arclink.store.protocols import Answers, Captures

# URI-Ms of mementos: addresses in a replay system, under a prefix that the operator sets.
#
# Without a prefix, mementos have no URI-M.

ReplayPrefix = NewType("ReplayPrefix", str)
"""The part before ``TIMESTAMP/URI`` in URLs of a Wayback Machine, ending in ``/``; may be empty."""

NO_REPLAY = ReplayPrefix("")

_PREFIX = re.compile(r"https?://[^\s\"'<>\x00-\x20\x7f?#]+", re.ASCII)


def parse_replay(name: str, text: str) -> ReplayPrefix:
    """Return the replay prefix in an operator's setting; its last ``/`` may be missing.

    Raises:
        UsageError: It is not an http or https URL. The error names the setting ``name``.

    >>> parse_replay("--replay", "https://web.archive.org/web")
    'https://web.archive.org/web/'
    """
    if not text:
        return NO_REPLAY
    expected = (
        "expected the part of replay addresses before TIMESTAMP/URI, such as "
        "https://web.archive.org/web/"
    )
    if _PREFIX.fullmatch(text) is None or not text.isascii():
        raise UsageError(f"{name} {text[:200]!a}: {expected}")
    try:
        from arclink.network.addresses import parse_server_address

        parse_server_address(text)
    except ValueError as error:
        raise UsageError(f"{name} {text[:200]}: {error}; {expected}") from error
    return ReplayPrefix(text if text.endswith("/") else f"{text}/")


def uri_m(replay: ReplayPrefix, timestamp: Timestamp, original: UriR) -> UriM | None:
    """Return the URI-M of a memento in a Wayback-style archive; None without a replay prefix.

    >>> uri_m(ReplayPrefix("https://web.archive.org/web/"), Timestamp("20100217101229"), UriR("http://example.org/?a=b"))
    'https://web.archive.org/web/20100217101229/http://example.org/?a=b'
    """
    if not replay:
        return None
    from arclink.uris.wrapped import format_in_path

    return UriM(f"{replay}{timestamp}/{format_in_path(original)}")


def uri_ms_in(replay: ReplayPrefix) -> Callable[[Memento], UriM | None]:
    """Return the function that gives the URI-M of each memento (`uri_m`)."""
    return lambda memento: uri_m(replay, memento.timestamp, memento.original)


def moment_of(timestamp: Timestamp) -> datetime:
    """Return ``timestamp`` as a datetime in UTC."""
    # This takes 10 % of the time of strptime.
    year, month, day = int(timestamp[:4]), int(timestamp[4:6]), int(timestamp[6:8])
    hour, minute, second = int(timestamp[8:10]), int(timestamp[10:12]), int(timestamp[12:14])
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


def http_date(timestamp: Timestamp) -> str:
    """Return ``timestamp`` in the form of ``Memento-Datetime`` and TimeMaps (RFC 7089, 2.1.1).

    >>> http_date(Timestamp("20100217101229"))
    'Wed, 17 Feb 2010 10:12:29 GMT'
    """
    # Here, because it takes 6 ms and most commands write no HTTP dates.
    from email.utils import format_datetime

    return format_datetime(moment_of(timestamp), usegmt=True)


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
