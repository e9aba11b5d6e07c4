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
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain, groupby, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import apsw

from arclink.checksums import parse_name
from arclink.closing import Closing
from arclink.errors import SealError, StoreError, UsageError
from arclink.model import (
    ALL_SURTS,
    ALL_TIME,
    Batch,
    Checksum,
    ContentId,
    Inlink,
    Kind,
    Memento,
    Outlink,
    Payload,
    Scope,
    Sighting,
    Source,
    Span,
    Surt,
    UriR,
)
from arclink.store.blocks.byte_layouts import (
    join_content,
    pack_checksum,
    split_content,
    unpack_checksum,
    uri_form,
    uri_of_form,
)
from arclink.store.blocks.cuts import CapturesByCut
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.references import checksum_shown, not_modified_since
from arclink.store.blocks.relations import (
    NUL,
    Posting,
    end_of_prefix,
    first_of_copies,
    in_order,
    kinds_of,
    memento_of,
    mementos_of,
    number_field,
    pack_head,
    pages_of,
    postings_of,
    rows_of,
    scope_of_fate,
    sorted_copies,
    surt_field,
    unpack_fate,
    unpack_head,
)
from arclink.store.blocks.rows import Row
from arclink.store.graph_files import find_parts, identity_of
from arclink.store.key_rules import (
    FIRST_RULES,
    KEYS_SETTING,
    needs_these_keys,
    with_key_rules,
)
from arclink.store.protocols import (
    Cluster,
    ContentBlock,
    KnownFile,
    Removed,
    StoreState,
    StoreStats,
    StoreSums,
    Takedown,
    Violation,
)
from arclink.store.scans import watched_contents, watched_mementos
from arclink.store.seals import damaged
from arclink.store.sqlite.names import StoredNames
from arclink.store.sqlite.outlinks import block_with, opened_block
from arclink.store.sqlite.removal import forget
from arclink.store.sqlite.runs import Relation, Runs
from arclink.store.sqlite.schema import is_sealed, open_for_loading, open_for_reading, translated
from arclink.store.sqlite.takedowns import records, store_state
from arclink.store.takedown_lists import (
    LISTED,
    add_to_list,
    list_path,
    listed,
    missing_in,
)
from arclink.tuples import maker
from arclink.uris.resolution import content_id

CACHED_OUTLINK_BLOCKS = 16
CACHED_CONTENTS = 20_000
CACHED_BY_CUT = 4

FEW_CAPTURES = 500
"""Limit of captures of a payload that are scanned per content; more are sorted by cut first."""

_PATIENCE = 60_000
"""Milliseconds that cleaning, and truncating a large log, wait for readers."""

LARGE_LOG = 64 << 20
"""Size in bytes of the write-ahead log from which a batch waits up to `_PATIENCE` to truncate it.
"""

_WAIT_FOR_READERS = 1_000
"""Milliseconds that a batch waits for readers of the old state, up to a log of `LARGE_LOG`."""

_FREE = 0.05
"""Greatest share of a file's pages that may be unused."""

AT_ONCE = 128
"""Number of inlinks whose contents are looked up together, and of checksums in one query."""


class ReadPayload(NamedTuple):
    """A payload that was read: its number and the scope of its links."""

    number: int
    scope: Scope


_inlink = maker(Inlink)


def _pages_of_content(
    content: ContentId, checksum: Checksum, scope: Scope, pages: Iterable[Source]
) -> Iterator[Source]:
    return (
        (original, times)
        for original, times in pages
        if content_id(checksum, original, scope) == content
    )


Known = TypeVar("Known", bound=dict[Any, Any])


def _with_room(known: Known) -> Known:
    """Return a cache; if it was full, it is now empty."""
    if len(known) > CACHED_CONTENTS:
        known.clear()
    return known


