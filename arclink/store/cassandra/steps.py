"""The history of a store: which steps were taken, which of them are finished, and who may take the next.

A step is a batch that was loaded, or a takedown. Its number is taken with a lightweight transaction, its rows are written with
that number, and the row that says it is finished makes all of them visible at once. Only the holder of the store takes steps;
a holder that died is known by its process, on the same machine, or by its silence.
"""

import json
import os
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from time import monotonic

from arclink.errors import StoreError
from arclink.store import StoreState
from arclink.store.cassandra.database import Database
from arclink.store.cassandra.tables import View

SILENCE = 120
"""Seconds after which a holder that does not say that it is alive has lost the store."""

FRESH = 0.5
"""Seconds for which a reader goes on with the history it has read."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a step (``docs/cassandra-schema.md``).

    Attributes:
        kind: ``load`` or ``takedown``.
        number: Of the batch: 1, 2, …
        payloads: Payloads whose fate was not known before.
        contents: Contents that were not known before.
        links: Their outlinks, repeated ones included.
        first: Timestamp of the earliest memento of the batch; empty if it has none.
        last: Of the latest.
        refers: Whether some of its revisits name a capture instead of a checksum.
        version: Step whose versions hold what was forgotten of the batch while it was loaded; 0 if nothing was.
        removed: By step of a takedown, what it removed here: the counts of `Removed`.
        spans: By step of a batch, its first and last after that.
        takedown: prefix, first, last, whether targets, reason, time.
    """

    kind: str
    number: int = 0
    payloads: int = 0
    contents: int = 0
    links: int = 0
    first: str = ""
    last: str = ""
    refers: bool = False
    version: int = 0
    removed: Mapping[int, Sequence[int]] = field(default_factory=dict)
    spans: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    takedown: tuple[str, str, str, bool, str, str] = ("", "", "", False, "", "")

    def as_json(self) -> str:
        """Return the facts as `facts_of` reads them."""
        return json.dumps(asdict(self))


def facts_of(text: str) -> Facts:
    """Return what `Facts.as_json` wrote."""
    values = json.loads(text)
    values["removed"] = {int(step): counts for step, counts in values["removed"].items()}
    values["spans"] = {int(step): tuple(span) for step, span in values["spans"].items()}
    values["takedown"] = tuple(values["takedown"])
    return Facts(**values)


@dataclass(frozen=True, slots=True)
class Step:
    """One step; `facts` are those of a finished one."""

    number: int
    identity: bytes
    facts: Facts | None


@dataclass(frozen=True, slots=True)
class History:
    """The finished steps, in order.

    Attributes:
        loads: Batches.
        takedowns: What was to be forgotten.
        view: What a reader believes of them.
    """

    loads: Mapping[int, Facts]
    takedowns: Mapping[int, Facts]
    view: View

    @property
    def refers(self) -> bool:
        """Whether there are revisits that name the capture they repeat instead of a checksum."""
        return any(facts.refers for facts in self.loads.values())

    @property
    def removed(self) -> list[int]:
        """The counts of `Removed`, over all takedowns."""
        steps = [*self.loads.values(), *self.takedowns.values()]
        return [sum(counts[place] for facts in steps for counts in facts.removed.values()) for place in range(5)]

    @property
    def state(self) -> StoreState:
        """What tells this history from others: how it began, its last load, what is forgotten, and whether links were taken away."""
        loads = sorted(self.loads.items())
        first, last = (str(loads[place]) if loads else "" for place in (0, -1))
        forgotten = {facts.takedown[:4] for facts in self.takedowns.values()}  # told twice, it is the same
        removed = self.removed
        _, _, contents, links, _ = removed
        return StoreState.of((first, last, sorted(forgotten), removed), (first, contents, links))

    @property
    def spans(self) -> dict[int, tuple[str, str]]:
        """By step of a batch, its first and last timestamp as they are now."""
        spans = {step: (facts.first, facts.last) for step, facts in self.loads.items()}
        for _, facts in sorted({**self.loads, **self.takedowns}.items()):
            spans.update(facts.spans)
        return spans


