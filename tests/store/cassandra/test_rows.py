"""Rows of Cassandra tables are packed and unpacked, and readers choose the right version.

No server is needed.
"""

import re
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.engines.cassandra.reader import rows_in
from arclink.engines.cassandra.rows import (
    content_number,
    pack_inlinks,
    pack_mementos,
    repack_inlinks,
    start_of_inlinks,
    unpack_content_number,
    unpack_inlinks,
    unpack_mementos,
    unpack_sightings,
)
from arclink.engines.cassandra.schema import statements
from arclink.engines.cassandra.steps import Facts, facts_of
from arclink.engines.cassandra.surt_lists import pack_surts, unpack_surts
from arclink.engines.cassandra.tables import (
    HOME,
    KEYED,
    LOADS_TOGETHER,
    NUMBERED,
    Chunk,
    StoreView,
    Stream,
    believed,
    bucket_of,
)
from arclink.store.blocks.rows import Relation

plain = st.text(
    st.characters(min_codepoint=32, exclude_categories=["Cs"]), min_size=1, max_size=200
)


@settings(deadline=None)
@given(
    plain,
    st.integers(0, 2**40 - 1),
    st.binary(max_size=300),
    st.binary(max_size=300),
    st.binary(max_size=9),
)
def test_inlinks_are_unpacked_as_they_were_packed(
    form: str, first: int, heads: bytes, counts: bytes, steps: bytes
) -> None:
    data = pack_inlinks(form.encode(), first, heads, counts, steps)
    row = unpack_inlinks(data)
    assert row.values == (heads, counts, steps)
    assert row.key == b"\0%b\0%010x" % (form.encode(), first)
    assert start_of_inlinks(data) == (form, first)
    assert repack_inlinks(row) == data


@settings(deadline=None)
@given(st.binary(max_size=300), st.binary(max_size=100))
def test_mementos_are_unpacked_as_they_were_packed(fields: bytes, checksums: bytes) -> None:
    row = unpack_mementos(b"org,example)/", pack_mementos(fields, checksums))
    assert row.values == (fields, checksums)
    assert row.key == b"org,example)/\0%b\0" % fields.split(b"\t")[0]


def test_sightings_begin_with_their_first_original() -> None:
    assert unpack_sightings(b"http://a/\t2010 2011\nhttp://b/\t2012").key == b"\0http://a/\0"


@settings(deadline=None)
@given(st.integers(0, 2047), st.integers(0, 131071), st.integers(0, 4095))
def test_a_content_number_encodes_its_place(part: int, block: int, position: int) -> None:
    number = content_number(part, block, position)
    assert unpack_content_number(number) == (part, block, position)
    assert number < 2**40


@settings(deadline=None)
@given(st.lists(plain, min_size=1, max_size=20))
def test_surts_are_unpacked_as_they_were_packed(surts: list[str]) -> None:
    assert unpack_surts(pack_surts(surts)) == surts


def test_a_stream_that_lost_all_but_one_of_its_first_rows_is_read_to_its_end() -> None:
    """A takedown may empty the others."""
    later = [(1, 0, HOME, 0, 0, b"http://b/\t2011")]
    table: Any = SimpleNamespace(
        raw_bucket=lambda *_: iter(later), opener=lambda _: lambda data, _: data
    )
    home = [Chunk(1, 0, 3, b"http://a/\t2010")]
    stream = Stream(table, b"", home, StoreView(frozenset({1})), is_full=True)
    rows = rows_in(Relation.SIGHTINGS, b"", [stream])
    assert [row.values for row in rows] == [(b"http://a/\t2010",), (b"http://b/\t2011",)]


row_keys = st.tuples(st.integers(0, 2**22), st.integers(0, 2**20 - 1), st.integers(0, 2**24))


@settings(deadline=None)
@given(row_keys, row_keys)
def test_two_streams_share_no_bucket_except_the_first(
    one: tuple[int, int, int], other: tuple[int, int, int]
) -> None:
    for row_key in (one, other):
        assert (bucket_of(*row_key) <= 0) == (row_key[2] < HOME)
    if one[:2] != other[:2] and min(one[2], other[2]) >= HOME:
        assert bucket_of(*one) != bucket_of(*other)


@given(st.frozensets(st.integers(1, 2**22)))
def test_the_home_buckets_of_a_view_are_those_of_its_loads(loads: frozenset[int]) -> None:
    """In the order of the loads, with bucket 0, where earlier versions had all rows."""
    homes = StoreView(loads).homes
    assert homes == list(dict.fromkeys([0, *(bucket_of(load, 0, 0) for load in sorted(loads))]))
    assert all(bucket_of(load, 7, HOME - 1) in homes for load in loads)
    assert len(homes) <= 1 + max(loads, default=0) // LOADS_TOGETHER


rows = st.lists(
    st.tuples(
        st.integers(1, 3),
        st.integers(0, 1),
        st.integers(0, 2),
        st.sampled_from([0, 4, 5, 6]),
        st.integers(0, 1),
        st.binary(max_size=2),
    ),
    max_size=30,
    unique_by=lambda row: row[:5],
).map(sorted)


@settings(deadline=None)
@given(rows, st.frozensets(st.integers(1, 3)), st.frozensets(st.sampled_from([4, 5, 6])))
def test_each_row_has_the_newest_version_of_the_finished_steps(
    table: list[tuple[int, int, int, int, int, bytes]],
    loads: frozenset[int],
    versions: frozenset[int],
) -> None:
    expected = {}
    for load, part, chunk in {row[:3] for row in table if row[0] in loads}:
        known = [
            row for row in table if row[:3] == (load, part, chunk) and row[3] in versions | {0}
        ]
        newest = max((row[3] for row in known), default=None)
        data = b"".join(row[5] for row in known if row[3] == newest)
        if data:
            expected[load, part, chunk] = data
    assert list(believed(table, StoreView(loads, versions))) == [
        Chunk(*row_key, data) for row_key, data in sorted(expected.items())
    ]


def test_facts_are_read_back() -> None:
    facts = Facts(
        "load",
        3,
        4,
        5,
        6,
        "2010",
        "2011",
        True,
        9,
        {7: (1, 2, 3, 4, 5)},
        {1: ("2010", "2012")},
        ("p", "0", "9", True, "r", "t"),
    )
    assert facts_of(facts.as_json()) == Facts(
        **{
            **{name: getattr(facts, name) for name in Facts.__slots__},
            "removed": {7: [1, 2, 3, 4, 5]},
        }
    )


def test_the_schema_has_each_table_with_the_columns_that_are_asked_for() -> None:
    made = {
        found[1]: statement
        for statement in statements()
        if (found := re.match(r"CREATE TABLE IF NOT EXISTS (\w+)", statement))
    }
    assert {*KEYED, *NUMBERED} < made.keys()
    for table, key in KEYED.items():
        assert f"PRIMARY KEY (({key}, bucket), load, part, chunk, version, piece)" in made[table]
    for table in NUMBERED:
        assert "PRIMARY KEY ((load, part, chunk), version, piece)" in made[table]


def test_each_table_has_a_comment_with_the_query_it_answers() -> None:
    for file in (files("arclink.engines.cassandra") / "cql").iterdir():
        if file.name.endswith(".cql"):
            comments = re.split(r"CREATE TABLE[^;]*;", file.read_text("utf-8"))[:-1]
            assert all(re.search(r"-- .*\?", comment) for comment in comments), file.name
