"""The tasks of loading a batch: each loads one part of its graph files.

::

    mementos ─┐
    payloads ─┼─▶ payloads again: which were not known before?           ─┬─▶ inlinks
    outlinks ─┘   outlinks again: which contents were not known before? ──┴─▶ times: see below

Any process may run a task, any number of times. The rows of a task depend only on its part and on
finished steps, so a repeated task, even a concurrent one, writes the same rows. Readers ignore them
until the step is finished. A task holds the contents or captures of a part in memory, never those
of the batch. Inlinks name contents by block, so their tasks also hold the names of the batch's
blocks. Tasks of times count the captures of one part of mementos, or those of earlier batches that
show the contents of one part of outlinks (`arclink.engines.cassandra.counted_times`). Tasks of a
merge write lists of SURTs from older ones (`arclink.engines.cassandra.surt_lists`).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import zstandard

from arclink.checksums import is_reference, names_payload, parse_name
from arclink.engines.cassandra.counted_times import LoadTimes
from arclink.engines.cassandra.database import Writer
from arclink.engines.cassandra.reader import outcome_in
from arclink.engines.cassandra.rows import (
    BLOCK_BITS,
    PART_BITS,
    POSITION_BITS,
    NamesByHash,
    content_number,
    pack_inlinks,
    pack_mementos,
    values_of,
)
from arclink.engines.cassandra.surt_lists import SurtLists, SurtWriter, write_merged
from arclink.engines.cassandra.tables import Result, StoreView, Tables, done_tasks
from arclink.errors import StoreError
from arclink.model import Checksum, Payload
from arclink.portions import portions
from arclink.rows.relations import (
    COLUMNS_OF_MEMENTO,
    COLUMNS_OF_PAYLOAD,
    MementoColumns,
    parse_payload,
)
from arclink.store.blocks.byte_layouts import Sizes, pack_checksum, pack_few, unpack_few
from arclink.store.blocks.inlink_groups import InlinkGrouping
from arclink.store.blocks.inlink_numbers import OLD, Numbered
from arclink.store.blocks.outlinks import LEVEL, packed_block
from arclink.store.blocks.relations import (
    KEYS_OF_MEMENTO,
    NUL,
    InlinksWriter,
    pack_outcome,
    without_copies,
    write_mementos,
    write_sightings,
)
from arclink.store.blocks.rows import shows_payload
from arclink.store.graph_files import GraphPart, GraphParts, read_part

_TIMES = ("mementos-times", "outlinks-times")
"""Tasks that count captures by their times."""

_PHASES = (
    ("mementos", "payloads", "outlinks"),
    ("payloads-again", "outlinks-again"),
    ("inlinks", *_TIMES),
)
"""Tasks of one phase may run at the same time; the next phase needs all of them."""

MERGE = "merge"
"""What the tasks of a merge do."""

CAPTURES = 300_000
"""Number of captures that a task collects before it writes their sightings."""

NAMES_IN_ROW = 10_000
"""Number of block names in a row."""

AT_ONCE = 500
"""Number of contents or payloads that are looked up together."""

_SUB_PARTS = 1 << 9
"""Part numbers that are reserved for the sightings of one part of mementos.

