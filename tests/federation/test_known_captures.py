"""How many captures have known links, in an answer merged from archives.

One archive's captures are split over several, with overlaps, and each archive has read some of its
own. What one store of all would say is in the range that the merged answer gives.
"""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.answers import LinkAnswer, answer_link_query
from arclink.access.archives import ArchiveReport, Outcome
from arclink.access.formats import FORMATS
from arclink.known import KnownLinks
from arclink.model import Timestamp, UriR
from arclink.others.federation.instance_answers import (
    accepted_findings,
    as_received,
    parse_json_answer,
)
from arclink.others.federation.listings import parse_listing
from arclink.others.federation.merge import MergedQuery, answer_of, merge
from tests.store.memory_store import MemoryStore, Page, link

A, WWW = "http://a.example/", "http://www.a.example/"
NAMES = ("egypt", "iraq", "libya", "syria")
CAPTURES = [(uri, f"201{year}0101000000") for uri in (A, WWW) for year in range(4)]
LINKS = (link("http://b.example/", "B"),)
QUERIES = {
    "all time": (),
    "a span": (("from", "2011"), ("to", "2012")),
    "a time": (("at", "2012"),),
    "before all": (("at", "2000"),),
}

Holdings = Mapping[str, Mapping[tuple[str, str], bool]]
"""The captures of each archive: whether it has read them."""


def _page(capture: tuple[str, str], *, is_read: bool) -> Page:
    uri, time = capture
    if is_read:
        return Page(uri, time, LINKS)
    return Page(uri, time, None, status="503", reason="PAYLOAD_DAMAGED")


def _store(held: Mapping[tuple[str, str], bool]) -> MemoryStore:
    return MemoryStore([_page(one, is_read=is_read) for one, is_read in held.items()])


def merged(
    holdings: Holdings, query: MergedQuery, *, listing: frozenset[str], by_json: bool
) -> LinkAnswer:
    """Return the merged answer; archives outside ``listing`` do not list their captures."""
    found = []
    for name, held in holdings.items():
        answer = answer_link_query(_store(held), query.query)
        received = as_received(answer)
        if by_json:
            received = parse_json_answer(b"".join(FORMATS["json"].write(answer)))
        one, _ = accepted_findings(received, query.query, name)
        if name in listing:
            listed = frozenset((UriR(uri), Timestamp(time)) for uri, time in held)
            one = replace(one, captures={name: listed})
        found.append(one)
    reports = [ArchiveReport(name, Outcome.ANSWERED) for name in holdings]
    return answer_of(merge(found), query, reports)


@pytest.mark.parametrize("name", QUERIES)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_what_one_store_would_say_is_in_the_range_of_the_merged_answer(
    name: str, data: st.DataObject
) -> None:
    of_one = st.dictionaries(st.sampled_from(CAPTURES), st.booleans(), min_size=1)
    holdings = data.draw(st.dictionaries(st.sampled_from(NAMES), of_one, min_size=1))
    listing = data.draw(st.just(frozenset(holdings)) | st.frozensets(st.sampled_from(NAMES)))
    all_of_them: dict[tuple[str, str], bool] = {}
    for held in holdings.values():
        for capture, is_read in held.items():
            all_of_them[capture] = all_of_them.get(capture, False) or is_read
    query = MergedQuery.from_parameters([("uri", A), *QUERIES[name]])
    by_json = data.draw(st.booleans())
    answer = merged(holdings, query, listing=listing, by_json=by_json)
    expected = answer_link_query(_store(all_of_them), query.query).mementos
    found = answer.mementos
    assert found.links_known <= expected.links_known <= found.links_known + found.perhaps_known
    assert 0 <= found.links_known + found.perhaps_known <= found.asked <= found.count
    if listing >= set(holdings):
        assert (found.count, found.first, found.last, found.asked) == (
            *(expected.count, expected.first, expected.last),
            expected.asked,
        )
        if name == "a time" or len(holdings) == 1:
            assert not found.perhaps_known


