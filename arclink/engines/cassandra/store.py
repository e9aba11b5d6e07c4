"""`CassandraStore`: a `GraphStore` in Cassandra that answers, loads, forgets and checks itself."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path

import orjson

from arclink.engines.cassandra.load import by_manifests, load_batch
from arclink.engines.cassandra.reader import OF_STORE, CassandraReader
from arclink.engines.cassandra.removal import clean, count_times, forget, in_steps, records
from arclink.engines.cassandra.schema import set_layout
from arclink.engines.cassandra.verification import CassandraRows, violations
from arclink.errors import StoreError
from arclink.model import Batch
from arclink.store.blocks.verification import count_rows
from arclink.store.graph_files import find_parts, identity_of
from arclink.store.layouts import (
    STORE,
    age_of,
    keys_of,
    present_settings,
    present_takedowns,
)
from arclink.store.protocols import (
    Cluster,
    KnownFile,
    Removed,
    StoreStats,
    Takedown,
    Violation,
    sum_of,
)


class CassandraStore(CassandraReader):
    """A `GraphStore` in a keyspace of a Cassandra cluster. Any thread may use it, one at a time."""

    replaces_links = False

    @property
    def shared_url(self) -> str:
        """URL of the store; every machine that reaches the nodes can use it."""
        return self.address.url

    def stats(self) -> StoreStats:
        """Return counts over the whole store.

        Mementos, originals and targets are counted by reading their tables, by token ranges.
        """
        return count_rows(CassandraRows(self), self.sums())

    def verify(self) -> Iterator[Violation]:
        yield from violations(self)

    # Writes of a build

    def load(
        self,
        graph: Path,
        files: Sequence[KnownFile],
        settings: Mapping[str, str],
        manifest: str,
        cores: int | None = None,
        cluster: Cluster | None = None,
        removed: Removed | None = None,
    ) -> Batch:
        self._needs_loader("add a batch")
        parts = find_parts(graph, cluster)
        identity = identity_of(graph, parts, files, manifest, cluster)
        run_tasks = None
        if cluster is not None:
            tasks = cores or os.cpu_count() or 1
            run_tasks = by_manifests(self.address.url, parts, graph.parent / "load", tasks, cluster)
        return load_batch(
            self, identity, parts, files, settings, manifest, run_tasks, cores, removed
        )

    def trim(self) -> None:
        """Do nothing: Cassandra compacts its files by itself."""

    def upgrade(self) -> None:
        self._needs_loader("upgrade it")
        name, new = self.address.name, f"{self.address.name}_new"
        if not keys_of(self).are_present:
            raise StoreError(
                f"{name} was written by an earlier ArcLink ({age_of(self)}), and rows of Cassandra "
                "cannot move to other keys. Nothing was changed: load its graph files into a new "
                f"keyspace, which gives them present keys: arclink backup --into FOLDER "
                f"--store {name} --graph GRAPH; arclink schema apply --store {new}; "
                f"arclink restore FOLDER --store {new} --no-later-takedowns "
                "(docs/how-to/operations.md#upgrade)"
            )
        with self.steps.held() as holder:
            if self.history().counted is None:
                count_times(self, holder)
            loads = self.history().loads
            if loads:
                step = max(loads)
                settings = self._batch(step)[1] | present_settings(self, self.sums().payloads)
                self.database.ask(
                    "UPDATE batches SET settings = ? WHERE step = ?",
                    (orjson.dumps(settings).decode(), step),
                )
            set_layout(self.database, self.layout, STORE)

    # Takedowns

    def forget(self, takedown: Takedown, *, is_trial: bool = False) -> Removed:
        return self.forget_each([takedown], is_trial=is_trial)[0]

    def forget_each(
        self, takedowns: Sequence[Takedown], *, is_trial: bool = False
    ) -> list[Removed]:
        self._needs_loader("make it forget")
        is_one = is_trial or keys_of(self).are_present
        of_each = [
            [takedown] if is_one else present_takedowns(self, [takedown]) for takedown in takedowns
        ]
        counts = (
            removed
            for portion in in_steps(chain.from_iterable(of_each))
            for removed in forget(self, portion, is_trial=is_trial)
        )
        return [sum_of(islice(counts, len(group))) for group in of_each]

    def forgotten(self) -> Iterator[tuple[Takedown, Removed]]:
        yield from records(self.history())

    def clean(self) -> None:
        """Delete the rows that takedowns replaced and the rows of abandoned loads.

        No reader uses them. Cassandra's files hold deleted rows until they are compacted: run
        ``nodetool flush`` and ``nodetool garbagecollect`` on each node, after ``gc_grace_seconds``
        (docs/how-to/operations.md).
        """
        self._needs_loader("clean it")
        clean(self)

    def note_tables(self, address: str, *, are_there: bool) -> None:
        self._needs_loader("note where its tables are")
        if are_there:
            statement = "INSERT INTO tasks (load, task, result) VALUES (?, ?, '{}')"
        else:
            statement = "DELETE FROM tasks WHERE load = ? AND task = ?"
        self.database.ask(statement, (OF_STORE, address))

    def _needs_loader(self, what: str) -> None:
        if not self._is_loader:
            raise StoreError(
                f"{self.address.name} was opened for reading; open it for loading to {what}."
            )
