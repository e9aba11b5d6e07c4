"""Texts of links to a page, compared with a plain count over all pages and links."""

from collections import defaultdict
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.formats.link_rows import anchors_as_rows
from arclink.access.formats.rows import ROW_FORMATS
from arclink.access.levels import AnchorsAnswer, AnchorsQuery, answer_anchors
from arclink.access.queries import BadParameterError
from arclink.access.reader import Budget
from arclink.access.replay import parse_replay
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of
from tests.store.memory_store import MemoryStore, Page, link

A, B, C, WWW = (
    "http://a.example/",
    "http://b.example/",
    "http://c.example/x",
    "http://www.b.example/",
)
T1, T2, T3 = "20091104000000", "20100116120000", "20100116130000"

Key = tuple[str, str, str]
Row = tuple[int, int, int, int, int, str, str, str]


def ask(
    store: GraphStore, uri: str = A, budget: Budget | None = None, **parameters: str
) -> AnchorsAnswer:
    given = [(name.rstrip("_"), value) for name, value in parameters.items()]
    return answer_anchors(store, AnchorsQuery.from_parameters([("uri", uri), *given]), budget)


def counts(answer: AnchorsAnswer) -> dict[Key, Row]:
    return {
        (one.period, one.host, one.text): (
            *one.counts[:5],
            one.counts.first.timestamp,
            one.counts.last.timestamp,
            " ".join(one.kinds),
        )
        for one in answer.anchors
    }


def plainly(pages: list[Page], digits: int, is_by_host: bool) -> dict[Key, Row]:
    """Return the counts as the words say it: look at every link of every page."""
    seen: dict[Key, list[tuple[Page, str, str | None]]] = defaultdict(list)
    for page in pages:
        for one in page.links or ():
            if surt_of(one.target) == surt_of(A):
                day = f"{page.timestamp[:4]}-{page.timestamp[4:6]}-{page.timestamp[6:8]}"[
                    : {0: 0, 4: 4, 6: 7, 8: 10}[digits]
                ]
                linking_host = host(page) if is_by_host else ""
                seen[day, linking_host, one.text].append((page, one.kind, one.rel))
    return {
        key: (
            len({(page.original, kind, rel) for page, kind, rel in found}),
            len({page.content for page, _, _ in found}),
            len({surt_of(page.original) for page, _, _ in found}),
            len({(page.original, page.timestamp) for page, _, _ in found}),
            len({host(page) for page, _, _ in found}),
            min(page.timestamp for page, _, _ in found),
            max(page.timestamp for page, _, _ in found),
            " ".join(sorted({kind for _, kind, _ in found})),
        )
        for key, found in seen.items()
    }


def host(page: Page) -> str:
    return (urlsplit(page.original).hostname or "").removeprefix("www.")


links = st.builds(
    link,
    st.sampled_from([A, "https://www.a.example/", B]),
    st.sampled_from(["", "News", "Official site"]),
    kind=st.sampled_from(["a@href", "img@src"]),
    rel=st.sampled_from([None, "nofollow"]),
)
pages = st.builds(
    Page,
    st.sampled_from([B, WWW, C]),
    st.sampled_from([T1, T2, T3, "20100117000000", "20101231235959"]),
    st.none() | st.lists(links, max_size=3).map(tuple),
    is_shared=st.booleans(),
)


@pytest.mark.parametrize(
    ("by", "digits", "is_by_host"),
    [
        pytest.param("", 0, False, id="all together"),
        pytest.param("day", 8, False, id="day"),
        pytest.param("month", 6, False, id="month"),
        pytest.param("year", 4, False, id="year"),
        pytest.param("host", 0, True, id="host"),
        pytest.param("host,month", 6, True, id="month and host"),
    ],
)
@settings(max_examples=40, deadline=None)
@given(archive=st.lists(pages, max_size=6, unique_by=lambda page: (page.original, page.timestamp)))
def test_counts_are_those_of_the_plain_definition(
    by: str, digits: int, is_by_host: bool, archive: list[Page]
) -> None:
    answer = ask(MemoryStore(archive), by=by, limit="0", kinds="all")
    assert counts(answer) == plainly(archive, digits, is_by_host)
    assert answer.extent.is_complete


