"""Decay, churn and spread of links, compared with a plain count over all captures."""

from collections import Counter, defaultdict
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.members import Validity
from arclink.access.queries import BadParameterError, LinkQuery
from arclink.analysis.churn import Churn, churn_of_links
from arclink.analysis.decay import Ending, Lives, lives_of_links, seconds_of
from arclink.analysis.link_scope import LinkScope
from arclink.analysis.page_histories import PageHistory, TargetsOf, page_histories, validities
from arclink.analysis.slices import Level
from arclink.analysis.spread import adoption, first_links
from arclink.analysis.targets import Target
from arclink.analysis.windows import Windows
from arclink.cli.analyze.history_options import requested_histories
from arclink.model import Kind, Timestamp
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of
from tests.store.memory_store import MemoryStore, Page, link

A, B, C, WWW = (
    "http://a.example/",
    "http://b.example/",
    "http://sub.b.example/x",
    "http://www.a.example/",
)
TIMES = ["20100101000000", "20100131120000", "20100201000000", "20100515000000", "20110101000000"]
T1, T2, T3, T4, T5 = TIMES
ALL = Windows.parse("all").names_at
MONTH = Windows.parse("month").names_at

links = st.builds(
    link,
    st.sampled_from([A, B, C, "mailto:x@y.example"]),
    kind=st.sampled_from(["a@href", "img@src"]),
)
pages = st.builds(
    Page,
    st.sampled_from([A, WWW, B]),
    st.sampled_from(TIMES),
    st.none() | st.lists(links, max_size=4).map(tuple),
    status=st.sampled_from(["200", "404"]),
    is_shared=st.booleans(),
)
archives = st.lists(pages, max_size=9, unique_by=lambda page: (page.original, page.timestamp))
scopes = st.builds(
    LinkScope,
    st.sampled_from(Level),
    st.sampled_from([lambda _: True, lambda kind: kind == "a@href"]),
    st.booleans(),
)


def telling(archive: list[Page], scope: LinkScope) -> dict[str, list[tuple[str, set[str]]]]:
    """Return of each page its captures that tell something, oldest first: time and targets that
    count.
    """
    found: dict[str, list[tuple[str, set[str]]]] = defaultdict(list)
    for page in sorted(archive, key=lambda page: (page.original, page.timestamp)):
        if page.links is None and page.status == "200":
            continue
        names = {
            scope.level.name_of(surt_of(one.target))
            for one in page.links or ()
            if scope.wants(one.kind)
            and scope.leads_out(surt_of(page.original), scope.level.name_of(surt_of(one.target)))
        }
        found[page.original].append((page.timestamp, names - {""}))
    return found


def plain_validities(archive: list[Page], scope: LinkScope) -> dict[tuple[str, str], Validity]:
    found = {}
    for original, captures in telling(archive, scope).items():
        for target in set().union(*(names for _, names in captures)):
            having = [Timestamp(time) for time, names in captures if target in names]
            lacking = [Timestamp(time) for time, names in captures if target not in names]
            found[original, target] = Validity(
                max((time for time in lacking if time < having[0]), default=None),
                having[0],
                having[-1],
                min((time for time in lacking if time > having[-1]), default=None),
            )
    return found


def read(archive: list[Page], scope: LinkScope) -> tuple[list[PageHistory], TargetsOf]:
    store = MemoryStore(archive)
    return list(page_histories(store, store.scan_mementos())), TargetsOf(store, scope.name_of)


@settings(max_examples=120, deadline=None)
@given(archive=archives, scope=scopes)
def test_validities_are_those_of_the_plain_definition(
    archive: list[Page], scope: LinkScope
) -> None:
    histories, targets_of = read(archive, scope)
    found = {
        (history.original, target): validity
        for history in histories
        for target, validity in validities(history, targets_of)
        if scope.leads_out(history.surt, target)
    }
    assert found == plain_validities(archive, scope)


