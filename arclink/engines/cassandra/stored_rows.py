"""The rows of a whole Cassandra store, by ranges of tokens, for counting and verification."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from zlib import crc32

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
from arclink.engines.cassandra.tables import KeyedTable, Stream
from arclink.errors import StoreError
from arclink.model import Checksum, Forgotten, Scope, Surt
from arclink.store.blocks.byte_layouts import pack_checksum, unpack_checksum, uri_of_form
from arclink.store.blocks.checks import NAMED
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.relations import (
    NUL,
    MementoItem,
    distinct_mementos,
    groups_of,
    pages_of,
    scope_of_outcome,
)
from arclink.store.blocks.rows import Relation
from arclink.store.blocks.stored_rows import (
    ContentLinks,
    PayloadSighting,
    StoredPayload,
    TargetLinks,
)
from arclink.store.blocks.verification import READABLE, UNREADABLE
from arclink.store.layouts import keys_of
from arclink.store.protocols import Violation

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
