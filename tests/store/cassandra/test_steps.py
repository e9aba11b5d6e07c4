"""The history of a Cassandra store: repeated steps, and readers of a store that is built again.

No server is needed.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from arclink.store.cassandra.addresses import parse_address
from arclink.store.cassandra.steps import Facts, Steps
from arclink.store.cassandra.store import CassandraStore


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
    monkeypatch.setattr("arclink.store.cassandra.reader.open_database", lambda *_, **__: rows)
    monkeypatch.setattr("arclink.store.cassandra.steps.FRESH", -1)
    store = CassandraStore(parse_address("cassandra://node/links"))
    assert [one.last for one in store.lists.ranges(store.history().view)] == ["com,b)/"]
    assert store.history() is store.history()
    rows.steps, rows.surts = ((1, b"other files", True),), [0, 1, "com,a)/", "com,c)/"]
    assert [one.last for one in store.lists.ranges(store.history().view)] == ["com,c)/"]
