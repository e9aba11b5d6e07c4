"""The times between which a link appeared and disappeared, compared with a plain definition."""

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.answers import LinkAnswer, answer_link_query
from arclink.access.evidence import Dating
from arclink.access.formats import FORMATS
from arclink.access.queries import BadParameterError, Direction, LinkQuery
from arclink.access.reader import Reading, Validity
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of
from tests.store.memory_store import MemoryStore, Page, link

A, B, C, WWW = (
    "http://a.example/",
    "http://b.example/",
    "http://c.example/x",
    "http://www.a.example/",
)
TIMES = ["20090101000000", "20100101000000", "20110101000000", "20120101000000", "20130101000000"]
T1, T2, T3, T4, T5 = TIMES

Key = tuple[str, str, str, str | None]
Found = dict[Key, tuple[str | None, ...] | None]


def ask(store: GraphStore, **parameters: str) -> LinkAnswer:
    given = [(name.rstrip("_"), value) for name, value in parameters.items()]
    return answer_link_query(
        store, LinkQuery.from_parameters([("uri", A), ("validity", "true"), *given])
    )


def validities_of(answer: LinkAnswer) -> Found:
    return {
        (direction, one.uri, one.text, one.rel): one.validity
        for direction, members in (("out", answer.outlinks), ("in", answer.inlinks))
        for one in members
    }


def plainly(pages: list[Page], key: Key) -> tuple[str | None, ...]:
    direction, uri, text, rel = key

    def shows(page: Page) -> bool:
        return any(
            (one.text, one.rel) == (text, rel)
            and (one.target == uri if direction == "out" else surt_of(one.target) == surt_of(A))
            for one in page.links or ()
        )

    of_page = [
        page
        for page in pages
        if (surt_of(page.original) == surt_of(A) if direction == "out" else page.original == uri)
    ]
    having = [page for page in of_page if shows(page)]
    first, last = min(page.timestamp for page in having), max(page.timestamp for page in having)
    originals = {page.original for page in having}
    lacking = {
        page.timestamp
        for page in of_page
        if page.original in originals
        and not shows(page)
        and (page.links is not None or page.status == "404")
    }
    before, behind = (
        [when for when in lacking if when < first],
        [when for when in lacking if when > last],
    )
    return max(before, default=None), first, last, min(behind, default=None)


links = st.builds(
    link,
    st.sampled_from([A, WWW, B]),
    st.sampled_from(["", "News"]),
    rel=st.sampled_from([None, "nofollow"]),
)
originals = st.sampled_from([A, WWW, B, C])
read = st.builds(
    Page,
    originals,
    st.sampled_from(TIMES),
    st.lists(links, max_size=3, unique=True).map(tuple),
    is_shared=st.booleans(),
)
gone = st.builds(
    Page, originals, st.sampled_from(TIMES), st.none(), st.just("404"), st.just("MEMENTO_STATUS")
)
unread = st.builds(
    Page, originals, st.sampled_from(TIMES), st.none(), reason=st.just("PAYLOAD_NOT_AT_HAND")
)


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({}, id="all time"),
        pytest.param({"from_": T2, "to": T3}, id="a range"),
        pytest.param({"at": T3}, id="at a time"),
        pytest.param({"limit": "0"}, id="as a stream"),
    ],
)
@settings(max_examples=80, deadline=None)
@given(pages=st.lists(read | read | gone | unread, max_size=9))
def test_validity_is_that_of_the_plain_definition(
    parameters: dict[str, str], pages: list[Page]
) -> None:
    found = validities_of(ask(MemoryStore(pages), **parameters))
    assert found == {key: plainly(pages, key) for key in found}


def test_the_four_mementos_of_a_link_that_came_and_went() -> None:
    pages = [
        Page(B, T1),
        Page(B, T2, [link(A, "x")]),
        Page(B, T3, [link(A, "x"), link(C)]),
        Page(B, T4, None, "404", "MEMENTO_STATUS"),
    ]
    assert list(validities_of(ask(MemoryStore(pages))).values()) == [Validity(T1, T2, T3, T4)]  # type: ignore[arg-type]  # plain texts


def test_a_page_that_was_not_captured_before_was_not_without_the_link() -> None:
    pages = [
        Page(B, T2, [link(A, "x")]),
        Page(C, T1),
        Page(B, T3, None, reason="PAYLOAD_NOT_AT_HAND"),
    ]
    assert list(validities_of(ask(MemoryStore(pages))).values()) == [(None, T2, T2, None)]


def test_every_format_with_validity_has_the_same_one() -> None:
    store = MemoryStore([Page(B, T1), Page(B, T2, [link(A, "x")]), Page(B, T3)])
    answer = ask(store)
    expected = {"last_without": T1, "first_with": T2, "last_with": T2, "first_without": T3}
    assert json.loads(b"".join(FORMATS["json"].write(answer)))["inlinks"][0]["validity"] == expected
    assert json.loads(b"".join(FORMATS["jsonl"].write(answer)))["validity"] == expected
    (row,) = csv.DictReader(io.StringIO(b"".join(FORMATS["csv"].write(answer)).decode()))
    assert {name: row[name] for name in expected} == expected
    assert (
        "2009-01-01 00:00:00  2011-01-01 00:00:00"
        in b"".join(FORMATS["table"].write(answer)).decode()
    )
    with pytest.raises(
        BadParameterError,
        match="only table, json, jsonl, csv, spreadsheet, parquet, csvw, and RDF with "
        "profile=links, show it",
    ):
        FORMATS["turtle"].check(answer.query)


@settings(max_examples=60, deadline=None)
@given(pages=st.lists(read | gone, max_size=9), rows=st.integers(0, 25))
def test_validities_beyond_the_budget_are_left_out_and_the_others_are_right(
    pages: list[Page], rows: int
) -> None:
    store = MemoryStore(pages)
    found = validities_of(ask(store, limit="0"))
    plain = answer_link_query(store, LinkQuery.from_parameters([("uri", A)]))
    for direction, members in ((Direction.OUT, plain.outlinks), (Direction.IN, plain.inlinks)):
        dating = Dating(Reading(store, plain.query), rows)
        for member in members:
            validity = dating.with_validity(member, direction).validity
            assert (
                validity is None
                or validity == found[direction.value, member.uri, member.text, member.rel]
            )
            assert validity is None or rows > 0