def test_counts_by_day_are_those_of_table_6_in_the_paper() -> None:
    pages = [
        Page(B, T2, [link(A, "Vancouver 2010 Olympic Games")]),
        Page(B, T1, [link(A, "vancouver2010.com")]),
        Page(C, T3, [link("https://a.example/", "vancouver2010.com")]),
    ]
    answer = ask(MemoryStore(pages), by="day")
    assert [(one.period, one.text) for one in answer.anchors] == [
        ("2009-11-04", "vancouver2010.com"),
        ("2010-01-16", "Vancouver 2010 Olympic Games"),
        ("2010-01-16", "vancouver2010.com"),
    ]
    assert answer.mementos.count == 0


def test_range_time_and_kind_narrow_what_is_counted() -> None:
    pages = [
        Page(B, T1, [link(A, "old")]),
        Page(B, T2, [link(A, "new"), link(A, "logo", kind="img@src")]),
    ]
    store = MemoryStore(pages)
    assert [one.text for one in ask(store, to="2009").anchors] == ["old"]
    assert [one.text for one in ask(store, at="2010").anchors] == ["new"]
    assert [one.text for one in ask(store, at="2010", kinds="all").anchors] == ["logo", "new"]
    assert [one.text for one in ask(store, kind="img@src").anchors] == ["logo"]


def test_a_count_of_a_hub_stops_at_the_budget_and_says_so() -> None:
    store = MemoryStore(
        [
            Page(f"http://h{number}.example/", T1, [link(A, "x")], is_shared=False)
            for number in range(300)
        ]
    )
    answer = ask(store, budget=Budget(counted=100))
    assert (answer.extent.links, answer.extent.is_complete) == (100, False)
    assert answer.anchors[0].counts.links == 100
    assert not ask(store, budget=Budget(rows=50)).extent.is_complete
    table = b"".join(ROW_FORMATS["table"].write(anchors_as_rows(answer))).decode()
    assert "the first 100 links of contents: too many to count all of them" in table


def test_a_limit_cuts_rows_and_the_total_says_how_many_there_are() -> None:
    store = MemoryStore([Page(B, T1, [link(A, text) for text in "abc"])])
    answer = ask(store, limit="2")
    assert ([one.text for one in answer.anchors], answer.total) == (["a", "b"], 3)


def test_uri_ms_are_written_only_if_a_replay_prefix_is_known() -> None:
    answer = ask(MemoryStore([Page(B, T1, [link(A, "x")])]))
    assert (
        "first_uri_m" not in b"".join(ROW_FORMATS["json"].write(anchors_as_rows(answer))).decode()
    )
    written = b"".join(
        ROW_FORMATS["csv"].write(
            anchors_as_rows(answer, parse_replay("--replay", "https://w.example/web"))
        )
    ).decode()
    assert f"https://w.example/web/{T1}/{B}" in written


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        pytest.param("by", "week", "day, month, year or host", id="by"),
        pytest.param("by", "day,month", "one of the first and host", id="two periods"),
        pytest.param("limit", "-1", "a number from 1 to 999999, or 0", id="limit"),
        pytest.param("direction", "out", "one of the parameters uri", id="not a parameter here"),
        pytest.param("from", "x", "1 to 14 digits", id="time"),
    ],
)
def test_a_wrong_parameter_is_named(name: str, value: str, allowed: str) -> None:
    with pytest.raises(BadParameterError, match=allowed) as raised:
        AnchorsQuery.from_parameters([("uri", A), (name, value)])
    assert raised.value.name == name


def test_links_are_counted_at_the_time_of_the_query() -> None:
    pages = [Page(B, T1, [link(A, "old")]), Page(B, T2, [link(A, "new")]), Page(C, T2, [link(A)])]
    store = MemoryStore(pages)
    assert ask(store).extent.links == 3
    times: list[tuple[str, str, int]] = [
        ("to", T1, 1),
        ("from", T2, 2),
        ("at", T1, 1),
        ("to", "1999", 0),
    ]
    for name, time, links in times:
        answer = ask(store, A, None, **{name: time})
        assert answer.extent.links == links
        assert answer.extent.is_complete
        assert sum(one.counts.links for one in answer.anchors) == links
