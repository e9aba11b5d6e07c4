"""The captures that are found for a URI and a time."""

from datetime import datetime, timedelta

import pytest

from arclink.captures.locate import MOST_LISTED, neighbours_of
from arclink.model import Timestamp
from tests.store.memory_store import MemoryStore, Page

A = "http://a.example/"


@pytest.mark.parametrize("count", [1, 2, 3, MOST_LISTED + 5])
def test_a_capture_has_its_neighbours_in_time(count: int) -> None:
    start = datetime(2001, 1, 1)
    timestamps = [
        Timestamp(f"{start + timedelta(hours=number):%Y%m%d%H%M%S}") for number in range(count)
    ]
    mementos = [Page(A, timestamp).memento for timestamp in timestamps]
    middle = count // 2
    found = neighbours_of(
        MemoryStore(Page(A, timestamp) for timestamp in timestamps), mementos[middle]
    )
    assert found.first == mementos[0]
    assert found.prev == (mementos[middle - 1] if middle else None)
    assert found.next == (mementos[middle + 1] if middle + 1 < count else None)
    assert found.last == (mementos[-1] if count <= MOST_LISTED else None)
