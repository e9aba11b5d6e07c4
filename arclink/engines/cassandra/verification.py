"""Checks every invariant of a Cassandra store that several tables share.

`arclink.store.blocks.verification` has the checks that both stores share; here are those of blocks,
lists of SURTs and totals. Tables are read by ranges of tokens, once or twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from zlib import crc32

import numpy as np

from arclink.checksums import names_payload
from arclink.engines.cassandra.reader import (
    CassandraReader,
    rows_in,
)
from arclink.engines.cassandra.removal import records
from arclink.engines.cassandra.rows import (
    content_number,
    start_of_inlinks,
    unpack_content_number,
    unpack_inlinks,
)
from arclink.engines.cassandra.surt_lists import FENCES, LAST, unpack_surts
from arclink.engines.cassandra.tables import KeyedTable, Stream
from arclink.errors import StoreError
from arclink.model import Checksum, Forgotten, Scope, Surt
from arclink.portions import portions
from arclink.store.blocks.byte_layouts import (
    pack_checksum,
    split_content,
    unpack_checksum,
    uri_of_form,
)
from arclink.store.blocks.counted_times import miscounted_days
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.relations import (
    NUL,
    MementoItem,
    distinct_mementos,
    groups_of,
    pages_of,
    scope_of_outcome,
    unpack_outcome,
)
from arclink.store.blocks.rows import Relation
from arclink.store.blocks.verification import (
    AT_ONCE,
    NAMED,
    READABLE,
    UNREADABLE,
    ContentLinks,
    PayloadSighting,
    RowChecks,
    StoredPayload,
    TargetLinks,
    hashes_of,
    miscounted,
    uri_id_collisions,
    violations_of,
)
from arclink.store.layouts import keys_of
from arclink.store.protocols import Violation

# The rows of a whole Cassandra store, by ranges of tokens, for counting and verification.

_BUCKETS = 1 << 14
"""Number of buckets of payloads; the sightings of a bucket share one sum."""


class CassandraRows:
    """The `VerifiedRows` of a Cassandra store: one state of it, whatever is loaded meanwhile.

    Args:
        store: Its present state is read.
    """

    def __init__(self, store: CassandraReader) -> None:
        self.history = store.history()
        self.answers = CassandraReader(store.address, history=self.history)
        self._tables, self._view = self.answers.tables, self.answers.view
        self._keys = keys_of(self.answers)
        self._unreadable: dict[str, bool] = {}

    # Rows that cannot be read

    def unreadable(self) -> Iterator[Violation]:
        """Yield the rows that could not be read, each once."""
        for what, is_reported in list(self._unreadable.items()):
            if not is_reported:
                self._unreadable[what] = True
                yield Violation(READABLE, what)

    def note_damage(self, error: StoreError) -> None:
        """Record a row that fails its checksum; if there are more than `NAMED`, raise the error."""
        self._unreadable.setdefault(str(error), False)
        if len(self._unreadable) > NAMED:
            raise error

    @contextmanager
    def reading(self, what: object) -> Iterator[None]:
        """Record a row that cannot be read inside the block.

        If there are more than `NAMED` such rows, the error is raised and ends the check.
        """
        try:
            yield
        except UNREADABLE as error:
            self._unreadable.setdefault(f"{what}: {type(error).__name__}: {error}", False)
            if len(self._unreadable) > NAMED:
                raise

    # Rows

    def scan(self, table: KeyedTable) -> Iterator[tuple[bytes, list[Stream]]]:
        """Yield the keys of a table, each with its streams."""
        return table.scan(self._view)

    def mementos(self) -> Iterator[tuple[Surt, MementoItem]]:
        for key, streams in self.scan(self._tables.mementos):
            yield from self._mementos(Surt(key.decode()), streams)

    def mementos_within(self, what: Forgotten) -> Iterator[tuple[Surt, MementoItem]]:
        for surt in self._surts_within(what):
            streams = self._tables.mementos.streams(surt.encode(), self._view)
            for _, item in self._mementos(surt, streams):
                if self._keys.has(what, surt, item[1]):
                    yield surt, item

    def _mementos(
        self, surt: Surt, streams: Iterable[Stream]
    ) -> Iterator[tuple[Surt, MementoItem]]:
        with self.reading(f"mementos of {surt}"):
            for item in distinct_mementos(
                rows_in(Relation.MEMENTOS, surt.encode(), streams), self.answers.names
            ):
                yield surt, item

    def _surts_within(self, what: Forgotten) -> Iterator[Surt]:
        for prefix in self._keys.prefixes(what):
            surts = self.answers.lists.surts(self._view, prefix)
            yield from filter(what.has, surts) if self._keys.are_present else surts

    def count_targets(self) -> int:
        targets = 0
        for _, streams in self.scan(self._tables.inlinks):
            chunks = (chunk for stream in streams for chunk in stream if chunk.data)
            targets += len({start_of_inlinks(chunk.data)[0] for chunk in chunks})
        return targets

    def targets_within(self, what: Forgotten) -> Iterator[str]:
        for surt in self._surts_within(what):
            for chunk in self._tables.inlinks.chunks(surt.encode(), self._view):
                form = start_of_inlinks(chunk.data)[0]
                if self._keys.has(what, surt, uri_of_form(surt, form)):
                    yield surt
                    break

    def sightings(self) -> Iterator[PayloadSighting]:
        for key, streams in self.scan(self._tables.sightings):
            checksum, bucket = unpack_checksum(key), crc32(key) % _BUCKETS
            with self.reading(f"sightings of {checksum}"):
                for original, timestamps in pages_of(rows_in(Relation.SIGHTINGS, key, streams)):
                    for timestamp in timestamps:
                        yield PayloadSighting(checksum, bucket, original, timestamp)

    def outlinks(self) -> Iterator[ContentLinks]:
        for chunk in self._tables.outlinks.scan(self._view):
            block_key = chunk.load, chunk.part, chunk.chunk
            with self.reading(f"outlinks of block {block_key}"):
                block = OutlinkBlock(chunk.data, content_number(chunk.part, chunk.chunk))
                numbers = range(block.first, block.first + len(block))
                names = self.answers.contents(chunk.load, numbers)
                here = [number for number in numbers if names[number - block.first]]
                yield ContentLinks(chunk.load, block, here)

    def inlinks(self) -> Iterator[TargetLinks]:
        for key, streams in self.scan(self._tables.inlinks):
            surt = Surt(key.decode())
            for chunk in (chunk for stream in streams for chunk in stream if chunk.data):
                with self.reading(f"inlinks of {surt}, {chunk[:3]}"):
                    row = unpack_inlinks(chunk.data)
                    target = uri_of_form(surt, row.key.split(NUL)[1].decode())
                    yield TargetLinks(chunk.load, surt, target, *groups_of(row))

    # Look-ups

    def payloads(self, checksums: Sequence[Checksum]) -> list[StoredPayload | None]:
        outcomes = self.answers.outcomes(checksums)
        return [
            StoredPayload(
                checksum,
                crc32(pack_checksum(checksum)) % _BUCKETS,
                self.scope_of(checksum, outcome),
            )
            for checksum, outcome in zip(checksums, outcomes, strict=True)
        ]

    def scope_of(self, checksum: Checksum, outcome: bytes | None) -> Scope | None:
        """Return the scope of a payload; None if it was not read, or cannot be read."""
        with self.reading(f"payload {checksum}"):
            return scope_of_outcome(outcome)
        return None

    def greatest_content(self) -> None:
        return None

    def name_of(self, load: int, content: int) -> str:
        part, block, _ = unpack_content_number(content)
        return f"{content} of block {(load, part, block)}"

    def takedowns(self) -> Iterator[Forgotten]:
        return (takedown.what for takedown, _ in records(self.history))


def violations(store: CassandraReader) -> Iterator[Violation]:
    """Yield broken invariants, the first few of each kind.

    Reads one state of the store, whatever is loaded meanwhile.
    """
    rows = CassandraRows(store)
    verifier = _Verifier(rows)
    checks = [
        verifier.shared.mementos,
        verifier.links,
        verifier.shared.forgotten,
        verifier.surts,
        verifier.sums,
        verifier.times,
    ]
    rows.answers.tables.note_damage(rows.note_damage)
    yield from violations_of(checks, notes=rows.unreadable)


class _Verifier:
    def __init__(self, rows: CassandraRows) -> None:
        self._rows, self._store, self._tables = rows, rows.answers, rows.answers.tables
        self._view = self._store.view
        self.shared = RowChecks(rows)
        self._links = self._contents = 0

    # Blocks of outlinks

    def links(self) -> Iterator[Violation]:
        yield from self.shared.links(self._check_block)

    def _check_block(
        self, load: int, numbers: Sequence[int], counts: Sequence[int]
    ) -> Iterator[Violation]:
        """Check the contents of a block, their payloads and the number of links of each."""
        if not numbers:
            return
        self._contents += len(numbers)
        self._links += sum(counts)
        part, block, _ = unpack_content_number(numbers[0])
        block_key = load, part, block
        contents = [content for content in self._store.contents(load, numbers) if content]
        for content, number, found in zip(
            contents, numbers, self._store.numbers(contents), strict=True
        ):
            if found != (load, number):
                yield Violation(
                    "each content has its outlinks",
                    f"{content} is in block {block_key}, but found at {found}",
                )
        checksums = [split_content(content)[0] for content in contents]
        for content, checksum, count, outcome in zip(
            contents, checksums, counts, self._store.outcomes(checksums), strict=True
        ):
            if self._rows.scope_of(checksum, outcome) is None or outcome is None:
                yield Violation("only payloads that were read have contents", content)
            elif not split_content(content)[1]:  # the only content of its payload
                yield from miscounted(
                    checksum, unpack_outcome(checksum, outcome, self._store.names), count
                )

    # The lists of SURTs, and counts

    def surts(self) -> Iterator[Violation]:
        yield from uri_id_collisions(self._store.lists.surts(self._view, ""))
        mementos, inlinks = self._tables.mementos, self._tables.inlinks
        captured = np.zeros(2, np.uint64)
        for key, _ in self._rows.scan(mementos):
            captured += hashes_of([key.decode()])[0]
        stored = captured.copy()
        targets = (key for key, _ in self._rows.scan(inlinks))
        for chunk in portions(targets, AT_ONCE):
            alone = [
                key.decode()
                for key, streams in zip(
                    chunk, mementos.streams_of_each(chunk, self._view), strict=True
                )
                if not streams
            ]
            stored += hashes_of(alone).sum(axis=0, dtype=np.uint64)
        are_equal = (captured == self._listed(captured=True)).all() and (
            stored == self._listed()
        ).all()
        found = [] if are_equal else [*self._surt_differences()]
        found += self._check_fences()
        # Lists that were merged while they were compared may be deleted.
        if self._store.lists.is_present(self._view):
            yield from found

    def _listed(self, *, captured: bool = False) -> np.ndarray:
        """Return the sum of the hashes of all listed SURTs, or of the captured ones."""
        total = np.zeros(2, np.uint64)
        for surt in self._store.lists.surts(self._view, "", captured=captured):
            total += hashes_of([surt])[0]
        return total

    def _check_fences(self) -> Iterator[Violation]:
        """Check that each row of the SURT lists is inside the range that its list's index gives.

        Rows that lost SURTs are compared by the remaining ones.
        """
        for load, part, rows, *_ in self._store.lists.ranges(self._view):
            row_keys = [(load, part, chunk) for chunk in range(FENCES, rows)]
            for row_key in self._tables.surts.missing(row_keys, self._view):
                yield Violation("SURTs are listed", f"row {row_key} of the lists is lost")
            found = self._tables.surts.get_each(row_keys, self._view)
            with self._rows.reading(f"list of SURTs {(load, part)}"):
                fences, *surts = map(unpack_surts, found)
                borders = [*fences, LAST]
                if len(fences) != rows or not all(
                    low <= one[0] and one[-1] < high
                    for (low, high), one in zip(pairwise(borders), surts, strict=True)
                    if one
                ):
                    yield Violation(
                        "SURTs are listed",
                        f"the list {(load, part)} has {rows} rows, and its row {FENCES} has "
                        "another number",
                    )

    def _surt_differences(self) -> Iterator[Violation]:
        captured, targets = (
            {key.decode() for key, _ in self._rows.scan(table)}
            for table in (self._tables.mementos, self._tables.inlinks)
        )
        stored, listed = captured | targets, set(self._store.lists.surts(self._view, ""))
        # A list of an older ArcLink may also hold SURTs whose captures were forgotten.
        of_captures = set(self._store.lists.surts(self._view, "", captured=True))
        for missing, where in (
            (stored - listed, "in no list of SURTs"),
            (captured & listed - of_captures, "captured, but in no list of captured SURTs"),
            (listed - stored, "listed, but neither captured nor linked to"),
        ):
            for surt in sorted(missing):
                yield Violation("SURTs are listed", f"{surt} is {where}")

    def sums(self) -> Iterator[Violation]:
        stored_sums = self._store.sums()
        payloads = sum(
            not names_payload(unpack_checksum(key))
            for key, _ in self._rows.scan(self._tables.payloads)
        )
        for name, counted, added in (
            ("contents", self._contents, stored_sums.contents),
            ("links", self._links, stored_sums.links),
            ("payloads", payloads, stored_sums.payloads),
        ):
            if counted != added:
                yield Violation(
                    "batches add up", f"{counted} {name}, but the batches added {added}"
                )

    def times(self) -> Iterator[Violation]:
        counted = self._rows.history.counted
        for day in miscounted_days(self._store, self._store.times()):
            # Rows of times may be joined, and deleted, while they are compared.
            if self._store.steps.history(fresh=True).counted == counted:
                yield Violation("captures are counted by their times", day)
