"""Links per host and domain, compared with a plain count over all links and mementos."""

from collections import defaultdict
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.levels import LevelAnswer, LevelQuery, answer_level
from arclink.access.queries import BadParameterError
from arclink.access.reader import Budget
from arclink.access.tallies import Counts
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of
from tests.store.memory_store import MemoryStore, Page, link

A, WWW = "http://a.example/", "http://www.a.example/"
NEWS, SPORT, OTHER = (
    "http://news.bbc.co.uk:8080/x",
    "https://www.sport.bbc.co.uk/",
    "http://o.example/",
)
T1, T2, T3 = "20091231235959", "20100101000000", "20100201000000"

Numbers = tuple[int, int, int, int, int, str, str]
Key = tuple[str, str, str]
"""Direction, host or domain, period; an empty period for all times."""

DOMAINS = {
    "news.bbc.co.uk": "bbc.co.uk",
    "sport.bbc.co.uk": "bbc.co.uk",
    "o.example": "o.example",
    "a.example": "a.example",
    "": "",
}


def ask(store: GraphStore, budget: Budget | None = None, **parameters: str) -> LevelAnswer:
    return answer_level(
        store,
        LevelQuery.from_parameters(
            [
                *(("uri", A), ("limit", "0")),
                *((name.rstrip("_"), text) for name, text in parameters.items()),
            ]
        ),
        budget,
    )


def numbers(counts: Counts) -> Numbers:
    return *counts[:5], counts.first.timestamp, counts.last.timestamp


def counts_of(answer: LevelAnswer, period: str = "") -> dict[Key, Numbers]:
    return {
        (direction.value, row.links.name, period): numbers(row.counts)
        for direction, rows in answer.counted.items()
        for row in rows
    }


def links_of(answer: LevelAnswer) -> dict[Key, int]:
    return {
        (direction.value, row.links.name, period): links
        for direction, rows in answer.counted.items()
        for row in rows
        for period, links in row.links.over_time.items()
    }


def host(uri: str) -> str:
    return (urlsplit(uri).hostname or "").removeprefix("www.")


def plainly(pages: list[Page], level: str, digits: int) -> dict[Key, Numbers]:
    seen: dict[Key, list[tuple[Page, str, tuple[str, ...]]]] = defaultdict(list)
    for page in pages:
        for one in page.links or ():
            ends: list[tuple[str, str]] = (
                [("out", one.target)] if surt_of(page.original) == surt_of(A) else []
            )
            ends += [("in", page.original)] if surt_of(one.target) == surt_of(A) else []
            for direction, other in ends:
                name = host(other) if level == "host" else DOMAINS[host(other)]
                period = (
                    page.timestamp[:4]
                    if digits == 4
                    else f"{page.timestamp[:4]}-{page.timestamp[4:6]}"
                )
                for when in ("", period):
                    seen[direction, name, when].append(
                        (page, other, (other, one.kind, one.text, str(one.rel)))
                    )
    return {
        key: (
            len({one for _, _, one in found}),
            len({page.content for page, _, _ in found}),
            len({surt_of(other) for _, other, _ in found}),
            len({(page.original, page.timestamp) for page, _, _ in found}),
            len({host(other) for _, other, _ in found} - {""}),
            min(page.timestamp for page, _, _ in found),
            max(page.timestamp for page, _, _ in found),
        )
        for key, found in seen.items()
    }


uris = st.sampled_from([A, WWW, NEWS, SPORT, OTHER, "mailto:a@b.example"])
links = st.builds(
    link, uris, st.sampled_from(["", "News"]), rel=st.sampled_from([None, "nofollow"])
)
pages = st.builds(
    Page,
    st.sampled_from([A, WWW, NEWS, SPORT, OTHER]),
    st.sampled_from([T1, T2, T3]),
    st.none() | st.lists(links, max_size=4).map(tuple),
    is_shared=st.booleans(),
)


@pytest.mark.parametrize("level", ["host", "domain"])
@pytest.mark.parametrize(("by", "digits"), [("month", 6), ("year", 4)])
@settings(max_examples=60, deadline=None)
@given(archive=st.lists(pages, max_size=7))
def test_counts_are_those_of_the_plain_definition(
    level: str, by: str, digits: int, archive: list[Page]
) -> None:
    store = MemoryStore(archive)
    answer = ask(store, level=level, by=by)
    found, over_time = counts_of(answer), links_of(answer)
    for period in {period for _, _, period in over_time}:
        found |= counts_of(ask(store, level=level, from_=period, to=period), period)
    expected = plainly(archive, level, digits)
    assert found == expected
    assert over_time == {key: links for key, (links, *_) in expected.items() if key[2]}
    assert all(extent.is_complete for extent in answer.extents.values())


def test_rows_with_most_links_come_first_up_to_the_limit() -> None:
    store = MemoryStore([Page(A, T1, [link(OTHER), link(NEWS, "a"), link(NEWS, "b")])])
    answer = answer_level(
        store,
        LevelQuery.from_parameters(
            [("uri", A), ("level", "host"), ("direction", "out"), ("limit", "1")]
        ),
    )
    assert (
        [one.links.name for one in next(iter(answer.counted.values()))],
        [len(links) for links in answer.links.values()],
    ) == (["news.bbc.co.uk"], [2])


def test_a_range_is_counted_alone() -> None:
    store = MemoryStore([Page(NEWS, T1, [link(A)]), Page(NEWS, T3, [link(A)])])
    answer = ask(store, level="host", to="2009")
    assert {*counts_of(answer), *links_of(answer)} == {
        ("in", "news.bbc.co.uk", ""),
        ("in", "news.bbc.co.uk", "2009-12"),
    }


@pytest.mark.parametrize("budget", [Budget(counted=20), Budget(rows=20)], ids=["counted", "rows"])
def test_a_count_of_a_hub_stops_at_the_budget_and_says_so(budget: Budget) -> None:
    pages = [
        Page(f"http://h{number}.example/", T1, [link(A)], is_shared=False) for number in range(60)
    ]
    for minute in range(60):
        pages.append(
            Page(
                A,
                f"2010010100{minute:02}00",
                [link(f"http://h{number}.example/") for number in range(minute, 60)],
            )
        )
    answer = ask(MemoryStore(pages), budget, level="host", direction="in")
    (extent,) = answer.extents.values()
    assert (
        extent.is_complete,
        sum(one.counts.links for one in next(iter(answer.counted.values()))),
    ) == (False, 20)
    (extent,) = ask(
        MemoryStore(pages), Budget(rows=20), level="host", direction="out"
    ).extents.values()
    assert not extent.is_complete


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        pytest.param({"level": "page"}, "level", id="level"),
        pytest.param({"level": "host", "by": "host"}, "by", id="by"),
        pytest.param({"level": "host", "cursor": "x"}, "cursor", id="cursor"),
        pytest.param({"level": "host", "evidence": "true"}, "evidence", id="evidence"),
    ],
)
def test_a_wrong_parameter_is_named(parameters: dict[str, str], name: str) -> None:
    with pytest.raises(BadParameterError) as raised:
        LevelQuery.from_parameters([("uri", A), *parameters.items()])
    assert raised.value.name == name
