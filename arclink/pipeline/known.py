"""The payloads that a store on one machine knows, as a relation that tasks join with pointers.

The relation is written when a build first needs it, in one pass over the store; before each further
batch, what the last batch added is appended. A build holds the lock of its store, so nothing else
changes the store meanwhile. The relation is removed with the work folder: the next build writes it
again, and so it never has what was forgotten
(docs/decisions/20261123-tasks-ask-for-known-payloads.md).
"""

from collections.abc import Iterable
from gzip import GzipFile
from itertools import islice
from pathlib import Path

from arclink.counts import Counts
from arclink.mapreduce.runs import JobRunner, parts_of
from arclink.pipeline.jobs import JOBS
from arclink.rows.known import KNOWN
from arclink.rows.pointers import POINTERS
from arclink.store.protocols import ListsPayloads, PayloadMark

PART_BYTES = 64 << 20
"""Bytes of a compressed part from which the next rows begin another: one part is one map task."""

_AT_ONCE = 10_000


class KnownRelation:
    """The relation ``known`` of a build.

    Args:
        store: The store.
        folder: Folder for the parts, in the work folder; an older one is removed.
        run: Runs the job that reads the parts.
    """

    def __init__(self, store: ListsPayloads, folder: Path, run: JobRunner) -> None:
        self._store = store
        self._folder = folder
        self._run = run
        self._mark = PayloadMark()
        self._parts = 0
        run.remove(folder)

    def update(self) -> bool:
        """Append what the store got since the last call; return whether it knows any payload."""
        mark = self._store.payload_mark()
        if mark != self._mark:
            rows = self._store.payloads_since(self._mark)
            self._append(row + b"\n" for row in rows)
            self._mark = mark
        return bool(parts_of(self._folder))

    def parts(self) -> list[Path]:
        """Return the parts of the relation, as input of a job."""
        return self._run.parts(self._folder)

    def match(self, pointers: Path, matched: Path) -> Counts:
        """Have tasks leave out the pointers to payloads that the store has.

        Args:
            pointers: Folder with the pointers that filter or a search wrote.
            matched: Folder for those that are left.

        Returns:
            The counts of the job, such as the payloads that the store knows already.
        """
        name = matched.name
        output, again = matched.with_name(f"{name}-joined"), matched.with_name(f"{name}-known")
        inputs = [*self._run.parts(pointers), *self.parts()]
        counts = self._run.run(JOBS["match"], inputs, output, {}, are_relations=True)
        self._run.split(output, {POINTERS: matched, KNOWN: again}, name)
        self._run.fetch(again)
        for part in parts_of(again):
            with part.open("rb") as lines:
                self._append(lines)
        return counts

    def _append(self, lines: Iterable[bytes]) -> None:
        """Append lines; a part is compressed in members, each of which is complete."""
        self._folder.mkdir(parents=True, exist_ok=True)
        rest = iter(lines)
        while some := list(islice(rest, _AT_ONCE)):
            part = self._folder / f"part-{self._parts:05d}.gz"
            with part.open("ab") as file, GzipFile("", "wb", 1, file, 0) as compressed:
                compressed.write(b"".join(some))
            if part.stat().st_size >= PART_BYTES:
                self._parts += 1


def known_relation(store: object, folder: Path, run: JobRunner) -> KnownRelation | None:
    """Return the relation of a store if an engine's tasks need it: they cannot open the store.

    Args:
        store: The store of the build.
        folder: See `KnownRelation`.
        run: Runs the jobs, here or on an engine.
    """
    if run.is_on_engine and isinstance(store, ListsPayloads):
        return KnownRelation(store, folder, run)
    return None
