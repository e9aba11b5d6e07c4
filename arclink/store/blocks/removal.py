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
from functools import lru_cache, partial
from itertools import groupby
from operator import itemgetter
from typing import Protocol

import numpy as np

from arclink.checksums import names_payload, parse_name, timestamp_of_reference, uri_of_reference
from arclink.files.spill import Sorted
from arclink.forgotten import ForgottenParts
from arclink.model import Checksum, ContentId, Forgotten, Payload, Scope, Source, Timestamp, UriR
from arclink.reasons import Reason
from arclink.store.blocks.answers import BlockAnswers
from arclink.store.blocks.byte_layouts import Numbers, join_content, split_content
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.relations import (
    groups_of,
    in_order,
    kept_inlinks,
    kept_mementos,
    kept_sightings,
    mementos_of,
    surt_field,
    target_of,
)
from arclink.store.blocks.rows import Content, Relation, Row, shows_payload
from arclink.store.layouts import Keys, keys_of
from arclink.store.protocols import Removed
from arclink.uris.resolution import content_id
from arclink.uris.surts import surt_of

Times = tuple[str, str]
"""The earliest and the latest timestamp of some mementos."""

_RemovedCopy = tuple[bytes, Checksum, str, int, UriR]
"""Key and checksum of a payload that a removed capture shows; the capture's file, offset, URI."""


def may_have(answers: BlockAnswers, parts: Sequence[Forgotten]) -> Callable[[Forgotten], bool]:
    """Return a function that returns whether a store may have something of one of some parts.

    A takedown of which the store has nothing then costs a look-up: a national archive has a list of
    20,000, and each load of a batch applies it again.

    Args:
        answers: The store.
        parts: What takedowns name.
    """
    # A revisit may name a capture that the store does not have.
    names = (parse_name(name)[1] for name, _ in answers.named() if names_payload(name))
    by_surt = ForgottenParts(parts)
    named = {what for name in names for what in by_surt.of(surt_of(UriR(uri_of_reference(name))))}
    are_present = keys_of(answers).are_present  # else a key does not say whether it is meant

    def has_some(what: Forgotten) -> bool:
        surts = answers.surts if what.has_targets else answers.captured_surts
        return not are_present or what in named or any(map(what.has, surts(what.prefix)))

    return has_some


def is_changed(relation: Relation, keys: Keys, what: Forgotten, row: Row) -> bool:
    """Return whether a takedown changes a row of inlinks, or may change a row of mementos."""
    surt = surt_field(row)
    if keys.are_present:
        return what.has(surt)
    return relation is Relation.MEMENTOS or keys.has(what, surt, target_of(row))


Change = Callable[[int, Row], Row | None]
"""Returns the new form of a row: the same object if it is unchanged, None to remove it.

It gets the load of the row, or 0 where numbers alone identify contents.
"""


class RewrittenRows(Protocol):
    """The changes of one removal to the rows of a store.

    A change may also be called with rows next to those that are wanted.
    """

    @property
    def answers(self) -> BlockAnswers:
        """The store, which reads what was written before the last `flush`."""

    def flush(self) -> None:
        """Make the rows that were written so far visible to the next step."""

    def finish(self) -> None:
        """Tidy up after the last step."""

    def rewrite(
        self, relation: Relation, keys: Callable[[], Iterable[bytes]], change: Change
    ) -> None:
        """Change the rows of SURTs or payloads, which ``keys`` returns sorted at each call."""

    def rewrite_within(self, relation: Relation, what: Forgotten, change: Change) -> None:
        """Change the rows of inlinks of all targets that a takedown has, and no others.

        Rows of mementos are those that may have captures of the takedown (`Keys.prefixes`).
        """

    def memento_rows(self, batches: Collection[int]) -> Iterator[tuple[int, Row]]:
        """Yield all rows of mementos of some batches, each with its batch."""

    def set_payload(self, payload: Payload) -> None:
        """Write the state of a payload."""

    def remove_payload(self, checksum: Checksum) -> None:
        """Remove a payload."""

    def remove_contents(self, contents: Mapping[ContentId, Content]) -> None:
        """Remove contents by their numbers."""

    def write_block(
        self, load: int, block: OutlinkBlock, gone: frozenset[int], forgotten: frozenset[int]
    ) -> None:
        """Write a block of outlinks again, without some contents and without some links."""


