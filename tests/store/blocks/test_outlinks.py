"""Blocks of outlinks return the contents that were stored, for any valid spelling of the JSON."""

from collections.abc import Sequence
from itertools import compress

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.errors import StoreError
from arclink.model import Kind, Outlink, UriR
from arclink.store.sqlite.outlinks import OutlinksWriter, opened_block
from arclink.store.sqlite.schema import Connection

texts = st.one_of(
    st.text(st.characters(min_codepoint=0x20, exclude_categories=["Cs"]), max_size=8),
    st.text(st.sampled_from('],["\\null'), max_size=8),
)
links = st.builds(
    lambda target, kind, text, rel: Outlink(UriR(target), Kind(kind), text, rel),
    texts,
    texts,
    texts,
    st.none() | texts,
)
pages = st.lists(
    st.lists(
        st.one_of(links, st.sampled_from([Outlink(UriR("a"), Kind("k"), "t", None)])), max_size=6
    ),
    max_size=8,
)


def block_of(some: Sequence[Sequence[Outlink]]) -> tuple[bytes, bytes]:
    """Return links and lists of a block of contents, as graph files have them."""
    distinct = list(dict.fromkeys(link for page in some for link in page))
    lists = [[distinct.index(link) for link in page] for page in some]
    return orjson.dumps(
        [[link.target, link.kind, link.text, link.rel] for link in distinct]
    ), orjson.dumps(lists)


def written(
    blocks: Sequence[tuple[bytes, bytes]], wanted: Sequence[Sequence[bool]], first: int = 1
) -> list[list[Outlink]]:
    """Return the rows read from a store to which these blocks were written."""
    connection = Connection(":memory:")
    try:
        connection.execute("CREATE TABLE outlinks (first INTEGER PRIMARY KEY, data BLOB NOT NULL)")
        writer = OutlinksWriter(connection, first)
        for (links_of, lists), wanted_of in zip(blocks, wanted, strict=True):
            writer.add(links_of, lists, wanted_of)
        stored = [
            opened_block(connection, number, data)
            for number, data in connection.execute(
                "SELECT first, data FROM outlinks ORDER BY first"
            )
        ]
    finally:
        connection.close()
    read = [
        [*block.links(content)]
        for block in stored
        for content in range(block.first, block.first + len(block))
    ]
    assert writer.links == sum(map(len, read))
    return read


@given(st.lists(pages, max_size=3))
def test_blocks_read_back(some: list[list[list[Outlink]]]) -> None:
    everything = [[True] * len(block) for block in some]
    assert written(list(map(block_of, some)), everything, first=5) == [
        page for block in some for page in block
    ]


@given(pages, st.data())
def test_contents_that_are_not_wanted_are_left_out_with_their_links(
    some: list[list[Outlink]], data: st.DataObject
) -> None:
    wanted = data.draw(st.lists(st.booleans(), min_size=len(some), max_size=len(some)))
    assert written([block_of(some)], [wanted]) == list(compress(some, wanted))


@pytest.mark.parametrize(
    "lists",
    [b"", b"[]", b"[[0],[0]]", b"[0]", b"[[1]]", b"[[-1]]", b'[["0"]]', b"[[0.5]]", b"[[true]]"],
)
def test_what_are_no_lists_of_numbers_is_refused(lists: bytes) -> None:
    with pytest.raises(StoreError, match="Write the graph files again"):
        written([(b'[["a","b","c",null]]', lists)], [[True]])


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
    with pytest.raises(StoreError, match="not lists of links"):
        written([(row, b"[[0]]")], [[True]])
