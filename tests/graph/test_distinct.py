"""A set that is larger than its memory gives the same answers as a small one."""

from hypothesis import given
from hypothesis import strategies as st

from arclink.graph.distinct import Distinct

texts = st.lists(st.text(st.characters(codec=None), max_size=3), max_size=40)


@given(texts, texts, st.integers(0, 10))
def test_a_text_is_new_once_however_much_room_there_is(
    texts: list[str], others: list[str], room: int
) -> None:
    distinct = Distinct(room)
    for some in (texts, others):
        seen: set[str] = set()
        for text in some:
            assert distinct.add(text) == (text not in seen)
            seen.add(text)
        assert list(distinct) == sorted(seen)
        distinct.clear()
