"""Answers in pages from a store that changes in between.

No link is lost, or the cursor is refused.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from arclink.access.answers import Budget, LinkAnswer, answer_link_query
from arclink.access.differences import DiffQuery, answer_diff
from arclink.access.levels import AnchorsQuery, answer_anchors
from arclink.access.queries import BadParameterError, Direction, LinkQuery
from arclink.model import Forgotten, Surt
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from arclink.store.protocols import Answers, Takedown
from tests.access.sqlite_pages import load_pages, write_graph_files
from tests.store.memory_store import Page, link

A = "http://a.example/"
IN_STORE_ORDER = Budget(members=1)
T1, T2 = "20090101000000", "20100101000000"

Change = Callable[[Path], None]


def pages() -> list[Page]:
    """Return pages that link to `A`, each once, and one with a link to each of them."""
    linking = [
        Page(
            f"http://s{n}.example/",
            T1,
            [link(A, f"t{n}"), link("http://gone.example/"), link(A, f"u{n}")],
        )
        for n in range(6)
    ]
    return [
        *linking,
        Page(A, T1, [link(page.original) for page in linking] + [link("http://gone.example/")]),
    ]


def forget(prefix: str, *, has_targets: bool = False) -> Change:
    def change(path: Path) -> None:
        with open_store(str(path), create=True) as store:
            store.forget(
                Takedown(
                    Forgotten(Surt(prefix), has_targets=has_targets), "", "2026-11-22T00:00:00Z"
                )
            )

    return change


def load(*added: Page) -> Change:
    def change(path: Path) -> None:
        write_graph_files(path.parent / "more", added)
        with open_store(str(path), create=True) as store:
            store.load(path.parent / "more", (), {}, "{}")

    return change


def first_and_rest(
    path: Path, change: Change, budget: Budget, open_it: Callable[[], Answers], **asked: str
) -> tuple[LinkAnswer, list[LinkAnswer]]:
    """Return the first page of an answer, and all further pages as read after a change."""
    parameters = [("uri", A), ("limit", "2"), *asked.items()]
    with open_it() as store:
        first = answer_link_query(store, LinkQuery.from_parameters(parameters), budget)
    change(path)
    assert first.next is not None
    return first, list(follow(open_it, parameters, first.next, budget))


def follow(
    open_it: Callable[[], Answers],
    parameters: list[tuple[str, str]],
    cursor: str | None,
    budget: Budget,
) -> Iterator[LinkAnswer]:
    while cursor is not None:
        with open_it() as store:
            answer = answer_link_query(
                store, LinkQuery.from_parameters([*parameters, ("cursor", cursor)]), budget
            )
        yield answer
        cursor = answer.next


def links_in(answers: Sequence[LinkAnswer]) -> set[tuple[Direction, str, str]]:
    return {
        (direction, member.uri, member.text)
        for answer in answers
        for direction, members in ((Direction.OUT, answer.outlinks), (Direction.IN, answer.inlinks))
        for member in members
    }


def whole(path: Path) -> set[tuple[Direction, str, str]]:
    """Return the content of an answer on one page, for the present state of the store."""
    with open_store(str(path)) as store:
        return links_in([answer_link_query(store, LinkQuery.from_parameters([("uri", A)]))])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    load_pages(tmp_path / "links.db", tmp_path / "graph", [pages()])
    return tmp_path / "links.db"


CHANGES = [
    pytest.param(forget("example,s0)/"), id="a page is forgotten"),
    pytest.param(forget("example,s5)/"), id="another page is forgotten"),
    pytest.param(
        forget("example,s3)/", has_targets=True), id="a page and links to it are forgotten"
    ),
    pytest.param(
        load(Page("http://0.example/", "20000101000000", [link(A, "first")])),
        id="an older page is loaded",
    ),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_grouped_answer_loses_nothing_that_is_still_there(path: Path, change: Change) -> None:
    first, rest = first_and_rest(path, change, Budget(), lambda: open_store(str(path)))
    assert (first.is_grouped_in, rest[0].is_grouped_in) == (True, False)
    assert links_in(rest) == whole(path)


@pytest.mark.parametrize("change", CHANGES[:3])
@pytest.mark.parametrize("match_type", ["exact", "host"])
def test_in_store_order_a_cursor_from_before_links_were_removed_is_refused(
    path: Path, change: Change, match_type: str
) -> None:
    with pytest.raises(BadParameterError, match="so the answer has changed: repeat the query"):
        first_and_rest(
            path, change, IN_STORE_ORDER, lambda: open_store(str(path)), matchType=match_type
        )


def test_in_store_order_loading_repeats_and_loses_nothing(path: Path) -> None:
    before = whole(path)
    first, rest = first_and_rest(
        path,
        load(Page(A, T2, [link("http://s1.example/")])),
        IN_STORE_ORDER,
        lambda: open_store(str(path)),
    )
    seen = [
        (member.uri, member.text, member.variants)
        for answer in (first, *rest)
        for member in (*answer.outlinks, *answer.inlinks)
    ]
    assert links_in([first, *rest]) >= before
    assert len(seen) - len(set(seen)) <= 1  # the link that another content of the page has, too


def test_a_takedown_of_a_page_with_the_same_links_does_not_invalidate_a_cursor(path: Path) -> None:
    again = pages()[0]
    load(Page("http://other.example/", T2, again.links))(path)
    first, rest = first_and_rest(
        path, forget("example,other)/"), IN_STORE_ORDER, lambda: open_store(str(path))
    )
    assert links_in([first, *rest]) == whole(path) | {
        (Direction.IN, "http://other.example/", "t0")
    }  # told before it was forgotten


def test_an_embargo_that_ends_between_two_pages_hides_nothing(path: Path) -> None:
    load(*(Page(f"http://new{n}.example/", "20260101000000", [link(A, "new")]) for n in range(3)))(
        path
    )
    clock = [datetime(2026, 1, 5, tzinfo=UTC)]

    def opened() -> Answers:
        return EmbargoedStore(open_store(str(path)), Embargo(days=10), lambda: clock[0])

    def midnight(_: Path) -> None:
        clock[0] = datetime(2026, 1, 20, tzinfo=UTC)

    first, rest = first_and_rest(path, midnight, Budget(), opened)
    assert (first.is_grouped_in, rest[0].is_grouped_in) == (True, False)
    assert links_in(rest) == whole(path)


def test_an_embargo_uses_one_day_for_a_whole_answer(path: Path) -> None:
    clock = [datetime(2009, 1, 5, tzinfo=UTC)]
    with EmbargoedStore(open_store(str(path)), Embargo(days=10), lambda: clock[0]) as store:
        with store.snapshot():
            before = store.state()
            clock[0] = datetime(2009, 2, 1, tzinfo=UTC)
            assert (list(store.mementos(Surt("example,a)/"))), store.state()) == ([], before)
        assert store.state() != before
        assert list(store.mementos(Surt("example,a)/")))


def test_a_rebuilt_store_accepts_only_its_own_cursors(path: Path) -> None:
    def build(path: Path) -> None:
        for file in path.parent.glob("links.db*"):
            file.unlink()
        load_pages(path, path.parent / "anew", [pages()[1:]])

    with pytest.raises(BadParameterError, match="repeat the query"):
        first_and_rest(path, build, IN_STORE_ORDER, lambda: open_store(str(path)))


ROWS = [
    pytest.param(AnchorsQuery, answer_anchors, {}, id="anchors"),
    pytest.param(
        DiffQuery, answer_diff, {"from": "2008", "to": "2010", "direction": "in"}, id="diff"
    ),
]


@pytest.mark.parametrize(("question", "answer", "asked"), ROWS)
@pytest.mark.parametrize("change", [*CHANGES[:2], CHANGES[3]])
def test_a_cursor_of_counted_rows_starts_again_after_a_change(
    path: Path,
    change: Change,
    question: Any,  # Any: of several kinds
    answer: Any,
    asked: dict[str, str],
) -> None:
    given = [("uri", A), ("limit", "2"), *asked.items()]
    with open_store(str(path)) as store:
        first = answer(store, question.from_parameters(given))
        second = answer(store, question.from_parameters([*given, ("cursor", first.next)]))
    change(path)
    with open_store(str(path)) as store:
        changed = answer(store, question.from_parameters([*given, ("cursor", first.next)]))
    assert (first.start, second.start, changed.start) == (0, 2, 0)
