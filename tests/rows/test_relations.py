"""Rows of graph files are read back unchanged, and other lines are refused."""

from contextlib import suppress
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from arclink.model import Memento, Payload, Scope
from arclink.rows.relations import format_memento, format_payload, parse_memento, parse_payload

words = st.text(st.characters(codec="utf-8", blacklist_characters="\t\n"), max_size=5)
mementos = st.builds(
    Memento,
    **dict.fromkeys(
        (
            "surt",
            "timestamp",
            "original",
            "checksum",
            "status",
            "mime",
            "record_type",
            "file",
            "reason",
            "languages",
        ),
        words,
    ),
    offset=st.integers(0),
    length=st.integers(-1),
)
payloads = st.builds(
    Payload,
    **dict.fromkeys(("checksum", "charset", "file", "reason"), words),
    scope=st.none() | st.sampled_from(Scope),
    offset=st.integers(0),
    counts=st.dictionaries(words, st.integers(0, 1 << 40), max_size=3).map(
        lambda counts: tuple(counts.items())
    ),
    title=st.none() | st.text(st.characters(exclude_categories=["Cs"])),
)


@given(mementos)
def test_a_memento_reads_back(memento: Memento) -> None:
    assert parse_memento(format_memento(memento)) == memento


@given(mementos)
def test_a_memento_without_languages_reads_back(memento: Memento) -> None:
    """Graph files of older builds do not have the last column."""
    row = format_memento(memento).rpartition(b"\t")[0]
    assert parse_memento(row) == memento._replace(languages="-")


@given(payloads)
def test_a_payload_reads_back(payload: Payload) -> None:
    assert parse_payload(format_payload(payload)) == payload


@given(payloads)
def test_a_payload_without_title_reads_back(payload: Payload) -> None:
    """Graph files of older builds do not have the last column."""
    row = format_payload(payload).rpartition(b"\t")[0]
    assert parse_payload(row) == replace(payload, title=None)


@given(
    st.binary(max_size=60)
    | st.lists(st.sampled_from(["a", "1", "-", "{}"]), max_size=12).map(
        lambda row: "\t".join(row).encode()
    )
)
def test_a_line_is_a_row_or_refused(line: bytes) -> None:
    for parse in (parse_memento, parse_payload):
        with suppress(ValueError):
            parse(line)
