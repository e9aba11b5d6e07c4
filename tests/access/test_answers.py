"""Answers to link queries have the right links and times, in the promised order, on every page."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access import store_order
from arclink.access.answers import Budget, LinkAnswer, Member, answer_link_query
from arclink.access.queries import Direction, LinkQuery
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of
from tests.access.example_answers import stream_members
from tests.access.sqlite_pages import store_of_pages
from tests.store.memory_store import MemoryStore, Page, link

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"
T1, T2, T3, T4 = "20090101000000", "20100101000000", "20110101000000", "20120101000000"


def ask(
    store: GraphStore, uri: str = A, budget: Budget | None = None, **parameters: str
) -> LinkAnswer:
    given = [(name.rstrip("_"), value) for name, value in parameters.items()]
    return answer_link_query(store, LinkQuery.from_parameters([("uri", uri), *given]), budget)


def outlinks(answer: LinkAnswer) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(member.uri, member.text, member.timestamps) for member in answer.outlinks]


def inlinks(answer: LinkAnswer) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(member.uri, member.text, member.timestamps) for member in answer.inlinks]


def test_outlinks_come_in_page_order_of_the_first_memento_that_shows_them() -> None:
    store = MemoryStore(
        [
            Page(A, T2, [link(C, "new"), link(B, "old")]),
            Page(A, T1, [link(B, "old"), link(C, "gone")]),
        ]
    )
    assert outlinks(ask(store)) == [(B, "old", (T1, T2)), (C, "gone", (T1,)), (C, "new", (T2,))]


def test_inlinks_come_oldest_first() -> None:
    store = MemoryStore(
        [
            Page(B, T2, [link(A, "x")]),
            Page(C, T1, [link(A, "x")]),
            Page(B, T3, [link(A, "x"), link(C)]),
        ]
    )
    assert inlinks(ask(store)) == [(C, "x", (T1,)), (B, "x", (T2, T3))]


@pytest.mark.parametrize("first", [0, 1])
def test_a_member_is_as_old_as_the_oldest_of_its_contents(first: int) -> None:
    contents = [link(A, "x")], [link(A, "x"), link(C)]  # a store may give either of them first
    store = MemoryStore(
        [
            Page(B, T1, contents[first]),
            Page(B, T3, contents[1 - first]),
            Page(C, T2, [link(A, "x")]),
        ]
    )
    assert inlinks(ask(store)) == [(B, "x", (T1, T3)), (C, "x", (T2,))]


def test_a_link_that_a_page_has_twice_is_one_member() -> None:
    assert outlinks(ask(MemoryStore([Page(A, T1, [link(B, "x"), link(C), link(B, "x")])]))) == [
        (B, "x", (T1,)),
        (C, "", (T1,)),
    ]


def test_links_of_different_kind_text_or_rel_are_different_members() -> None:
    links = [
        link(B, "x"),
        link(B, "y"),
        link(B, "x", rel="nofollow"),
        link(B, "x", kind="area@href"),
    ]
    assert len(outlinks(ask(MemoryStore([Page(A, T1, links)])))) == 4


def test_variants_of_a_uri_share_one_answer_which_names_them() -> None:
    store = MemoryStore(
        [Page("http://a.example/", T1, [link(B)]), Page("https://www.a.example/", T2, [link(B)])]
    )
    (outlink,) = ask(store).outlinks
    assert outlink.variants == ("http://a.example/", "https://www.a.example/")
    store = MemoryStore([Page(B, T1, [link("http://a.example/"), link("https://www.a.example/")])])
    (inlink,) = ask(store).inlinks
    assert inlink.variants == ("http://a.example/", "https://www.a.example/")


def test_equal_payloads_at_two_uris_are_two_sources() -> None:
    store = MemoryStore([Page(B, T1, [link(A, "x")]), Page(C, T2, [link(A, "x")])])
    assert inlinks(ask(store)) == [(B, "x", (T1,)), (C, "x", (T2,))]


def test_a_memento_in_two_batches_is_one() -> None:
    store = MemoryStore([Page(A, T1, [link(B)])])
    store.add([Page(A, T1, [link(B)])])
    assert outlinks(ask(store)) == [(B, "", (T1,))]
    assert ask(store).mementos.count == 1


@pytest.mark.parametrize(
    ("direction", "counts"),
    [("out", (1, 0)), ("in", (0, 1)), ("both", (1, 1))],
    ids=["only outlinks", "only inlinks", "both"],
)
def test_an_answer_has_only_the_direction_of_its_query(
    direction: str, counts: tuple[int, int]
) -> None:
    store = MemoryStore([Page(A, T1, [link(B)]), Page(B, T1, [link(A)])])
    answer = ask(store, direction=direction)
    assert (len(outlinks(answer)), len(inlinks(answer))) == counts


def test_an_answer_has_only_the_kinds_of_its_query() -> None:
    store = MemoryStore(
        [
            Page(A, T1, [link(B), link(C, kind="img@src")]),
            Page(C, T1, [link(A, kind="img@src"), link(A)]),
        ]
    )
    answer = ask(store, kind="img@src")
    assert [member.kind for member in (*answer.outlinks, *answer.inlinks)] == ["img@src", "img@src"]


def test_a_span_holds_both_its_ends_and_nothing_else() -> None:
    store = MemoryStore(
        [
            Page(page, time, [link(target)])
            for page, target in ((A, B), (B, A))
            for time in (T1, T2, T3)
        ]
    )
    answer = ask(store, from_=T2, to=T2)
    assert outlinks(answer) == [(B, "", (T2,))]
    assert inlinks(answer) == [(B, "", (T2,))]
    assert (
        answer.mementos.count,
        answer.mementos.asked,
        answer.mementos.first,
        answer.mementos.last,
    ) == (3, 1, T1, T3)


def test_not_captured_differs_from_no_links() -> None:
    store = MemoryStore([Page(A, T1, []), Page(B, T1, None, status="404", reason="MEMENTO_STATUS")])
    no_links, unread, not_captured = (ask(store, uri).mementos for uri in (A, B, C))
    assert (no_links.count, no_links.links_known) == (1, 1)
    assert (unread.count, unread.links_known) == (1, 0)
    assert (not_captured.count, not_captured.first, not_captured.last) == (0, None, None)


class TestAt:
    """The state at a time: per original, the newest memento not after it, whatever its status."""

    def test_at_a_time_the_newest_memento_up_to_it_counts(self) -> None:
        store = MemoryStore(
            [Page(A, T1, [link(B, "1")]), Page(A, T2, [link(B, "2")]), Page(A, T3, [link(B, "3")])]
        )
        assert outlinks(ask(store, at="20100601")) == [(B, "2", (T2,))]
        assert outlinks(ask(store, at=T2)) == [(B, "2", (T2,))]
        assert outlinks(ask(store, at="2008")) == []

    @pytest.mark.parametrize(
        "later",
        [
            pytest.param(Page(A, T2, None, status="404", reason="MEMENTO_STATUS"), id="a 404"),
            pytest.param(Page(A, T2, None, reason="PAYLOAD_FILE_MISSING"), id="an unread memento"),
            pytest.param(
                Page(A, T2, [link(C, kind="http@location")], status="301"), id="a redirect"
            ),
        ],
    )
    def test_a_later_memento_ends_earlier_links_in_both_directions(self, later: Page) -> None:
        store = MemoryStore([Page(A, T1, [link(B, "1")]), later])
        answer = ask(store, at="2011")
        assert (B, "1", (T1,)) not in outlinks(answer)
        assert [(found.memento.status, found.is_known) for found in answer.in_force] == [
            (later.status, later.links is not None)
        ]
        assert inlinks(ask(store, B, at="2011")) == []
        assert inlinks(ask(store, B, at="2009")) == [(A, "1", (T1,))]

    def test_each_original_has_its_own_memento_in_force(self) -> None:
        www = "http://www.a.example/"
        store = MemoryStore([Page(A, T1, [link(B, "1")]), Page(www, T2, [link(B, "2")])])
        answer = ask(store, at="2011")
        assert outlinks(answer) == [(B, "1", (T1,)), (B, "2", (T2,))]
        assert inlinks(ask(store, B, at="2011")) == [(A, "1", (T1,)), (www, "2", (T2,))]

    def test_equal_timestamps_all_count(self) -> None:
        store = MemoryStore([Page(A, T1, [link(B, "1")]), Page(A, T1, [link(B, "2")])])
        assert {text for _, text, _ in outlinks(ask(store, at="2011"))} == {"1", "2"}
        assert {text for _, text, _ in inlinks(ask(store, B, at="2011"))} == {"1", "2"}

    def test_an_old_content_that_comes_back_counts_again(self) -> None:
        store = MemoryStore(
            [Page(A, T1, [link(B, "1")]), Page(A, T2, [link(B, "2")]), Page(A, T3, [link(B, "1")])]
        )
        assert inlinks(ask(store, B, at="2010")) == [(A, "2", (T2,))]
        assert inlinks(ask(store, B, at="2011")) == [(A, "1", (T3,))]


def follow(
    store: GraphStore, uri: str, budget: Budget | None = None, **parameters: str
) -> Iterator[LinkAnswer]:
    answer = ask(store, uri, budget, **parameters)
    yield answer
    while answer.next is not None:
        answer = ask(store, uri, budget, cursor=answer.next, **parameters)
        yield answer


def hub(sources: int, times: Sequence[str] = (T1,)) -> list[Page]:
    pages = [
        Page(f"http://s{number}.example/", time, [link(A, f"t{number % 3}")])
        for number in range(sources)
        for time in times
    ]
    return [*pages, Page(A, T1, [link(f"http://t{number}.example/") for number in range(sources)])]


@pytest.mark.parametrize("limit", ["1", "3", "7", "100"])
def test_pages_add_up_to_the_whole_answer(limit: str) -> None:
    store = MemoryStore(hub(7, (T1, T2)))
    whole = ask(store)
    pages = list(follow(store, A, limit=limit))
    assert [member for page in pages for member in page.outlinks] == list(whole.outlinks)
    assert [member for page in pages for member in page.inlinks] == list(whole.inlinks)
    assert all(
        len(tuple(members)) <= int(limit)
        for page in pages
        for members in (page.outlinks, page.inlinks)
    )
    assert whole.next is None


def ungrouped(members: Sequence[Member]) -> Counter[tuple[object, ...]]:
    """Return the links of members, independent of their groups."""
    return Counter(
        (member.uri, member.kind, member.text, member.rel, time, variant)
        for member in members
        for time in member.timestamps
        for variant in member.variants
    )


@pytest.mark.parametrize("limit", ["1", "3", "7", "100"])
@pytest.mark.parametrize(
    "budget",
    [Budget(members=5), Budget(rows=8), Budget(rows=8, look_ups=5), Budget(characters=100)],
    ids=["too many members", "too many rows", "too many look-ups", "too many characters"],
)
def test_a_large_answer_comes_in_store_order_and_says_so(limit: str, budget: Budget) -> None:
    store = MemoryStore(hub(7, (T1, T2)))
    pages = list(follow(store, A, budget, limit=limit))
    assert not pages[0].is_grouped_out
    assert not pages[0].is_grouped_in
    whole = ask(store)
    for members, expected in (
        ([member for page in pages for member in page.outlinks], whole.outlinks),
        ([member for page in pages for member in page.inlinks], whole.inlinks),
    ):
        assert ungrouped(members) == ungrouped(tuple(expected))
        assert len(members) == len(set(members))


def test_rows_of_one_request_are_bounded_and_a_short_page_goes_on() -> None:
    store = MemoryStore(
        [
            Page(
                A,
                T1,
                [*(link(f"http://x{n}.example/", kind="img@src") for n in range(20)), link(B)],
            )
        ]
    )
    pages = list(follow(store, A, Budget(rows=5, empty_pages=0), direction="out", kind="a@href"))
    assert [len(tuple(page.outlinks)) for page in pages] == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("uri", "parameters"),
    [(A, {"direction": "out"}), (B, {"direction": "in", "matchType": "domain"})],
    ids=["outlinks", "inlinks of many pages"],
)
def test_the_size_of_one_answer_is_bounded_however_long_its_uris_are(
    uri: str, parameters: dict[str, str]
) -> None:
    long = [link(f"{B}{n}/{'x' * 1_000}") for n in range(10)]
    answers = follow(MemoryStore([Page(A, T1, long)]), uri, Budget(characters=3_000), **parameters)
    pages = [[*answer.outlinks, *answer.inlinks] for answer in answers]
    assert sum(map(len, pages)) == len(long)
    assert max(map(len, pages)) <= 3


def test_the_size_of_one_answer_is_bounded_however_long_the_uri_of_its_page_is() -> None:
    page = f"{A}{'x' * 1_000}"
    store = MemoryStore([Page(page, T1, [link(f"{B}{n}") for n in range(10)])])
    pages = [answer.outlinks for answer in follow(store, page, Budget(characters=3_000))]
    assert [member.uri for members in pages for member in members] == [f"{B}{n}" for n in range(10)]
    assert max(len(tuple(members)) for members in pages) == 3


def test_pages_looked_up_for_one_request_are_bounded() -> None:
    class Counting(MemoryStore):
        asked = 0

        def sightings(self, *arguments, **named):  # type: ignore[no-untyped-def]  # passed on as it comes
            Counting.asked += 1
            return super().sightings(*arguments, **named)

    store = Counting([Page(f"http://s{n}.example/", T1, [link(A, str(n))]) for n in range(30)])
    answer = ask(store, budget=Budget(look_ups=3, empty_pages=0), from_="2030", direction="in")
    assert (list(answer.inlinks), answer.next is None) == ([], False)
    assert Counting.asked <= 7


def test_reading_contents_in_small_chunks_changes_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages = [
        Page(f"http://{host}a.example/", f"20100101{n:06}", [link(B, str(n % 7))])
        for n in range(40)
        for host in ("", "www.")
    ]
    whole = list(ask(MemoryStore(pages), limit="0").outlinks)
    monkeypatch.setattr(store_order, "CHUNK", 3)
    assert list(ask(MemoryStore(pages), limit="0").outlinks) == whole
    assert len(whole) == 14


def test_unlimited_streams_everything_in_store_order() -> None:
    store = MemoryStore(hub(7, (T1, T2)))
    query = LinkQuery.from_parameters([("uri", A), ("limit", "0")])
    streamed = list(stream_members(store, query))
    answer = answer_link_query(store, query)
    assert [member for direction, member in streamed if direction is Direction.OUT] == list(
        answer.outlinks
    )
    assert [member for direction, member in streamed if direction is Direction.IN] == list(
        answer.inlinks
    )
    assert ungrouped([member for _, member in streamed]) == ungrouped(
        [*ask(store).outlinks, *ask(store).inlinks]
    )


def test_a_stream_reads_from_the_store_only_what_is_taken_from_it() -> None:
    class Counting(MemoryStore):
        asked = 0

        def sightings(self, *arguments, **named):  # type: ignore[no-untyped-def]  # passed on as it comes
            Counting.asked += 1
            return super().sightings(*arguments, **named)

    stream = stream_members(
        Counting(hub(50)), LinkQuery.from_parameters([("uri", A), ("direction", "in")])
    )
    next(stream)
    assert Counting.asked == 1


@pytest.mark.parametrize(
    "budget", [Budget(), Budget(members=3)], ids=["grouped at first", "store order"]
)
@pytest.mark.parametrize("grown_after", [1, 2, 3])
def test_no_member_is_lost_when_the_store_grows_between_pages(
    budget: Budget, grown_after: int
) -> None:
    before = hub(9)
    # Older mementos of what is there, a new source before all others, a link that moves to the
    # front.
    grown = [
        Page("http://0.example/", "20000101000000", [link(A, "first")]),
        Page(A, "20000101000000", [link("http://t8.example/")]),
    ]
    grown += [replace(page, timestamp="20010101000000") for page in before]
    store = MemoryStore(before)
    members: list[Member] = []
    for number, page in enumerate(follow(store, A, budget, limit="2"), start=1):
        members += [*page.outlinks, *page.inlinks]
        if number == grown_after:
            store.add(grown)
    found_texts = {(member.uri, member.text) for member in members}
    expected = ask(MemoryStore(before))
    assert found_texts >= {
        (member.uri, member.text) for member in (*expected.outlinks, *expected.inlinks)
    }


def test_in_store_order_growth_repeats_nothing() -> None:
    before = hub(9)
    store = MemoryStore(before)
    seen: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
    for page in follow(store, A, Budget(members=3), limit="2"):
        seen.update(
            (member.uri, member.text, member.variants) for member in (*page.outlinks, *page.inlinks)
        )
        store.add([replace(before[0], timestamp=f"201501010000{store.last_batch():02}")])
    assert set(seen.values()) == {1}


times = st.sampled_from([T1, T2, T3, T4])
uris = st.sampled_from([A, "http://www.a.example/", B, C])
link_lists = st.lists(
    st.builds(link, uris, st.sampled_from(["", "x"]), st.sampled_from(["a@href", "img@src"])),
    max_size=4,
)
pages = st.builds(Page, uris, times, st.none() | link_lists.map(tuple), is_shared=st.booleans())


def observed(pages: Sequence[Page], uri: str, direction: Direction) -> Counter[tuple[object, ...]]:
    """Return the result of a plain loop over all pages for ``uri``: the oracle."""
    found: set[tuple[object, ...]] = set()
    for page in pages:
        for one in page.links or ():
            if direction is Direction.OUT and surt_of(page.original) == surt_of(uri):
                found.add((one.target, one.kind, one.text, one.rel, page.timestamp))
            if direction is Direction.IN and surt_of(one.target) == surt_of(uri):
                found.add((page.original, one.kind, one.text, one.rel, page.timestamp))
    return Counter(found)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(pages, max_size=6), st.integers(1, 4), st.sampled_from([Budget(), Budget(members=2)])
)
def test_paged_and_streamed_answers_have_the_links_of_the_pages(
    captured: list[Page], limit: int, budget: Budget
) -> None:
    # One URI has one record of a payload: that its links depend on the URI is a fact of the
    # payload.
    kept = list({page.checksum: page for page in captured}.values())
    store = MemoryStore(kept)
    parts = list(follow(store, A, budget, limit=str(limit)))
    whole = ask(store, limit="0")
    for direction, members, streamed in (
        (Direction.OUT, [member for part in parts for member in part.outlinks], whole.outlinks),
        (Direction.IN, [member for part in parts for member in part.inlinks], whole.inlinks),
    ):
        expected = set(observed(kept, A, direction))
        for answered in (members, streamed):
            assert {
                (one.uri, one.kind, one.text, one.rel, time)
                for one in answered
                for time in one.timestamps
            } == expected


@settings(max_examples=15, deadline=None)
@given(
    st.lists(pages, max_size=6),
    st.sampled_from([Budget(), Budget(members=2)]),
    st.sampled_from(["", T2]),
)
def test_the_sqlite_store_gives_the_same_answers(
    captured: list[Page], budget: Budget, at: str
) -> None:
    kept = list({page.checksum: page for page in captured}.values())
    parameters = {"at": at} if at else {}
    with TemporaryDirectory() as folder, store_of_pages(Path(folder), kept[:3], kept[3:]) as real:
        pages_of_answers = [
            list(follow(store, A, budget, limit="2", **parameters))
            for store in (MemoryStore(kept), real)
        ]
    for members_of in (attrgetter("outlinks"), attrgetter("inlinks")):
        expected, found = (
            [member for answer in answers for member in members_of(answer)]
            for answers in pages_of_answers
        )
        assert ungrouped(found) == ungrouped(expected)
        if budget == Budget():
            assert found == expected


@given(st.lists(pages, max_size=6))
def test_timestamps_and_variants_are_distinct_and_sorted(captured: list[Page]) -> None:
    answer = ask(MemoryStore({page.checksum: page for page in captured}.values()))
    for member in (*answer.outlinks, *answer.inlinks):
        assert all(earlier < later for earlier, later in pairwise(member.timestamps))
        assert all(earlier < later for earlier, later in pairwise(member.variants))
