"""Cursors keep their position as text, and any other text is refused."""

import base64
import zlib
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.access.cursors import (
    DONE,
    Cursor,
    CursorError,
    Grouped,
    InlinkPosition,
    InRange,
    OutlinkPosition,
    decode_cursor,
    encode_cursor,
)
from arclink.model import ContentId, Inlink, Kind, Surt, UriR
from arclink.store.protocols import StoreState

STATE = StoreState.of([1], [])

texts = st.text(st.characters(codec="utf-8"), max_size=30)
inlinks = st.builds(
    Inlink, texts.map(UriR), texts.map(Kind), texts, st.none() | texts, texts.map(ContentId)
)
grouped = st.builds(Grouped, st.integers(0, 10_000))
outlink_positions = st.builds(
    OutlinkPosition, texts.map(ContentId), texts.map(UriR), st.integers(-1, 10**6)
)
inlink_positions = st.builds(InlinkPosition, st.none() | inlinks, texts, texts.map(UriR))
out_positions = (
    st.just(DONE)
    | grouped
    | outlink_positions
    | st.builds(InRange, texts.map(Surt), st.just(DONE) | outlink_positions)
)
in_positions = (
    st.just(DONE)
    | grouped
    | inlink_positions
    | st.builds(InRange, texts.map(Surt), st.just(DONE) | inlink_positions)
)
states = st.builds(StoreState, texts, texts)
cursors = st.builds(Cursor, states, out_positions, in_positions)


@given(cursors)
def test_a_cursor_reads_back(cursor: Cursor) -> None:
    text = encode_cursor(cursor, "0123456789abcdef")
    assert decode_cursor(text, "0123456789abcdef") == cursor
    assert text.replace("-", "").replace("_", "").isalnum()
    assert not text.startswith("-")


@given(st.text(max_size=60))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(CursorError):
        decode_cursor(text, "0123456789abcdef")


def test_a_cursor_of_another_query_is_refused() -> None:
    with pytest.raises(CursorError, match="another query"):
        decode_cursor(encode_cursor(Cursor(STATE, DONE, DONE), "a" * 16), "b" * 16)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(["q", "v", "p", -1, None], id="negative number"),
        pytest.param(["q", "v", "p", ["c"], None], id="short outlink position"),
        pytest.param(["q", "v", "p", ["s", 1], None], id="grouped within a range"),
        pytest.param(["q", "v", "p", None, ["s", ["s", None]]], id="a range within a range"),
        pytest.param(["q", "v", "p", ["c", "o", -2], None], id="position before the first"),
        pytest.param(
            ["q", "v", "p", ["c", "o", 2**63 - 1], None], id="position after what islice takes"
        ),
        pytest.param(
            ["q", "v", "p", None, [["t", "k", "x", 1, "c"], "", ""]], id="rel is a number"
        ),
        pytest.param(["q", "v", "p", None, [1, "", ""]], id="no inlink"),
        pytest.param(["q", 1, "p", None, None], id="version is a number"),
        pytest.param({"q": 1}, id="not a list"),
        pytest.param(["q"], id="too short"),
    ],
)
def test_an_invented_cursor_with_a_valid_checksum_is_refused(fields: object) -> None:
    body = orjson.dumps(fields)
    text = base64.urlsafe_b64encode(body + zlib.crc32(body).to_bytes(4, "big")).decode().rstrip("=")
    with pytest.raises(CursorError):
        decode_cursor(text, "q")


@pytest.mark.parametrize(
    ("outlinks", "inlinks", "is_lost"),
    [
        pytest.param(Grouped(3), DONE, False, id="grouped"),
        pytest.param(
            OutlinkPosition(ContentId("c"), UriR("o"), 2), DONE, True, id="outlinks in store order"
        ),
        pytest.param(DONE, InlinkPosition(None, "", UriR("")), True, id="inlinks in store order"),
        pytest.param(InRange(Surt("s"), DONE), Grouped(3), True, id="in a range"),
    ],
)
def test_removed_links_invalidate_only_cursors_in_store_order(
    outlinks: Any, inlinks: Any, is_lost: bool
) -> None:
    cursor = Cursor(StoreState("v", "p"), outlinks, inlinks)
    assert cursor.is_lost(StoreState("w", "q")) is is_lost
    assert not cursor.is_lost(StoreState("w", "p"))
