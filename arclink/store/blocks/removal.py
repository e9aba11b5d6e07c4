"""Removes captures from a store, and all that only they show: the steps that every store shares.

The steps follow the path of an answer: the mementos of a SURT, their payloads, the sightings and
contents of these, their outlinks, and the inlinks of the targets. So the time depends on the size
of what is forgotten, not on the size of the store.

::

    mementos ──▶ payloads ──▶ sightings ──▶ contents that no sighting shows
                                                          │
                                          inlinks ◀── targets ◀── outlinks

Each store rewrites its rows in its own way (`RewrittenRows`). Data that grows with the number of
removed items is sorted on disk; memory holds only the numbers of the removed contents.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, Protocol

import numpy as np

from arclink.checksums import parse_name, timestamp_of_reference, uri_of_reference
from arclink.files.spill import Sorted
from arclink.model import Checksum, Forgotten, Payload, Source, Surt, Timestamp, UriR
from arclink.reasons import Reason
from arclink.store.blocks.byte_layouts import Numbers, split_content
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.relations import (
    MementoItem,
    Names,
    groups_of,
    kept_inlinks,
    kept_mementos,
    kept_sightings,
    mementos_of,
)
from arclink.store.blocks.rows import Row, shows_payload
from arclink.store.protocols import Removed
from arclink.timestamps import month_of
from arclink.uris.resolution import content_id
from arclink.uris.surts import surt_of

Content = tuple[int, int]
"""Load of a content, and its number in the load; the load is 0 where numbers alone identify it."""

Times = tuple[str, str]
"""The earliest and the latest timestamp of some mementos."""

_Place = tuple[bytes, str, int, UriR]
"""Key of a payload that a removed capture shows; file, offset and original of the capture."""

IsKept = Callable[[str, str], bool]
"""Returns whether the captures of an original at a timestamp are kept."""


class ContentsLeft(NamedTuple):
    """Contents of a payload: those that were removed, and those that are left."""

    gone: Collection[Content]
    left: Collection[Content]


class RewrittenRows(Protocol):
    """The rows of a store, as one removal reads and rewrites them.

    A payload is named by a key, bytes that sort in the order in which the store reads payloads. A
    function that changes a row returns the same object if the row is unchanged, and None to remove
    it; it may also be called with rows next to those that are wanted.
    """

    @property
    def names(self) -> Names:
        """Numbers for words that many rows repeat."""

    def flush(self) -> None:
        """Make the rows that were written so far visible to the next step."""

    def finish(self) -> None:
        """Tidy up after the last step."""

    def rewrite_mementos(
        self, what: Forgotten, change: Callable[[Surt, int, Row], Row | None]
    ) -> None:
        """Change rows of mementos.

        Args:
            what: Only rows whose SURT it has are changed.
            change: Gets the SURT of a row, its batch, and the row.
        """

    def times_of(self, batches: Iterable[int]) -> Mapping[int, Times]:
        """Return the recorded times of batches."""

    def memento_rows(self, batches: Collection[int]) -> Iterator[tuple[int, Row]]:
        """Yield all rows of mementos of some batches, each with its batch."""

    def set_times(self, times: Mapping[int, Times]) -> None:
        """Record new times of batches."""

    def subtract_months(self, removed: Mapping[str, int]) -> None:
        """Record the numbers of removed captures by month."""

    def key_of(self, checksum: Checksum) -> bytes:
        """Return the key of the payload with this checksum."""

    def rewrite_sightings(
        self, keys: Callable[[], Iterator[bytes]], change: Callable[[Row], Row | None]
    ) -> None:
        """Change the rows of sightings of payloads, which ``keys`` returns sorted at each call."""

    def payload(self, key: bytes) -> tuple[Checksum, Payload | None]:
        """Return checksum and state of a payload; the state is None if it was never to be read."""

    def set_payload(self, key: bytes, payload: Payload) -> None:
        """Write the state of a payload."""

    def remove_payload(self, key: bytes) -> None:
        """Remove a payload."""

    def payload_names(self) -> Iterator[tuple[bytes, Checksum]]:
        """Yield the names of payloads (`arclink.checksums.name_of_payload`), each with its key."""

    def pages(self, key: bytes, is_kept: IsKept) -> Iterable[Source]:
        """Return the pages that show a payload, without the captures that are not kept."""

    def mementos(self, surt: Surt) -> Iterator[MementoItem]:
        """Yield the mementos of a SURT, sorted."""

    def remove_contents(
        self, key: bytes, payload: Payload | None, cuts: set[bytes], originals: Iterable[UriR]
    ) -> ContentsLeft:
        """Remove the contents of a payload that no remaining page shows.

        Args:
            key: Of the payload.
            payload: Its state.
            cuts: Cuts of the contents that remaining pages show.
            originals: Distinct originals of removed captures of the payload.
        """

    def block(self, load: int, content: int) -> OutlinkBlock:
        """Return the block with the outlinks of a content."""

    def write_block(
        self, load: int, block: OutlinkBlock, gone: frozenset[int], forgotten: frozenset[int]
    ) -> None:
        """Write a block of outlinks again, without some contents and without some links."""

    def counted_by(self, load: int, content: int, is_kept: IsKept) -> tuple[bytes, Payload] | None:
        """Return key and state of a content's payload, if the content is the first of its payload.

        A payload with several contents counts the links of the first of them.
        """

    def rewrite_inlinks(
        self, surts: Callable[[], Iterable[bytes]], change: Callable[[int, Row], Row | None]
    ) -> None:
        """Change the rows of inlinks of targets.

        Args:
            surts: Returns the SURTs of the targets, as bytes and sorted, at each call.
            change: Gets the load of the contents of a row, and the row.
        """

    def rewrite_inlinks_within(
        self, what: Forgotten, change: Callable[[int, Row], Row | None]
    ) -> None:
        """Change the rows of inlinks of all targets that a takedown has, and no others."""


class Removal:
    """One removal.

    Args:
        rows: Of the store.
        what: The captures to forget.

    Attributes:
        checksums: Number of removed payloads, those that were never to be read included.
    """

    def __init__(self, rows: RewrittenRows, what: Forgotten) -> None:
        self._rows = rows
        self._what = what
        self._surt_of = lru_cache(maxsize=1 << 14)(surt_of)
        self._payloads = self._links = self._inlinks = self.checksums = 0
        self._mementos = Sorted[tuple[str, str, str, str]]()
        """Keys of removed captures."""
        self._places = Sorted[_Place]()
        self._contents = Sorted[tuple[int, int, bool]]()
        """Load and number of contents whose outlinks change, and whether the content is gone."""
        self._targets = Sorted[bytes]()
        """SURTs as bytes, which sort in the order of the rows."""

    def run(self) -> Removed:
        """Remove everything; return the numbers of removed items."""
        self._remove_mementos()
        self._rows.rewrite_sightings(
            lambda: (key for key, _ in self._by_payload()),
            lambda row: kept_sightings(row, self._is_kept),
        )
        self._rows.flush()
        for key, places in self._by_payload():
            self._remove_what_is_not_shown(key, places)
        self._rows.flush()
        self._remove_names()
        if self._what.has_targets:
            self._rows.rewrite_inlinks_within(self._what, self._note_linking)
        self._rows.flush()
        self._remove_outlinks()
        gone = self._gone_by_load()
        self._remove_inlinks(gone)
        self._rows.flush()
        self._rows.finish()
        return Removed(
            sum(1 for _ in self._mementos),
            self._payloads,
            sum(map(len, gone.values())),
            self._links,
            self._inlinks,
        )

    def _by_payload(self) -> Iterator[tuple[bytes, Iterator[_Place]]]:
        """Yield the keys of payloads that removed captures show, each with the places of these."""
        return groupby(self._places, itemgetter(0))

    def _gone_by_load(self) -> dict[int, Numbers]:
        gone = (content for content in self._contents if content[2])
        return {
            load: np.fromiter((number for _, number, _ in of_load), np.int64)
            for load, of_load in groupby(gone, itemgetter(0))
        }

    def _is_kept(self, original: str, timestamp: str) -> bool:
        is_within = self._what.span.first <= timestamp <= self._what.span.last
        return not (is_within and self._what.has(self._surt_of(UriR(original))))

    def _remove_names(self) -> None:
        """Remove the names of payloads that no capture has, and those of forgotten captures."""
        for key, name in list(self._rows.payload_names()):
            checksum, reference = parse_name(name)
            is_kept = self._is_kept(
                uri_of_reference(reference), timestamp_of_reference(reference) or ""
            )
            of_payload = self._rows.key_of(checksum)
            if not is_kept or not any(self._rows.pages(of_payload, self._is_kept)):
                self._rows.remove_payload(key)
                self.checksums += 1

    # Mementos

    def _remove_mementos(self) -> None:
        removed: dict[int, Times] = {}  # the times of removed mementos, by batch
        months: Counter[str] = Counter()

        def change(surt: Surt, batch: int, row: Row) -> Row | None:
            items = mementos_of(row, self._rows.names)
            is_kept = [not self._what.covers(surt, Timestamp(item[0])) for item in items]
            gone = [item for item, kept in zip(items, is_kept, strict=True) if not kept]
            if gone:
                first, last = removed.get(batch, (gone[0][0], ""))
                removed[batch] = min(first, gone[0][0]), max(last, gone[-1][0])
                months.update(month_of(item[0]) for item in gone)
                self._mementos.update((surt, *item[:3]) for item in gone)
            for _, original, checksum, file, offset, *_, reason, _ in gone:
                if shows_payload(checksum, reason):
                    key = self._rows.key_of(Checksum(checksum))
                    self._places.add((key, file, offset, UriR(original)))
            return kept_mementos(row, items, is_kept)

        self._rows.rewrite_mementos(self._what, change)
        self._rows.flush()
        self._rows.subtract_months(months)
        known = self._rows.times_of(removed)
        changed = {
            batch
            for batch, (first, last) in removed.items()
            if first == known[batch][0] or last == known[batch][1]
        }
        if changed:
            self._rows.set_times(self._times(changed))

    def _times(self, batches: set[int]) -> Mapping[int, Times]:
        """Return the times of batches. Reads all mementos."""
        times = dict.fromkeys(batches, ("", ""))
        for batch, row in self._rows.memento_rows(batches):
            items = mementos_of(row, self._rows.names)
            first, last = times[batch]
            times[batch] = min(first or items[0][0], items[0][0]), max(last, items[-1][0])
        return times

    # Payloads and contents

    def _remove_what_is_not_shown(self, key: bytes, places: Iterator[_Place]) -> None:
        """Remove a payload without sightings, and the contents that no remaining original shows.

        The numbers of these contents are noted for the next steps.
        """
        checksum, known = self._rows.payload(key)
        has_place = True
        removed = Sorted[UriR]()
        for _, file, offset, original in places:
            has_place &= known is None or (known.file, known.offset) != (file, offset)
            removed.add(original)
        is_shown = False
        cuts: set[bytes] = set()
        for original, timestamps in self._rows.pages(key, self._is_kept):
            is_shown = True
            if (
                known is not None
                and not has_place
                and (place := self._place_of(checksum, original, timestamps))
            ):
                known, has_place = replace(known, file=place[0], offset=place[1]), True
            if known is not None and known.scope is not None:
                cuts.add(split_content(content_id(checksum, original, known.scope))[1])
        contents = self._rows.remove_contents(key, known, cuts, removed)
        self._contents.update((*content, True) for content in contents.gone)
        if not is_shown:
            self._rows.remove_payload(key)
            self._payloads += known is not None
            self.checksums += 1
        elif known is not None:
            if contents.gone and len(contents.left) == 1:
                # The stored count may be that of a removed content, so count the links of the
                # last one.
                ((load, number),) = contents.left
                links = len(self._rows.block(load, number).numbers(number))
                known = _with_links(known, links, 0)
            self._rows.set_payload(key, known)

    def _place_of(
        self, checksum: str, original: UriR, timestamps: Sequence[Timestamp]
    ) -> tuple[str, int] | None:
        """Return file and offset of the first capture of ``original`` that holds a payload.

        Returns:
            None if only revisits remain.
        """
        for timestamp, uri, shown, file, offset, _, _, _, record_type, *_ in self._rows.mementos(
            self._surt_of(original)
        ):
            if (
                (uri, shown) == (original, checksum)
                and timestamp in timestamps
                and record_type != "revisit"
            ):
                return file, offset
        return None

    # Links

    def _note_linking(self, load: int, row: Row) -> None:
        """Note the contents that link to a forgotten target; the row is removed."""
        _, _, numbers = groups_of(row)
        self._contents.update((load, number, False) for number in np.unique(numbers).tolist())

    def _remove_outlinks(self) -> None:
        """Remove the links of removed contents, and the links to forgotten targets.

        The targets of removed contents are noted for the next step.
        """
        for (load, _), contents in groupby(
            self._contents, lambda row: (row[0], self._rows.block(*row[:2]).first)
        ):
            # If a content comes twice, it is gone the second time.
            numbers = {number: is_gone for _, number, is_gone in contents}
            block = self._rows.block(load, next(iter(numbers)))
            self._rewrite_block(load, block, numbers)

    def _rewrite_block(self, load: int, block: OutlinkBlock, touched: Mapping[int, bool]) -> None:
        """Remove links of a block.

        Args:
            load: Of the block.
            block: The outlinks.
            touched: Numbers of contents, each with whether it is gone.
        """
        links = block.distinct_links
        forgotten: frozenset[int] = frozenset()
        if self._what.has_targets:
            forgotten = frozenset(
                number
                for number, link in enumerate(links)
                if self._what.has(self._surt_of(UriR(link[0])))
            )
        gone = frozenset(content for content, is_gone in touched.items() if is_gone)
        targets: set[str] = set()
        for content in gone:
            numbers = block.numbers(content)
            self._links += len(numbers)
            targets.update(links[number][0] for number in np.unique(numbers).tolist())
        for content in touched.keys() - gone:
            all_links = block.numbers(content).tolist()
            dropped = [number for number in all_links if number in forgotten]
            self._links += len(dropped)
            self._inlinks += len({*dropped})
            if dropped:
                self._count_forgotten(load, content, len(all_links) - len(dropped), len(dropped))
        self._targets.update(self._surt_of(UriR(target)).encode() for target in targets)
        self._rows.write_block(load, block, gone, forgotten)

    def _count_forgotten(self, load: int, content: int, left: int, dropped: int) -> None:
        """Update the link counts of a payload after links of a content were removed."""
        counted = self._rows.counted_by(load, content, self._is_kept)
        if counted is not None:
            key, payload = counted
            self._rows.set_payload(key, _with_links(payload, left, dropped))
            self._rows.flush()

    def _remove_inlinks(self, gone: Mapping[int, Numbers]) -> None:
        def change(load: int, row: Row) -> Row | None:
            numbers = gone.get(load)
            return row if numbers is None else kept_inlinks(row, numbers)

        if gone:
            self._rows.rewrite_inlinks(lambda: self._targets, change)


def _with_links(payload: Payload, kept: int, forgotten: int) -> Payload:
    """Return a payload with new counts of kept and forgotten links."""
    counts = Counter(dict(payload.counts))
    if (counts[Reason.LINK_KEPT.name], forgotten) == (kept, 0):
        return payload
    counts[Reason.LINK_KEPT.name] = kept
    counts[Reason.LINK_FORGOTTEN.name] += forgotten
    return replace(payload, counts=tuple((name, count) for name, count in counts.items() if count))
