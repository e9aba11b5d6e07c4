"""A pointer reads back, and the short way of writing one writes the same."""

from hypothesis import given
from hypothesis import strategies as st

from arclink.filter.pointers import FallBack, Pointer, PointerKind, format_plain_pointer, format_pointer, parse_pointer
from arclink.model import Checksum, Timestamp, UriR

texts = st.text(st.characters(exclude_categories=["Cs"]))
offsets = st.integers(0, 1 << 50)
fall_backs = st.builds(FallBack, texts, offsets, st.integers(-1, 1 << 40), texts.map(Timestamp), texts.map(UriR))
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


plain_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="".join(map(chr, range(32))) + '"\\'))


@given(plain_texts, plain_texts, st.lists(st.tuples(plain_texts, offsets, st.integers(-1, 1 << 40), plain_texts), min_size=1, max_size=3))
def test_a_plain_pointer_is_written_the_same_in_the_short_way(
    checksum: str, original: str, places: list[tuple[str, int, int, str]]
) -> None:
    captures = [FallBack(file, offset, length, Timestamp(timestamp), UriR(original)) for file, offset, length, timestamp in places]
    first, *others = captures
    place = (first.file, first.offset, first.length, first.timestamp, first.original)
    pointer = Pointer(PointerKind.PAYLOAD, Checksum(checksum), *place, (first.original,), others)
    columns = [[timestamp.encode(), b"%d" % offset, b"%d" % length, file.encode()] for file, offset, length, timestamp in places]
    assert format_plain_pointer(checksum.encode(), original.encode(), columns) == format_pointer(pointer)