class SqliteStore(Closing):
    """A `GraphStore` in one SQLite file. Use it in the thread that opened it.

    Args:
        path: Path of the file.
        create: Open the store for loading, and create it if it is missing; otherwise open it for
            reading only.

    Raises:
        StoreError: The store is missing (and ``create`` is not given) or cannot be used; the text
            says why.
    """

    replaces_links = True
    shared_url: str | None = None

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self._is_loader = create
        self._connection = open_for_loading(path) if create else open_for_reading(path)
        self._file = self._file_now()
        self._runs = Runs(self._connection)
        self._names = StoredNames(self._connection)
        self._outlink_blocks: deque[OutlinkBlock] = deque(maxlen=CACHED_OUTLINK_BLOCKS)
        self._payloads: dict[Checksum, ReadPayload] = {}
        self._contents: dict[int, ContentId] = {}
        self._numbers: dict[ContentId, int] = {}
        self._by_cut: OrderedDict[tuple[int, int, int], CapturesByCut] = OrderedDict()
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
            yield
        finally:
            # The transaction only read; the store may have been lost or closed inside the block.
            with suppress(apsw.Error):
                self._connection.execute("COMMIT")

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        with translated(self.path):
            self._drop_stale_caches()
            rows = self._runs.scan(Relation.MEMENTOS, *rows_of(surt.encode()))
            yield from self._mementos_in(surt, rows, span)

    def payload(self, checksum: Checksum) -> Payload | None:
        with translated(self.path):
            _, fate = self._payload(checksum)
            return None if fate is None else unpack_fate(checksum, fate, self._names)

    def content_of(self, memento: Memento) -> ContentId | None:
        checksum = checksum_shown(self, memento)
        if checksum is None:
            return None
        with translated(self.path):
            read = self._payloads_read([checksum]).get(checksum)
            if read is None:
                return None
            content = content_id(checksum, memento.original, read.scope)
            # The payload may have been read for other originals only; for this one, it may not
            # have been available any more.
            return content if self._number_of(content) is not None else None

    def outlinks(self, content: ContentId) -> Iterator[Outlink]:
        with translated(self.path):
            self._drop_stale_caches()
            number = self._number_of(content)
            links = self._outlink_block(number).links(number) if number is not None else []
        yield from links

    def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
        with translated(self.path):
            self._drop_stale_caches()
            low, high = rows_of(target.encode())
            last: Posting | None = None
            if after is not None:
                last = self._posting(target, after)
                of_form = low + last.form.encode() + NUL
                low = self._runs.floor(
                    Relation.INLINKS, of_form, of_form + number_field(last.content)
                )
            postings = (
                posting
                for row in self._runs.scan(Relation.INLINKS, low, high)
                for posting in postings_of(row)
                if last is None or posting > last
            )
            while some := list(islice(postings, AT_ONCE)):
                contents = self._contents_of([posting.content for posting in some])
                uris = {
                    form: uri_of_form(target, form) for form in {posting.form for posting in some}
                }
                heads = {head: unpack_head(head) for head in {posting.head for posting in some}}
                for (form, _, head), content in zip(some, contents, strict=True):
                    if content is not None:
                        yield _inlink((uris[form], *heads[head], content))

    def inlink_kinds(self, target: Surt) -> Iterator[tuple[Kind, int]]:
        with translated(self.path):
            for row in self._runs.scan(Relation.INLINKS, *rows_of(target.encode())):
                yield from kinds_of(row)

    def sightings(self, content: ContentId, span: Span = ALL_TIME) -> Iterator[Sighting]:
        for pages in self.sources([content], span):
            for original, timestamps in pages:
                yield from (Sighting(original, timestamp) for timestamp in timestamps)

    def sources(
        self, contents: Iterable[ContentId], span: Span = ALL_TIME
    ) -> Iterator[Iterator[Source]]:
        rest = iter(contents)
        while some := list(islice(rest, AT_ONCE)):
            with translated(self.path):
                self._drop_stale_caches()
                checksums = [split_content(content)[0] for content in some]
                read = self._payloads_read(checksums)
                refers = (
                    self._connection.execute(_HAS_REFERENCES, _REFERENCES).fetchone() is not None
                )
                ranges = (
                    rows_of(number_field(read[checksum].number))
                    for checksum in checksums
                    if checksum in read
                )
                captures = self._runs.scan_each(Relation.SIGHTINGS, ranges)
                for content, checksum in zip(some, checksums, strict=True):
                    payload = read.get(checksum)
                    if payload is None:
                        yield iter(())
                        continue
                    rows = next(captures)
                    if (
                        isinstance(rows, list)
                        and sum(row.values[0].count(b"\n") + 1 for row in rows) < FEW_CAPTURES
                    ):  # the usual case
                        pages = _pages_of_content(content, checksum, payload.scope, pages_of(rows))
                        yield iter([*self._counting(pages, span, refers)])
                    else:
                        yield self._sources(content, checksum, payload, rows, span, refers)

    def _sources(
        self,
        content: ContentId,
        checksum: Checksum,
        payload: ReadPayload,
        captures: Iterable[Row],
        span: Span,
        refers: bool,
    ) -> Iterator[Source]:
        """Yield the pages that show one content, from all pages that show its payload."""
        with translated(self.path):
            yield from self._counting(
                self._pages_with(content, checksum, payload, captures), span, refers
            )

    def _counting(self, pages: Iterable[Source], span: Span, refers: bool) -> Iterator[Source]:
        """Yield pages with their timestamps inside ``span``; pages without any are left out.

        If ``refers`` is true, timestamps of revisits that refer to these captures are added.
        """
        for original, timestamps in pages:
            if refers:
                timestamps = sorted(
                    {*timestamps, *not_modified_since(self, self._referring, original, timestamps)}
                )
            if timestamps[0] < span.first or timestamps[-1] > span.last:
                timestamps = [
                    timestamp for timestamp in timestamps if span.first <= timestamp <= span.last
                ]
            if timestamps:
                yield original, timestamps

    def _pages_with(
        self, content: ContentId, checksum: Checksum, payload: ReadPayload, captures: Iterable[Row]
    ) -> Iterator[Source]:
        """Return the pages that show one content of a payload.

        If the payload has very many captures, they are sorted once for all its contents.
        """
        scope = payload.scope
        rest = iter(captures)
        first: list[Row] = []
        pages = 0
        for row in rest:
            first.append(row)
            pages += row.values[0].count(b"\n") + 1
            if pages >= FEW_CAPTURES:
                break
        are_few = pages < FEW_CAPTURES
        captures = first if are_few else chain(first, rest)
        if are_few or scope is Scope.NONE:
            return _pages_of_content(content, checksum, scope, pages_of(captures))
        key = (
            payload.number,
            self._connection.execute("PRAGMA data_version").fetchone()[0],
            self._connection.total_changes(),
        )
        by_cut = self._by_cut.get(key)
        if by_cut is None:
            by_cut = self._by_cut[key] = CapturesByCut(checksum, scope, pages_of(captures))
            if len(self._by_cut) > CACHED_BY_CUT:
                self._by_cut.popitem(last=False)  # its file is deleted after its last reader
        return by_cut.of(split_content(content)[1])

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

    def scan_mementos(self, span: Span = ALL_TIME, prefix: Surt = ALL_SURTS) -> Iterator[Memento]:
        return watched_mementos(self._scan_mementos(span, prefix), self.months)

    def _scan_mementos(self, span: Span, prefix: Surt) -> Iterator[Memento]:
        low = prefix.encode()
        with translated(self.path):
            mementos = self._runs.scan(Relation.MEMENTOS, low, end_of_prefix(low))
            for surt, rows in groupby(mementos, surt_field):
                yield from self._mementos_in(surt, rows, span)

    def _mementos_in(self, surt: Surt, rows: Iterator[Row], span: Span) -> Iterator[Memento]:
        """Yield the mementos in all rows of a SURT within ``span``, each key once."""
        first, last = span.first, span.last
        only = next(rows, None)
        if only is None:
            return
        second = next(rows, None)
        if second is None:
            items = mementos_of(only, self._names, span)
            # The usual case: one row, and no two captures at one time.
            if all(one[0] < other[0] for one, other in pairwise(items)):
                for item in items:
                    yield memento_of(surt, item)
                return
            some = iter(items)
        else:
            some = in_order(chain((only, second), rows), lambda row: mementos_of(row, self._names))
        for (timestamp, *_), same in groupby(some, itemgetter(0, 1, 2)):
            if timestamp > last:
                return
            if timestamp >= first:
                yield memento_of(surt, first_of_copies(same))

    def scan_contents(self) -> Iterator[ContentBlock]:
        return watched_contents(self._scan_contents(), lambda: self.sums().contents)

    def _scan_contents(self) -> Iterator[ContentBlock]:
        begin = 1
        while True:
            with translated(self.path):
                self._drop_stale_caches()
                found = self._connection.execute(_OUTLINKS_FROM, (begin,)).fetchone()
                if found is None:
                    return
                first, data = found
                if first < begin:
                    raise damaged(str(self.path), f"outlinks {first} are out of order")
                block = opened_block(self._connection, first, data)
                begin = first + len(block)
                names = dict(
                    zip(range(first, begin), self._contents_of(range(first, begin)), strict=True)
                )
                kept = {number: content for number, content in names.items() if content is not None}
                found = ContentBlock(
                    list(kept.values()),
                    block.all_links() if kept else [],
                    [block.numbers(number) for number in kept],
                )
            if kept:
                yield found

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

    def months(self) -> Mapping[str, int] | None:
        from arclink.store.sqlite.months import stored_months

        with translated(self.path):
            return stored_months(self._connection)

    def sums(self) -> StoreSums:
        from arclink.store.sqlite.counts import store_sums

        with translated(self.path):
            return store_sums(self._connection, self.path)

    def stats(self) -> StoreStats:
        """Return counts over the whole store.

        Mementos, originals and targets are counted exactly by reading the sorted runs, because
        batches may repeat them; this takes as long as reading 33 % of the file. The other counts
        are kept per batch.
        """
        from arclink.store.blocks.counts import count_rows
        from arclink.store.sqlite.counts import store_sums
        from arclink.store.sqlite.stored_rows import SqliteRows

        with translated(self.path):
            rows = SqliteRows(self._connection, self._runs, self._names)
            return count_rows(rows, store_sums(self._connection, self.path))

    def verify(self) -> Iterator[Violation]:
        from arclink.store.sqlite.verification import Verifier

        takedowns: list[Takedown] = []
        try:  # before the record: more takedowns may arrive meanwhile
            takedowns = listed(self.path)
        except SealError as error:
            yield Violation(LISTED, str(error))
        with translated(self.path), closing(open_for_reading(self.path)) as connection:
            yield from Verifier(connection).violations()
            recorded = [takedown for takedown, _ in records(connection)]
        for takedown in missing_in(recorded, takedowns):
            yield Violation(
                LISTED,
                f"{takedown.what.prefix} of {takedown.time} ({list_path(self.path)}): "
                "the store is an older copy; `arclink forget --import` applies the list",
            )

    # Queries of a build

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        rest = iter(wanted)
        while some := list(islice(rest, AT_ONCE)):
            with translated(self.path), self.snapshot():
                rows = self._connection.execute(
                    _PAYLOADS.format(",".join("?" * len(some))),
                    [pack_checksum(checksum) for checksum, _ in some],
                )
                found = {unpack_checksum(packed): (number, fate) for packed, number, fate in rows}
                answers = [
                    self._known(checksum, originals, found.get(checksum))
                    for checksum, originals in some
                ]
            yield from answers

    def copies(self, surt: Surt) -> Iterator[Memento]:
        with translated(self.path):
            self._drop_stale_caches()
            rows = self._runs.scan(Relation.MEMENTOS, *rows_of(surt.encode()))
            items = in_order(rows, lambda row: mementos_of(row, self._names))
            for item in sorted_copies(items):
                yield memento_of(surt, item)

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        """Yield the distinct originals of mementos with this checksum, sorted.

        Mementos that a rule kept from being read are left out.
        """
        with translated(self.path):
            number, _ = self._payload(checksum)
            if number:
                for original, _ in self._pages(number):
                    yield original

    def named_payloads(self) -> Iterator[tuple[Checksum, Checksum]]:
        with translated(self.path):
            for bounds, query in ((_REFERENCES, _UNREAD), (_NAMES, _NAMED)):
                for (packed,) in self._connection.execute(query, bounds).fetchall():
                    checksum, reference = parse_name(unpack_checksum(packed))
                    fate = self._payload(checksum)[1]
                    if scope_of_fate(fate) is None:
                        yield checksum, reference

    # Writes of a build

    def load(
        self,
        graph: Path,
        files: Sequence[KnownFile],
        settings: Mapping[str, str],
        manifest: str,
        cores: int | None = None,
        cluster: Cluster | None = None,
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
        identity = identity_of(graph, find_parts(graph), files)
        takedowns = [takedown for takedown, _ in self.forgotten()]
        with translated(self.path), self._writing(is_overwriting=bool(takedowns)):
            found = self._connection.execute(
                "SELECT number, files, manifest FROM batches WHERE identity = ?", (identity,)
            ).fetchone()
            if found:
                return Batch(found[0], tuple(json.loads(found[1])), found[2])
            self._check_settings(settings)
            self._connection.executemany(
                "INSERT INTO files VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET path = "
                "excluded.path, size = excluded.size, fingerprint = excluded.fingerprint",
                [(file.name, file.path, file.size, file.fingerprint) for file in files],
            )
            number = self._connection.execute(
                "SELECT coalesce(max(number), 0) + 1 FROM batches"
            ).fetchone()[0]
            from arclink.store.sqlite.load import BatchLoader  # readers do without it

            loader = BatchLoader(
                self._connection,
                self._runs,
                self._names,
                graph,
                number,
                cores or os.cpu_count() or 1,
            )
            added = loader.load()
            names = tuple(file.name for file in files)
            self._connection.execute(
                "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (number, identity, json.dumps(names), manifest, *added),
            )
            # The filter stage skips forgotten captures, but graph files may be older than a
            # takedown.
            for takedown in takedowns:
                forget(self._connection, self._runs, self._names, takedown)
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

    # Takedowns

    def forget(self, takedown: Takedown, *, is_trial: bool = False) -> Removed:
        if not self._is_loader:
            raise StoreError(
                f"{self.path} was opened for reading; open it for loading to remove captures."
            )
        needs_these_keys(self, str(self.path))
        is_listed = False
        try:
            with translated(self.path), self._writing(is_overwriting=True, is_trial=is_trial):
                removed = forget(self._connection, self._runs, self._names, takedown)
                if not is_trial:  # before the commit, so the list has every takedown of the store
                    add_to_list(self.path, [takedown])
                    is_listed = True
        except StoreError as error:
            if not is_listed:
                raise
            raise StoreError(
                f"{error} The takedown of {takedown.what.prefix} is in {list_path(self.path)}, but "
                "its captures are still answered: repeat the command. The next build applies "
                "it, too."
            ) from error
        return removed

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
                f"{self.path}: no answer contains the forgotten data, but the file's log "
                "may, because "
                "another process reads the store. Run `arclink forget --clean` again after it ends."
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
                self._names.forget()
                self._runs.forget()
            self._clear_caches()
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
        try:
            recorded = [takedown for takedown, _ in self.forgotten()]
            for takedown in missing_in(recorded, listed(self.path)):
                self.forget(takedown)
            if missing_in(listed(self.path), recorded):
                add_to_list(self.path, recorded)
        except BaseException:
            self.close()
            raise

    def _drop_stale_caches(self) -> None:
        """Clear the caches if another connection wrote: answers must not show forgotten data."""
        version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._version:
            self._version = version
            self._connection.is_sealed = is_sealed(self._connection)  # after `convert`, it is
            self._clear_caches()

    def _clear_caches(self) -> None:
        self._state = None
        for kept in (
            self._outlink_blocks,
            self._payloads,
            self._contents,
            self._numbers,
            self._by_cut,
        ):
            kept.clear()

    def _check_settings(self, settings: Mapping[str, str]) -> None:
        is_older = self.setting("rules") is not None
        for name, value in with_key_rules(settings).items():
            known = self.setting(name) or (
                FIRST_RULES if is_older and name == KEYS_SETTING else None
            )
            if known is None:
                self._connection.execute("INSERT INTO settings VALUES (?, ?)", (name, value))
            elif known != value:
                raise StoreError(
                    f"{self.path} was built with {name} = {known}, not {value}. Use that "
                    "setting, or build a new store."
                )

    def _payload(self, checksum: Checksum) -> tuple[int, bytes | None]:
        """Return number and packed fate of a payload; (0, None) if the checksum is unknown.

        No payload has the number 0.
        """
        row = self._connection.execute(
            "SELECT number, fate FROM payloads WHERE checksum = ?", (pack_checksum(checksum),)
        ).fetchone()
        return row or (0, None)

    def _known(
        self, checksum: Checksum, originals: Sequence[UriR], row: tuple[int, bytes | None] | None
    ) -> tuple[Payload | None, Sequence[UriR]]:
        if row is None or row[1] is None:
            return None, originals
        payload = unpack_fate(checksum, row[1], self._names)
        if payload.scope is None:
            return payload, originals
        cuts = [
            split_content(content_id(checksum, original, payload.scope))[1]
            for original in originals
        ]
        has = [self._connection.execute(_HAS_CONTENT, (row[0], cut)).fetchone() for cut in cuts]
        return payload, [
            original for original, found in zip(originals, has, strict=True) if not found
        ]

    def _file_now(self) -> tuple[int, int] | None:
        """Return device and inode of the file at the store's path; None if it is missing."""
        with suppress(OSError):
            found = os.stat(self.path)
            return found.st_dev, found.st_ino
        return None

    def _referring(self, reference: Checksum) -> Iterable[Source]:
        number, _ = self._payload(reference)
        return self._pages(number) if number else ()

    # The results of these three methods change only after a takedown, so they are cached until
    # another connection writes (`_drop_stale_caches`).

    def _payloads_read(self, checksums: Sequence[Checksum]) -> dict[Checksum, ReadPayload]:
        """Return the payloads among these checksums that were read."""
        known = _with_room(self._payloads)
        missing = {
            pack_checksum(checksum): checksum for checksum in checksums if checksum not in known
        }
        if missing:
            for packed, number, fate in self._connection.execute(
                _PAYLOADS.format(",".join("?" * len(missing))), [*missing]
            ):
                scope = scope_of_fate(fate)
                if scope is not None:
                    known[missing[packed]] = ReadPayload(number, scope)
        return {checksum: known[checksum] for checksum in checksums if checksum in known}

    def _number_of(self, content: ContentId) -> int | None:
        """Return the number of a content; None if the store has no such content."""
        known = _with_room(self._numbers)
        number = known.get(content)
        if number is None:
            checksum, cut = split_content(content)
            found = self._connection.execute(
                _CONTENT_NUMBER, (pack_checksum(checksum), cut)
            ).fetchone()
            if found is None:
                return None
            number = known[content] = int(found[0])
        return number

    def _contents_of(self, numbers: Sequence[int]) -> list[ContentId | None]:
        """Return contents by number; None for one that was removed since the number was read."""
        known, payloads = _with_room(self._contents), _with_room(self._payloads)
        missing = {number for number in numbers if number not in known}
        if missing:
            for number, packed, cut, payload, fate in self._connection.execute(
                _CONTENTS.format(",".join(map(str, missing)))
            ):
                checksum, scope = unpack_checksum(packed), scope_of_fate(fate)
                known[number] = join_content(checksum, cut)
                if scope is not None:
                    payloads[checksum] = ReadPayload(payload, scope)
        return [known.get(number) for number in numbers]

    def _posting(self, target: Surt, inlink: Inlink) -> Posting:
        number = self._number_of(inlink.content)
        if number is None:
            raise UsageError(
                f"cannot continue after an inlink of {inlink.content}: the store has no such "
                "content"
            )
        return Posting(
            uri_form(target, inlink.target), number, pack_head(inlink.kind, inlink.text, inlink.rel)
        )

    def _outlink_block(self, content: int) -> OutlinkBlock:
        for block in self._outlink_blocks:
            if block.first <= content < block.first + len(block):
                return block
        block = block_with(self._connection, content)
        self._outlink_blocks.appendleft(block)
        return block

    def _pages(self, payload: int) -> Iterable[Source]:
        return pages_of(self._runs.scan(Relation.SIGHTINGS, *rows_of(number_field(payload))))


# Bounds of the checksums that are references: the first inclusive, the last exclusive.
_REFERENCES = (pack_checksum("not-modified:"), pack_checksum("not-modified;"))
_NAMES = (pack_checksum("named:"), pack_checksum("named;"))
_NAMED = "SELECT checksum FROM payloads WHERE checksum >= ? AND checksum < ?"
_UNREAD = f"{_NAMED} AND fate IS NOT NULL"  # the others name a capture of their own original
_HAS_REFERENCES = "SELECT 1 FROM payloads WHERE checksum >= ? AND checksum < ? LIMIT 1"
_CONTENT_NUMBER = """
SELECT contents.number FROM payloads JOIN contents ON contents.payload = payloads.number
WHERE payloads.checksum = ? AND contents.cut = ?
"""
_HAS_CONTENT = "SELECT 1 FROM contents WHERE payload = ? AND cut = ?"
_PAYLOADS = "SELECT checksum, number, fate FROM payloads WHERE checksum IN ({})"
_OUTLINKS_FROM = "SELECT first, data FROM outlinks WHERE first >= ? ORDER BY first LIMIT 1"
_CONTENTS = """
SELECT contents.number, checksum, cut, payload, fate FROM contents JOIN payloads ON payloads.number = contents.payload
WHERE contents.number IN ({})
"""
