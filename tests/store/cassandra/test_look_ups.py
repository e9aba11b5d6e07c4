"""Payloads and contents of several mementos are looked up at once, and kept."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from arclink.engines.cassandra import look_ups
from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.database import TOGETHER, Database
from arclink.engines.cassandra.look_ups import LookUps
from arclink.model import Checksum, ContentId, Memento, Scope
from arclink.uris.resolution import content_id
from tests.store.graphs import checksum_of, memento

OUTCOME = b"\x01"


class Asked:
    """A store in which all payloads were read, and which contents it was asked about."""

    def __init__(self) -> None:
        self.trips: list[tuple[str, int]] = []

    def outcomes(self, checksums: Sequence[Checksum]) -> list[bytes | None]:
        if checksums:
            self.trips.append(("outcomes", len(checksums)))
        return [OUTCOME for _ in checksums]

    def numbers(self, contents: Sequence[ContentId]) -> list[tuple[int, int] | None]:
        if contents:
            self.trips.append(("numbers", len(contents)))
        return [(1, len(content)) for content in contents]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    monkeypatch.setattr(look_ups, "scope_of_outcome", lambda _: Scope.NONE)
    return Asked()


def captures(count: int) -> list[Memento]:
    return [
        memento("http://a.example/", f"2010010100{number:04d}", checksum_of(str(number)))
        for number in range(count)
    ]


def test_mementos_that_were_read_together_take_two_round_trips(asked: Asked) -> None:
    found = LookUps(asked.outcomes, asked.numbers)
    found.mementos = captures(20)
    for one in found.mementos[5:]:
        assert found.outcome(one.checksum, one) == OUTCOME
        content = content_id(one.checksum, one.original, Scope.NONE)
        assert found.number(content) == (1, len(content))
    assert asked.trips == [("outcomes", 15), ("numbers", 15)], (
        "those before the first are not asked"
    )


def test_the_contents_after_one_are_read_with_it(asked: Asked) -> None:
    found = LookUps(asked.outcomes, asked.numbers)
    found.mementos = captures(20)
    contents = [content_id(one.checksum, one.original, Scope.NONE) for one in found.mementos]
    first = found.mementos[0]
    found.outcome(first.checksum, first)
    assert len(found.numbers_from(contents[3])) == look_ups.BLOCKS_AHEAD
    assert len(found.numbers_from(contents[-2])) == 2
    assert len(found.numbers_from(ContentId("ELSEWHERE"))) == 1
    assert asked.trips == [("outcomes", 20), ("numbers", 20), ("numbers", 1)]


def test_another_state_of_the_store_is_asked_again(asked: Asked) -> None:
    found = LookUps(asked.outcomes, asked.numbers)
    (one,) = captures(1)
    for _ in range(2):
        found.clear()  # as readers do in another state
        found.outcome(one.checksum, one)
        found.outcome(one.checksum, one)
    assert asked.trips == 2 * [("outcomes", 1), ("numbers", 1)]


def test_few_answers_are_kept(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_ups, "CACHED", 3)
    found = LookUps(asked.outcomes, asked.numbers)
    for one in captures(5):
        found.outcome(one.checksum, one)
    assert len(found._outcomes) == len(found._numbers) == 3


@pytest.mark.parametrize("nodes", [1, 3])
def test_partitions_are_asked_for_together_if_they_are_on_one_node(nodes: int) -> None:
    """Each primary key has its node; the answer has the rows of each key, in its order."""
    sent: list[tuple[str, Sequence[Any], bytes | None]] = []
    database: Any = Database.__new__(Database)
    database.address = parse_address("cassandra://node/links")
    database._cluster = SimpleNamespace(
        metadata=SimpleNamespace(
            _hosts=range(nodes),
            get_replicas=lambda _, key: [SimpleNamespace(endpoint=int(key) % nodes)],
        )
    )
    database._prepare = lambda _: SimpleNamespace(
        bind=lambda primary_key: SimpleNamespace(routing_key=b"%d" % primary_key[-1])
    )

    def ask_each(
        statement: str, questions: Sequence[Any], routes: Sequence[bytes | None]
    ) -> list[list[Any]]:
        asked = list(questions)
        sent.extend(zip([statement] * len(asked), asked, routes, strict=True))
        return [
            [(common, number, f"row {row} of {number}") for number in numbers for row in (1, 2)]
            for common, numbers in reversed(asked)
        ]

    database.ask_each = ask_each
    primary_keys = [(0, number) for number in range(90, 0, -1)]
    found = database.ask_partitions("IN ?", "= ?", [*primary_keys, primary_keys[3]])
    assert found == [
        [(0, number, f"row {row} of {number}") for row in (1, 2)]
        for _, number in [*primary_keys, primary_keys[3]]
    ]
    assert all(len(numbers) <= TOGETHER for _, (_, numbers), _ in sent)
    assert len(sent) == nodes * -(-90 // nodes // TOGETHER)
    assert all(len({number % nodes for number in numbers}) == 1 for _, (_, numbers), _ in sent)
    assert database.ask_partitions("IN ?", "= ?", []) == []