def test_two_archives_that_read_the_same_two_of_three_captures_do_not_know_three() -> None:
    held = {one: one[1] != "20120101000000" for one in CAPTURES[:3]}
    query = MergedQuery.from_parameters([("uri", A)])
    holdings = {"egypt": held, "iraq": held}
    answer = merged(holdings, query, listing=frozenset(holdings), by_json=True)
    (text,) = FORMATS["json"].write(answer)
    assert b'"links_known":2,"links_known_at_most":3' in text.replace(b" ", b"")
    table = b"".join(FORMATS["table"].write(answer)).decode()
    assert "the links of 2 to 3 are known" in table


def test_captures_that_no_other_archive_has_are_known_for_certain() -> None:
    """Three archives have a common capture, and each has one of its own; each has read both."""
    holdings = {
        name: {CAPTURES[3]: True, capture: True}
        for name, capture in zip(NAMES[:3], CAPTURES[:3], strict=True)
    }
    query = MergedQuery.from_parameters([("uri", A)])
    mementos = merged(holdings, query, listing=frozenset(holdings), by_json=False).mementos
    assert mementos.asked == 4
    assert (mementos.links_known, mementos.perhaps_known) == (4, 0)


def of_inlinks(*stores: MemoryStore, form: str, listing: bool = False) -> LinkAnswer:
    """Return the merged answer about the inlinks of a page that no page links to."""
    query = MergedQuery.from_parameters([("uri", "http://c.example/"), ("direction", "in")])
    found = []
    for name, store in zip(NAMES, stores, strict=False):
        body = b"".join(FORMATS[form].write(answer_link_query(store, query.query)))
        received = (
            parse_json_answer(body) if form == "json" else parse_listing(body, query.query.uri)
        )
        one, _ = accepted_findings(received, query.query, name)
        captures = {(UriR(A), Timestamp("20100101000000"))}
        found.append(replace(one, captures={name: frozenset(captures)}) if listing else one)
    return answer_of(merge([*found, *found]), query, ())


@pytest.mark.parametrize("form", ["json", "rdfxml"])
@settings(deadline=None, max_examples=40)
@given(
    holdings=st.lists(
        st.dictionaries(st.sampled_from(CAPTURES), st.booleans()), min_size=1, max_size=4
    )
)
def test_a_merged_none_names_the_captures_that_all_archives_have_together(
    form: str, holdings: list[dict[tuple[str, str], bool]]
) -> None:
    stores = [
        MemoryStore(
            Page(uri, time, LINKS if is_read else None) for (uri, time), is_read in held.items()
        )
        for held in holdings
    ]
    known = of_inlinks(*stores, form=form).known_inlinks()
    captures = sum(map(len, holdings))
    read = sum(sum(held.values()) for held in holdings)
    assert (known.captures, known.read) == (captures, read)
    table = b"".join(FORMATS["table"].write(of_inlinks(*stores, form=form))).decode()
    assert f"INLINKS: {KnownLinks(captures, read).none('yet')}\n" in table


@pytest.mark.parametrize("form", ["json", "rdfxml"])
def test_archives_that_are_seen_to_have_one_capture_do_not_add_their_numbers(form: str) -> None:
    store = _store({CAPTURES[0]: True})
    assert of_inlinks(store, store, form=form).known_inlinks() == KnownLinks(2, 2)
    known = of_inlinks(store, store, form=form, listing=True).known_inlinks()
    assert (known.captures, known.is_known) == (None, True)


@pytest.mark.parametrize(
    "told", [None, {}, {"captures": 1}, {"captures": True, "read": 1}], ids=str
)
@pytest.mark.parametrize("is_known", [False, True])
def test_an_archive_that_tells_no_numbers_leaves_the_merged_answer_without_one(
    told: object, *, is_known: bool
) -> None:
    counted = {"inlinks_known": True, "inlinks_read_from": {"captures": 3, "read": 2}}
    query = MergedQuery.from_parameters([("uri", A), ("direction", "in")])
    found = []
    for name, members in (
        ("egypt", counted),
        ("iraq", {"inlinks_known": is_known, "inlinks_read_from": told}),
    ):
        document = {"uri": A, "outlinks": [], "inlinks": [], **members}
        received = parse_json_answer(json.dumps(document).encode())
        found.append(accepted_findings(received, query.query, name)[0])
    answer = answer_of(merge(found), query, ())
    assert (answer.known_inlinks().captures, answer.known_inlinks().is_known) == (None, True)
    assert "INLINKS: none\n" in b"".join(FORMATS["table"].write(answer)).decode()
