"""Decay of links, compared with a plain count over all captures."""

from collections import Counter, defaultdict
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.members import Validity
from arclink.access.queries import BadParameterError
from arclink.analysis.decay import Ending, Lives, lives_of_links
from arclink.analysis.link_scope import LinkScope, site_asked
from arclink.analysis.slices import Level
from arclink.analysis.windows import Windows
from arclink.model import Timestamp
from arclink.questions.asking import ask
from arclink.questions.queries import AskQuery
from arclink.relations.database import RelationsDatabase
from arclink.uris.surts import surt_of
from tests.relations.rows import database_of, lives_in
from tests.store.memory_store import MemoryStore, Page, link

A, B, C, WWW = (
    "http://a.example/",
    "http://b.example/",
    "http://sub.b.example/x",
    "http://www.a.example/",
)
TIMES = ["20100101000000", "20100131120000", "20100201000000", "20100515000000", "20110101000000"]
T1, T2, T3, T4, T5 = TIMES
ALL = Windows.parse("all")
MONTH = Windows.parse("month")

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


def leads_out(scope: LinkScope, page: str, target: str) -> bool:
    """Return whether a link leads out of the page's host or domain, if only such links count."""
    level = Level.HOST if scope.level is Level.URI else scope.level
    return not scope.is_external or level.name_of(surt_of(target)) != level.name_of(surt_of(page))


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
            if scope.wants(one.kind) and leads_out(scope, page.original, one.target)
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


def read(archive: list[Page]) -> RelationsDatabase:
    return database_of(MemoryStore(archive))


def seconds_of(timestamp: Timestamp) -> int:
    return int(datetime.strptime(timestamp + "+0000", "%Y%m%d%H%M%S%z").timestamp())


@settings(max_examples=120, deadline=None)
@given(archive=archives, scope=scopes)
def test_validities_are_those_of_the_plain_definition(
    archive: list[Page], scope: LinkScope
) -> None:
    with read(archive) as database:
        rows = lives_in(database, scope)
    found = {
        (row["page"], row["name"]): Validity(*(row[name] for name in Validity._fields))
        for row in rows
    }
    assert found == plain_validities(archive, scope)
    assert len(found) == len(rows)


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
    with read(archive) as database:
        lives = lives_of_links(database, scope, MONTH, only_new=only_new)
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
    with read(archive) as database:
        lived = lives_of_links(database, LinkScope(Level.URI), ALL)["all"]
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
    scope = LinkScope(Level.URI)
    with read([Page(A, T1, [link(B)]), Page(A, T2, [link(B)]), *after]) as database:
        lived = lives_of_links(database, scope, ALL)["all"]
        churn = ask(database, AskQuery.from_parameters([], name="churn")).table
    assert (lived.gone, lived.censored) == (0, {30: 1})
    assert sum(churn.column("removed").to_pylist()) == 0


def test_an_error_page_ends_links() -> None:
    with read([Page(A, T1, [link(B)]), Page(A, T2, None, status="404")]) as database:
        assert lives_of_links(database, LinkScope(Level.HOST), ALL)["all"].gone == 1


def test_no_lives_have_an_empty_curve() -> None:
    assert Lives().curve(Ending.MIDDLE).share.tolist() == []


def test_a_site_has_its_ports_and_what_is_below_it_but_no_neighbours() -> None:
    names = [
        "http://b.example/",
        "http://b.example:8080/",
        "http://sub.b.example/",
        "http://bb.example/",
        "http://b-c.example/",
    ]
    scope = LinkScope(Level.URI)
    with read([Page(name, T1, [link(A)]) for name in names]) as database:
        sites = [lives_in(database, scope, site_asked(site)) for site in ("b.example", "")]
    assert [{row["page"] for row in rows} for rows in sites] == [{*names[:3]}, {*names}]
    with pytest.raises(BadParameterError, match="--site"):
        site_asked("\x00")
