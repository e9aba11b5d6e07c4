"""The embedded store: one SQLite file, readable while a batch is loaded.

`SqliteStore` answers the queries of `GraphStore` along these paths::

    outlinks:  SURT ──▶ mementos ─▶ checksum ─▶ payloads ─▶ contents ─▶ outlinks
    inlinks:   SURT ──▶ inlinks ──▶ contents ─▶ payloads ─▶ sightings

Outlinks answer what a page linked to; inlinks and sightings answer which pages link to it, and
when.

Contents and payloads have numbers in the order of loading. So pages of one site are stored
together, and a link names its page in about one byte. ``docs/explanation/store-schema.md`` draws
the tables; ``docs/decisions/20261121-sorted-runs.md`` gives the reasons.
"""

import json
import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import apsw

from arclink.errors import SealError, StoreError
from arclink.known import KnownLinks
from arclink.model import (
    ALL_SURTS,
    ALL_TIME,
    Batch,
    Checksum,
    ContentId,
    Memento,
    Payload,
    Scope,
    Source,
    Span,
    Surt,
)
from arclink.store.blocks.answers import (
    FEW_CAPTURES,
    BlockAnswers,
    Captures,
    lines_in,
    pages_of_content,
)
from arclink.store.blocks.byte_layouts import (
    join_content,
    pack_checksum,
    split_content,
    unpack_checksum,
)
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.relations import (
    NUL,
    Posting,
    batch_of_row,
    end_of_prefix,
    number_field,
    pack_outcome,
    page_in,
    postings_of,
    rows_of,
    scope_of_outcome,
    surt_field,
    unpack_outcome,
)
from arclink.store.blocks.rows import Content, Relation, Row
from arclink.store.layouts import (
    EARLIER_SETTING,
    check_present,
    earlier_links,
    present_takedowns,
    settings_recorded,
    united_settings,
    without_payloads,
)
from arclink.store.protocols import (
    WHOLE,
    Cluster,
    KnownFile,
    LoadMark,
    Removed,
    Share,
    StoreState,
    StoreStats,
    StoreSums,
    Takedown,
    Violation,
    check_not_overtaken,
    sum_of,
)
from arclink.store.seals import damaged
from arclink.store.sqlite.outlinks import block_with, opened_block
from arclink.store.sqlite.runs import Runs
from arclink.store.sqlite.schema import (
    StoredNames,
    layout_of,
    open_for_loading,
    open_for_reading,
    translated,
)
from arclink.store.sqlite.takedowns import last_number, records, removed_sums, store_state
from arclink.store.sqlite.times import CaptureTimes, renew_state

CACHED_OUTLINK_BLOCKS = 16
CACHED_CONTENTS = 20_000

_AT_ONCE = 512
"""Number of contents that one statement looks up."""

_PATIENCE = 60_000
"""Milliseconds that cleaning, and truncating a large log, wait for readers."""

LARGE_LOG = 64 << 20
"""Size in bytes of the write-ahead log from which a batch waits up to `_PATIENCE` to truncate it.
"""

_WAIT_FOR_READERS = 1_000
"""Milliseconds that a batch waits for readers of the old state, up to a log of `LARGE_LOG`."""

_FREE = 0.05
"""Greatest share of a file's pages that may be unused."""


_ADDRESSES = "tables"
"""Name of the setting with the addresses where tasks may have written relations."""


class ReadPayload(NamedTuple):
    """A payload that was read: its number and the scope of its links."""

    number: int
    scope: Scope


Cache = TypeVar("Cache", bound=dict[Any, Any])


def _with_room(known: Cache) -> Cache:
    """Return a cache; if it was full, it is now empty."""
    if len(known) > CACHED_CONTENTS:
        known.clear()
    return known


