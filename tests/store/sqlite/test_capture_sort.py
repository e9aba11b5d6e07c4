"""Captures are sorted, each once, with any amount of memory."""

from hypothesis import given
from hypothesis import strategies as st

from arclink.store.sqlite.capture_sort import Capture, SortedCaptures

texts = st.text(st.characters(codec=None, blacklist_characters="\t\n"), max_size=3)
captures = st.lists(
    st.tuples(st.integers(0, 3), texts, st.sampled_from(["2010", "2011"])), max_size=40
)


@given(captures, st.integers(1, 8))
def test_what_was_added_comes_back_sorted_and_once(captures: list[Capture], room: int) -> None:
    found = SortedCaptures(room)
    for capture in captures:
        found.add(capture)
    assert list(found.sorted()) == sorted(set(captures))
