"""Checks every invariant of a SQLite store in one or two full reads.

`arclink.store.blocks.verification` has the checks that both stores share; here are those of the
file, its runs and its numbers.
"""

from collections.abc import Iterator
from itertools import groupby, pairwise
from operator import itemgetter

import apsw
import orjson

from arclink.model import Surt, UriR
from arclink.rows.link_sources import LinkSource, source_of
from arclink.store.blocks.answers import BlockAnswers
from arclink.store.blocks.byte_layouts import (
    join_content,
    split_content,
    unpack_checksum,
)
from arclink.store.blocks.checks import (
    uri_id_collisions,
)
from arclink.store.blocks.counted_times import miscounted_days
from arclink.store.blocks.relations import (
    NUL,
    in_order,
    number_field,
    rows_of,
    sightings_of,
    unpack_outcome,
)
from arclink.store.blocks.rows import Relation
from arclink.store.blocks.verification import (
    UNREADABLE,
    Check,
    RowChecks,
    miscounted,
    violations_of,
)
from arclink.store.protocols import Violation
from arclink.store.sqlite.runs import Runs
from arclink.store.sqlite.schema import Connection
from arclink.store.sqlite.stored_rows import SqliteRows
from arclink.store.sqlite.takedowns import last_number, removed_sums
from arclink.store.sqlite.times import CaptureTimes
from arclink.uris.resolution import content_id


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
