"""Loads the graph files of one batch into a SQLite store, inside one transaction.

The order follows the numbers. Outlinks give numbers to contents and to their payloads. Then
payloads get their outcome, mementos their rows and sightings, and inlinks name contents by number.
Memory holds the payloads of the batch and the names of its blocks. Contents are looked up in the
store, captures are sorted on disk, and a hub takes 16 bytes per inlink.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import chain, count, groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson

from arclink.archives.locations import is_wat
from arclink.checksums import names_payload
from arclink.errors import StoreError
from arclink.files.spill import Sorted
from arclink.model import Checksum, UriR
from arclink.reasons import Reason
from arclink.rows.pages import LinkSource, source_of
from arclink.rows.relations import (
    COLUMNS_OF_MEMENTO,
    COLUMNS_OF_PAYLOAD,
    MementoColumns,
    parse_payload,
)
from arclink.store.blocks.byte_layouts import Numbers, pack_checksum, split_content
from arclink.store.blocks.inlink_groups import InlinkGrouping
from arclink.store.blocks.inlink_numbers import OLD, Numbered
from arclink.store.blocks.outlinks import OutlinkBlock, without
from arclink.store.blocks.relations import (
    KEYS_OF_MEMENTO,
    BlockWriter,
    InlinksWriter,
    MementoItem,
    batch_of_row,
    kept_inlinks,
    mementos_of,
    pack_outcome,
    rows_of,
    scope_of_outcome,
    unpack_outcome,
    without_copies,
    write_mementos,
    write_sightings,
)
from arclink.store.blocks.rows import Relation, shows_payload
from arclink.store.graph_files import parts_of, read_sorted
from arclink.store.sqlite.counted_times import TimesOfLoad
from arclink.store.sqlite.outlinks import OutlinksWriter, block_with, write_block
from arclink.store.sqlite.packing_process import DiedError, PackingProcess, may_start_packing
from arclink.store.sqlite.runs import Runs, RunWriter
from arclink.store.sqlite.schema import Connection, StoredNames
from arclink.store.sqlite.takedowns import last_number, replaced_sums
from arclink.uris.surts import surt_of

# Replaces contents from a poor source by those that a batch read from a better one.
#
# An archive file has more links of a page than its WAT (docs/reference/wat.md). A WAT has more
# links than the crawler recorded with a revisit (docs/reference/heritrix.md). `LinkSource` has this
# order. Within a batch, the better source has priority. If the poorer source came in an earlier
# batch, extract reads the page for all originals of its payload, and this code removes the
# contents from the poorer source. So any order of input gives the same graph.
#
# Numbers of removed contents are not used again: ``settings`` keeps how many contents were removed,
# and how many links they had.

_RECORDED = Reason.PAYLOAD_RECORDED.name
_COUNT = (
    "INSERT INTO settings VALUES ('replaced', ?) ON CONFLICT (name) DO UPDATE SET value = "
    "excluded.value"
)


def _payloads_to_replace(connection: Connection, names: StoredNames, graph: Path) -> set[int]:
    """Return the payloads whose links a batch has from a better source than the store.

    Returns:
        Their numbers in the store.
    """
    if not (
        any(is_wat(name) for (name,) in connection.execute("SELECT name FROM files"))
        or connection.execute("SELECT 1 FROM names WHERE name = ?", (_RECORDED,)).fetchone()
    ):
        return set()
    found = set()
    for row in read_sorted(graph, "payloads", COLUMNS_OF_PAYLOAD, keys=0):
        payload = parse_payload(b"\t".join(row))
        source = source_of(payload)
        if source is None or source is LinkSource.CRAWLER:
            continue
        known = connection.execute(
            "SELECT number, fate FROM payloads WHERE checksum = ?",
            (pack_checksum(payload.checksum),),
        ).fetchone()
        if known and scope_of_outcome(known[1]) is not None:
            stored = source_of(unpack_outcome(payload.checksum, known[1], names))
            if stored is not None and stored > source:
                found.add(known[0])
    return found


def _remove_contents_of(connection: Connection, runs: Runs, payloads: Collection[int]) -> None:
    """Remove the contents of payloads with their outlinks and inlinks, and count them.

    Args:
        connection: In a transaction.
        runs: Of the store.
        payloads: Numbers of the payloads; the payloads and their captures stay.
    """
    query = "SELECT number FROM contents WHERE payload = ?"
    gone: Numbers = np.array(
        sorted(
            number for payload in payloads for (number,) in connection.execute(query, (payload,))
        ),
        np.int64,
    )
    surts = Sorted[bytes]()
    links = 0
    for block, numbers in _blocks_of(connection, gone.tolist()):
        targets = [link[0] for link in block.distinct_links]
        lists = [block.numbers(number) for number in numbers]
        links += sum(map(len, lists))
        used = {*chain.from_iterable(lists)}
        surts.update(surt_of(UriR(targets[number])).encode() for number in used)
        write_block(connection, block.first, without(block, frozenset(numbers)))
    runs.rewrite(Relation.INLINKS, lambda: map(rows_of, surts), lambda row: kept_inlinks(row, gone))
    connection.executemany(
        "DELETE FROM contents WHERE number = ?", [(number,) for number in gone.tolist()]
    )
    before = replaced_sums(connection)
    connection.execute(_COUNT, (orjson.dumps([before[0] + len(gone), before[1] + links]).decode(),))


def _blocks_of(
    connection: Connection, contents: list[int]
) -> Iterator[tuple[OutlinkBlock, list[int]]]:
    """Yield the outlink blocks that hold given contents, each with its contents among them.

    Args:
        connection: Of the store.
        contents: Numbers of contents, sorted.
    """

    def first_of(content: int) -> int:
        return int(
            connection.execute(
                "SELECT max(first) FROM outlinks WHERE first <= ?", (content,)
            ).fetchone()[0]
        )

    for first, numbers in groupby(contents, first_of):
        yield block_with(connection, first), list(numbers)


WORTH_A_PROCESS = 4 << 20
"""Least size in bytes of inlinks for which a second process packs them, if one is allowed.

