"""Links through time, compared with counts by host and text, and with readings of fewer links."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.access.chronicles import (
    LinkCounts,
    SeenLinks,
    seen_inlinks,
    seen_outlinks,
    text_of_link,
)
from arclink.access.levels import AnchorsQuery, GroupLevel, LevelQuery, answer_anchors, answer_level
from arclink.access.queries import Direction, LinkQuery
from arclink.access.reader import Budget, Reading
from arclink.access.tallies import Period
from tests.store.memory_store import MemoryStore, Page, link

A, WWW, B, C = (
    "http://a.example/",
    "http://www.a.example/",
    "http://b.example/",
    "http://c.example/x",
)
TIMES = ("20091231235959", "20100101000000", "20100201000000", "20100201120000")

targets = st.sampled_from((A, WWW, B, C, "mailto:x@a.example"))
links = st.lists(st.builds(link, targets, st.sampled_from(("", "x", "y"))), max_size=4)
pages = st.lists(
    st.builds(Page, st.sampled_from((A, WWW, B, C)), st.sampled_from(TIMES), links), max_size=9
)


def counted(found: list[LinkCounts[str]]) -> dict[str, tuple[int, dict[str, int], str, str]]:
    return {one.name: (one.links, one.over_time, one.first, one.last) for one in found}


@given(pages, st.sampled_from(Period))
def test_counts_by_host_and_text_are_those_of_levels_and_anchors(
    some: list[Page], unit: Period
) -> None:
    store, query = MemoryStore(some), LinkQuery.from_parameters([("uri", A)])
    answer = answer_level(store, LevelQuery(query, level=GroupLevel.HOST, period=unit, limit=0))
    sides = {
        Direction.IN: seen_inlinks(Reading(store, query), Budget()),
        Direction.OUT: seen_outlinks(Reading(store, query), Budget()),
    }
    for direction, seen in sides.items():
        assert seen.extent.is_complete
        assert counted(seen.by_name(unit, seen.host)) == {
            row.links.name: (
                row.counts.links,
                row.links.over_time,
                row.counts.first.timestamp,
                row.counts.last.timestamp,
            )
            for row in answer.counted[direction]
        }
    words: dict[str, Counter[str]] = {}
    for anchor in answer_anchors(store, AnchorsQuery(query, period=unit, limit=0)).anchors:
        words.setdefault(anchor.text, Counter())[anchor.period] += anchor.counts.links
    by_text = sides[Direction.IN].by_name(unit, text_of_link)
    assert {one.name: Counter(one.over_time) for one in by_text} == words
    in_all = Counter(period for periods in words.values() for period in periods.elements())
    assert Counter(sides[Direction.IN].by_unit(unit)) == in_all


SELECTIONS: tuple[dict[str, str], ...] = (
    {},
    {"from": "2010"},
    {"to": "2009"},
    {"from": "20100201", "to": "20100201"},
    {"kinds": "a@href"},
    {"kinds": "navigation", "redirects": "no"},
    {"redirects": "only"},
    {"filter": "text:x"},
    {"at": "2010"},
)


@given(pages, st.sampled_from(SELECTIONS), st.sampled_from((*Period, None)), st.booleans())
def test_links_that_were_read_give_the_answers_of_any_narrower_query(
    some: list[Page], selection: dict[str, str], period: Period | None, is_by_host: bool
) -> None:
    store, given = MemoryStore(some), [("uri", A)]
    known = seen_inlinks(Reading(store, LinkQuery.from_parameters(given)), Budget())
    links = LinkQuery.from_parameters([*given, *selection.items()])
    words = AnchorsQuery(links, period=period, is_by_host=is_by_host, limit=0)
    assert answer_anchors(store, words, known=known).anchors == answer_anchors(store, words).anchors
    hosts = LevelQuery(links, level=GroupLevel.HOST, limit=0)
    again, anew = (answer_level(store, hosts, known=one) for one in (known, None))
    assert {side: len(rows) for side, rows in again.links.items()} == {
        side: len(rows) for side, rows in anew.links.items()
    }
    assert {
        side: [(row.links.over_time, row.counts) for row in rows]
        for side, rows in again.counted.items()
    } == {
        side: [(row.links.over_time, row.counts) for row in rows]
        for side, rows in anew.counted.items()
    }


def test_links_are_read_again_only_if_those_known_are_not_all() -> None:
    store = MemoryStore(
        [
            Page(B, TIMES[0], [link(A, "x"), link(A, "y", kind="img@src")]),
            Page(C, TIMES[1], [link(A, "z", kind="img@src")]),
        ]
    )

    def read(known: SeenLinks | None, **selection: str) -> SeenLinks:
        query = LinkQuery.from_parameters([("uri", A), *selection.items()])
        return seen_inlinks(Reading(store, query), Budget(), known)

    everything = read(None)
    part = seen_inlinks(Reading(store, LinkQuery.from_parameters([("uri", A)])), Budget(counted=1))
    assert read(everything) is everything
    assert read(part) is part
    assert read(part, kinds="img@src").times == read(everything, kinds="img@src").times
    assert len(read(part, kinds="img@src").times) == 2
    assert read(SeenLinks(), kinds="img@src").times == {}


def test_a_link_in_two_contents_of_a_page_has_the_times_of_both() -> None:
    store = MemoryStore(
        [
            Page(B, TIMES[0], [link(A, "x")]),
            Page(B, TIMES[2], [link(WWW, "x"), link(C, "new")]),
            Page(B, TIMES[1], [link(A, "x")]),
        ]
    )
    seen = seen_inlinks(Reading(store, LinkQuery.from_parameters([("uri", A)])), Budget())
    assert list(map(list, seen.times.values())) == [[*TIMES[:3]]]
    assert seen.span() == (TIMES[0], TIMES[2])
    assert seen.by_unit(Period.YEAR) == {"2009": 1, "2010": 1}


@pytest.mark.parametrize("budget", [Budget(counted=5), Budget(rows=5)], ids=["counted", "rows"])
def test_what_is_counted_is_bounded(budget: Budget) -> None:
    store = MemoryStore(
        [
            Page(f"http://p{number}.example/", TIMES[0], [link(A, str(number))])
            for number in range(20)
        ]
    )
    seen = seen_inlinks(Reading(store, LinkQuery.from_parameters([("uri", A)])), budget)
    assert (len(seen.times), seen.extent.links, seen.extent.is_complete) == (5, 5, False)