class Steps:
    """Reads and writes the history."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._history: History | None = None
        self._read_of: list[Step] = []
        self._read_at = 0.0

    def all(self) -> list[Step]:
        """Return all steps, unfinished ones too."""
        rows = self._database.ask("SELECT step, identity, is_finished, facts FROM steps WHERE store = 0")
        return [
            Step(number, identity or b"", facts_of(facts) if is_finished else None)
            for number, identity, is_finished, facts in rows
            if number is not None
        ]

    def history(self, *, fresh: bool = False) -> History:
        """Return the finished steps, as they were a moment ago; ``fresh``: as they are.

        It is the same object as long as nothing has changed. A store that was emptied and built again has other steps of equal numbers.
        """
        if fresh or self._history is None or monotonic() - self._read_at > FRESH:
            self._read_at = monotonic()
            finished = [step for step in self.all() if step.facts is not None]
            if self._history is None or finished != self._read_of:
                self._read_of = finished
                self._history = _history_of({step.number: step.facts for step in finished if step.facts is not None})
        return self._history

    def begin(self, identity: bytes) -> int:
        """Take a number for a step, and return it.

        One that was begun with the same identity is begun again, unless another was finished since: what was found new then may not be now.
        """
        steps = self.all()
        last = max((step.number for step in steps if step.facts is not None), default=0)
        for step in steps:
            if identity and step.identity == identity and step.number > last:
                return step.number
        number = max((step.number for step in steps), default=0)
        while True:
            number += 1
            is_mine, _ = self._database.agree(
                "INSERT INTO steps (store, step, identity, is_finished) VALUES (0, ?, ?, false) IF NOT EXISTS", (number, identity)
            )
            if is_mine:
                return number

    def finish(self, number: int, facts: Facts, holder: str) -> None:
        """Make a step visible.

        Raises:
            StoreError: Another process holds the store by now.
        """
        is_done, _ = self._database.agree(
            "UPDATE steps SET is_finished = true, facts = ? WHERE store = 0 AND step = ? IF holder = ?", (facts.as_json(), number, holder)
        )
        if not is_done:
            raise StoreError(
                f"{self._database.address.name}: this load was silent for {SILENCE} seconds and lost the store; start it again."
            )
        self._history = None

    @contextmanager
    def held(self) -> Iterator[str]:
        """Hold the store, and say so every now and then; yield our name as its holder.

        Raises:
            StoreError: Another process holds it.
        """
        name = f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident()}"
        database = self._database
        take = f"UPDATE steps USING TTL {SILENCE} SET holder = ? WHERE store = 0 IF holder = ?"
        previous: str | None = None
        while True:
            is_ours, found = database.agree(take, (name, previous))
            holder = found[0] if found else None
            if is_ours or holder == name:
                break
            if holder is not None and not _is_dead(holder):
                raise StoreError(
                    f"{database.address.name} is locked: another build is loading into it ({holder.rpartition(':')[0]}). "
                    f"Wait until that build has ended, then start again; if its machine died, wait {SILENCE} seconds."
                )
            previous = holder
        ended = threading.Event()
        alive = threading.Thread(target=self._stay, args=(name, ended), daemon=True)
        alive.start()
        try:
            yield name
        finally:
            ended.set()
            alive.join()
            database.agree("UPDATE steps SET holder = null WHERE store = 0 IF holder = ?", (name,))

    def _stay(self, name: str, ended: threading.Event) -> None:
        while not ended.wait(SILENCE / 4):
            try:
                self._database.agree(f"UPDATE steps USING TTL {SILENCE} SET holder = ? WHERE store = 0 IF holder = ?", (name, name))
            except StoreError:
                continue  # said again in a while; if the store is lost meanwhile, finishing the step says so


def _is_dead(holder: str) -> bool:
    """Return whether a holder is known to have died: a process of this machine that is no more."""
    host, _, rest = holder.partition(":")
    process = rest.partition(":")[0]
    if host != socket.gethostname() or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _history_of(steps: Mapping[int, Facts]) -> History:
    loads = {number: facts for number, facts in steps.items() if facts.kind == "load"}
    takedowns = {number: facts for number, facts in steps.items() if facts.kind == "takedown"}
    versions = {facts.version for facts in loads.values()} - {0}
    return History(loads, takedowns, View(frozenset(loads), frozenset(versions | takedowns.keys())))
