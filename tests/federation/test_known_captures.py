"""How many captures have known links, in an answer merged from archives.

One archive's captures are split over several, with overlaps, and each archive has read some of its
own. What one store of all would say is in the range that the merged answer gives.
"""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.answers import LinkAnswer, answer_link_query
from arclink.access.archives import ArchiveReport, Outcome
from arclink.access.formats import FORMATS
from arclink.federation.instance_answers import as_received
from arclink.federation.json_answers import parse_json_answer
from arclink.federation.merge import merge
from arclink.federation.merged_answers import MergedQuery, answer_of
from arclink.federation.validation import accepted_findings
from arclink.model import Timestamp, UriR
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
