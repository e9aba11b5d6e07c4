"""Added, removed and kept links between two times, compared with a plain definition."""

from itertools import groupby
from operator import attrgetter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.differences import Change, DiffAnswer, DiffQuery, answer_diff
from arclink.access.formats.link_rows import diff_as_rows
from arclink.access.formats.rows import ROW_FORMATS
from arclink.access.queries import BadParameterError, Direction
from arclink.access.reader import Budget, State
from arclink.access.replay import parse_replay
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of
from tests.store.memory_store import MemoryStore, Page, link

A, B, C, WWW = (
    "http://a.example/",
    "http://b.example/",
    "http://c.example/x",
    "http://www.a.example/",
)
TIMES = ["20090101000000", "20100101000000", "20110101000000", "20120101000000"]
T1, T2, T3, T4 = TIMES

Link = tuple[str, str, str, str, str | None]
"""Direction, URI at the other end, kind, text, rel."""


def ask(
    store: GraphStore, first: str, last: str, budget: Budget | None = None, **parameters: str
) -> DiffAnswer:
    query = DiffQuery.from_parameters(
        [("uri", A), ("from", first), ("to", last), ("limit", "0"), *parameters.items()]
    )
    return answer_diff(store, query, budget)


def changes(answer: DiffAnswer) -> dict[Link, tuple[str, str | None]]:
    """Return change and state at the other time of each link."""
    return {
        (one.direction.value, *one.key): (
            change.value,
            None if one.elsewhere is None else one.elsewhere.value,
        )
        for change, links in answer.links.items()
        for one in links
    }


def in_force(pages: list[Page], time: str) -> dict[str, list[Page]]:
    """Return for each original its newest captures not after ``time``."""
    found = {}
    for original, same in groupby(
        sorted(pages, key=attrgetter("original", "timestamp")), attrgetter("original")
    ):
        captures = [page for page in same if page.timestamp <= time]
        if captures:
            found[original] = [
                page for page in captures if page.timestamp == captures[-1].timestamp
            ]
    return found


def shown(pages: list[Page], time: str) -> dict[Link, set[str]]:
    """Return which originals show which link at ``time``."""
    found: dict[Link, set[str]] = {}
    for original, captures in in_force(pages, time).items():
        for page in captures:
            for one in page.links or ():
                if surt_of(original) == surt_of(A):
                    found.setdefault(("out", one.target, one.kind, one.text, one.rel), set()).add(
                        original
                    )
                if surt_of(one.target) == surt_of(A):
                    found.setdefault(("in", original, one.kind, one.text, one.rel), set()).add(
                        original
                    )
    return found


def state(pages: list[Page], original: str, time: str) -> str:
    captures = in_force(pages, time).get(original, [])
    if any(page.links is not None for page in captures):
        return "read"
    if any(page.status == "404" for page in captures):
        return "no page"
    return "not read" if captures else "not captured"


def plainly(pages: list[Page], first: str, last: str) -> dict[Link, tuple[str, str | None]]:
    before, after = shown(pages, first), shown(pages, last)
    found: dict[Link, tuple[str, str | None]] = {}
    for one in {**before, **after}:
        if one in before and one in after:
            found[one] = ("kept", None)
            continue
        originals, other, word = (
            (before[one], last, "removed") if one in before else (after[one], first, "added")
        )
        states = {state(pages, original, other) for original in originals}
        if "not read" in states or states == {"not captured"}:
            found[one] = ("unknown", "not read" if "not read" in states else "not captured")
        else:
            found[one] = (word, "read" if "read" in states else "no page")
    return found


links = st.builds(
    link,
    st.sampled_from([A, WWW, B, C]),
    st.sampled_from(["", "News"]),
    rel=st.sampled_from([None, "nofollow"]),
)
read = st.builds(
    Page,
    st.sampled_from([A, WWW, B, C]),
    st.sampled_from(TIMES),
    st.lists(links, max_size=3, unique=True).map(tuple),
    is_shared=st.booleans(),
)
gone = st.builds(
    Page,
    st.sampled_from([A, WWW, B, C]),
    st.sampled_from(TIMES),
    st.none(),
    st.just("404"),
    st.just("MEMENTO_STATUS"),
)
unread = st.builds(
    Page,
    st.sampled_from([A, WWW, B, C]),
    st.sampled_from(TIMES),
    st.none(),
    reason=st.just("PAYLOAD_NOT_AT_HAND"),
)
archives = st.lists(read | read | gone | unread, max_size=9)


@pytest.mark.costly
@settings(max_examples=150, deadline=None)
@given(pages=archives, times=st.lists(st.sampled_from(TIMES), min_size=2, max_size=2).map(sorted))
def test_changes_are_those_of_the_plain_definition(pages: list[Page], times: list[str]) -> None:
    answer = ask(MemoryStore(pages), times[0], times[1])
    assert changes(answer) == plainly(pages, times[0], times[1])
    assert all(extent.is_complete for extent in answer.extents.values())


