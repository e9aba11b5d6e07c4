"""Captures by their distance from a time, compared with a sort of all captures."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.access.replay import moment_of
from arclink.access.timemaps import MOST_AT_ONCE, backwards, by_distance
from arclink.model import ALL_TIME, Surt, Timestamp
from tests.store.memory_store import MemoryStore, Page

A = "http://a.example/"
SURT = Surt("example,a)/")

moments = st.datetimes(datetime(1996, 1, 1), datetime(2026, 1, 1))
times = moments.map(lambda moment: Timestamp(f"{moment:%Y%m%d%H%M%S}"))


def store_of(timestamps: list[Timestamp]) -> MemoryStore:
    return MemoryStore([Page(A, timestamp) for timestamp in sorted(set(timestamps))])


@given(st.lists(times, max_size=20), times)
def test_the_nearest_come_first(timestamps: list[Timestamp], asked: Timestamp) -> None:
    found = [one.timestamp for one in by_distance(store_of(timestamps), SURT, asked)]
    moment = moment_of(asked)
    assert found == sorted(set(timestamps), key=lambda one: (abs(moment_of(one) - moment), one))


@pytest.mark.parametrize("asked", ["20000101000000", "20100615120000", "20251231000000"])
def test_many_captures_are_read_in_steps(asked: str) -> None:
    """As many as are not read at once, years apart and seconds apart."""
    start = datetime(2001, 1, 1)
    gaps = [timedelta(seconds=number**4) for number in range(3 * MOST_AT_ONCE)]
    timestamps = [Timestamp(f"{start + gap:%Y%m%d%H%M%S}") for gap in gaps]
    store = store_of(timestamps)
    last = Timestamp(asked)
    expected = sorted((one for one in set(timestamps) if one <= last), reverse=True)
    assert [one.timestamp for one in backwards(store, SURT, last)] == expected
    assert [one.timestamp for one in backwards(store, SURT, ALL_TIME.last)] == sorted(
        set(timestamps), reverse=True
    )
