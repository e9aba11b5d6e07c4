"""The history of a store: its steps, which are finished, and which process may take the next.

A step is a loaded batch, a list of takedowns, a merge of lists of SURTs, or a count of all captures
by their times. Its number is reserved with a lightweight transaction, its rows are written with
that number, and one row that marks it as finished makes all of them visible at once. Only the
process that holds the store takes steps. A dead holder is recognised by its process, if it is on
the same machine, or by its silence.
"""

import json
import os
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import inf
from time import monotonic, sleep

from arclink.engines.cassandra.database import Database
from arclink.engines.cassandra.tables import StoreView
from arclink.errors import StoreError
from arclink.store.protocols import StoreState

_SILENCE = 120
"""Seconds without a sign of life after which a holder loses the store."""

FRESH = 0.5
"""Seconds for which a reader reuses the history that it has read."""

_OF_TAKEDOWN = ":takedown"
"""End of the name of a holder that makes the store forget."""


TakedownValues = tuple[str, str, str, bool, str, str]
"""A takedown: prefix, first, last, has_targets, reason, time."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a step (``docs/reference/cassandra-schema.md``).

    Attributes:
        kind: ``load``, ``takedown``, ``merge`` or ``count``.
        number: Number of the batch: 1, 2, …
        payloads: Number of payloads whose outcome was not known before.
        contents: Number of contents that were not known before.
        links: Number of their outlinks, repeated ones included.
        first: Timestamp of the earliest memento of the batch; empty if it has no memento.
        last: Timestamp of the latest memento.
        refers: Whether some of its revisits name a capture instead of a checksum.
        version: Step with the versions of rows that earlier takedowns changed while the batch was
            loaded; 0 if none did.
        removed: By number of a takedown (`takedown_number`), what it removed here: the counts of
            `Removed`. A takedown that removed nothing may be missing.
        spans: By step of a batch, its first and last timestamp after this step.
        takedown: prefix, first, last, has_targets, reason, time.
        further: The other takedowns of the step, each as ``takedown``.
        replaces: Steps whose lists of SURTs this merge replaced.
        level: Level of the merged lists; those of a batch have 0.
        is_counted: Whether the table ``times`` has what a batch or a takedown changed; false if an
            earlier version made the step, or one that followed such a step.
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
    takedown: TakedownValues = ("", "", "", False, "", "")
    replaces: Sequence[int] = ()
    level: int = 0
    is_counted: bool = False
    further: Sequence[TakedownValues] = field(default=(), repr=False)  # `state` has the other text

    @property
    def takedowns(self) -> list[TakedownValues]:
        """The takedowns of a step that is one."""
        return [self.takedown, *self.further]

    def as_json(self) -> str:
        """Return the facts as text that `facts_of` reads."""
        return json.dumps(asdict(self))


def facts_of(text: str) -> Facts:
    """Return the facts that `Facts.as_json` wrote."""
    values = json.loads(text)
    values["removed"] = {int(step): counts for step, counts in values["removed"].items()}
    values["spans"] = {int(step): tuple(span) for step, span in values["spans"].items()}
    values["takedown"] = tuple(values["takedown"])
    values["replaces"] = tuple(values.get("replaces", ()))
    values["further"] = tuple(map(tuple, values.get("further", ())))
    values.pop("months", None)  # an earlier version counted captures by month
    return Facts(**values)


def takedown_number(step: int, index: int) -> int:
    """Return the number of a takedown: that of its step, if it is the first of the step."""
    return index << 32 | step


@dataclass(frozen=True, slots=True)
class Step:
    """One step; only a finished one has `facts`."""

    number: int
    identity: bytes
    facts: Facts | None


@dataclass(frozen=True, slots=True)
class History:
    """The finished steps, in order.

    Attributes:
        loads: Facts of the batches, by step.
        takedowns: Facts of the takedowns, by step.
        view: The steps whose rows a reader uses.
        merges: Facts of the merges, by step.
        counts: The steps that counted all captures, in order.
    """

    loads: Mapping[int, Facts]
    takedowns: Mapping[int, Facts]
    view: StoreView
    merges: Mapping[int, Facts] = field(default_factory=dict)
    counts: Sequence[int] = ()

    @property
    def refers(self) -> bool:
        """Whether there are revisits that name the capture they repeat instead of a checksum."""
        return any(facts.refers for facts in self.loads.values())

    @property
    def removed(self) -> list[int]:
        """The counts of `Removed`, over all takedowns."""
        steps = [*self.loads.values(), *self.takedowns.values()]
        return [
            sum(counts[index] for facts in steps for counts in facts.removed.values())
            for index in range(5)
        ]

    @property
    def counted(self) -> int | None:
        """The step from which on ``times`` has all captures: the last count, or 0.

        None if it lacks a batch or takedown since: an earlier version made it.
        """
        last = max(self.counts, default=0)
        return last if self._are_counted(last, inf) else None

    def _are_counted(self, after: float, before: float) -> bool:
        steps = {**self.loads, **self.takedowns}
        return all(facts.is_counted for step, facts in steps.items() if after < step < before)

    @property
    def state(self) -> StoreState:
        """The identifiers of this history.

        They cover its first and last load, the takedowns, and the numbers of removed items.
        """
        loads = sorted(self.loads.items())
        first, last = (str(loads[index]) if loads else "" for index in (0, -1))
        # A repeated takedown does not change the state.
        forgotten = {what[:4] for facts in self.takedowns.values() for what in facts.takedowns}
        removed = self.removed
        _, _, contents, links, _ = removed
        # A count changes answers if times were not known before.
        known = [count for count in self.counts if not self._are_counted(0, count)]
        version = (first, last, sorted(forgotten), removed, *known[:1])
        return StoreState.of(version, (first, contents, links))

    @property
    def spans(self) -> dict[int, tuple[str, str]]:
        """By step of a batch, its present first and last timestamp."""
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
        rows = self._database.ask(
            "SELECT step, identity, is_finished, facts FROM steps WHERE store = 0"
        )
        return [
            Step(number, identity or b"", facts_of(facts) if is_finished else None)
            for number, identity, is_finished, facts in rows
            if number is not None
        ]

    def history(self, *, fresh: bool = False) -> History:
        """Return the finished steps, at most `FRESH` seconds old; with ``fresh``, the present ones.

        The same object is returned while nothing changes. A store that was emptied and built again
        has other steps with the same numbers.
        """
        if fresh or self._history is None or monotonic() - self._read_at > FRESH:
            self._read_at = monotonic()
            finished = [step for step in self.all() if step.facts is not None]
            if self._history is None or finished != self._read_of:
                self._read_of = finished
                self._history = _history_of(
                    {step.number: step.facts for step in finished if step.facts is not None}
                )
        return self._history

    def begin(self, identity: bytes) -> int:
        """Reserve a number for a step, and return it.

        An unfinished step with the same identity keeps its number, unless another step was finished
        since: then items that were new to it may no longer be new.
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
                "INSERT INTO steps (store, step, identity, is_finished) VALUES (0, ?, ?, "
                "false) IF NOT EXISTS",
                (number, identity),
            )
            if is_mine:
                return number

    def give_up(self, number: int) -> None:
        """Make an unfinished step one that no process takes up again."""
        self._database.agree(
            "UPDATE steps SET identity = 0x WHERE store = 0 AND step = ? IF is_finished = false",
            (number,),
        )

    def finish(self, number: int, facts: Facts, holder: str) -> None:
        """Make a step visible.

        Raises:
            StoreError: Another process holds the store by now.
        """
        is_done, _ = self._database.agree(
            "UPDATE steps SET is_finished = true, facts = ? WHERE store = 0 AND step = ? IF "
            "holder = ?",
            (facts.as_json(), number, holder),
        )
        if not is_done:
            raise StoreError(
                f"{self._database.address.name}: this load did not renew its lock for "
                f"{_SILENCE} seconds and lost it; start it again."
            )
        self._history = None

    @contextmanager
    def held(self, *, is_takedown: bool = False) -> Iterator[str]:
        """Hold the store and renew the hold regularly; yield the name of this holder.

        A takedown waits for a load, and a load for a takedown.

        Raises:
            StoreError: Another load holds it.
        """
        name = f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident()}"
        name += _OF_TAKEDOWN if is_takedown else ""
        database = self._database
        take = f"UPDATE steps USING TTL {_SILENCE} SET holder = ? WHERE store = 0 IF holder = ?"
        previous: str | None = None
        while True:
            is_ours, found = database.agree(take, (name, previous))
            holder = found[0] if found else None
            if is_ours or holder == name:
                break
            if holder is not None and not _is_dead(holder):
                if is_takedown or holder.endswith(_OF_TAKEDOWN):
                    sleep(FRESH)
                    continue
                raise StoreError(
                    f"{database.address.name} is locked: another build is loading into it "
                    f"({holder.rpartition(':')[0]}). Wait until that build has ended, then start "
                    f"again; if its machine died, wait {_SILENCE} seconds."
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
        while not ended.wait(_SILENCE / 4):
            try:
                self._database.agree(
                    f"UPDATE steps USING TTL {_SILENCE} SET holder = ? WHERE store = 0 IF "
                    "holder = ?",
                    (name, name),
                )
            except StoreError:
                continue  # repeated soon; if the store is lost meanwhile, `finish` reports it


def _is_dead(holder: str) -> bool:
    """Return whether a holder is known to be dead: an ended process of this machine."""
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
    loads, takedowns, merges, counts = (
        {number: facts for number, facts in steps.items() if facts.kind == kind}
        for kind in ("load", "takedown", "merge", "count")
    )
    versions = {facts.version for facts in loads.values()} - {0}
    replaced = {step for facts in merges.values() for step in facts.replaces}
    view = StoreView(
        frozenset(loads),
        frozenset(versions | takedowns.keys()),
        frozenset((loads.keys() | merges.keys()) - replaced),
    )
    return History(loads, takedowns, view, merges, sorted(counts))
