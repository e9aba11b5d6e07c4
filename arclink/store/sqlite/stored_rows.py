"""The rows of a whole SQLite store, for counting and verification."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from arclink.model import Checksum, Forgotten, Surt
from arclink.rows.link_sources import LinkSource, source_of
from arclink.store.blocks.answers import BlockAnswers
from arclink.store.blocks.byte_layouts import pack_checksum, uri_of_form
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.relations import (
    NUL,
    MementoItem,
    distinct_mementos,
    end_of_prefix,
    groups_of,
    in_order,
    payload_of,
    sightings_of,
    surt_field,
    target_of,
    unpack_outcome,
)
from arclink.store.blocks.rows import Relation, Row
from arclink.store.blocks.stored_rows import (
    ContentLinks,
    PayloadSighting,
    StoredPayload,
    TargetLinks,
)
from arclink.store.layouts import keys_of
from arclink.store.sqlite.outlinks import opened_block
from arclink.store.sqlite.runs import Runs
from arclink.store.sqlite.schema import Connection
from arclink.store.sqlite.takedowns import records

_BUCKET = 256
"""Number of payloads whose sightings share one sum."""


class SqliteRows:
    """The `VerifiedRows` of a SQLite store."""

    def __init__(self, connection: Connection, runs: Runs, answers: BlockAnswers) -> None:
        self._connection = connection
        self._runs = runs
        self.answers = answers

    def mementos(self) -> Iterator[tuple[Surt, MementoItem]]:
        return self._mementos(self._runs.scan(Relation.MEMENTOS))

    def mementos_within(self, what: Forgotten) -> Iterator[tuple[Surt, MementoItem]]:
        keys = keys_of(self.answers)
        for prefix in keys.prefixes(what):
            low = prefix.encode()
            rows = self._runs.scan(Relation.MEMENTOS, low, end_of_prefix(low))
            for surt, item in self._mementos(rows):
                if keys.has(what, surt, item[1]):
                    yield surt, item

    def _mementos(self, rows: Iterable[Row]) -> Iterator[tuple[Surt, MementoItem]]:
        for surt, of_surt in groupby(rows, surt_field):
            for item in distinct_mementos(of_surt, self.answers.names):
                yield surt, item

    def count_targets(self) -> int:
        keys = self._runs.scan_keys((Relation.INLINKS,))
        return sum(1 for _ in groupby(keys, lambda key: key.rpartition(NUL)[0]))

    def targets_within(self, what: Forgotten) -> Iterator[str]:
        keys = keys_of(self.answers)
        for prefix in keys.prefixes(what):
            low = prefix.encode()
            for key in self._runs.scan_keys((Relation.INLINKS,), low, end_of_prefix(low)):
                surt, form, _ = key.decode().split("\0")
                if keys.has(what, surt, uri_of_form(Surt(surt), form)):
                    yield surt

    def sightings(self) -> Iterator[PayloadSighting]:
        greatest = self._greatest("payloads")
        for payload, rows in groupby(self._runs.scan(Relation.SIGHTINGS), payload_of):
            bucket = payload // _BUCKET if 0 < payload <= greatest else None
            for (original, timestamp), _ in groupby(in_order(rows, sightings_of)):
                yield PayloadSighting(payload, bucket, original, timestamp)

    def outlinks(self) -> Iterator[ContentLinks]:
        for block in self.blocks():
            yield ContentLinks(0, block, range(block.first, block.first + len(block)))

    def blocks(self) -> Iterator[OutlinkBlock]:
        """Yield the blocks of outlinks, by their contents."""
        for first, data in self._connection.execute(
            "SELECT first, data FROM outlinks ORDER BY first"
        ):
            yield opened_block(self._connection, first, data)

    def inlinks(self) -> Iterator[TargetLinks]:
        for row in self._runs.scan(Relation.INLINKS):
            yield TargetLinks(0, surt_field(row), target_of(row), *groups_of(row))

    def payloads(self, checksums: Sequence[Checksum]) -> list[StoredPayload | None]:
        return [self._payload(checksum) for checksum in checksums]

    def _payload(self, checksum: Checksum) -> StoredPayload | None:
        found = self._connection.execute(_PAYLOAD, (pack_checksum(checksum),)).fetchone()
        if found is None:
            return None
        number, outcome = found
        payload = None if outcome is None else unpack_outcome(checksum, outcome, self.answers.names)
        if payload is None or source_of(payload) is LinkSource.CRAWLER:
            return StoredPayload(number, number // _BUCKET, None)
        return StoredPayload(number, number // _BUCKET, payload.scope)

    def greatest_content(self) -> int:
        return self._greatest("contents")

    def name_of(self, load: int, content: int) -> str:
        return self.answers.contents(load, [content])[0] or f"number {content}"

    def takedowns(self) -> Iterator[Forgotten]:
        return (takedown.what for takedown, _ in records(self._connection))

    def _greatest(self, table: str) -> int:
        found = self._connection.execute(f"SELECT coalesce(max(number), 0) FROM {table}").fetchone()
        return int(found[0])


_PAYLOAD = "SELECT number, fate FROM payloads WHERE checksum = ?"