class SqliteStore(BlockAnswers):
    """A `GraphStore` in one SQLite file. Use it in the thread that opened it.

    Args:
        path: Path of the file.
        create: Open the store for loading, and create it if it is missing; otherwise open it for
            reading only.

    Raises:
        StoreError: The store is missing (and ``create`` is not given) or cannot be used; the text
            says why.
    """

    names: StoredNames
    replaces_links = True
    shared_url: str | None = None

    def __init__(self, path: Path, *, create: bool = False) -> None:
        super().__init__()
        self.path = path
        self._is_loader = create
        self._connection = open_for_loading(path) if create else open_for_reading(path)
        self._file = self._file_now()
        self._runs = Runs(self._connection)
        self.names = StoredNames(self._connection)
        self._outlink_blocks: deque[OutlinkBlock] = deque(maxlen=CACHED_OUTLINK_BLOCKS)
        self._payloads: dict[Checksum, ReadPayload] = {}
        self._contents: dict[int, ContentId] = {}
        self._numbers: dict[ContentId, Content] = {}
        self._state: StoreState | None = None
        self._version = 0  # SQLite's data_version: it changes when another connection writes
        if create:
            self._apply_listed_takedowns()

    # Queries

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        if self._connection.in_transaction:  # inside another snapshot, which applies
            yield
            return
        with translated(self.path):
            self._connection.execute("BEGIN")
        try:
            with translated(self.path):
                self._drop_stale_caches()
            yield
        finally:
            # The transaction only read; the store may have been lost or closed inside the block.
            with suppress(apsw.Error):
                self._connection.execute("COMMIT")

    def _reading(self) -> translated:
        reading = translated(self.path)
        with reading:
            if not self._connection.in_transaction:  # a snapshot begins by doing this
                self._drop_stale_caches()
        return reading

    def rows(self, relation: Relation, key: bytes) -> Iterator[Row]:
        return self._runs.scan(relation, *rows_of(key))

    def rows_by_surt(self, prefix: Surt) -> Iterator[tuple[Surt, Iterator[Row]]]:
        low = prefix.encode()
        return groupby(self._runs.scan(Relation.MEMENTOS, low, end_of_prefix(low)), surt_field)

    def rows_after(self, mark: LoadMark) -> Iterator[tuple[Surt, list[Row], list[Row]]]:
        for surt, rows in self.rows_by_surt(ALL_SURTS):
            of_surt = list(rows)
            earlier = [row for row in of_surt if batch_of_row(row) <= mark.batch]
            if len(earlier) < len(of_surt):
                yield surt, earlier, of_surt

    def rows_of_share(self, share: Share) -> Iterator[tuple[Surt, Iterator[Row]]]:
        for surt, rows in self.rows_by_surt(ALL_SURTS):
            if crc32(surt.encode()) % share.of == share.number:
                yield surt, rows

    def mark(self) -> LoadMark:
        with translated(self.path):
            return LoadMark(self.last_batch(), last_number(self._connection, "contents"))

    def key_of(self, checksum: Checksum) -> bytes:
        found = self._connection.execute(
            "SELECT number FROM payloads WHERE checksum = ?", (pack_checksum(checksum),)
        ).fetchone()
        return number_field(found[0]) if found else b""

    def outcomes(self, checksums: Sequence[Checksum]) -> list[bytes | None]:
        packed = [pack_checksum(checksum) for checksum in checksums]
        rows = self._connection.execute(_PAYLOADS.format(",".join("?" * len(packed))), packed)
        found = {checksum: outcome for checksum, _, outcome in rows}
        return [found.get(checksum) for checksum in packed]

    def outcomes_and_contents(
        self, checksums: Sequence[Checksum]
    ) -> Iterator[tuple[bytes | None, ContentId | None]]:
        packed = [pack_checksum(checksum) for checksum in checksums]
        query = _PAYLOADS_WITH_CUT.format(",".join("?" * len(packed)))
        found = {key: facts for key, *facts in self._connection.execute(query, packed)}
        for checksum, key in zip(checksums, packed, strict=True):
            outcome, cut = found.get(key, (None, None))
            yield outcome, None if cut is None else join_content(checksum, cut)

    def numbers(self, contents: Sequence[ContentId]) -> list[Content | None]:
        portions = (contents[at : at + _AT_ONCE] for at in range(0, len(contents), _AT_ONCE))
        return list(chain.from_iterable(map(self._some_numbers, portions)))

    def _some_numbers(self, contents: Sequence[ContentId]) -> list[Content | None]:
        keys = [(pack_checksum(checksum), cut) for checksum, cut in map(split_content, contents)]
        rows = self._connection.execute(
            _CONTENT_NUMBERS.format(",".join(["(?,?)"] * len(keys))), [*chain.from_iterable(keys)]
        )
        found = {(checksum, cut): (0, int(number)) for checksum, cut, number in rows}
        return [found.get(key) for key in keys]

    def _scope(self, checksum: Checksum, memento: Memento) -> Scope | None:
        read = self._payloads_read([checksum]).get(checksum)
        return None if read is None else read.scope

    def _block_with(self, content: ContentId) -> tuple[OutlinkBlock, int] | None:
        found = self._number(content)
        return None if found is None else (self.block(*found), found[1])

    def _postings(
        self, target: Surt, load: int, last: Posting | None
    ) -> Iterator[tuple[int, Iterator[Posting]]]:
        low, high = rows_of(target.encode())
        if last is not None:
            of_form = low + last.form.encode() + NUL
            low = self._runs.floor(Relation.INLINKS, of_form, of_form + number_field(last.content))
        yield (
            0,
            (
                posting
                for row in self._runs.scan(Relation.INLINKS, low, high)
                for posting in postings_of(row)
                if last is None or posting > last
            ),
        )

    def _refers(self) -> bool:
        return self._connection.execute(_HAS_REFERENCES, _REFERENCES).fetchone() is not None

    def _captures(self, checksums: Sequence[Checksum]) -> Iterator[Captures]:
        read = self._payloads_read(checksums)
        ranges = (
            rows_of(number_field(read[checksum].number))
            for checksum in checksums
            if checksum in read
        )
        rows = self._runs.scan_each(Relation.SIGHTINGS, ranges)
        for checksum in checksums:
            payload = read.get(checksum)
            yield ((), []) if payload is None else ((payload.scope,), next(rows))

    def _pages_by_number(
        self, load: int, numbers: Sequence[int], span: Span
    ) -> Iterator[Iterable[Source]]:
        query = _PAYLOADS_OF_CONTENTS.format(",".join(map(str, numbers)))
        read = {
            number: (payload, cut, scope)
            for number, payload, cut, outcome in self._connection.execute(query)
            if (scope := scope_of_outcome(outcome)) is not None
        }
        payloads = sorted({payload for payload, _, _ in read.values()})
        ranges = [rows_of(number_field(payload)) for payload in payloads]
        found = self._runs.lone_values(Relation.SIGHTINGS, ranges)
        lone = dict(zip(payloads, map(page_in, found), strict=True))
        others = {
            payload: bounds
            for payload, bounds in zip(payloads, ranges, strict=True)
            if lone[payload] is None
        }
        rows_of_others = {
            payload: rows
            for payload, rows in zip(
                others, self._runs.scan_each(Relation.SIGHTINGS, others.values()), strict=True
            )
            if isinstance(rows, list) and lines_in(rows) < FEW_CAPTURES
        }
        refers = self._refers()
        is_whole = span == ALL_TIME and not refers
        for number in numbers:
            if number not in read:
                yield ()
                continue
            payload, cut, scope = read[number]
            pages: Iterable[Source] | None = lone[payload]  # the usual case
            if pages is None and payload in rows_of_others:
                pages = pages_of_content(
                    join_content(_NAMELESS, cut), _NAMELESS, (scope,), rows_of_others[payload]
                )
            if pages is None:
                yield next(super()._pages_by_number(load, [number], span))
            else:
                yield pages if is_whole else self._within(pages, span, refers)

    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        return self._surts_in((Relation.MEMENTOS, Relation.INLINKS), prefix, after)

    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        return self._surts_in((Relation.MEMENTOS,), prefix, after)

    def _surts_in(
        self, relations: Sequence[Relation], prefix: Surt, after: Surt | None
    ) -> Iterator[Surt]:
        with translated(self.path):
            low = prefix.encode()
            if after is not None and after >= prefix:
                low = rows_of(after.encode())[1]
            high = end_of_prefix(prefix.encode())
            keys = self._runs.scan_keys(relations, low, high)
            for surt, _ in groupby(keys, lambda key: key[: key.index(NUL)]):
                yield Surt(surt.decode())

    def _count_contents(self) -> int:
        return self.sums().contents

    def _blocks(
        self, mark: LoadMark, share: Share = WHOLE
    ) -> Iterator[tuple[OutlinkBlock, Sequence[ContentId | None]]]:
        """Yield the blocks of a share: those that begin at some consecutive numbers."""
        with self._reading():
            last = last_number(self._connection, "contents")
            begin, end = (
                mark.content + 1 + (last - mark.content) * number // share.of
                for number in (share.number, share.number + 1)
            )
            while found := self._connection.execute(_OUTLINKS_FROM, (begin,)).fetchone():
                first, data = found
                if first >= end and share != WHOLE:
                    break
                if first < begin:
                    raise damaged(str(self.path), f"outlinks {first} are out of order")
                block = opened_block(self._connection, first, data)
                begin = first + len(block)
                yield block, self.contents(0, range(first, begin))
                self._drop_stale_caches()

    def batches(self) -> Iterator[Batch]:
        with translated(self.path):
            rows = self._connection.execute(
                "SELECT number, files, manifest FROM batches ORDER BY number"
            ).fetchall()
            batches = [
                Batch(number, tuple(json.loads(files)), manifest)
                for number, files, manifest in rows
            ]
        yield from batches

    def last_batch(self) -> int:
        with translated(self.path):
            number: int = self._connection.execute(
                "SELECT coalesce(max(number), 0) FROM batches"
            ).fetchone()[0]
        return number

    def state(self) -> StoreState:
        with translated(self.path):
            self._drop_stale_caches()
            if self._state is None:
                self._state = store_state(self._connection)
        return self._state

    def files(self) -> Iterator[KnownFile]:
        with translated(self.path):
            rows = self._connection.execute(
                "SELECT name, path, size, fingerprint FROM files ORDER BY name"
            ).fetchall()
        for row in rows:
            yield KnownFile(*row)

    def setting(self, name: str) -> str | None:
        with translated(self.path):
            found = self._connection.execute(
                "SELECT value FROM settings WHERE name = ?", (name,)
            ).fetchone()
        return found[0] if found else None

    @property
    def layout(self) -> int:
        with translated(self.path):
            return layout_of(self._connection)

    def tables_at(self) -> Sequence[str]:
        return json.loads(self.setting(_ADDRESSES) or "[]")  # type: ignore[no-any-return]

    def days(self, span: Span = ALL_TIME) -> Mapping[str, KnownLinks] | None:
        with translated(self.path):
            times = CaptureTimes(self._connection)
            return times.days(span) if times.are_kept else None

    def sums(self) -> StoreSums:
        with translated(self.path):
            batches, payloads, links, first, last = self._connection.execute(_KEPT).fetchone()
            gone_payloads, gone_contents, gone_links, _ = removed_sums(self._connection)
            files = (self.path, Path(f"{self.path}-wal"))
            return StoreSums(
                batches=batches,
                files=self._connection.execute("SELECT count(*) FROM files").fetchone()[0],
                payloads=payloads - gone_payloads,
                contents=last_number(self._connection, "contents") - gone_contents,
                links=links - gone_links,
                first=first,
                last=last,
                bytes=sum(file.stat().st_size for file in files if file.exists()),
            )

    def stats(self) -> StoreStats:
        """Return counts over the whole store.

        Mementos, originals and targets are counted exactly by reading the sorted runs, because
        batches may repeat them; this takes as long as reading 33 % of the file. The other counts
        are kept per batch.
        """
        from arclink.store.blocks.verification import count_rows
        from arclink.store.sqlite.verification import SqliteRows

        with translated(self.path):
            return count_rows(SqliteRows(self._connection, self._runs, self), self.sums())

    def verify(self) -> Iterator[Violation]:
        from arclink.store.sqlite.verification import Verifier
        from arclink.store.takedown_files import LISTED, list_path, listed, missing_in

        takedowns: list[Takedown] = []
        try:  # before the record: more takedowns may arrive meanwhile
            takedowns = listed(self.path)
        except SealError as error:
            yield Violation(LISTED, str(error))
        with translated(self.path), SqliteStore(self.path) as other:
            yield from Verifier(other._connection, other._runs, other).violations()
            recorded = [takedown for takedown, _ in other.forgotten()]
        for takedown in missing_in(recorded, takedowns):
            yield Violation(
                LISTED,
                f"{takedown.what.prefix} of {takedown.time} ({list_path(self.path)}): "
                "the store is an older copy; `arclink forget --import` applies the list",
            )

    # Queries of a build

    def named(self) -> Iterator[tuple[Checksum, bytes | None]]:
        for bounds, query in ((_REFERENCES, _UNREAD), (_NAMES, _NAMED)):
            for packed, outcome in self._connection.execute(query, bounds).fetchall():
                yield unpack_checksum(packed), outcome

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
        if not self._is_loader:
            raise StoreError(
                f"{self.path} was opened for reading; open it for loading to add a batch."
            )
        if self._file_now() != self._file:
            raise StoreError(
                f"{self.path} was moved or removed while it was being built. Put it back, or "
                "build a new one."
            )
        from arclink.store.graph_files import find_parts, identity_of
        from arclink.store.takedown_files import listed, missing_in

        check_present(self, str(self.path), reads_pages=False)
        identity = identity_of(graph, find_parts(graph), files, manifest)
        recorded = list(self.forgotten())
        takedowns = [takedown for takedown, _ in recorded]
        # Also those of a command that waits for this step, or was killed before its own.
        takedowns += missing_in(takedowns, listed(self.path))
        with translated(self.path), self._writing(is_overwriting=bool(takedowns)):
            found = self._connection.execute(
                "SELECT number, files, manifest FROM batches WHERE identity = ?", (identity,)
            ).fetchone()
            if found:
                return Batch(found[0], tuple(json.loads(found[1])), found[2])
            check_not_overtaken(recorded, removed)
            stored = self._connection.execute("SELECT name, value FROM settings").fetchall()
            known = settings_recorded(dict(stored))
            self._connection.executemany(
                "INSERT INTO settings VALUES (?, ?)",
                [
                    (name, value)
                    for name, value in united_settings(known, settings, str(self.path)).items()
                    if name not in known
                ],
            )
            self._connection.executemany(
                "INSERT INTO files VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET path = "
                "excluded.path, size = excluded.size, fingerprint = excluded.fingerprint",
                [(file.name, file.path, file.size, file.fingerprint) for file in files],
            )
            number = self._connection.execute(
                "SELECT coalesce(max(number), 0) + 1 FROM batches"
            ).fetchone()[0]
            # Readers do without these.
            from arclink.store.sqlite.counted_times import TimesOfLoad
            from arclink.store.sqlite.load import BatchLoader

            times = CaptureTimes(self._connection)
            loader = BatchLoader(
                self._connection,
                self._runs,
                self.names,
                graph,
                number,
                cores or os.cpu_count() or 1,
                times_of=partial(TimesOfLoad, self, times, graph) if times.are_kept else None,
            )
            added = loader.load()
            names = tuple(file.name for file in files)
            self._connection.execute(
                "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (number, identity, json.dumps(names), manifest, *added),
            )
            # The filter stage skips forgotten captures, but graph files may be older than a
            # takedown.
            from arclink.store.sqlite.removal import forget_each

            forget_each(self._connection, self._runs, self, takedowns, times)
            if times.are_kept:
                times.finish()
            return Batch(number, names, manifest)

    def trim(self) -> None:
        """Return the unused pages of merged runs to the disk, if there are many.

        Until then, the next batches use these pages.
        """
        with translated(self.path):
            pages, free = (
                self._connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count")
            )
        if free <= pages * _FREE:
            return
        # It fails if space is short or a reader keeps an old state; the store is complete anyway.
        with suppress(apsw.Error):
            for _ in self._connection.execute("PRAGMA incremental_vacuum"):  # a step frees a page
                pass
        self._truncate_log()

    def upgrade(self) -> None:
        from arclink.store.sqlite.upgrade import Upgrade
        from arclink.store.takedown_files import add_to_list

        with translated(self.path):
            upgrade = Upgrade(self._connection, self._runs, self, self)
            while True:
                version = self._data_version()
                upgrade.find()
                with self._writing():
                    if version == self._data_version():  # no takedown came in between
                        add_to_list(self.path, upgrade.apply())
                        return

    def earlier_payloads(self) -> Iterator[tuple[int, Payload]]:
        """Yield the payloads with links whose links an earlier extractor has read, by number.

        The batch that is read is that of the first call; payloads may be replaced meanwhile.
        """
        for ranges in earlier_links(self).values():
            for first, last in ranges:
                while first <= last:
                    with translated(self.path):
                        rows = self._connection.execute(_PAYLOADS_FROM, (first, last)).fetchall()
                    for number, packed, outcome in rows:
                        payload = unpack_outcome(unpack_checksum(packed), outcome, self.names)
                        if payload.scope is not None:
                            yield number, payload
                    first = rows[-1][0] + 1 if rows else last + 1

    def replace_links(
        self,
        graph: Path,
        outcomes: Iterable[Payload],
        replaced: Collection[Checksum],
        done: Collection[int],
        last: int,
    ) -> None:
        """Replace the links of payloads that were read again, as one step.

        Args:
            graph: Folder of graph files with payloads, outlinks and inlinks, and no mementos.
            outcomes: New states of payloads whose links are those of the store.
            replaced: Checksums of the payloads in the graph files.
            done: Numbers of payloads that need not be read again.
            last: The greatest number of a payload that was to be read.
        """
        from arclink.store.sqlite.counted_times import TimesOfLoad
        from arclink.store.sqlite.load import BatchLoader

        takedowns = [takedown for takedown, _ in self.forgotten()]
        with translated(self.path), self._writing(is_overwriting=bool(takedowns)):
            times = CaptureTimes(self._connection)
            if replaced:
                number = self.last_batch()
                loader = BatchLoader(
                    self._connection,
                    self._runs,
                    self.names,
                    graph,
                    number,
                    1,
                    replaced,
                    partial(TimesOfLoad, self, times, graph) if times.are_kept else None,
                )
                added = loader.load()
                self._connection.execute(
                    "UPDATE batches SET links = links + ? WHERE number = ?", (added.links, number)
                )
                from arclink.store.sqlite.removal import forget_each

                # The links to forgotten pages.
                forget_each(self._connection, self._runs, self, takedowns, times)
                if times.are_kept:
                    times.finish()
            self._connection.executemany(
                "UPDATE payloads SET fate = ? WHERE checksum = ? AND fate IS NOT NULL",
                [
                    (pack_outcome(payload, self.names), pack_checksum(payload.checksum))
                    for payload in outcomes
                ],
            )
            left = [
                number
                for number, outcome in self._connection.execute(
                    "SELECT number, substr(fate, 1, 1) FROM payloads WHERE number <= ? "
                    "AND fate IS NOT NULL ORDER BY number",
                    (last,),
                )
                if scope_of_outcome(outcome) is not None and number not in done
            ]
            self._connection.execute(
                "INSERT OR REPLACE INTO settings VALUES (?, ?)",
                (EARLIER_SETTING, without_payloads(earlier_links(self), last, left)),
            )
            renew_state(self._connection)

    # Takedowns

    def forget(self, takedown: Takedown, *, is_trial: bool = False) -> Removed:
        return self.forget_each([takedown], is_trial=is_trial)[0]

    def forget_each(
        self, takedowns: Sequence[Takedown], *, is_trial: bool = False
    ) -> list[Removed]:
        if not self._is_loader:
            raise StoreError(
                f"{self.path} was opened for reading; open it for loading to remove captures."
            )
        if not takedowns:
            return []
        from arclink.store.sqlite.removal import forget_each
        from arclink.store.takedown_files import add_to_list, list_path

        is_listed = False
        of_each = [present_takedowns(self, [takedown]) for takedown in takedowns]
        takedowns = [*chain.from_iterable(of_each)]
        try:
            with translated(self.path), self._writing(is_overwriting=True, is_trial=is_trial):
                times = CaptureTimes(self._connection)
                counted = forget_each(self._connection, self._runs, self, takedowns, times)
                removed = iter(counted)
                if times.are_kept:
                    times.finish()
                if not is_trial:  # before the commit, so the list has every takedown of the store
                    add_to_list(self.path, takedowns)
                    is_listed = True
        except StoreError as error:
            if not is_listed:
                raise
            first, *others = [takedown.what.prefix for takedown in takedowns]
            named = f"{first} and of {len(others):,} others" if others else first
            raise StoreError(
                f"{error} The takedown of {named} is in {list_path(self.path)}, but "
                "its captures are still answered: repeat the command. The next build applies "
                "it, too."
            ) from error
        return [sum_of(islice(removed, len(group))) for group in of_each]

    def forgotten(self) -> Iterator[tuple[Takedown, Removed]]:
        with translated(self.path):
            yield from records(self._connection)

    def clean(self) -> None:
        """Rewrite the file, which leaves no free space in it, and empty its log."""
        try:
            with translated(self.path):
                # Readers hold a lock for one block at a time.
                self._connection.execute(f"PRAGMA busy_timeout = {_PATIENCE}")
                self._connection.execute("VACUUM")
                is_busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                self._connection.execute("PRAGMA busy_timeout = 0")
        except StoreError as error:
            raise StoreError(
                f"{self.path}: all takedowns are recorded, and no answer has the forgotten "
                f"captures, but the file was not rewritten: {error} Then run `arclink forget "
                "--clean` for this store."
            ) from error
        if is_busy:
            raise StoreError(
                f"{self.path}: no answer contains the forgotten data, but the file's log may, "
                "because another process reads the store. Run `arclink forget --clean` again after "
                "it ends."
            )

    def note_tables(self, address: str, *, are_there: bool) -> None:
        with translated(self.path), self._writing():
            others = {*self.tables_at()} - {address}
            addresses = sorted(others | {address} if are_there else others)
            self._connection.execute(
                "INSERT OR REPLACE INTO settings VALUES (?, ?)", (_ADDRESSES, json.dumps(addresses))
            )

    def close(self) -> None:
        self._connection.close()

    def __del__(self) -> None:
        """Close the connection of an ended thread; the collector may run in another thread."""
        connection = getattr(self, "_connection", None)
        if connection is not None:
            connection.close()

    # Internal functions

    @contextmanager
    def _writing(self, *, is_overwriting: bool = False, is_trial: bool = False) -> Iterator[None]:
        """Run the block in one transaction: all its changes become visible at its end, or none.

        Args:
            is_overwriting: Overwrite deleted data with zeros.
            is_trial: Roll everything back at the end.
        """
        self._connection.execute(f"PRAGMA secure_delete = {'ON' if is_overwriting else 'OFF'}")
        self._connection.execute("BEGIN IMMEDIATE")
        is_done = False
        try:
            yield
            if not is_trial:
                self._connection.execute("COMMIT")
                is_done = True
        finally:
            if self._connection.in_transaction:  # SQLite rolls some failures back by itself
                self._connection.execute("ROLLBACK")
            if not is_done:
                self.names.forget()
                self._runs.forget()
            self.drop_caches()
        if is_done:
            self._truncate_log()

    def _truncate_log(self) -> None:
        """Copy the whole write-ahead log into the file, and truncate it.

        If readers of an old state do not end in time, the next batch tries again. SQLite by itself
        copies only the part that no reader needs, without waiting. With constant reading, some
        reader always uses the state before the last batch: the log is then never copied completely,
        and each batch makes it longer. This function waits for readers of an old state; new readers
        are not blocked, because they read the file itself.

        Source: sqlite.org/wal.html, section 6, *Avoiding Excessively Large WAL Files* (checkpoint
        starvation).
        """
        log = self.path.with_name(f"{self.path.name}-wal")
        patience = (
            _PATIENCE if log.exists() and log.stat().st_size > LARGE_LOG else _WAIT_FOR_READERS
        )
        self._connection.execute(f"PRAGMA busy_timeout = {patience}")
        with suppress(apsw.Error):  # the batch is committed, even if copying the log fails
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._connection.execute("PRAGMA busy_timeout = 0")

    def _apply_listed_takedowns(self) -> None:
        """Apply the takedowns of the list next to the store that its own record lacks.

        The record lacks some if this store is a new one, or an older copy, at the path of a lost
        one.
        """
        from arclink.store.takedown_files import add_to_list, listed, missing_in

        try:
            recorded = [takedown for takedown, _ in self.forgotten()]
            if missing := missing_in(recorded, listed(self.path)):
                self.forget_each(missing)
            if missing_in(listed(self.path), recorded):
                add_to_list(self.path, recorded)
        except BaseException:
            self.close()
            raise

    def _drop_stale_caches(self) -> None:
        """Clear the caches if another connection wrote: answers must not show forgotten data."""
        version = self._data_version()
        if version != self._version:
            self._version = version
            self.drop_caches()

    def _data_version(self) -> int:
        """Return a number that changes when another connection writes."""
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def drop_caches(self) -> None:
        super().drop_caches()
        self._state = None
        for cache in (self._outlink_blocks, self._payloads, self._contents, self._numbers):
            cache.clear()

    def _file_now(self) -> tuple[int, int] | None:
        """Return device and inode of the file at the store's path; None if it is missing."""
        with suppress(OSError):
            found = os.stat(self.path)
            return found.st_dev, found.st_ino
        return None

    # The results of these three methods change only after a takedown, so they are cached until
    # another connection writes (`_drop_stale_caches`).

    def _payloads_read(self, checksums: Sequence[Checksum]) -> dict[Checksum, ReadPayload]:
        """Return the payloads among these checksums that were read."""
        known = _with_room(self._payloads)
        missing = {
            pack_checksum(checksum): checksum for checksum in checksums if checksum not in known
        }
        if missing:
            for packed, number, outcome in self._connection.execute(
                _PAYLOADS.format(",".join("?" * len(missing))), [*missing]
            ):
                scope = scope_of_outcome(outcome)
                if scope is not None:
                    known[missing[packed]] = ReadPayload(number, scope)
        return {checksum: known[checksum] for checksum in checksums if checksum in known}

    def _number(self, content: ContentId) -> Content | None:
        known = _with_room(self._numbers)
        number = known.get(content)
        if number is None:
            checksum, cut = split_content(content)
            found = self._connection.execute(
                _CONTENT_NUMBER, (pack_checksum(checksum), cut)
            ).fetchone()
            if found is None:
                return None
            number = known[content] = 0, int(found[0])
        return number

    def contents(self, load: int, numbers: Sequence[int]) -> list[ContentId | None]:
        known, payloads = _with_room(self._contents), _with_room(self._payloads)
        missing = {number for number in numbers if number not in known}
        if missing:
            for number, packed, cut, payload, outcome in self._connection.execute(
                _CONTENTS.format(",".join(map(str, missing)))
            ):
                checksum, scope = unpack_checksum(packed), scope_of_outcome(outcome)
                known[number] = join_content(checksum, cut)
                if scope is not None:
                    payloads[checksum] = ReadPayload(payload, scope)
        return [known.get(number) for number in numbers]

    def block(self, load: int, content: int) -> OutlinkBlock:
        for block in self._outlink_blocks:
            if block.first <= content < block.first + len(block):
                return block
        block = block_with(self._connection, content)
        self._outlink_blocks.appendleft(block)
        return block


