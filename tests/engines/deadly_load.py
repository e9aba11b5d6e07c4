"""The job LoadGraph with tasks that are killed: the first time or every time.

The driver chooses the moment. Used by tests of faults.
"""

import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from arclink.engines.cassandra import database
from arclink.engines.cassandra.database import Database, Found, Values, Writer
from arclink.jobs.load_graph import LoadGraph
from arclink.mapreduce.job import Pair, attempt_number

DEATHS = "ARCLINK_TEST_DEATHS"
"""The environment variable with a folder, which gets a file for each task that was killed."""

MOMENT = "ARCLINK_TEST_MOMENT"
"""When a task is killed: when its ``first`` rows are written, or when all are, and it only has to
be ``noted``.
"""

ATTEMPTS = "ARCLINK_TEST_ATTEMPTS"
"""How many attempts of a task are killed."""


def _die(what: str) -> None:
    Path(os.environ[DEATHS], f"{what}-{os.getpid()}").touch()
    os.kill(os.getpid(), signal.SIGKILL)


def _doomed(patch: pytest.MonkeyPatch) -> None:
    """Have this process killed when it has written five rows, or is to note its first task."""
    if os.environ[MOMENT] == "first":
        patch.setattr(database, "BATCH_ROWS", 5)
        send = Writer._send

        def send_once(self: Writer, node: object) -> None:
            send(self, node)
            while self._under_way:
                self._take()
            _die("first")

        patch.setattr(Writer, "_send", send_once)
        return
    ask = Database.ask

    def ask_or_die(self: Database, statement: str, values: Values = ()) -> list[Found]:
        if statement.startswith("INSERT INTO tasks"):
            _die("noted")
        return ask(self, statement, values)

    patch.setattr(Database, "ask", ask_or_die)


class DeadlyLoad(LoadGraph):
    """LoadGraph, with tasks that are killed."""

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Do what LoadGraph does, if this attempt may live."""
        with pytest.MonkeyPatch.context() as patch:
            if attempt_number() < int(os.environ[ATTEMPTS]):
                _doomed(patch)
            yield from super().map_lines(lines)


if __name__ == "__main__":
    DeadlyLoad.run()
