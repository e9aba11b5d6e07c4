"""Time-respecting paths, compared with a search through all ways of small graphs."""

from collections.abc import Iterator
from itertools import groupby, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.queries import LinkQuery
from arclink.analysis.matrices.paths import PathAnswer, PathChoice, PathQuery, Usable, find_path
from arclink.model import Timestamp, UriR
from arclink.uris.surts import surt_of
from tests.store.memory_store import MemoryStore, Page, link

A, B, C, D, WWW = (
    "http://a.example/",
    "http://b.example/",
    "http://c.example/",
    "http://d.example/",
    "http://www.b.example/",
)
TIMES = [f"2010010{day}000000" for day in range(1, 6)]
T1, T2, T3, T4, T5 = TIMES
END = "9" * 14


def ask(
    archive: list[Page],
    wanted: PathChoice = PathChoice.EARLIEST,
    usable: Usable = Usable.SEEN,
    most_pages: int = 1000,
    most_hops: int = 20,
    **times: str,
) -> PathAnswer:
    links = LinkQuery.from_parameters(
        [("uri", A), *((name.rstrip("_"), text) for name, text in times.items())]
    )
    return find_path(
        MemoryStore(archive),
        PathQuery(links, UriR(D), surt_of(D), usable, wanted, most_pages, most_hops),
    )


def edges(archive: list[Page], usable: Usable) -> list[tuple[str, str, str, str]]:
    """Return (from, to, begin, end): usable from begin to before end, or at begin only if they are
    equal.
    """
    found: list[tuple[str, str, str, str]] = []
    for _, of_page in groupby(
        sorted(archive, key=lambda page: (page.original, page.timestamp)),
        lambda page: page.original,
    ):
        captures = list(of_page)
        for page, following in zip(captures, [*captures[1:], None], strict=True):
            end = (
                page.timestamp
                if usable is Usable.SEEN
                else following.timestamp
                if following
                else END
            )
            found += [
                (surt_of(page.original), surt_of(one.target), page.timestamp, end)
                for one in page.links or ()
            ]
    return found


def arrivals(
    archive: list[Page], usable: Usable, first: str, last: str
) -> Iterator[tuple[str, int]]:
    """Yield (arrival, links) of every way that visits no page twice, followed at all times at which
    something happens.
    """

    def go(page: str, time: str, visited: tuple[str, ...]) -> Iterator[tuple[str, int]]:
        if page == surt_of(D):
            yield time, len(visited) - 1
            return
        for begin_of, to, begin, end in edges(archive, usable):
            if begin_of == page and to not in visited:
                for moment in sorted({*TIMES, first}):
                    if time <= moment <= last and (moment == begin or begin < moment < end):
                        yield from go(to, moment, (*visited, to))

    return go(surt_of(A), first, (surt_of(A),))


pages = st.builds(
    Page,
    st.sampled_from([A, B, C, WWW]),
    st.sampled_from(TIMES),
    st.none()
    | st.lists(st.builds(link, st.sampled_from([A, B, C, D, WWW])), max_size=2).map(tuple),
    is_shared=st.booleans(),
)


@pytest.mark.costly
@settings(max_examples=250, deadline=None)
@given(
    archive=st.lists(pages, max_size=8, unique_by=lambda page: (page.original, page.timestamp)),
    usable=st.sampled_from(Usable),
    ends=st.tuples(st.sampled_from(TIMES), st.sampled_from(TIMES)).map(sorted),
)
def test_paths_are_the_best_of_all_ways(
    archive: list[Page], usable: Usable, ends: list[str]
) -> None:
    first, last = ends
    ways = list(arrivals(archive, usable, first, last))
    earliest = ask(archive, PathChoice.EARLIEST, usable, from_=first, to=last)
    shortest = ask(archive, PathChoice.SHORTEST, usable, from_=first, to=last)
    assert earliest.is_complete
    assert shortest.is_complete
    assert bool(ways) == bool(earliest.hops) == bool(shortest.hops)
    if ways:
        assert earliest.hops[-1].time == min(time for time, _ in ways)
        fewest = min(links for _, links in ways)
        assert (len(shortest.hops), shortest.hops[-1].time) == (
            fewest,
            min(time for time, links in ways if links == fewest),
        )
    for hops in (earliest.hops, shortest.hops):
        assert [hop.time for hop in hops] == sorted(hop.time for hop in hops)
        surts = [surt_of(A), *(surt_of(hop.link.target) for hop in hops)]
        for surt, hop in zip(surts, hops, strict=False):
            assert surt_of(hop.page) == surt
            assert first <= hop.time <= last
            shown = [
                page.links or ()
                for page in archive
                if (page.original, page.timestamp) == (hop.page, hop.seen)
            ]
            assert any(hop.link in links for links in shown)
            ends_at = [
                end
                for begin_of, to, begin, end in edges(archive, usable)
                if begin == hop.seen and begin_of == surt
            ]
            assert hop.time == hop.seen or any(hop.time < end for end in ends_at)
        if hops:
            assert surts[-1] == surt_of(D)


def test_a_link_observed_too_early_is_followed_only_if_it_is_in_force() -> None:
    archive = [Page(A, T2, [link(B)]), Page(B, T1, [link(D)])]
    assert ask(archive).hops == ()
    path = ask(archive, usable=Usable.IN_FORCE).hops
    assert [(hop.time, hop.seen) for hop in path] == [(T2, T2), (T2, T1)]
    gone = [*archive, Page(B, T2, None, status="404")]
    assert ask(gone, usable=Usable.IN_FORCE).hops == ()


def test_the_earliest_path_may_be_longer_than_the_shortest() -> None:
    archive = [Page(A, T1, [link(B)]), Page(B, T2, [link(D)]), Page(A, T5, [link(D)])]
    assert [hop.time for hop in ask(archive).hops] == [T1, T2]
    assert [hop.time for hop in ask(archive, PathChoice.SHORTEST).hops] == [T5]
    assert [hop.time for hop in ask(archive, from_=T2).hops] == [T5]
    assert ask(archive, to=T1).hops == ()


@pytest.mark.parametrize("wanted", PathChoice)
def test_a_search_that_is_cut_says_so(wanted: PathChoice) -> None:
    chain = [A, B, C, "http://e.example/", D]
    archive = [Page(page, T1, [link(following)]) for page, following in pairwise(chain)]
    whole = ask(archive, wanted)
    assert (len(whole.hops), whole.pages, whole.is_complete) == (4, 4, True)
    cut = ask(archive, wanted, most_pages=3)
    assert (cut.hops, cut.pages, cut.is_complete) == ((), 3, False)
    nowhere = ask(archive[:2], wanted, most_pages=3)
    assert (nowhere.hops, nowhere.is_complete) == ((), True)
    assert Timestamp(T1) == whole.hops[-1].time


def test_a_shortest_path_has_no_more_links_than_allowed() -> None:
    archive = [Page(A, T1, [link(B)]), Page(B, T1, [link(C)]), Page(C, T1, [link(D)])]
    assert len(ask(archive, PathChoice.SHORTEST, most_hops=3).hops) == 3
    cut = ask(archive, PathChoice.SHORTEST, most_hops=2)
    assert (cut.hops, cut.is_complete) == ((), False)