# Bounds of the checksums that are references: the first inclusive, the last exclusive.
_REFERENCES = (pack_checksum("not-modified:"), pack_checksum("not-modified;"))
_NAMES = (pack_checksum("named:"), pack_checksum("named;"))
_NAMED = "SELECT checksum, fate FROM payloads WHERE checksum >= ? AND checksum < ?"
_UNREAD = f"{_NAMED} AND fate IS NOT NULL"  # the others name a capture of their own original
_KEPT = """
SELECT count(*), coalesce(sum(payloads), 0), coalesce(sum(links), 0),
       coalesce(min(nullif(first, '')), ''), coalesce(max(last), '')
FROM batches
"""
_HAS_REFERENCES = "SELECT 1 FROM payloads WHERE checksum >= ? AND checksum < ? LIMIT 1"
_CONTENT_NUMBER = """
SELECT contents.number FROM payloads JOIN contents ON contents.payload = payloads.number
WHERE payloads.checksum = ? AND contents.cut = ?
"""
_CONTENT_NUMBERS = """
WITH wanted (checksum, cut) AS (VALUES {})
SELECT wanted.checksum, wanted.cut, contents.number FROM wanted
CROSS JOIN payloads ON payloads.checksum = wanted.checksum
CROSS JOIN contents ON contents.payload = payloads.number AND contents.cut = wanted.cut
"""  # CROSS: in this order
_PAYLOADS = "SELECT checksum, number, fate FROM payloads WHERE checksum IN ({})"
_PAYLOADS_WITH_CUT = """
SELECT checksum, fate, (SELECT cut FROM contents WHERE payload = payloads.number LIMIT 1)
FROM payloads WHERE checksum IN ({})
"""
_OUTLINKS_FROM = "SELECT first, data FROM outlinks WHERE first >= ? ORDER BY first LIMIT 1"
_PAYLOADS_FROM = """
SELECT number, checksum, fate FROM payloads WHERE number BETWEEN ? AND ? AND fate IS NOT NULL
ORDER BY number LIMIT 1000
"""
_NAMELESS = Checksum("")
"""Instead of a checksum that need not be known."""

_PAYLOADS_OF_CONTENTS = """
SELECT contents.number, payload, cut, substr(fate, 1, 1)
FROM contents JOIN payloads ON payloads.number = contents.payload WHERE contents.number IN ({})
"""
_CONTENTS = """
SELECT contents.number, checksum, cut, payload, fate FROM contents JOIN payloads ON payloads.number = contents.payload
WHERE contents.number IN ({})
"""
