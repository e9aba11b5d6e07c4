"""Checks every invariant of a Cassandra store that several tables share.

Tables are read by ranges of tokens, once or twice. As in `arclink.store.sqlite.verification`, sets
that are too large to hold are compared by sums of hashes, which do not depend on order. Memory
holds two sums per block of contents and per bucket of payloads.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice, pairwise
from zlib import crc32

import numpy as np
import zstandard

from arclink.errors import StoreError
from arclink.model import Checksum, ContentId, Memento, Scope, Surt
from arclink.reasons import Reason
from arclink.store.blocks.byte_layouts import (
    Numbers,
    pack_checksum,
    split_content,
    unpack_checksum,
    uri_of_form,
)
from arclink.store.blocks.checks import (
    NAMED,
    OLD_LAYOUT,
    Sums,
    hashes_of,
    hashes_of_pairs,
    link_key,
    uri_id_collisions,
)
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.relations import NUL, groups_of, pages_of, scope_of_fate, unpack_fate
from arclink.store.blocks.rows import shows_payload
from arclink.store.cassandra.counts import store_sums
from arclink.store.cassandra.reader import PIECES, CassandraReader, sighting_rows
from arclink.store.cassandra.removal import records
from arclink.store.cassandra.rows import content_number, place_of, unpack_inlinks
from arclink.store.cassandra.tables import KeyedTable, Stream
from arclink.store.cassandra.tasks import FENCES, LAST, unpack_surts
from arclink.store.protocols import Violation
from arclink.uris.resolution import content_id
from arclink.uris.surts import surt_of

BUCKETS = 1 << 14
"""Number of buckets of payloads; the sightings of a bucket share one sum."""

AT_ONCE = 200
"""Number of mementos or contents whose other rows are looked up together."""

UNREADABLE = (StoreError, zstandard.ZstdError, struct.error, ValueError, LookupError, TypeError)
"""Errors that reading a damaged row raises."""

READABLE = "what is stored can be read"

Place = tuple[int, int, int]


def violations(store: CassandraReader) -> Iterator[Violation]:
    """Yield broken invariants, the first few of each kind.

    Reads one state of the store, whatever is loaded meanwhile.
    """
    if not store.database.is_sealed:
        yield Violation(
            OLD_LAYOUT,
            "it was written by an older ArcLink, and damage may go unnoticed. "
            "Load its graph files into a new keyspace",
        )
    verifier = _Verifier(store)
    store.tables.note_damage(verifier.note_damage)
    try:
        yield from _violations(verifier)
    finally:
        store.tables.note_damage(None)


def _violations(verifier: "_Verifier") -> Iterator[Violation]:
    checks: list[Callable[[], Iterator[Violation]]] = [
        verifier.mementos,
        verifier.links,
        verifier.surts,
        verifier.sums,
    ]
    for check in checks:
        found: list[Violation] = []
        try:
            found.extend(islice(check(), NAMED + 1))
        except UNREADABLE as error:
            found.append(Violation(READABLE, f"{check.__name__}: {type(error).__name__}: {error}"))
        yield from verifier.unreadable()
        yield from found[:NAMED]
        if len(found) > NAMED:
            yield Violation(found[0].invariant, f"and more: only the first {NAMED} are named")


class _Verifier:
    def __init__(self, store: CassandraReader) -> None:
        self._store, self._tables = store, store.tables
        store.drop_caches()
        self._history = store.history()
        self._view = self._history.view
        self._forgotten = [takedown.what for takedown, _ in records(self._history)]
        self._links = self._contents = 0
        self._unreadable: dict[str, bool] = {}

    def unreadable(self) -> Iterator[Violation]:
        """Yield the rows that could not be read, each once."""
        for what, is_told in list(self._unreadable.items()):
            if not is_told:
                self._unreadable[what] = True
                yield Violation(READABLE, what)

    def note_damage(self, error: StoreError) -> None:
        """Record a row that fails its checksum; if there are more than `NAMED`, raise the error."""
        self._unreadable.setdefault(str(error), False)
        if len(self._unreadable) > NAMED:
            raise error

    @contextmanager
    def _reading(self, what: object) -> Iterator[None]:
        """Record a row that cannot be read inside the block.

        If there are more than `NAMED` such rows, the error is raised and ends the check.
        """
        try:
            yield
        except UNREADABLE as error:
            self._unreadable.setdefault(f"{what}: {type(error).__name__}: {error}", False)
            if len(self._unreadable) > NAMED:
                raise

    def _scan(self, table: KeyedTable) -> Iterator[tuple[bytes, list[Stream]]]:
        for low, high in self._store.database.token_ranges(PIECES):
            yield from table.scan(low, high, self._view)

    # Mementos, their payloads and contents, and the sightings of payloads

    def mementos(self) -> Iterator[Violation]:
        taken, shown = np.zeros((BUCKETS, 2), np.uint64), np.zeros((BUCKETS, 2), np.uint64)
        rest = self._mementos()
        while some := list(islice(rest, AT_ONCE)):
            for memento in some:
                if surt_of(memento.original) != memento.surt:
                    yield Violation(
                        "SURTs belong to their URIs",
                        f"{memento.original} is stored under {memento.surt}",
                    )
                if any(what.covers(memento.surt, memento.timestamp) for what in self._forgotten):
                    yield Violation(
                        "what was forgotten is not stored",
                        f"{memento.timestamp} {memento.original}: a memento",
                    )
            shows = [memento for memento in some if shows_payload(memento.checksum, memento.reason)]
            for memento in shows:
                taken[_bucket(pack_checksum(memento.checksum))] += _hash_of_sighting(
                    memento.checksum, memento.original, memento.timestamp
                )
            yield from self._check_contents(shows)
        for key, streams in self._scan(self._tables.sightings):
            checksum = unpack_checksum(key)
            for original, timestamp in self._sightings(checksum, streams):
                shown[_bucket(key)] += _hash_of_sighting(checksum, original, timestamp)
        different = set(np.flatnonzero((taken != shown).any(axis=1)).tolist())
        if different:
            yield from self._sighting_differences(different)

    def _sightings(
        self, checksum: Checksum, streams: Sequence[Stream]
    ) -> Iterator[tuple[str, str]]:
        """Yield the distinct (original, timestamp) pairs of a payload."""
        with self._reading(f"sightings of {checksum}"):
            for original, timestamps in pages_of(sighting_rows(streams)):
                yield from ((original, timestamp) for timestamp in timestamps)

    def _mementos(self) -> Iterator[Memento]:
        for key, streams in self._scan(self._tables.mementos):
            with self._reading(f"mementos of {key.decode()}"):
                yield from self._store.mementos_of(Surt(key.decode()), streams)

    def _check_contents(self, mementos: Sequence[Memento]) -> Iterator[Violation]:
        checksums = list(dict.fromkeys(memento.checksum for memento in mementos))
        scopes = dict(
            zip(
                checksums,
                map(self._scope_of, checksums, self._store.fates_in(self._view, checksums)),
                strict=True,
            )
        )
        wanted = [
            (memento, content_id(memento.checksum, memento.original, scope))
            for memento in mementos
            if (scope := scopes[memento.checksum]) is not None
        ]
        places = self._store.numbers_of(self._view, [content for _, content in wanted])
        for (memento, content), place in zip(wanted, places, strict=True):
            if place is None:
                yield Violation(
                    "each memento has its content",
                    f"{memento.timestamp} {memento.original}: {content}",
                )

    def _scope_of(self, checksum: Checksum, fate: bytes | None) -> Scope | None:
        with self._reading(f"payload {checksum}"):
            return scope_of_fate(fate)
        return None

    def _sighting_differences(self, buckets: set[int]) -> Iterator[Violation]:
        taken = {
            (memento.checksum, memento.original, memento.timestamp)
            for memento in self._mementos()
            if shows_payload(memento.checksum, memento.reason)
            and _bucket(pack_checksum(memento.checksum)) in buckets
        }
        shown = {
            (unpack_checksum(key), original, timestamp)
            for key, streams in self._scan(self._tables.sightings)
            if _bucket(key) in buckets
            for original, timestamp in self._sightings(unpack_checksum(key), streams)
        }
        for missing, where in (
            (taken - shown, "not among its payload's sightings"),
            (shown - taken, "a sighting, but no memento"),
        ):
            for _, original, timestamp in sorted(missing):
                yield Violation(
                    "sightings are the mementos of a payload", f"{timestamp} {original} is {where}"
                )

    # Outlinks and inlinks hold the same (content, target, kind, text, rel)

    def links(self) -> Iterator[Violation]:
        out: dict[Place, Sums] = {}
        back: dict[Place, Sums] = {}
        for place, block, contents in self._blocks():
            here = [
                number
                for number in range(block.first, block.first + len(block))
                if contents[number - block.first]
            ]
            hashes = hashes_of([link_key(*link) for link in block.distinct_links])
            sums = np.zeros(2, np.uint64)
            counts = []
            for number in here:
                links = block.numbers(number)
                counts.append(len(links))
                distinct = np.unique(links)
                sums += hashes_of_pairs(np.full(len(distinct), number), hashes[distinct]).sum(
                    axis=0, dtype=np.uint64
                )
            out[place] = sums
            yield from self._check_block(
                place, here, [ContentId(contents[number - block.first]) for number in here], counts
            )
        for load, numbers, hashes, target, surt in self._inlinks():
            if surt_of(target) != surt:
                yield Violation("SURTs belong to their URIs", f"{target} is stored under {surt}")
            if any(what.has_targets and what.has(surt) for what in self._forgotten):
                yield Violation("what was forgotten is not stored", f"{target}: a target")
            pairs = hashes_of_pairs(numbers, hashes)
            blocks = numbers >> 12
            for block_number in np.unique(blocks).tolist():
                place = (load, *place_of(block_number << 12)[:2])
                sums = back.setdefault(place, np.zeros(2, np.uint64))
                sums += pairs[blocks == block_number].sum(axis=0, dtype=np.uint64)
        nothing = np.zeros(2, np.uint64)
        different = {
            place
            for place in out.keys() | back.keys()
            if (out.get(place, nothing) != back.get(place, nothing)).any()
        }
        if different:
            yield from self._link_differences(different)

    def _blocks(self) -> Iterator[tuple[Place, OutlinkBlock, list[str]]]:
        for low, high in self._store.database.token_ranges(PIECES):
            for chunk in self._tables.outlinks.scan(low, high, self._view):
                place = chunk.load, chunk.part, chunk.chunk
                with self._reading(f"outlinks of block {place}"):
                    block = OutlinkBlock(chunk.data, content_number(chunk.part, chunk.chunk))
                    yield place, block, self._store.block_contents(self._view, [place])[place]

    def _check_block(
        self,
        place: Place,
        numbers: Sequence[int],
        contents: Sequence[ContentId],
        counts: Sequence[int],
    ) -> Iterator[Violation]:
        self._contents += len(contents)
        self._links += sum(counts)
        for content, number, found in zip(
            contents, numbers, self._store.numbers_of(self._view, contents), strict=True
        ):
            if found != (place[0], number):
                yield Violation(
                    "each content has its outlinks",
                    f"{content} is in block {place}, but found at {found}",
                )
        checksums = [split_content(content)[0] for content in contents]
        for content, checksum, count, fate in zip(
            contents, checksums, counts, self._store.fates_in(self._view, checksums), strict=True
        ):
            if self._scope_of(checksum, fate) is None or fate is None:
                yield Violation("only payloads that were read have contents", content)
            elif not split_content(content)[
                1
            ]:  # a payload with one content counts the links of that content
                kept = dict(unpack_fate(checksum, fate, self._store.names).counts).get(
                    Reason.LINK_KEPT.name, 0
                )
                if kept != count:
                    yield Violation(
                        "counts of a payload add up",
                        f"{checksum}: {kept} links kept, but {count} outlinks",
                    )

    def _inlinks(self) -> Iterator[tuple[int, Numbers, Sums, str, str]]:
        """Yield the inlinks of each row.

        Yields:
            Load, numbers of the contents, hashes of the links, target, SURT.
        """
        for key, streams in self._scan(self._tables.inlinks):
            surt = Surt(key.decode())
            for load, target, heads, counts, numbers in self._rows_of_inlinks(surt, streams):
                yield (
                    load,
                    numbers,
                    np.repeat(hashes_of([f"{target}\0{head}" for head in heads]), counts, axis=0),
                    target,
                    surt,
                )

    def _rows_of_inlinks(
        self, surt: Surt, streams: Sequence[Stream]
    ) -> Iterator[tuple[int, str, Sequence[str], Numbers, Numbers]]:
        """Yield load, target, heads, their counts, and numbers of contents of each row."""
        for chunk in (chunk for stream in streams for chunk in stream if chunk.data):
            with self._reading(f"inlinks of {surt}, {chunk[:3]}"):
                row = unpack_inlinks(chunk.data)
                yield chunk.load, uri_of_form(surt, row.key.split(NUL)[1].decode()), *groups_of(row)

    def _link_differences(self, places: set[Place]) -> Iterator[Violation]:
        out = {
            (*place, number, link_key(*links[link]))
            for place, block, contents in self._blocks()
            if place in places
            for links in [block.distinct_links]
            for number in range(block.first, block.first + len(block))
            if contents[number - block.first]
            for link in block.numbers(number).tolist()
        }
        back = set()
        for key, streams in self._scan(self._tables.inlinks):
            for load, target, heads, counts, numbers in self._rows_of_inlinks(
                Surt(key.decode()), streams
            ):
                for number, head in zip(
                    numbers.tolist(), np.repeat(np.arange(len(heads)), counts).tolist(), strict=True
                ):
                    if (place := (load, *place_of(number)[:2])) in places:
                        back.add((*place, number, f"{target}\0{heads[head]}"))
        for missing, where in ((out - back, "an inlink"), (back - out, "an outlink")):
            for load, part, block_number, number, link in sorted(missing):
                where_it_is = f"content {number} of block {(load, part, block_number)}"
                yield Violation(
                    "outlinks and inlinks are the same links",
                    f"{where_it_is}: {link!r} is not {where}",
                )

    # The lists of SURTs, and counts

    def surts(self) -> Iterator[Violation]:
        yield from uri_id_collisions(self._store.surts_in(self._view, Surt("")))
        mementos, inlinks = self._tables.mementos, self._tables.inlinks
        stored = np.zeros(2, np.uint64)
        for key, _ in self._scan(mementos):
            stored += hashes_of([key.decode()])[0]
        targets = (key for key, _ in self._scan(inlinks))
        while some := list(islice(targets, AT_ONCE)):
            alone = [
                key.decode()
                for key, streams in zip(
                    some, mementos.streams_of_each(some, self._view), strict=True
                )
                if not streams
            ]
            stored += hashes_of(alone).sum(axis=0, dtype=np.uint64)
        listed = np.zeros(2, np.uint64)
        for surt in self._store.surts_in(self._view, Surt("")):
            listed += hashes_of([surt])[0]
        if (stored != listed).any():
            yield from self._surt_differences()
        yield from self._check_fences()

    def _check_fences(self) -> Iterator[Violation]:
        """Check that each row of the SURT lists is inside the range that its list's index gives.

        Rows that lost SURTs are compared by the remaining ones.
        """
        for load, part, rows, *_ in self._store.surt_ranges(self._view):
            places = [(load, part, chunk) for chunk in range(FENCES, rows)]
            for place in self._tables.surts.missing(places, self._view):
                yield Violation("SURTs are listed", f"row {place} of the lists is lost")
            found = self._tables.surts.get_each(places, self._view)
            with self._reading(f"list of SURTs {(load, part)}"):
                fences, *surts = map(unpack_surts, found)
                borders = [*fences, LAST]
                if len(fences) != rows or not all(
                    low <= one[0] and one[-1] < high
                    for (low, high), one in zip(pairwise(borders), surts, strict=True)
                    if one
                ):
                    yield Violation(
                        "SURTs are listed",
                        f"the list {(load, part)} has {rows} rows, and its row {FENCES} has another number",
                    )

    def _surt_differences(self) -> Iterator[Violation]:
        keys = chain(self._scan(self._tables.mementos), self._scan(self._tables.inlinks))
        stored, listed = (
            {key.decode() for key, _ in keys},
            set(self._store.surts_in(self._view, Surt(""))),
        )
        for missing, where in (
            (stored - listed, "in no list of SURTs"),
            (listed - stored, "listed, but neither captured nor linked to"),
        ):
            for surt in sorted(missing):
                yield Violation("SURTs are listed", f"{surt} is {where}")

    def sums(self) -> Iterator[Violation]:
        told = store_sums(self._store)
        payloads = sum(1 for _ in self._scan(self._tables.payloads))
        for name, found, added in (
            ("contents", self._contents, told.contents),
            ("links", self._links, told.links),
            ("payloads", payloads, told.payloads),
        ):
            if found != added:
                yield Violation("batches add up", f"{found} {name}, but the batches added {added}")


def _bucket(key: bytes) -> int:
    return crc32(key) % BUCKETS


def _hash_of_sighting(checksum: Checksum, original: str, timestamp: str) -> Sums:
    found: Sums = hashes_of([f"{checksum}\0{original}\0{timestamp}"])[0]
    return found
