"""Keeps the times of captures of a SQLite store while a batch is loaded.

Whether the links of an earlier capture are known may change. What is there before a transaction
cannot be read after it, so the captures of earlier batches that this may concern are noted first.
"""

from collections.abc import Collection, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import orjson

from arclink.files.spill import Sorted
from arclink.model import Checksum, Memento, Scope, maker
from arclink.rows.relations import (
    COLUMNS_OF_MEMENTO,
    COLUMNS_OF_PAYLOAD,
    MementoColumns,
    parse_payload,
)
from arclink.store.blocks.answers import BlockAnswers
from arclink.store.blocks.byte_layouts import split_content
from arclink.store.blocks.counted_times import LOADED, Changes, keys_of_pages
from arclink.store.blocks.relations import (
    KEYS_OF_MEMENTO,
    number_field,
    scope_of_outcome,
    without_copies,
)
from arclink.store.graph_files import read_sorted
from arclink.store.sqlite.times import CaptureTimes
from arclink.uris.resolution import content_id

_memento = maker(Memento)


class TimesOfLoad:
    """Keeps the times while a batch is loaded.

    Make it before anything is loaded: it notes the captures of earlier batches which this one has
    again, whose payload it brings, or which name another capture.

    Args:
        store: The store.
        times: Of the store.
        graph: Folder of the batch's graph files.
        replaced: Numbers of payloads whose contents will be replaced.
    """

    def __init__(
        self, store: BlockAnswers, times: CaptureTimes, graph: Path, replaced: Collection[int]
    ) -> None:
        self._store, self._times, self._graph = store, times, graph
        self._changes = Changes()
        if store.last_batch():
            keys = ((row[0], row[1], row[2], row[3]) for row in self._rows())
            self._changes.note_repeated(store, times, keys)
            self._note_brought({number_field(number) for number in replaced})

    def finish(self) -> None:
        """Count the captures of the batch, after it was loaded."""
        self._store.drop_caches()
        self._changes.note(self._store, map(_memento, self._rows()), LOADED)
        self._changes.note_again(self._store)
        self._changes.apply(self._times)

    def _rows(self) -> Iterator[MementoColumns]:
        rows = read_sorted(self._graph, "mementos", COLUMNS_OF_MEMENTO, KEYS_OF_MEMENTO)
        return without_copies(rows)

    def _note_brought(self, replaced: Collection[bytes]) -> None:
        """Note captures whose payload comes with this batch."""
        scopes: dict[Checksum, Scope | None] = {}
        for row in read_sorted(self._graph, "payloads", COLUMNS_OF_PAYLOAD, keys=0):
            payload = parse_payload(b"\t".join(row))
            scopes[payload.checksum] = payload.scope
        contents = Sorted[tuple[str, str]]()
        for _, _, ids, _ in read_sorted(self._graph, "outlinks", 4, keys=1):
            contents.update((split_content(one)[0], one) for one in orjson.loads(ids))
        for checksum, brought in groupby(contents, itemgetter(0)):
            key, names = self._store.key_of(Checksum(checksum)), {one for _, one in brought}
            if not key:
                continue
            known = scope_of_outcome(self._store.outcomes([Checksum(checksum)])[0])
            of_each = {known, scopes.get(Checksum(checksum))} - {None}
            for original, timestamps in self._store.pages(Checksum(checksum)):
                if key in replaced or any(
                    content_id(Checksum(checksum), original, scope) in names
                    for scope in of_each
                    if scope is not None
                ):
                    for surt in keys_of_pages(self._store, original):
                        self._changes.note_references(self._store, surt)
                        for when in timestamps:
                            self._changes.note_at(self._store, surt, when)