A part with very many captures writes their sightings as several parts.
"""


@dataclass(frozen=True, slots=True)
class Task:
    """One task: its action, and the part of the relation that it reads."""

    what: str
    part: int

    @property
    def name(self) -> str:
        return f"{self.what}/{self.part}"

    @property
    def relation(self) -> str:
        """The relation whose part it reads."""
        return self.what.partition("-")[0]

    def file_in(self, parts: GraphParts) -> GraphPart | None:
        """Return the part of the graph files that it reads; None if it reads the store only."""
        return None if self.what in (MERGE, *_TIMES) else parts[self.relation][self.part]

    def size_in(self, parts: GraphParts) -> int:
        """Return the bytes of the part that its work follows from; 0 for a task of a merge."""
        return 0 if self.what == MERGE else parts[self.relation][self.part].size


def tasks_of(parts: GraphParts, *, counts_times: bool = True) -> list[list[Task]]:
    """Return the tasks that load the parts of a batch, phase by phase.

    Args:
        parts: The parts.
        counts_times: Whether the store knows the captures of earlier batches by their times.

    Raises:
        StoreError: A relation has more parts than content numbers allow.
    """
    phases = []
    for phase in _PHASES:
        tasks = []
        for what in phase:
            if what in _TIMES and not counts_times:
                continue
            relation = what.partition("-")[0]
            count = len(parts[relation])
            if count > 1 << PART_BITS:
                raise StoreError(
                    f"{parts[relation][0].path.parent}: {count} parts; at most "
                    f"{1 << PART_BITS} can be loaded. Write fewer, larger ones."
                )
            tasks += [Task(what, part) for part in range(count)]
        phases.append(tasks)
    return phases


class TaskRunner:
    """Runs tasks of one load.

    Args:
        tables: Of the store.
        view: The finished steps.
        load: Number of the step of this load.
    """

    def __init__(self, tables: Tables, view: StoreView, load: int) -> None:
        self._tables = tables
        self._earlier = view
        self._view = view.having(load, 0)
        self._load = load
        self._names = NamesByHash(tables.database)
        self._lists = SurtLists(tables, lambda: view.lists)

    def run(self, task: Task, path: Path | None) -> Result:
        """Run a task; return its result after the cluster has acknowledged all its rows.

        Raises:
            StoreError: The graph files are damaged or do not belong together.
        """
        writer = self._tables.database.writer()
        if task.what in _TIMES:
            LoadTimes(self._tables, self._view, self._load).count(task.relation, task.part)
            result: Result = {}
        elif path is None:
            result = write_merged(
                self._tables, self._lists, writer, self._view, self._load, task.part
            )
        else:
            result = self._read(task, path, writer)
        writer.flush()
        self._tables.database.ask(
            "INSERT INTO tasks (load, task, result) VALUES (?, ?, ?)",
            (self._load, task.name, json.dumps({**result, "rows": writer.rows})),
        )
        return result

    def _read(self, task: Task, path: Path, writer: Writer) -> Result:
        """Load a part of the graph files."""
        do = {
            "mementos": self._mementos,
            "payloads": self._payloads,
            "outlinks": self._outlinks,
            "payloads-again": self._payloads_again,
            "outlinks-again": self._outlinks_again,
            "inlinks": self._inlinks,
        }[task.what]
        try:
            return do(path, task.part, writer)
        except (ValueError, TypeError) as error:
            raise StoreError(
                f"{path}: the graph files cannot be read ({error}). Write them again "
                "(docs/reference/graph-files.md)."
            ) from error

    # Mementos

    def _mementos(self, path: Path, part: int, writer: Writer) -> Result:
        captures: set[tuple[str, str, str]] = set()
        first, last, refers, flushed = "9" * 14, "", False, 0
        surts = SurtWriter(self._tables, writer, self._load, 2 * part)

        def noted() -> Iterator[MementoColumns]:
            nonlocal first, last, refers, flushed
            rows = read_part(path, COLUMNS_OF_MEMENTO, KEYS_OF_MEMENTO)
            for row in without_copies(rows):
                _, timestamp, original, checksum, *_, reason, _ = row
                first, last = min(first, timestamp), max(last, timestamp)
                surts.add(row[0])
                if shows_payload(checksum, reason):
                    refers = refers or is_reference(Checksum(checksum))
                    captures.add((checksum, original, timestamp))
                    if len(captures) >= CAPTURES:
                        self._sightings(captures, part * _SUB_PARTS + flushed, writer)
                        flushed += 1
                        captures.clear()
                yield row

        write_mementos(
            _Rows(self._tables, writer, self._load, part), noted(), self._load, self._names
        )
        self._sightings(captures, part * _SUB_PARTS + flushed, writer)
        return {
            "first": first if last else "",
            "last": last,
            "refers": refers,
            "surts": surts.close(),
        }

    def _sightings(self, captures: set[tuple[str, str, str]], part: int, writer: Writer) -> None:
        checksums = sorted({checksum for checksum, *_ in captures})
        numbers = {checksum: number for number, checksum in enumerate(checksums)}
        rows = _Sightings(self._tables, writer, self._load, part, checksums)
        write_sightings(
            rows,
            sorted(
                (numbers[checksum], original, timestamp)
                for checksum, original, timestamp in captures
            ),
            self._load,
        )

    # Payloads: if a payload has several rows, the first that was read counts, else the first

    def _outcomes(self, path: Path) -> dict[str, Payload]:
        outcomes: dict[str, Payload] = {}
        for row in read_part(path, COLUMNS_OF_PAYLOAD, 0):
            payload = parse_payload(b"\t".join(row))
            known = outcomes.setdefault(payload.checksum, payload)
            if known.scope is None and payload.scope is not None:
                outcomes[payload.checksum] = payload
        return outcomes

    def _payloads(self, path: Path, part: int, writer: Writer) -> Result:
        """Store the outcomes that say more than those of earlier batches."""
        refers = False
        payloads = self._tables.payloads
        for portion in portions(self._outcomes(path).items(), AT_ONCE):
            keys = [pack_checksum(checksum) for checksum, _ in portion]
            known = map(outcome_in, payloads.streams_of_each(keys, self._earlier))
            for key, (checksum, payload), outcome in zip(keys, portion, known, strict=True):
                if outcome is None or (payload.scope is not None and not outcome[0]):
                    new = pack_outcome(payload, self._names)
                    payloads.put(writer, key, self._load, part, 0, new)
                refers = refers or is_reference(parse_name(Checksum(checksum))[1])
        return {"refers": refers}

    def _payloads_again(self, path: Path, part: int, writer: Writer) -> Result:
        new = 0
        outcomes = (one for one in self._outcomes(path) if not names_payload(Checksum(one)))
        for portion in portions(outcomes, AT_ONCE):
            for streams in self._tables.payloads.streams_of_each(
                [pack_checksum(checksum) for checksum in portion], self._view
            ):
                new += (streams[0].load, streams[0].part) == (self._load, part)
        return {"payloads": new}

    # Outlinks

    def _outlinks(self, path: Path, part: int, writer: Writer) -> Result:
        compressed = zstandard.ZstdCompressor(level=LEVEL).compress
        tables = self._tables
        seen: set[str] = set()
        for block, (_, name, contents, links, lists) in enumerate(
            _numbered(path, read_part(path, 5, 1))
        ):
            ids: list[str] = orjson.loads(contents)
            if len(ids) > 1 << POSITION_BITS:
                raise StoreError(
                    f"{path}: block {name.decode()} has {len(ids)} contents; at most "
                    f"{1 << POSITION_BITS} are allowed."
                )
            data, _ = packed_block(links, lists, [True] * len(ids), compressed)
            tables.outlinks.put(writer, self._load, part, block, data)
            tables.blocks.put(writer, self._load, part, block, "\n".join(ids).encode() or b"\n")
            new = list(dict.fromkeys(content.encode() for content in ids))
            of_each = tables.contents.streams_of_each(new, self._earlier)
            seen.update(key.decode() for key, streams in zip(new, of_each, strict=True) if streams)
            for position, content in enumerate(ids):
                if content not in seen:
                    seen.add(content)
                    tables.contents.put(
                        writer,
                        content.encode(),
                        self._load,
                        part,
                        0,
                        pack_few((block << POSITION_BITS | position,)),
                    )
        return {}

    def _outlinks_again(self, path: Path, part: int, writer: Writer) -> Result:
        """Find the contents that another block stored first, and mark them in their block."""
        rows = _numbered(path, read_part(path, 5, 1))
        contents = links = blocks = 0
        names: list[tuple[str, int, list[int]]] = []
        for portion in portions(rows, 16):
            ids = [orjson.loads(row[2]) for row in portion]
            keys = [content.encode() for of_block in ids for content in of_block]
            first = [
                (streams[0].load, streams[0].part, unpack_few(streams[0].home[0].data)[0])
                for begin in range(0, len(keys), AT_ONCE)
                for streams in self._tables.contents.streams_of_each(
                    keys[begin : begin + AT_ONCE], self._view
                )
            ]
            found = iter(first)
            for of_block, (_, name, _, _, lists) in zip(ids, portion, strict=True):
                old = [
                    position
                    for position in range(len(of_block))
                    if next(found) != (self._load, part, blocks << POSITION_BITS | position)
                ]
                counts = list(map(len, orjson.loads(lists)))
                contents += len(of_block) - len(old)
                links += sum(counts) - sum(counts[position] for position in old)
                names.append((name.decode(), len(of_block), old))
                if old:
                    for position in old:
                        of_block[position] = ""
                    self._tables.blocks.put(
                        writer, self._load, part, blocks, "\n".join(of_block).encode() or b"\n"
                    )
                blocks += 1
        for row, begin in enumerate(range(0, len(names), NAMES_IN_ROW)):
            data = zstandard.compress(orjson.dumps(names[begin : begin + NAMES_IN_ROW]))
            self._tables.blocks.put(writer, self._load, part, -1 - row, data)
        return {"contents": contents, "links": links, "blocks": blocks}

    # Inlinks

    def _inlinks(self, path: Path, part: int, writer: Writer) -> Result:
        blocks, has_repeats = self._blocks()
        rows = _Inlinks(self._tables, writer, self._load, part)
        grouping = InlinkGrouping(blocks, str(path), has_repeats=has_repeats)
        grouping.write(read_part(path, 3, 2), InlinksWriter(rows))
        return {"surts": rows.surts.close()}

    def _blocks(self) -> tuple[dict[str, Numbered], bool]:
        """Return the numbers of the contents of each block of the batch.

        Also return whether some contents need not be loaded.
        """
        if self._known_blocks is None:
            blocks: dict[str, Numbered] = {}
            has_repeats = False
            for name, result in sorted(done_tasks(self._tables, self._load).items()):
                what, _, number = name.partition("/")
                if what != "outlinks-again":
                    continue
                part, block = int(number), 0
                for row in range(-(-int(str(result["blocks"])) // NAMES_IN_ROW)):
                    for block_name, size, old in orjson.loads(
                        zstandard.decompress(
                            self._tables.blocks.get((self._load, part, -1 - row), self._view)
                        )
                    ):
                        first = content_number(part, block)
                        numbers: Numbered = range(first, first + size)
                        if old:
                            gone = set(old)
                            numbers = [
                                OLD if position in gone else first + position
                                for position in range(size)
                            ]
                        has_repeats = has_repeats or bool(old) or block_name in blocks
                        if block_name not in blocks or len(old) < size:
                            blocks[block_name] = numbers
                        block += 1
            self._known_blocks = blocks, has_repeats
        return self._known_blocks

    _known_blocks: tuple[dict[str, Numbered], bool] | None = None


class _Rows:
    """The target of `write_mementos` in this store, in the role of a run."""

    def __init__(self, tables: Tables, writer: Writer, load: int, part: int) -> None:
        self._tables, self._writer, self._load, self._part = tables, writer, load, part

    def add(self, key: bytes, *values: bytes) -> None:
        surt, _, chunk_name = key.split(NUL)
        chunk = int(chunk_name.partition(b".")[2], 16)
        self._tables.mementos.put(
            self._writer, surt, self._load, self._part, chunk, pack_mementos(*values)
        )


class _Sightings:
    """The target of `write_sightings` in this store, in the role of a run."""

    def __init__(
        self, tables: Tables, writer: Writer, load: int, part: int, checksums: Sequence[str]
    ) -> None:
        self._tables, self._writer, self._load, self._part, self._checksums = (
            tables,
            writer,
            load,
            part,
            checksums,
        )

    def add(self, key: bytes, *values: bytes) -> None:
        checksum = self._checksums[int(key[:10], 16)]
        chunk = int(key.rpartition(b".")[2], 16)
        self._tables.sightings.put(
            self._writer, pack_checksum(checksum), self._load, self._part, chunk, values[0]
        )


class _Inlinks:
    """The target of `InlinksWriter` in this store, in the role of a run."""

    def __init__(self, tables: Tables, writer: Writer, load: int, part: int) -> None:
        self._tables, self._writer, self._load, self._part = tables, writer, load, part
        self.surts = SurtWriter(tables, writer, load, 2 * part + 1)
        self._last = b""
        self._chunk = 0

    def add_block(self, keys: Sequence[bytes], columns: Iterable[tuple[Sizes, bytes]]) -> None:
        heads, counts, steps = (values_of(data, sizes) for sizes, data in columns)
        for key, *values in zip(keys, heads, counts, steps, strict=True):
            surt, form, first = key.split(NUL)
            self._chunk = self._chunk + 1 if surt == self._last else 0
            self._last = surt
            self.surts.add(surt.decode())
            self._tables.inlinks.put(
                self._writer,
                surt,
                self._load,
                self._part,
                self._chunk,
                pack_inlinks(form, int(first, 16), *values),
            )

    def close(self) -> None:
        """Do nothing: no row is held back."""


def _numbered(path: Path, rows: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    """Yield the blocks of a part.

    Raises:
        StoreError: The part has more blocks than content numbers allow.
    """
    for number, row in enumerate(rows):
        if number >= 1 << BLOCK_BITS:
            raise StoreError(
                f"{path}: more than {1 << BLOCK_BITS} blocks in one part. Write more, "
                "smaller parts."
            )
        yield row