class Removal:
    """One removal.

    Args:
        rows: Of the store.
        what: The captures to forget.
        known: Times of the batches.

    Attributes:
        removed: Numbers of removed items, after `run`.
        checksums: Number of removed payloads, those that were never to be read included.
        times: New times of batches.
    """

    def __init__(self, rows: RewrittenRows, what: Forgotten, known: Mapping[int, Times]) -> None:
        self._rows, self._store = rows, rows.answers
        self._what = what
        self._known_times = known
        self._keys = keys_of(rows.answers)
        self._surt_of = lru_cache(maxsize=1 << 14)(self._keys.of)
        self._has = lru_cache(maxsize=1 << 14)(partial(self._keys.has, what))
        self._first_content = lru_cache(maxsize=1 << 14)(self._first_content_of)
        self._payloads = self._links = self._inlinks = self.checksums = 0
        self._mementos = Sorted[tuple[str, str, str, str]]()
        """Keys of removed captures."""
        self._copies = Sorted[_RemovedCopy]()
        self._contents = Sorted[tuple[int, int, bool]]()
        """Load and number of contents whose outlinks change, and whether the content is gone."""
        self._targets = Sorted[bytes]()
        """SURTs as bytes, which sort in the order of the rows."""
        self.removed = Removed()
        self.times: Mapping[int, Times] = {}

    def run(self) -> None:
        """Remove everything."""
        self._remove_mementos()
        self._rows.rewrite(
            Relation.SIGHTINGS,
            lambda: (key for (key, _), _ in self._by_payload()),
            lambda _, row: kept_sightings(row, self._is_kept),
        )
        self._rows.flush()
        for (_, checksum), copies in self._by_payload():
            self._remove_what_is_not_shown(checksum, copies)
        self._rows.flush()
        self._remove_names()
        if self._what.has_targets:
            self._rows.rewrite_within(Relation.INLINKS, self._what, self._note_linking)
        self._rows.flush()
        self._remove_outlinks()
        gone = self._gone_by_load()
        self._remove_inlinks(gone)
        self._rows.flush()
        self._rows.finish()
        self.removed = Removed(
            sum(1 for _ in self._mementos),
            self._payloads,
            sum(map(len, gone.values())),
            self._links,
            self._inlinks,
        )

    def _by_payload(self) -> Iterator[tuple[tuple[bytes, Checksum], Iterator[_RemovedCopy]]]:
        """Yield keys and checksums of payloads that removed captures show, each with the copies."""
        return groupby(self._copies, itemgetter(0, 1))

    def _gone_by_load(self) -> dict[int, Numbers]:
        gone = (content for content in self._contents if content[2])
        return {
            load: np.fromiter((number for _, number, _ in of_load), np.int64)
            for load, of_load in groupby(gone, itemgetter(0))
        }

    def _is_kept(self, original: str, timestamp: str) -> bool:
        is_within = self._what.span.first <= timestamp <= self._what.span.last
        return not (is_within and self._has(self._surt_of(original), original))

    def _remove_names(self) -> None:
        """Remove the names of payloads that no capture has, and those of forgotten captures."""
        for name in [name for name, _ in self._store.named() if names_payload(name)]:
            checksum, reference = parse_name(name)
            is_kept = self._is_kept(
                uri_of_reference(reference), timestamp_of_reference(reference) or ""
            )
            if not is_kept or not any(self._pages(checksum)):
                self._rows.remove_payload(name)
                self.checksums += 1

    def _pages(self, checksum: Checksum) -> Iterator[Source]:
        """Yield the pages that show a payload, without the captures that are not kept."""
        # A trial may write nothing, so the removed captures may still be there.
        for original, timestamps in self._store.pages(checksum):
            kept = [timestamp for timestamp in timestamps if self._is_kept(original, timestamp)]
            if kept:
                yield original, kept

    # Mementos

    def _remove_mementos(self) -> None:
        removed: dict[int, Times] = {}  # the times of removed mementos, by batch

        def change(batch: int, row: Row) -> Row | None:
            surt, items = surt_field(row), mementos_of(row, self._store.names)
            span = self._what.span
            is_kept = [
                not (span.first <= item[0] <= span.last and self._has(surt, item[1]))
                for item in items
            ]
            gone = [item for item, kept in zip(items, is_kept, strict=True) if not kept]
            if gone:
                first, last = removed.get(batch, (gone[0][0], ""))
                removed[batch] = min(first, gone[0][0]), max(last, gone[-1][0])
                self._mementos.update((surt, *item[:3]) for item in gone)
            for _, original, checksum, file, offset, *_, reason, _ in gone:
                if shows_payload(checksum, reason):
                    shown = Checksum(checksum)
                    copy = self._store.key_of(shown), shown, file, offset, UriR(original)
                    self._copies.add(copy)
            return kept_mementos(row, items, is_kept)

        self._rows.rewrite_within(Relation.MEMENTOS, self._what, change)
        self._rows.flush()
        known = self._known_times
        changed = {
            batch
            for batch, (first, last) in removed.items()
            if first == known[batch][0] or last == known[batch][1]
        }
        if changed:
            self.times = self._times_of(changed)

    def _times_of(self, batches: set[int]) -> Mapping[int, Times]:
        """Return the times of batches. Reads all mementos."""
        times = dict.fromkeys(batches, ("", ""))
        for batch, row in self._rows.memento_rows(batches):
            items = mementos_of(row, self._store.names)
            first, last = times[batch]
            times[batch] = min(first or items[0][0], items[0][0]), max(last, items[-1][0])
        return times

    # Payloads and contents

    def _remove_what_is_not_shown(self, checksum: Checksum, copies: Iterator[_RemovedCopy]) -> None:
        """Remove a payload without sightings, and the contents that no remaining original shows.

        The numbers of these contents are noted for the next steps.
        """
        known = self._store.payload(checksum)
        has_address = True
        removed = Sorted[UriR]()
        for *_, file, offset, original in copies:
            has_address &= known is None or (known.file, known.offset) != (file, offset)
            removed.add(original)
        is_shown = False
        cuts: set[bytes] = set()
        for original, timestamps in self._pages(checksum):
            is_shown = True
            if (
                known is not None
                and not has_address
                and (address := self._address_of(checksum, original, timestamps))
            ):
                known, has_address = replace(known, file=address[0], offset=address[1]), True
            if known is not None and known.scope is not None:
                cuts.add(split_content(content_id(checksum, original, known.scope))[1])
        left: list[Content] = []
        if known is not None and known.scope is not None:
            left = self._remove_contents(checksum, known.scope, cuts, removed)
        if not is_shown:
            self._rows.remove_payload(checksum)
            self._payloads += known is not None
            self.checksums += 1
        elif known is not None:
            if len(left) == 1:
                # The stored count may be that of a removed content, so count the links of the
                # last one.
                ((load, number),) = left
                links = len(self._store.block(load, number).numbers(number))
                known = _with_links(known, links, 0)
            self._rows.set_payload(known)

    def _remove_contents(
        self, checksum: Checksum, scope: Scope, cuts: set[bytes], originals: Iterable[UriR]
    ) -> list[Content]:
        """Remove the contents of a payload that no remaining page shows.

        Args:
            checksum: Of the payload.
            scope: Of its links.
            cuts: Cuts of the contents that remaining pages show.
            originals: Distinct originals of removed captures of the payload.

        Returns:
            The numbers of the contents that are left; empty if none was removed.
        """
        left = {join_content(checksum, cut) for cut in cuts}
        gone = {content_id(checksum, original, scope) for original in originals} - left
        numbers = self._store.numbers_of(sorted(gone))
        self._rows.remove_contents(numbers)
        self._contents.update((*number, True) for number in numbers.values())
        return list(self._store.numbers_of(sorted(left)).values()) if numbers else []

    def _address_of(
        self, checksum: str, original: UriR, timestamps: Sequence[Timestamp]
    ) -> tuple[str, int] | None:
        """Return file and offset of the first capture of ``original`` that holds a payload.

        Returns:
            None if only revisits remain.
        """
        for timestamp, uri, shown, file, offset, _, _, _, record_type, *_ in in_order(
            self._store.rows(Relation.MEMENTOS, self._surt_of(original).encode()),
            lambda row: mementos_of(row, self._store.names),
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
            self._contents, lambda row: (row[0], self._store.block(*row[:2]).first)
        ):
            # If a content comes twice, it is gone the second time.
            numbers = {number: is_gone for _, number, is_gone in contents}
            block = self._store.block(load, next(iter(numbers)))
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
                if self._has(self._surt_of(link[0]), link[0])
            )
        gone = frozenset(content for content, is_gone in touched.items() if is_gone)
        targets: set[str] = set()
        for content in gone:
            numbers = block.numbers(content)
            self._links += len(numbers)
            targets.update(links[number][0] for number in set(numbers))
        for content in touched.keys() - gone:
            all_links = block.numbers(content)
            dropped = [number for number in all_links if number in forgotten]
            self._links += len(dropped)
            self._inlinks += len({*dropped})
            if dropped:
                self._count_forgotten(load, content, len(all_links) - len(dropped), len(dropped))
        self._targets.update(self._surt_of(UriR(target)).encode() for target in targets)
        self._rows.write_block(load, block, gone, forgotten)

    def _count_forgotten(self, load: int, content: int, left: int, dropped: int) -> None:
        """Update the link counts of a payload after links of a content were removed."""
        (name,) = self._store.contents(load, [content])
        assert name is not None  # it has links
        payload = self._store.payload(split_content(name)[0])
        # A payload with several contents counts the links of the first of them.
        if (
            payload is not None
            and payload.scope is not None
            and self._first_content(payload.checksum, payload.scope) in (None, (load, content))
        ):
            self._rows.set_payload(_with_links(payload, left, dropped))
            self._rows.flush()

    def _first_content_of(self, checksum: Checksum, scope: Scope) -> Content | None:
        """Return the number of the first content of a payload."""
        contents = {content_id(checksum, original, scope) for original, _ in self._pages(checksum)}
        return min(self._store.numbers_of(sorted(contents)).values(), default=None)

    def _remove_inlinks(self, gone: Mapping[int, Numbers]) -> None:
        def change(load: int, row: Row) -> Row | None:
            numbers = gone.get(load)
            return row if numbers is None else kept_inlinks(row, numbers)

        if gone:
            self._rows.rewrite(Relation.INLINKS, lambda: self._targets, change)


def _with_links(payload: Payload, kept: int, forgotten: int) -> Payload:
    """Return a payload with new counts of kept and forgotten links."""
    counts = Counter(dict(payload.counts))
    if (counts[Reason.LINK_KEPT.name], forgotten) == (kept, 0):
        return payload
    counts[Reason.LINK_KEPT.name] = kept
    counts[Reason.LINK_FORGOTTEN.name] += forgotten
    return replace(payload, counts=tuple((name, count) for name, count in counts.items() if count))
