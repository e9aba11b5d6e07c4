"""Numbers, strings, checksums and URIs are packed to bytes and unpacked unchanged."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.model import Checksum, Surt
from arclink.store.blocks import byte_layouts
from arclink.uris.surts import surt_of

numbers = st.one_of(st.integers(0, 127), st.integers(0, 2**20), st.integers(0, 2**63 - 1))


@given(st.lists(numbers))
def test_numbers_read_back(some: list[int]) -> None:
    packed = byte_layouts.pack_numbers(np.array(some, dtype=np.int64))
    assert byte_layouts.unpack_numbers(packed).tolist() == some
    assert packed == byte_layouts.pack_few(some)
    assert byte_layouts.unpack_few(packed) == some


@given(st.lists(st.lists(numbers)))
def test_rows_of_numbers_have_the_ends_that_are_returned(rows: list[list[int]]) -> None:
    flat = np.array([number for row in rows for number in row], dtype=np.int64)
    ends = np.cumsum(np.array([len(row) for row in rows], dtype=np.int64))
    packed, byte_ends = byte_layouts.pack_number_rows(flat, ends)
    borders = [0, *byte_ends.tolist()]
    assert [byte_layouts.unpack_few(packed[a:b]) for a, b in pairwise(borders)] == rows


@given(st.lists(st.integers(-(2**62), 2**62 - 1)))
def test_signed_numbers_read_back(some: list[int]) -> None:
    signed = byte_layouts.sign(np.array(some, dtype=np.int64))
    assert (signed >= 0).all()
    assert [number >> 1 ^ -(number & 1) for number in signed.tolist()] == some
    changes = np.array([number % 1001 - 500 for number in some], dtype=np.int64)
    packed = byte_layouts.pack_numbers(byte_layouts.sign(changes))
    assert byte_layouts.unpack_steps(packed) == np.cumsum(changes).tolist()


@given(st.lists(st.text(st.characters(min_codepoint=0x20, exclude_categories=["Cs"])), min_size=1))
def test_strings_read_back(strings: list[str]) -> None:
    packed = byte_layouts.Strings(byte_layouts.pack_strings(strings))
    indexes = [*range(len(packed))]
    assert packed.take(indexes) == strings
    assert packed.take(indexes[::-2]) == strings[::-2]


def test_a_control_character_becomes_a_space() -> None:
    assert byte_layouts.pack_strings(["a\nb", "c", "d\te\0"]) == b"a b\nc\nd e "


@given(st.lists(st.binary(), max_size=5))
def test_sections_read_back(sections: list[bytes]) -> None:
    assert (
        byte_layouts.unpack_sections(byte_layouts.pack_sections(sections), len(sections))
        == sections
    )


CHECKSUMS = [
    pytest.param("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", 21, id="SHA-1"),
    pytest.param("A" * 32, 21, id="SHA-1 of zeros"),
    pytest.param("7" * 32, 21, id="SHA-1 of ones"),
    pytest.param("redirect:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", 21, id="redirect"),
    pytest.param(
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        72,
        id="other algorithm",
    ),
    pytest.param("3i42h3s6nnfq2msvx7xzkyayscx5qbyj", 33, id="lower case is another text"),
    pytest.param("-", 2, id="none"),
    pytest.param("", 1, id="empty"),
]


@pytest.mark.parametrize(("checksum", "size"), CHECKSUMS)
def test_checksums_read_back(checksum: str, size: int) -> None:
    packed = byte_layouts.pack_checksum(checksum)
    assert byte_layouts.unpack_checksum(packed) == checksum
    assert len(packed) == size


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_as_checksum_reads_back(text: str) -> None:
    assert byte_layouts.unpack_checksum(byte_layouts.pack_checksum(text)) == text


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        pytest.param("ABC", ("ABC", ""), id="no cut"),
        pytest.param("ABC-0123456789abcdef", ("ABC", "0123456789abcdef"), id="cut"),
        pytest.param(
            "sha-1:x-0123456789abcdef", ("sha-1:x", "0123456789abcdef"), id="dash in the checksum"
        ),
        pytest.param(
            "uuid-0123456789ABCDEF", ("uuid-0123456789ABCDEF", ""), id="capitals are no cut"
        ),
    ],
)
def test_contents_are_split_into_checksum_and_cut(content: str, parts: tuple[str, str]) -> None:
    checksum, cut = byte_layouts.split_content(content)
    assert (checksum, cut.hex()) == parts
    assert byte_layouts.join_content(Checksum(checksum), cut) == content


URIS = [
    pytest.param("http://example.org/a", "0", id="plain"),
    pytest.param("https://example.org/a", "1", id="https"),
    pytest.param("http://www.example.org/a", "2", id="www"),
    pytest.param("https://www.example.org/a/", "7", id="https, www and a last slash"),
    pytest.param("http://example.org/", "0", id="only a slash"),
    pytest.param("http://example.org", "http://example.org", id="no path"),
    pytest.param("http://example.org:8080/a?b=c", "0", id="port and query"),
    pytest.param("http://example.org/A", "http://example.org/A", id="capitals"),
    pytest.param("mailto:a@example.org", "mailto:a@example.org", id="no host"),
]


@pytest.mark.parametrize(("uri", "form"), URIS)
def test_a_uri_is_stored_as_it_differs_from_its_surt(uri: str, form: str) -> None:
    assert byte_layouts.uri_form(surt_of(uri), uri) == form
    assert byte_layouts.uri_of_form(surt_of(uri), form) == uri


uri_texts = st.one_of(
    st.text(st.sampled_from("htps:/w.aA)(,01?#é "), max_size=20),
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["http://", "https://", "HTTP://", ""]),
        st.sampled_from(["", "www.", "www.www."]),
        st.text(st.sampled_from("ab.:/)0?,"), max_size=12),
        st.sampled_from(["", "/"]),
    ),
)


@given(uri_texts, st.one_of(st.none(), uri_texts))
def test_any_uri_reads_back_with_any_surt(uri: str, surt: str | None) -> None:
    key = surt_of(uri) if surt is None else Surt(surt)
    assert byte_layouts.uri_of_form(key, byte_layouts.uri_form(key, uri)) == uri
