"""Requests of a prefix query are concurrent, with any number of batches and parts.

No server is needed.
"""

import json
from collections.abc import Iterable, Sequence

import pytest

from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.steps import Facts
from arclink.engines.cassandra.store import CassandraStore
from arclink.engines.cassandra.surt_lists import FENCES, pack_surts
from arclink.model import Surt
from arclink.store.seals import seal

PARTS = 6
SURTS = 40
ROWS = 4
"""Each part has `SURTS` SURTs in this number of rows."""


class Keyspace:
    """Batches whose parts each have all hosts.

    Attributes:
        trips: Number of requests that went out together, by round trip.
    """

    def __init__(self, batches: int) -> None:
        self.batches = batches
        self.trips: list[int] = []

    @staticmethod
    def surts(batch: int, part: int) -> list[list[str]]:
        """Return the SURTs of a part, row by row."""
        surts = [f"org,h{number:02})/{batch}/{part}" for number in range(SURTS)]
        step = SURTS // ROWS
        return [surts[begin : begin + step] for begin in range(0, SURTS, step)]

    def ask(self, statement: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Answer a question for the steps."""
        facts = Facts("load", number=1).as_json()
        return [(number, b"%d" % number, True, facts) for number in range(1, self.batches + 1)]

    def ask_each(
        self, statement: str, questions: Iterable[Sequence[int]]
    ) -> list[list[tuple[object, ...]]]:
        """Answer questions that are sent together."""
        keys = list(questions)
        if keys:
            self.trips.append(len(keys))
        if "FROM tasks" in statement:
            return [self.tasks(load) for (load,) in keys]
        return [[(*key, 0, 0, self.data(*key))] for key in keys]

    def ask_partitions(
        self, statement: str, one: str, keys: Sequence[Sequence[int]]
    ) -> list[list[tuple[object, ...]]]:
        """Answer questions for rows."""
        return self.ask_each(one, keys)

    def tasks(self, load: int) -> list[tuple[object, ...]]:
        """Return the notes of the tasks of a batch."""
        found: list[tuple[object, ...]] = []
        for part in range(PARTS):
            rows = self.surts(load, part)
            result = {"surts": [part, len(rows), rows[0][0], rows[-1][-1]]}
            found.append((f"mementos/{part}", json.dumps(result)))
        return found

    def data(self, load: int, part: int, row: int) -> bytes:
        """Return the data of a row."""
        rows = self.surts(load, part)
        data = pack_surts([some[0] for some in rows] if row == FENCES else rows[row])
        return seal(data, b"surts/%d/%d/%d/0/" % (load, part, row))


def opened(batches: int, monkeypatch: pytest.MonkeyPatch) -> tuple[CassandraStore, Keyspace]:
    keyspace = Keyspace(batches)
    monkeypatch.setattr("arclink.engines.cassandra.reader.open_database", lambda *_, **__: keyspace)
    return CassandraStore(parse_address("cassandra://node/links")), keyspace


def all_surts(batches: int) -> list[str]:
    return sorted(
        surt
        for batch in range(1, batches + 1)
        for part in range(PARTS)
        for row in Keyspace.surts(batch, part)
        for surt in row
    )


@pytest.mark.parametrize("batches", [1, 10, 50])
def test_a_host_takes_three_round_trips_and_one_when_asked_again(
    batches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the parts are, their fences, and one row of each; what is sent together is limited."""
    monkeypatch.setattr("arclink.engines.cassandra.surt_lists.AT_ONCE", 1000)
    store, keyspace = opened(batches, monkeypatch)
    prefix = "org,h07)/"
    expected = [surt for surt in all_surts(batches) if surt.startswith(prefix)]
    assert list(store.surts(Surt(prefix))) == expected
    assert keyspace.trips == [batches, batches * PARTS, batches * PARTS]
    keyspace.trips.clear()
    assert list(store.surts(Surt("org,h08)/")))
    assert keyspace.trips == [batches * PARTS]


@pytest.mark.parametrize(
    ("prefix", "after"),
    [
        pytest.param("", None, id="all"),
        pytest.param("org,h1", None, id="hosts in two rows"),
        pytest.param("org,h", "org,h19)/2/3", id="after a SURT"),
        pytest.param("org,h19)/", "org,h19)/2/3", id="after a SURT of the last host of a row"),
        pytest.param("org,h39)/2", None, id="the end"),
        pytest.param("org,x", None, id="after the last"),
        pytest.param("com,", None, id="before the first"),
    ],
)
@pytest.mark.parametrize("at_once", [1, 4, 100])
def test_a_prefix_gives_its_surts_in_order(
    prefix: str, after: str | None, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.engines.cassandra.surt_lists.AT_ONCE", at_once)
    store, _ = opened(3, monkeypatch)
    found = list(store.surts(Surt(prefix), None if after is None else Surt(after)))
    expected = [
        surt for surt in all_surts(3) if surt.startswith(prefix) and (after is None or surt > after)
    ]
    assert found == expected
