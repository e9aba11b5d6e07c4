"""A pointer that is written is read back unchanged."""

from hypothesis import given
from hypothesis import strategies as st

from arclink.model import Checksum, Timestamp, UriR
from arclink.rows.pointers import (
    FallBack,
    Pointer,
    PointerKind,
    format_pointer,
    parse_pointer,
)

texts = st.text(st.characters(exclude_categories=["Cs"]))
offsets = st.integers(0, 1 << 50)
fall_backs = st.builds(
    FallBack, texts, offsets, st.integers(-1, 1 << 40), texts.map(Timestamp), texts.map(UriR)
)
pointers = st.builds(
    Pointer,
    st.sampled_from(PointerKind),
    texts.map(Checksum),
    texts,
    offsets,
    st.integers(-1, 1 << 40),
    texts.map(Timestamp),
    texts.map(UriR),
    st.lists(texts.map(UriR)).map(tuple),
    st.lists(fall_backs, max_size=2).map(tuple),
    texts.map(str.encode),
    st.integers(0, 9),
    texts,
    texts,
    texts,
)


@given(pointers)
def test_a_pointer_reads_back(pointer: Pointer) -> None:
    assert parse_pointer(format_pointer(pointer)) == pointer
