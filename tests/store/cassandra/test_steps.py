"""The history of a Cassandra store: repeated steps, and readers of a store that is built again.

No server is needed.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.engines.cassandra import removal
from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.removal import records
from arclink.engines.cassandra.steps import (
    Facts,
    History,
    Steps,
    TakedownValues,
    facts_of,
    takedown_number,
)
from arclink.engines.cassandra.store import CassandraStore
from arclink.engines.cassandra.tables import StoreView
from arclink.model import Forgotten, Surt
from arclink.store.protocols import Removed, Takedown


class Rows:
    """A keyspace of which only the steps and the tasks are asked for."""

    def __init__(self, *steps: tuple[int, bytes, bool]) -> None:
        self.steps = steps
        self.surts: Sequence[object] = ()
        self.begun: list[int] = []

    def ask(self, statement: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        if "FROM tasks" in statement:
            return [("mementos/0", json.dumps({"surts": self.surts}))]
        facts = Facts("load", number=1).as_json()
        return [
            (number, identity, is_finished, facts if is_finished else None)
            for number, identity, is_finished in self.steps
        ]

    def ask_each(
        self, statement: str, questions: Iterable[Sequence[object]]
    ) -> list[list[tuple[object, ...]]]:
        return [self.ask(statement, values) for values in questions]

    def agree(self, statement: str, values: Sequence[Any]) -> tuple[bool, tuple[object, ...]]:
        self.begun.append(values[0])
        return True, ()


values = st.tuples(*[st.text(max_size=5)] * 3, st.booleans(), *[st.text(max_size=5)] * 2)


@given(st.lists(st.lists(values, min_size=1, max_size=4), max_size=4), st.randoms())
def test_takedowns_of_a_list_are_records_in_order(
    lists: list[list[TakedownValues]], dice: Random
) -> None:
    """Each with all that it removed, at first and from later loads; a part of the web is one."""
    counts: defaultdict[tuple[object, ...], int] = defaultdict(int)
    steps: dict[int, Facts] = {}
    removed: dict[int, list[int]] = {}
    for step, listed in enumerate(lists, 5):
        numbers = [takedown_number(step, index) for index in range(len(listed))]
        here = {number: [dice.randrange(3), 0, 0, 0, 1] for number in numbers}
        removed |= {number: [dice.randrange(3), 0, 0, 0, 0] for number in numbers}
        steps[step] = Facts("takedown", takedown=listed[0], further=listed[1:], removed=here)
        for number, one in zip(numbers, listed, strict=True):
            counts[one[:4]] += here[number][0] + removed[number][0]
    read = {step: facts_of(facts.as_json()) for step, facts in steps.items()}
    load = facts_of(Facts("load", removed=removed).as_json())
    found = list(records(History({99: load}, read, StoreView())))
    whats = list(dict.fromkeys(one[:4] for listed in lists for one in listed))
    assert [
        (one.what.prefix, one.what.span.first, one.what.span.last, one.what.has_targets)
        for one, _ in found
    ] == whats
    assert [removed_here.mementos for _, removed_here in found] == [counts[what] for what in whats]


@given(st.lists(st.integers(0, 120), max_size=60))
def test_the_text_of_a_step_is_bounded(sizes: list[int]) -> None:
    """By the number of takedowns and by their reasons; one of any size is a step."""
    takedowns = [Takedown(Forgotten(Surt("org,a")), "x" * size, "") for size in sizes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(removal, "IN_STEP", 9)
        patch.setattr(removal, "STEP_CHARACTERS", 100)
        lists = list(removal.in_steps(takedowns))
    assert [one for of_step in lists for one in of_step] == takedowns
    for of_step in lists:
        assert 1 <= len(of_step) <= 9
        assert len(of_step) == 1 or sum(5 + len(one.reason) for one in of_step) <= 100
    assert len(lists) <= 1 + len(sizes) // 9 + 2 * sum(5 + size for size in sizes) // 100


def test_facts_of_earlier_versions_are_read() -> None:
    """They had one takedown in a step."""
    text = (
        '{"kind": "takedown", "number": 0, "payloads": 0, "contents": 0, "links": 0, "first": "", '
        '"last": "", "refers": false, "version": 0, "removed": {"3": [1, 0, 0, 0, 0]}, "spans": '
        '{"1": ["2010", "2011"]}, "takedown": ["org,a", "2010", "2011", true, "law", "2026"]}'
    )
    history = History({}, {3: facts_of(text)}, StoreView())
    ((takedown, removed),) = records(history)
    assert (takedown.what.prefix, takedown.reason, removed) == ("org,a", "law", Removed(1))


@pytest.mark.parametrize(
    ("steps", "number"),
    [
        ([(1, b"a", True), (2, b"b", False)], 2),
        ([(1, b"a", True), (2, b"b", False), (3, b"", False)], 2),
        ([(1, b"b", False), (2, b"a", True)], 3),  # what it found to be new may be in step 2 by now
        ([(1, b"a", False)], 2),
    ],
)
def test_a_load_begins_again_unless_another_step_was_finished_since(
    steps: list[tuple[int, bytes, bool]], number: int
) -> None:
    assert Steps(Rows(*steps)).begin(b"b") == number  # type: ignore[arg-type]  # has the methods that are called


def test_a_rebuilt_store_is_noticed_although_its_steps_have_the_same_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = Rows((1, b"a", True))
    rows.surts = [0, 1, "com,a)/", "com,b)/"]
    monkeypatch.setattr("arclink.engines.cassandra.reader.open_database", lambda *_, **__: rows)
    monkeypatch.setattr("arclink.engines.cassandra.steps.FRESH", -1)
    store = CassandraStore(parse_address("cassandra://node/links"))
    assert [one.last for one in store.lists.ranges(store.history().view)] == ["com,b)/"]
    assert store.history() is store.history()
    rows.steps, rows.surts = ((1, b"other files", True),), [0, 1, "com,a)/", "com,c)/"]
    assert [one.last for one in store.lists.ranges(store.history().view)] == ["com,c)/"]