@pytest.mark.costly
@settings(max_examples=150, deadline=None)
@given(
    pages=archives, budget=st.builds(Budget, rows=st.integers(1, 30), look_ups=st.integers(1, 5))
)
def test_changes_of_a_hub_are_true_even_if_they_are_incomplete(
    pages: list[Page], budget: Budget
) -> None:
    answer = ask(MemoryStore(pages), T2, T3, budget)
    found, true = changes(answer), plainly(pages, T2, T3)
    assert {one: change for one, change in true.items() if one in found} == found
    for direction, extent in answer.extents.items():
        if extent.is_complete:
            assert {one for one in found if one[0] == direction.value} == {
                one for one in true if one[0] == direction.value
            }


def test_a_link_that_moved_to_a_later_content_is_not_removed() -> None:
    hosts = [f"http://h{number}.example/" for number in range(20)]
    pages = [Page(host, T1, [link(A, host)]) for host in hosts] + [
        Page(host, T2, [link(A, host), link(C)]) for host in hosts
    ]
    answer = ask(MemoryStore(pages), T1, T2, Budget(look_ups=20))
    assert {change for change, _ in changes(answer).values()} <= {"kept"}
    assert not answer.extents[Direction.IN].is_complete


def test_links_of_a_page_that_was_not_captured_are_unknown() -> None:
    store = MemoryStore([Page(A, T3, [link(B, "x")]), Page(C, T3, [link(A, "y")])])
    answer = ask(store, T2, T3)
    assert set(changes(answer).values()) == {("unknown", "not captured")}
    assert (answer.before, [one.state for one in answer.after]) == ((), [State.READ])
    table = b"".join(ROW_FORMATS["table"].write(diff_as_rows(answer))).decode()
    assert (
        "At 2010-01-01 00:00:00: no captures by then to show, so its outlinks are unknown." in table
    )


def test_a_page_that_is_gone_has_lost_its_links_and_the_answer_says_why() -> None:
    store = MemoryStore(
        [Page(A, T1, [link(B, "x")]), Page(A, T2, None, status="404", reason="MEMENTO_STATUS")]
    )
    answer = ask(store, T1, T2)
    assert changes(answer) == {("out", B, "a@href", "x", None): ("removed", "no page")}
    assert [(one.memento.status, one.state) for one in answer.after] == [("404", State.NO_PAGE)]


def test_links_of_a_revisit_by_status_304_without_payload_are_unknown() -> None:
    store = MemoryStore(
        [
            Page(A, T1, [link(B, "x")]),
            Page(A, T2, None, status="304", reason="PAYLOAD_NOT_AT_HAND", record_type="revisit"),
        ]
    )
    assert changes(ask(store, T1, T2)) == {("out", B, "a@href", "x", None): ("unknown", "not read")}


def test_direction_kind_and_limit_narrow_the_answer() -> None:
    pages = [
        Page(A, T1, []),
        Page(A, T2, [link(B), link(C), link(C, kind="img@src")]),
        Page(B, T1, []),
        Page(B, T2, [link(A)]),
    ]
    assert {one[0] for one in changes(ask(MemoryStore(pages), T1, T2, direction="in"))} == {"in"}
    assert list(changes(ask(MemoryStore(pages), T1, T2, kind="img@src"))) == [
        ("out", C, "img@src", "", None)
    ]
    query = DiffQuery.from_parameters([("uri", A), ("from", T1), ("to", T2), ("limit", "1")])
    answer = answer_diff(MemoryStore(pages), query)
    assert len(answer.links[Change.ADDED]) == 1
    assert answer.totals[Direction.OUT][Change.ADDED] == 2
    of_all = ask(MemoryStore(pages), T1, T2, kinds="all")
    assert of_all.totals[Direction.OUT][Change.ADDED] == 3


def test_uri_ms_name_the_mementos_that_show_a_link() -> None:
    answer = ask(MemoryStore([Page(A, T1, [link(B, "x")]), Page(WWW, T2, [link(B, "x")])]), T1, T2)
    (row,) = diff_as_rows(answer, parse_replay("--replay", "http://w.example/")).sections["kept"]
    assert (row["before_uri_m"], row["after_uri_m"]) == (
        f"http://w.example/{T1}/{A}",
        f"http://w.example/{T2}/{WWW}",
    )


@pytest.mark.parametrize(
    ("parameters", "name", "allowed"),
    [
        pytest.param([("to", T1)], "from", "1 to 14 digits", id="no from"),
        pytest.param([("from", T1)], "to", "1 to 14 digits", id="no to"),
        pytest.param([("from", T2), ("to", T1)], "from", "not after to", id="backwards"),
        pytest.param([("from", "20101301"), ("to", T1)], "from", "1 to 14 digits", id="no date"),
        pytest.param(
            [("from", T1), ("to", T1), ("at", T1)], "at", "one of the parameters", id="unknown"
        ),
    ],
)
def test_a_wrong_parameter_is_named(
    parameters: list[tuple[str, str]], name: str, allowed: str
) -> None:
    with pytest.raises(BadParameterError, match=allowed) as raised:
        DiffQuery.from_parameters([("uri", A), *parameters])
    assert raised.value.name == name