Fewer bytes are packed in less time than a process takes to start.
"""

_ADD_CONTENT = (
    "INSERT INTO contents (number, payload, cut) VALUES (?, ?, ?) ON CONFLICT (payload, cut) "
    "DO NOTHING"
)


class Added(NamedTuple):
    """Numbers of the items that a batch added.

    Attributes:
        payloads: Payloads whose outcome was not known before.
        links: Outlinks, repeated ones included.
        first: Timestamp of the earliest memento of the batch; empty if it has no memento.
        last: Timestamp of the latest memento.
    """

    payloads: int
    links: int
    first: str
    last: str


class BatchLoader:
    """Loads one batch.

    Args:
        connection: In a transaction.
        runs: Of the store.
        names: Of the store.
        graph: Folder of the batch's graph files.
        batch: Number of the batch.
        cores: Greatest number of processes at a time.
        replaces: Checksums of payloads whose links are replaced, whatever their source is.
        times_of: Returns the `TimesOfLoad`, given the numbers of payloads whose contents
            will be replaced. None: the store does not know its times.
    """

    def __init__(
        self,
        connection: Connection,
        runs: Runs,
        names: StoredNames,
        graph: Path,
        batch: int,
        cores: int = 1,
        replaces: Collection[Checksum] = (),
        times_of: Callable[[Collection[int]], TimesOfLoad] | None = None,
    ) -> None:
        self._connection = connection
        self._runs = runs
        self._names = names
        self._graph = graph
        self._batch = batch
        self._cores = cores
        self._replaces = replaces
        self._times_of = times_of
        self._payloads = _PayloadNumbers(connection)
        self._blocks: dict[str, Numbered] = {}  # numbers of the contents in a block
        self._has_repeats = False  # whether some of them are `OLD`, or a block occurs twice

    def load(self) -> Added:
        """Add the whole batch; return the numbers of the added items.

        Raises:
            StoreError: The graph files are damaged or do not belong together.
        """
        try:
            first_content = last_number(self._connection, "contents") + 1
            last_name = self._names.last_number()
            replaced = _payloads_to_replace(self._connection, self._names, self._graph)
            replaced.update(map(self._payloads.number_of, self._replaces))
            times = self._times_of(replaced) if self._times_of else None
            if replaced:
                _remove_contents_of(self._connection, self._runs, replaced)
            self._number_contents(first_content)
            with self._packing_of_inlinks() as inlinks:
                links = self._load_outlinks(first_content)
                payloads = self._load_payloads(replaced)
                first, last = self._load_mementos(last_name)
                self._payloads.write()
                self._load_inlinks(inlinks)
        except (ValueError, TypeError) as error:
            raise StoreError(
                f"{self._graph}: the graph files cannot be read ({error}). Write them again "
                "(docs/reference/graph-files.md)."
            ) from error
        for relation in Relation:
            self._runs.merge(relation)
        if times:
            times.finish()
        return Added(payloads, links, first, last)

    def _number_contents(self, first: int) -> None:
        number = first
        for _, name, contents, _ in read_sorted(self._graph, "outlinks", 4, keys=1):
            block = name.decode()
            if block in self._blocks:  # two tasks wrote the same contents; inlinks name them twice
                self._has_repeats = True
                continue
            numbers: list[int] = []
            for content in orjson.loads(contents):
                checksum, cut = split_content(content)
                payload = self._payloads.number_of(checksum)
                self._connection.execute(_ADD_CONTENT, (number, payload, cut))
                if self._connection.changes():
                    numbers.append(number)
                    number += 1
                else:
                    numbers.append(OLD)
            has_old = OLD in numbers
            self._has_repeats = self._has_repeats or has_old
            self._blocks[block] = numbers if has_old or not numbers else range(numbers[0], number)

    def _load_outlinks(self, first: int) -> int:
        writer = OutlinksWriter(self._connection, first)
        seen: set[bytes] = set()
        for _, name, _, links, lists in read_sorted(self._graph, "outlinks", 5, keys=1):
            if name not in seen:
                seen.add(name)
                writer.add(links, lists, [number != OLD for number in self._blocks[name.decode()]])
        return writer.links

    def _load_payloads(self, replaced: Collection[int]) -> int:
        new = 0
        for row in read_sorted(self._graph, "payloads", COLUMNS_OF_PAYLOAD, keys=0):
            payload = parse_payload(b"\t".join(row))
            number = self._payloads.number_of(payload.checksum)
            if names_payload(payload.checksum):
                continue
            outcome = self._payloads.outcome_of(number)
            is_better = payload.scope is not None and (
                scope_of_outcome(outcome) is None or number in replaced
            )
            if outcome is None or is_better:
                self._payloads.set_outcome(number, pack_outcome(payload, self._names))
            new += outcome is None
        return new

    def _load_mementos(self, last_name: int) -> tuple[str, str]:
        captures = Sorted[tuple[int, str, str]]()  # payload, original, timestamp
        first, last = "9" * 14, ""

        def noted() -> Iterator[MementoColumns]:
            nonlocal first, last
            rows = read_sorted(self._graph, "mementos", COLUMNS_OF_MEMENTO, KEYS_OF_MEMENTO)
            for row in self._new_mementos(without_copies(rows), last_name):
                _, timestamp, original, checksum, *_, reason, _ = row
                first, last = min(first, timestamp), max(last, timestamp)
                if shows_payload(checksum, reason):
                    payload = self._payloads.number_of(checksum)
                    captures.add((payload, original, timestamp))
                yield row

        writer = RunWriter(self._connection, Relation.MEMENTOS, 0)
        write_mementos(writer, noted(), self._batch, self._names)
        writer.close()
        writer = RunWriter(self._connection, Relation.SIGHTINGS, 0)
        write_sightings(writer, captures, self._batch)
        writer.close()
        return (first, last) if last else ("", "")

    def _new_mementos(
        self, rows: Iterable[MementoColumns], last_name: int
    ) -> Iterator[MementoColumns]:
        """Yield the mementos that no earlier batch has: a file may be read again for other records.

        Only mementos of files that earlier batches name are looked up.

        Args:
            rows: Sorted by SURT.
            last_name: The greatest number of a name before this batch.
        """
        surt, stored = "", frozenset[MementoItem]()
        for row in rows:
            if self._names.number_of(row[7]) <= last_name:
                if row[0] != surt:
                    surt, stored = row[0], self._stored(row[0])
                if (*row[1:4], *row[7:10], *row[4:7], *row[10:]) in stored:
                    continue
            yield row

    def _stored(self, surt: str) -> frozenset[MementoItem]:
        """Return the mementos of a SURT in earlier batches."""
        stored = self._runs.scan(Relation.MEMENTOS, *rows_of(surt.encode()))
        return frozenset(
            memento
            for row in stored
            if batch_of_row(row) != self._batch
            for memento in mementos_of(row, self._names)
        )

    def _packing_of_inlinks(self) -> AbstractContextManager[PackingProcess | None]:
        """Start a process that packs the inlinks, if that is faster.

        Packing inlinks depends on the numbers of contents only.
        """
        size = sum(part.stat().st_size for part in parts_of(self._graph, "inlinks"))
        is_apart = self._cores > 1 and size >= WORTH_A_PROCESS and may_start_packing()
        if is_apart:
            with suppress(OSError):  # if another process cannot start, this one packs them
                return PackingProcess(self._write_inlinks)
        return nullcontext()

    def _load_inlinks(self, apart: PackingProcess | None) -> None:
        writer = RunWriter(self._connection, Relation.INLINKS, 0)
        if apart is None:
            self._write_inlinks(writer)
            return
        try:
            blocks = apart.blocks()
        except DiedError:  # most likely memory was short; this process alone may have enough
            self._write_inlinks(writer)
            return
        for block in blocks:
            writer.add_packed(block)
        writer.close()

    def _write_inlinks(self, writer: BlockWriter) -> None:
        grouping = InlinkGrouping(self._blocks, str(self._graph), has_repeats=self._has_repeats)
        grouping.write(read_sorted(self._graph, "inlinks", 3, keys=2), InlinksWriter(writer))


class _PayloadNumbers:
    """Numbers of payloads by checksum, and their outcomes; a new checksum gets the next number.

    New rows are written once, at the end. Until then, all payloads of a batch are in memory, about
    300 bytes each.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[str, int] = {}
        self._first_new = last_number(connection, "payloads") + 1
        self._new: list[bytes] = []  # packed checksums, by number
        self._new_outcomes: list[bytes | None] = []
        self._old_outcomes: dict[int, bytes] = {}

    def number_of(self, checksum: str) -> int:
        """Return the number of a payload."""
        number = self._known.get(checksum)
        if number is None:
            packed = pack_checksum(checksum)
            found = self._connection.execute(
                "SELECT number FROM payloads WHERE checksum = ?", (packed,)
            ).fetchone()
            if found:
                number = int(found[0])
            else:
                number = self._first_new + len(self._new)
                self._new.append(packed)
                self._new_outcomes.append(None)
            self._known[checksum] = number
        return number

    def outcome_of(self, number: int) -> bytes | None:
        """Return the stored outcome of a payload, packed; None if it is not known."""
        if number >= self._first_new:
            return self._new_outcomes[number - self._first_new]
        outcome: bytes | None = self._old_outcomes.get(number)
        if outcome is None:
            outcome = self._connection.execute(
                "SELECT fate FROM payloads WHERE number = ?", (number,)
            ).fetchone()[0]
        return outcome

    def set_outcome(self, number: int, outcome: bytes) -> None:
        """Set the outcome of a payload."""
        if number >= self._first_new:
            self._new_outcomes[number - self._first_new] = outcome
        else:
            self._old_outcomes[number] = outcome

    def write(self) -> None:
        """Write new payloads, and the new outcomes of old ones."""
        rows = zip(count(self._first_new), self._new, self._new_outcomes, strict=False)
        self._connection.executemany(
            "INSERT INTO payloads (number, checksum, fate) VALUES (?, ?, ?)", rows
        )
        self._connection.executemany(
            "UPDATE payloads SET fate = ? WHERE number = ?",
            ((outcome, number) for number, outcome in self._old_outcomes.items()),
        )