@settings(max_examples=80, deadline=None)
@given(archive=archives, scope=scopes, only_new=st.booleans())
def test_lives_are_counted_by_cohort(archive: list[Page], scope: LinkScope, only_new: bool) -> None:
    expected: dict[str, Counter[tuple[str, int]]] = defaultdict(Counter)
    for one in plain_validities(archive, scope).values():
        born, seen = (seconds_of(time) for time in (one.first_with, one.last_with))
        if only_new and one.last_without is None:
            continue
        cohort = f"{one.first_with[:4]}-{one.first_with[4:6]}"
        if one.first_without is None:
            expected[cohort]["censored", (seen - born) // 86_400] += 1
        else:
            missed = seconds_of(one.first_without)
            for name, end in (
                ("earliest", seen),
                ("middle", (seen + missed) // 2),
                ("latest", missed),
            ):
                expected[cohort][name, (end - born) // 86_400] += 1
    histories, targets_of = read(archive, scope)
    lives = lives_of_links(histories, targets_of, scope, MONTH, only_new=only_new)
    found = {
        cohort: Counter(
            {("censored", age): count for age, count in lived.censored.items()}
            | {
                (ending.value, age): count
                for ending in Ending
                for age, count in lived.ends[ending].items()
            }
        )
        for cohort, lived in lives.items()
    }
    assert found == expected


def test_a_link_that_goes_between_two_captures_ends_between_them() -> None:
    archive = [Page(A, T1, [link(B)]), Page(A, T3, [link(B)]), Page(A, T4, []), Page(A, T5, [])]
    histories, targets_of = read(archive, LinkScope(Level.URI))
    lived = lives_of_links(histories, targets_of, LinkScope(Level.URI), ALL)["all"]
    assert {ending: list(lived.ends[ending]) for ending in Ending} == {
        Ending.EARLIEST: [31],
        Ending.MIDDLE: [82],
        Ending.LATEST: [134],
    }
    assert (lived.links, lived.gone, lived.gap_seconds // 86_400) == (1, 1, 103)
    assert lived.curve(Ending.MIDDLE).share[[81, 82]].tolist() == [1, 0]


@pytest.mark.parametrize(
    "after",
    [
        pytest.param([], id="never captured again"),
        pytest.param(
            [Page(A, T3, None), Page(A, T4, None, status="-")], id="captured again, but not read"
        ),
        pytest.param([Page(WWW, T3, [])], id="another page of the same SURT"),
    ],
)
def test_a_link_is_not_gone_until_a_capture_without_it(after: list[Page]) -> None:
    histories, targets_of = read(
        [Page(A, T1, [link(B)]), Page(A, T2, [link(B)]), *after], LinkScope(Level.URI)
    )
    lived = lives_of_links(histories, targets_of, LinkScope(Level.URI), ALL)["all"]
    assert (lived.gone, lived.censored) == (0, {30: 1})
    churn = churn_of_links(histories, targets_of, LinkScope(Level.URI), ALL, host_of)
    assert sum(one.removed for one in churn.values()) == 0


def test_an_error_page_ends_links() -> None:
    histories, targets_of = read(
        [Page(A, T1, [link(B)]), Page(A, T2, None, status="404")], LinkScope(Level.HOST)
    )
    assert lives_of_links(histories, targets_of, LinkScope(Level.HOST), ALL)["all"].gone == 1


def test_no_lives_have_an_empty_curve() -> None:
    assert Lives().curve(Ending.MIDDLE).share.tolist() == []


@settings(max_examples=80, deadline=None)
@given(archive=archives, scope=scopes)
def test_churn_is_the_difference_between_consecutive_captures(
    archive: list[Page], scope: LinkScope
) -> None:
    expected: dict[tuple[str, str], Churn] = {}
    seen: set[tuple[str, str]] = set()
    for original, captures in telling(archive, scope).items():
        for (earlier, before), (later, after) in pairwise(captures):
            window = f"{later[:4]}-{later[4:6]}"
            churn = expected.setdefault((window, host_of(surt_of(original))), Churn())
            churn.pages += (window, original) not in seen
            seen.add((window, original))
            churn.comparisons += 1
            churn.seconds += seconds_of(Timestamp(later)) - seconds_of(Timestamp(earlier))
            churn.before += len(before)
            churn.added += len(after - before)
            churn.removed += len(before - after)
    histories, targets_of = read(archive, scope)
    assert churn_of_links(histories, targets_of, scope, MONTH, host_of) == expected


def test_a_site_has_its_ports_and_what_is_below_it_but_no_neighbours() -> None:
    names = [
        "http://b.example/",
        "http://b.example:8080/",
        "http://sub.b.example/",
        "http://bb.example/",
        "http://b-c.example/",
    ]
    store = MemoryStore([Page(name, T1, [link(A)]) for name in names])
    assert {history.original for history in requested_histories(store, "b.example")} == set(
        names[:3]
    )
    assert len(list(requested_histories(store, ""))) == 5
    with pytest.raises(BadParameterError, match="--site"):
        requested_histories(store, "\x00")


# Spread


def spread_query(uri: str = A) -> LinkQuery:
    return LinkQuery.from_parameters([("uri", uri), ("direction", "in")])


@settings(max_examples=80, deadline=None)
@given(archive=archives, level=st.sampled_from(Level), is_external=st.booleans())
def test_first_links_are_the_beginnings_of_validities(
    archive: list[Page], level: Level, is_external: bool
) -> None:
    scope = LinkScope(level, is_external=is_external)
    target = Target.asked(B, level)
    expected = {
        original: (validity.first_with, validity.last_without)
        for (original, name), validity in plain_validities(archive, scope).items()
        if name == target.name
    }
    found = first_links(MemoryStore(archive), target, spread_query(B), scope)
    assert {one.page: (one.first_with, one.last_without) for one in found} == expected
    assert found == sorted(found, key=lambda one: (one.first_with, one.page))


def test_adoption_adds_up_by_window() -> None:
    archive = [
        Page(B, T1, [link(A, "first")]),
        Page(C, T1, []),
        Page(C, T3, [link(A, "dated")]),
        Page("http://b.example/other", T3, [link(A)]),
        Page("http://d.example/", T4, [link(A)]),
    ]
    found = first_links(
        MemoryStore(archive), Target.asked(A, Level.URI), spread_query(), LinkScope(Level.URI)
    )
    assert [(one.page, one.last_without, one.text) for one in found[:1]] == [(B, None, "first")]
    assert [(one.last_without, one.text) for one in found if one.page == C] == [(T1, "dated")]
    windows = Windows.parse("month").between(found[0].first_with, found[-1].first_with)
    assert [tuple(one) for one in adoption(found, windows)] == [
        ("2010-01", 1, 0, 1, 1, 1),
        ("2010-02", 2, 1, 1, 3, 2),
        ("2010-03", 0, 0, 0, 3, 2),
        ("2010-04", 0, 0, 0, 3, 2),
        ("2010-05", 1, 0, 1, 4, 3),
    ]


def test_only_the_kinds_of_the_query_are_counted() -> None:
    store = MemoryStore([Page(B, T1, [link(A, kind="img@src")]), Page(C, T2, [link(A)])])
    query = LinkQuery.from_parameters([("uri", A), ("kind", "a@href")])
    assert [
        one.page
        for one in first_links(store, Target.asked(A, Level.URI), query, LinkScope(Level.URI))
    ] == [C]
    assert (
        LinkScope(Level.URI, lambda kind: kind == Kind("a@href")).name_of(link(A, kind="img@src"))
        == ""
    )
