"""Checks every invariant of a SQLite store in one or two full reads.

`arclink.store.blocks.verification` has the checks that both stores share; here are those of the
file, its runs and its numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter

import apsw
import orjson

from arclink.model import Checksum, Forgotten, Surt, UriR
from arclink.rows.pages import LinkSource, source_of
from arclink.store.blocks.answers import BlockAnswers
from arclink.store.blocks.byte_layouts import (
    join_content,
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
    end_of_prefix,
    groups_of,
    in_order,
    number_field,
    payload_of,
    rows_of,
    sightings_of,
    surt_field,
    target_of,
    unpack_outcome,
)
from arclink.store.blocks.rows import Relation, Row
from arclink.store.blocks.verification import (
    UNREADABLE,
    Check,
    ContentLinks,
    PayloadSighting,
    RowChecks,
    StoredPayload,
    TargetLinks,
    miscounted,
    uri_id_collisions,
    violations_of,
)
from arclink.store.layouts import keys_of
from arclink.store.protocols import Violation
from arclink.store.sqlite.outlinks import opened_block
from arclink.store.sqlite.runs import Runs
from arclink.store.sqlite.schema import Connection
from arclink.store.sqlite.takedowns import last_number, records, removed_sums
from arclink.store.sqlite.times import CaptureTimes
from arclink.uris.resolution import content_id

# The rows of a whole SQLite store, for counting and verification.

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


class Verifier:
    """Checks a store.

    Args:
        connection: Of the store, which no one else uses: a transaction stays open.
        runs: Of the store.
        answers: The store.
    """

    def __init__(self, connection: Connection, runs: Runs, answers: BlockAnswers) -> None:
        self._connection = connection
        self._runs = runs
        self._answers, self._names = answers, answers.names
        self._rows = SqliteRows(connection, runs, answers)
        self._shared = RowChecks(self._rows)

    def violations(self) -> Iterator[Violation]:
        """Yield broken invariants, the first few of each kind.

        Reads one state of the store, whatever is loaded meanwhile.
        """
        self._connection.execute("BEGIN")
        checks: list[Check] = [
            self._file,
            self._json,
            self._numbers,
            self._blocks,
            self._outlinks,
            self._shared.links,
            self._shared.mementos,
            self._contents,
            self._shared.forgotten,
            self._uri_ids,
            self._times,
        ]
        yield from violations_of(checks, (*UNREADABLE, apsw.Error))

    def _one(self, query: str, *parameters: object) -> tuple[int, ...] | None:
        row: tuple[int, ...] | None = self._connection.execute(query, parameters).fetchone()
        return row

    def _json(self) -> Iterator[Violation]:
        """Check that the manifests of batches are JSON.

        No other check compares them with anything.
        """
        for number, files, manifest in self._connection.execute(
            "SELECT number, files, manifest FROM batches"
        ):
            for text in (files, manifest):
                try:
                    orjson.loads(text)
                except orjson.JSONDecodeError as error:
                    yield Violation("manifests of batches are JSON", f"batch {number}: {error}")

    def _file(self) -> Iterator[Violation]:
        for (text,) in self._connection.execute("PRAGMA integrity_check"):
            if text != "ok":
                yield Violation("the SQLite file is sound", text)

    def _numbers(self) -> Iterator[Violation]:
        _, contents, _, checksums = removed_sums(self._connection)
        for table, removed in (("contents", contents), ("payloads", checksums), ("batches", 0)):
            rows, least, greatest = self._one(
                f"SELECT count(*), min(number), max(number) FROM {table}"
            ) or (0, 0, 0)
            last = greatest if table == "batches" else last_number(self._connection, table)
            if (rows or removed) and (rows + removed != last or (rows and least < 1)):
                gone = f", and {removed} are forgotten" if removed else ""
                yield Violation(
                    "numbers are dense",
                    f"{table}: {rows} rows, numbers {least} to {greatest}{gone}",
                )

    def _blocks(self) -> Iterator[Violation]:
        for run, relation, entries in self._connection.execute(
            "SELECT number, relation, entries FROM runs ORDER BY number"
        ).fetchall():
            last, rows = b"", 0
            fences = self._connection.execute(
                "SELECT first, block FROM fences WHERE run = ? ORDER BY first", (run,)
            ).fetchall()
            for (first, block), (following, _) in zip(
                fences, [*fences[1:], (None, 0)], strict=True
            ):
                keys = self._runs.keys_of(run, block)
                where = f"run {run} ({Relation(relation).name.lower()}), block {block}"
                if not keys:
                    yield Violation("each fence has its block", where)
                    continue
                rows += len(keys)
                if any(one >= other for one, other in pairwise([last, *keys])):
                    yield Violation("blocks are sorted", where)
                if keys[0] != first or (following is not None and keys[-1] >= following):
                    yield Violation("blocks are inside of their range", where)
                last = keys[-1]
            if rows != entries:
                yield Violation("each run has its rows", f"run {run}: {rows} rows, not {entries}")
        for (number,) in self._connection.execute(
            "SELECT number FROM blocks WHERE number NOT IN (SELECT block FROM fences)"
        ):
            yield Violation("each block belongs to a run", f"block {number}")

    def _outlinks(self) -> Iterator[Violation]:
        """Check that blocks hold consecutive contents, with as many links as payloads count."""
        _, forgotten, forgotten_links, _ = removed_sums(self._connection)
        expected = 1
        links = empty = 0
        for block in self._rows.blocks():
            if block.first != expected:
                yield Violation(
                    "each content has its outlinks",
                    f"block of outlinks at content {block.first}, expected at {expected}",
                )
            expected = block.first + len(block)
            for content in range(block.first, expected):
                count = len(block.numbers(content))
                links += count
                if (
                    not count
                    and empty < forgotten
                    and not self._one("SELECT 1 FROM contents WHERE number = ?", content)
                ):
                    empty += 1
                else:
                    yield from self._check_count(content, count)
        contents, kept = self._one(
            "SELECT (SELECT count(*) FROM contents), (SELECT coalesce(sum(links), 0) FROM batches)"
        ) or (0, 0)
        if expected != contents + empty + 1:
            yield Violation(
                "each content has its outlinks",
                f"outlinks for {expected - 1 - empty} of {contents} contents",
            )
        if links != kept - forgotten_links:
            gone = f", of which {forgotten_links} are forgotten" if forgotten_links else ""
            yield Violation(
                "batches add up", f"{links} outlinks, but the batches added {kept}{gone}"
            )

    def _check_count(self, content: int, links: int) -> Iterator[Violation]:
        """Check the number of links of a content.

        A payload with several contents was read for one of them; the others may keep other numbers
        of links.
        """
        found = self._connection.execute(_PAYLOAD_OF, (content,)).fetchone()
        if found is None:
            yield Violation("each content has its payload", f"content {content}")
            return
        packed, outcome, contents = found
        checksum = unpack_checksum(packed)
        payload = None if outcome is None else unpack_outcome(checksum, outcome, self._names)
        if payload is None or payload.scope is None:
            yield Violation("only payloads that were read have contents", checksum)
        elif contents == 1 and source_of(payload) is not LinkSource.CRAWLER:  # has one per original
            yield from miscounted(checksum, payload, links)

    def _contents(self) -> Iterator[Violation]:
        """Check that each content follows from its payload and an original of that payload.

        The payload gives the checksum and the scope.
        """
        by_payload = (
            "SELECT payload, cut, checksum, fate FROM contents JOIN payloads ON "
            "payloads.number = payload ORDER BY payload, cut"
        )
        for (payload, packed, outcome), rows in groupby(
            self._connection.execute(by_payload), itemgetter(0, 2, 3)
        ):
            if outcome is None:
                continue  # named by the check of outlinks
            checksum = unpack_checksum(packed)
            scope = unpack_outcome(checksum, outcome, self._names).scope
            sightings = in_order(
                self._runs.scan(Relation.SIGHTINGS, *rows_of(number_field(payload))), sightings_of
            )
            if scope is not None:
                known = {
                    split_content(content_id(checksum, UriR(original), scope))[1]
                    for original, _ in groupby(sightings, itemgetter(0))
                }
                for _, cut, *_ in rows:
                    if cut not in known:
                        content = join_content(checksum, cut)
                        yield Violation(
                            "each content follows from a memento",
                            f"{content} belongs to no original of its payload",
                        )

    def _times(self) -> Iterator[Violation]:
        for day in miscounted_days(self._answers, CaptureTimes(self._connection)):
            yield Violation("captures are counted by their times", day)

    def _uri_ids(self) -> Iterator[Violation]:
        keys = self._runs.scan_keys((Relation.MEMENTOS, Relation.INLINKS))
        surts = (
            Surt(surt.decode()) for surt, _ in groupby(keys, lambda key: key[: key.index(NUL)])
        )
        yield from uri_id_collisions(surts)


_PAYLOAD_OF = """
SELECT checksum, fate, (SELECT count(*) FROM contents AS others WHERE others.payload = payloads.number)
FROM contents JOIN payloads ON payloads.number = payload WHERE contents.number = ?
"""
