"""Counts by their times the captures that a batch adds, and those that it changes.

A reader of this store can read the state before a step while its rows are written. So tasks count
after all rows of the batch are written, and compare both states. Each capture is counted by one
task: those of the batch, and revisits of the same pages that name another capture, by the first
part of mementos with the page; any other by the part of outlinks with the content that it shows.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from arclink.checksums import is_reference
from arclink.engines.cassandra.reader import CassandraReader, rows_in
from arclink.engines.cassandra.steps import Facts, Steps
from arclink.engines.cassandra.surt_lists import unpack_surts
from arclink.engines.cassandra.tables import StoreView, Stream, Tables, done_tasks
from arclink.engines.cassandra.times import StepTimes, WrittenChanges
from arclink.files.spill import Sorted
from arclink.model import ContentId, Memento, Span, Surt
from arclink.portions import portions
from arclink.store.blocks.answers import AT_ONCE
from arclink.store.blocks.byte_layouts import pack_checksum, split_content
from arclink.store.blocks.counted_times import (
    AFTER,
    BEFORE,
    LOADED,
    CaptureKey,
    Changes,
    keys_of_pages,
)
from arclink.store.blocks.relations import distinct_mementos, memento_of
from arclink.store.blocks.rows import Relation

_BLOCKS_AT_ONCE = 16
"""Number of blocks whose contents are looked up together."""


class LoadTimes:
    """Counts the captures of parts of a batch.

    Args:
        tables: Of the store.
        view: The finished steps, and the step of the batch, whose rows are written.
        step: The step of the batch.
    """

    def __init__(self, tables: Tables, view: StoreView, step: int) -> None:
        self._tables, self._step = tables, step
        self._results = done_tasks(tables, step)
        history = Steps(tables.database).history(fresh=True)
        facts = Facts("load", refers=any(one.get("refers") for one in self._results.values()))
        now = replace(history, loads={**history.loads, step: facts}, view=view)
        address = tables.database.address
        self._before = CassandraReader(address, history=history)
        self._after = CassandraReader(address, history=now)
        self._times = StepTimes(tables, history)

    def count(self, relation: str, part: int) -> None:
        """Write the changes that one part of mementos or outlinks makes."""
        changes = Changes()
        if relation == "mementos":
            self._note_pages(part, changes)
        else:
            self._note_brought(part, changes)
        number = 2 * part + (relation == "outlinks")
        written = WrittenChanges(self._tables, self._step, number, self._step)
        changes.apply(written)
        written.close()

    # Pages that the batch captured

    def _note_pages(self, part: int, changes: Changes) -> None:
        keys = Sorted[CaptureKey]()
        for some in portions(self._mementos(part), AT_ONCE):
            changes.note(self._after, some, LOADED)
            keys.update((one.surt, one.timestamp, one.original, one.checksum) for one in some)
        changes.note_repeated(self._before, self._times, keys)
        changes.note_again(self._after)

    def _mementos(self, part: int) -> Iterator[Memento]:
        """Yield the captures in the batch of the pages that a part of mementos counts."""
        for some in portions(self._surts(part), AT_ONCE):
            for surt, streams in zip(some, self._of_batch(some), strict=True):
                if streams[0].part == part:
                    rows = rows_in(Relation.MEMENTOS, surt.encode(), streams)
                    for item in distinct_mementos(rows, self._after.names):
                        yield memento_of(Surt(surt), item)

    def _surts(self, part: int) -> Iterator[str]:
        # What `SurtWriter.close` returned.
        found = cast("Sequence[int]", self._results[f"mementos/{part}"]["surts"])
        for chunk in range(found[1] if found else 0):
            key = self._step, found[0], chunk
            yield from unpack_surts(self._tables.surts.get(key, self._after.view))

    def _of_batch(self, surts: Iterable[str]) -> list[list[Stream]]:
        """Return the streams of mementos that the batch has of each page."""
        keys = [surt.encode() for surt in surts]
        return self._tables.mementos.streams_of_each(keys, self._after.view, self._step)

    # Other captures, whose payloads the batch brought

    def _note_brought(self, part: int, changes: Changes) -> None:
        for contents in portions(self._contents(part), AT_ONCE):
            keys = [pack_checksum(split_content(content)[0]) for content in contents]
            earlier = self._tables.sightings.streams_of_each(keys, self._before.view)
            for content, streams in zip(contents, earlier, strict=True):
                if streams:
                    for mementos in portions(self._showing(content), AT_ONCE):
                        changes.note(self._before, mementos, BEFORE)
                        changes.note(self._after, mementos, AFTER)

    def _contents(self, part: int) -> Iterator[ContentId]:
        """Yield the contents that a part of outlinks brought, and no earlier block has."""
        blocks = int(str(self._results[f"outlinks-again/{part}"]["blocks"]))
        keys = ((self._step, part, block) for block in range(blocks))
        for some in portions(keys, _BLOCKS_AT_ONCE):
            for names in self._tables.blocks.get_each(some, self._after.view):
                yield from (ContentId(name) for name in names.decode().split("\n") if name)

    def _showing(self, content: ContentId) -> Iterator[Memento]:
        """Yield the captures of earlier batches that show a content now.

        Without those that are counted with the pages of the batch.
        """
        (pages,) = self._after.sources([content])
        for original, timestamps in pages:
            keys = keys_of_pages(self._before, original)
            for key, streams in zip(keys, self._of_batch(keys), strict=True):
                wanted = {*timestamps}
                rows = rows_in(Relation.MEMENTOS, key.encode(), streams)
                counted = {
                    item[:3]
                    for item in distinct_mementos(rows, self._after.names)
                    if item[0] in wanted
                }
                span = Span(timestamps[0], timestamps[-1])
                captures = (
                    one
                    for one in self._before.mementos(key, span)
                    if one.timestamp in wanted
                    and not (streams and is_reference(one.checksum))
                    and (one.timestamp, one.original, one.checksum) not in counted
                )
                for some in portions(captures, AT_ONCE):
                    for one, (shown, _) in zip(some, self._after.shown(some), strict=True):
                        if shown == content:
                            yield one
