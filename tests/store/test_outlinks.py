"""Blocks of outlinks: what goes in comes out, however the JSON is written."""

import json
import sqlite3
from collections.abc import Sequence

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.errors import StoreError
from arclink.model import Kind, Outlink, UriR
from arclink.store.outlinks import OutlinkBlock, OutlinksWriter

texts = st.one_of(
    st.text(st.characters(min_codepoint=0x20, exclude_categories=["Cs"]), max_size=8),
    st.text(st.sampled_from('],["\\null'), max_size=8),
)
links = st.builds(lambda target, kind, text, rel: Outlink(UriR(target), Kind(kind), text, rel), texts, texts, texts, st.none() | texts)
pages = st.lists(st.lists(st.one_of(links, st.sampled_from([Outlink(UriR("a"), Kind("k"), "t", None)])), max_size=6), max_size=8)


def written(rows: Sequence[bytes], first: int = 1) -> list[list[Outlink]]:
    """Return what is read from a store to which these rows were written."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE TABLE outlinks (first INTEGER PRIMARY KEY, data BLOB NOT NULL)")
        writer = OutlinksWriter(connection, first)
        for row in rows:
            writer.add(row)
        writer.close()
        blocks = [OutlinkBlock(data, number) for number, data in connection.execute("SELECT first, data FROM outlinks ORDER BY first")]
    finally:
        connection.close()
    read = [block.links(content) for block in blocks for content in range(block.first, block.first + len(block))]
    assert writer.links == sum(map(len, read))
    return read


def as_rows(page: Sequence[Outlink]) -> list[list[str | None]]:
    return [[link.target, link.kind, link.text, link.rel] for link in page]


@given(pages)
def test_compact_json_comes_back(some: list[list[Outlink]]) -> None:
    assert written([orjson.dumps(as_rows(page)) for page in some]) == some


@given(pages, st.integers(0, 7))
def test_json_with_blanks_comes_back(some: list[list[Outlink]], spaced: int) -> None:
    rows = [json.dumps(as_rows(page)).encode() if number >= spaced else orjson.dumps(as_rows(page)) for number, page in enumerate(some)]
    assert written(rows) == some


def test_many_contents_fill_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arclink.store.outlinks.BLOCK_CONTENTS", 3)
    some = [[Outlink(UriR(f"http://example.org/{number}"), Kind("a@href"), "x", None)] for number in range(8)]
    assert written([orjson.dumps(as_rows(page)) for page in some], first=5) == some


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{}", id="no list"),
        pytest.param(b"[1]", id="no links"),
        pytest.param(b'[["a","b","c"]]', id="three columns"),
        pytest.param(b'[["a","b",3,null]]', id="a number"),
        pytest.param(b'[["a","b","c",4]]', id="a number as rel"),
        pytest.param(b'[["a","b","c",null]', id="no end"),
        pytest.param(b'[["a","b","c],["d","e","f",null]]', id="a string without end"),
        pytest.param(b'[["a","b","c",null],[]]', id="an empty link"),
        pytest.param(b'["abcd","efgh"]', id="strings of four letters"),
    ],
)
def test_what_is_no_list_of_links_is_refused(row: bytes) -> None:
    with pytest.raises(StoreError, match="no lists of links"):
        written([b'[["a","b","c",null]]', row])
