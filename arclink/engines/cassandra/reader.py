"""`CassandraReader`: answers the queries of a `GraphStore` from Cassandra.

Each query reads rows of the finished steps only (`arclink.engines.cassandra.steps`). Methods that
end in ``_in`` read the state of the store that their caller names.
"""

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from heapq import merge
from itertools import groupby, islice
from operator import attrgetter

from arclink.checksums import is_reference, parse_name
from arclink.engines.cassandra.addresses import Address
from arclink.engines.cassandra.look_ups import LookUps
from arclink.engines.cassandra.rows import (
    NamesByHash,
    content_number,
    start_of_inlinks,
    unpack_content_number,
    unpack_inlinks,
    unpack_row,
)
from arclink.engines.cassandra.schema import layout_of, open_database
from arclink.engines.cassandra.steps import History, Steps
from arclink.engines.cassandra.surt_lists import SurtLists
from arclink.engines.cassandra.tables import (
    Chunk,
    HomeRows,
    StoreView,
    Stream,
    Tables,
)
from arclink.engines.cassandra.times import StepTimes
from arclink.errors import StoreError
from arclink.known import KnownLinks
from arclink.model import (
    ALL_SURTS,
    ALL_TIME,
    Batch,
    Checksum,
    ContentId,
    Memento,
    Scope,
    Span,
    Surt,
)
from arclink.portions import portions
from arclink.store.blocks.answers import AT_ONCE, BlockAnswers, Captures
from arclink.store.blocks.byte_layouts import (
    pack_checksum,
    unpack_checksum,
    unpack_few,
)
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.relations import (
    Posting,
    distinct_mementos,
    memento_of,
    postings_of,
    scope_of_outcome,
)
from arclink.store.blocks.rows import Content, Relation, Row
from arclink.store.layouts import STORE
from arclink.store.protocols import (
    WHOLE,
    KnownFile,
    LoadMark,
    Share,
    StoreState,
    StoreSums,
)
from arclink.store.seals import unpacking

_FIRST_ROWS = 8
"""Number of SURTs or mementos that are read together first; it doubles: few may be wanted."""

OF_STORE = 0
"""Instead of the load, in rows of `tasks`: the addresses where tasks may have written relations."""

CACHED_BLOCKS = 2048
CACHED_OUTLINK_BLOCKS = 16


class CassandraReader(BlockAnswers):
    """The queries of a `GraphStore` for a keyspace of a Cassandra cluster.

    Any thread may use it, one at a time.

    Args:
        address: Of the store.
        create: Open it for loading; the schema must exist (``arclink schema apply``).
        history: The state that it reads; if not given, the present one at each query.

    Raises:
        StoreError: The store is missing or of another version, or no node answers.
    """

    def __init__(
        self, address: Address, *, create: bool = False, history: History | None = None
    ) -> None:
        super().__init__()
        self.address = address
        self._is_loader = create
        self.database = open_database(address, create=create)
        self.tables = Tables(self.database)
        self.steps = Steps(self.database)
        self.names = NamesByHash(self.database)
        self._is_held = history is not None
        self._history = history or History({}, {}, StoreView())
        self._block_names: OrderedDict[tuple[int, int, int], list[str]] = OrderedDict()
        self._outlink_blocks: OrderedDict[tuple[int, int, int], OutlinkBlock] = OrderedDict()
        self._ahead = LookUps(self.outcomes, self.numbers)
        self._last_target: tuple[StoreView, bytes, list[tuple[int, HomeRows]]] | None = None
        self._times: StepTimes | None = None
        self.lists = SurtLists(self.tables, lambda: self.steps.history(fresh=True).view.lists)

    # The visible steps

    def history(self) -> History:
        """Return the history; clear the caches if it has changed."""
        if not self._is_held:
            history = self.steps.history(fresh=self._is_loader)
            if history is not self._history:
                self._history = history
                self.drop_caches()
        return self._history

    @property
    def view(self) -> StoreView:
        """The steps whose rows the last query read."""
        return self._history.view

    def drop_caches(self) -> None:
        super().drop_caches()
        self._block_names.clear()
        self._outlink_blocks.clear()
        self._last_target = self._times = None
        self._ahead.clear()
        self.lists.clear()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        was_held = self._is_held
        self.history()
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = was_held

    # The rows of answers

    def _reading(self) -> AbstractContextManager[None]:
        self.history()
        return nullcontext()

    def _refers(self) -> bool:
        return self._history.refers

    def days(self, span: Span = ALL_TIME) -> Mapping[str, KnownLinks] | None:
        times = self.times()
        return times.days(span) if times.are_kept else None

    def times(self) -> StepTimes:
        """Return the times of captures in the present state."""
        history = self.history()
        if self._times is None:
            self._times = StepTimes(self.tables, history)
        return self._times

    def rows(self, relation: Relation, key: bytes) -> Iterator[Row]:
        streams = self._streams(relation, key)
        # Their order does not matter: a caller that stops early has read few streams.
        if relation is Relation.INLINKS:
            chunks = (chunk for stream in streams for chunk in stream if chunk.data)
            return (unpack_row(relation, key, chunk.data) for chunk in chunks)
        return iter(rows_in(relation, key, streams))

    def _streams(self, relation: Relation, key: bytes) -> Iterator[Stream]:
        """Yield the streams of a key.

        An answer reads the kinds of the inlinks and then the inlinks: rows of the last target are
        kept.
        """
        table = self.tables.of[relation]
        if relation is not Relation.INLINKS:
            return table.streams(key, self.view)
        if self._last_target is None or self._last_target[:2] != (self.view, key):
            self._last_target = self.view, key, table.home_rows(key, self.view)
        return table.streams_in(key, self._last_target[2], self.view)

    def rows_by_surt(self, prefix: Surt) -> Iterator[tuple[Surt, Iterator[Row]]]:
        return self._captured(prefix, None, AT_ONCE)

    def _captured(
        self, prefix: Surt, after: Surt | None, count: int
    ) -> Iterator[tuple[Surt, Iterator[Row]]]:
        """Yield captured SURTs with their rows; ``count`` of them are read together first."""
        for surt, streams in self._captured_streams(prefix, after, count):
            yield surt, iter(rows_in(Relation.MEMENTOS, surt.encode(), streams))

    def _captured_streams(
        self, prefix: Surt, after: Surt | None, count: int
    ) -> Iterator[tuple[Surt, Sequence[Stream]]]:
        view = self.view
        surts = self.lists.surts(view, prefix, after, captured=True)
        while chunk := [surt.encode() for surt in islice(surts, count)]:
            answers = self.tables.mementos.streams_of_each(chunk, view)
            for key, streams in zip(chunk, answers, strict=True):
                yield Surt(key.decode()), streams
            count = min(2 * count, AT_ONCE)

    def rows_after(self, mark: LoadMark) -> Iterator[tuple[Surt, list[Row], list[Row]]]:
        for surt, streams in self._captured_streams(ALL_SURTS, None, AT_ONCE):
            key, all_streams = surt.encode(), list(streams)
            earlier = [stream for stream in all_streams if stream.load <= mark.batch]
            if len(earlier) < len(all_streams):
                rows = [
                    list(rows_in(Relation.MEMENTOS, key, some)) for some in (earlier, all_streams)
                ]
                yield surt, rows[0], rows[1]

    def rows_of_share(self, share: Share) -> Iterator[tuple[Surt, Iterable[Row]]]:
        for key, streams in self.tables.mementos.scan(self.view, share):
            yield Surt(key.decode()), rows_in(Relation.MEMENTOS, key, streams)

    def mark(self) -> LoadMark:
        return LoadMark(max(self.history().loads, default=0), 0)

    def key_of(self, checksum: Checksum) -> bytes:
        return pack_checksum(checksum)

    def outcomes(self, checksums: Sequence[Checksum]) -> list[bytes | None]:
        keys = list(map(pack_checksum, checksums))
        return list(map(outcome_in, self.tables.payloads.streams_of_each(keys, self.view)))

    def named(self) -> Iterator[tuple[Checksum, bytes | None]]:
        if self._history.refers:
            for key, streams in self.tables.payloads.scan(self.view):
                name = unpack_checksum(key)
                if is_reference(parse_name(name)[1]):
                    yield name, outcome_in(streams)

    def numbers(self, contents: Sequence[ContentId]) -> list[Content | None]:
        keys = [content.encode() for content in contents]
        return list(map(_number_in, self.tables.contents.streams_of_each(keys, self.view)))

    def contents(self, load: int, numbers: Sequence[int]) -> list[ContentId | None]:
        positions = [(load, *unpack_content_number(number)) for number in numbers]
        names = self._names_of({position[:3] for position in positions})
        return [ContentId(names[position[:3]][position[3]]) or None for position in positions]

    def _names_of(
        self, wanted: Iterable[tuple[int, int, int]]
    ) -> dict[tuple[int, int, int], list[str]]:
        """Return the contents of blocks, by block key; an empty text for a removed content."""
        block_keys, known = sorted(wanted), self._block_names
        missing = [block_key for block_key in block_keys if block_key not in known]
        names = {block_key: known[block_key] for block_key in block_keys if block_key in known}
        blocks = self.tables.blocks.get_each(missing, self.view)
        for block_key, data in zip(missing, blocks, strict=True):
            if not data:
                raise StoreError(
                    f"{self.address.name} is damaged: block {block_key} is missing. Run arclink "
                    f"verify --store {self.address.name}."
                )
            names[block_key] = known[block_key] = data.decode().split("\n")
        while len(known) > CACHED_BLOCKS:
            known.popitem(last=False)
        return names

    def _scope(self, checksum: Checksum, memento: Memento) -> Scope | None:
        return scope_of_outcome(self._ahead.outcome(checksum, memento))

    def _number(self, content: ContentId) -> Content | None:
        return self._ahead.number(content)

    def _block_with(self, content: ContentId) -> tuple[OutlinkBlock, int] | None:
        numbers = self._ahead.numbers_from(content)
        return (self._outlink_blocks_of(numbers)[0], numbers[0][1]) if numbers else None

    def block(self, load: int, content: int) -> OutlinkBlock:
        return self._outlink_blocks_of([(load, content)])[0]

    def _outlink_blocks_of(self, numbers: Sequence[Content]) -> list[OutlinkBlock]:
        """Return the blocks with the links of contents; if the first is known, only that one."""
        block_keys = [(load, *unpack_content_number(number)[:2]) for load, number in numbers]
        cached = self._outlink_blocks
        if block_keys[0] in cached:
            return [cached[block_keys[0]]]
        missing = [block_key for block_key in dict.fromkeys(block_keys) if block_key not in cached]
        data_of_each = self.tables.outlinks.get_each(missing, self.view)
        for block_key, data in zip(missing, data_of_each, strict=True):
            cached[block_key] = OutlinkBlock(data, content_number(*block_key[1:]))
        blocks = [cached[block_key] for block_key in block_keys]
        while len(cached) > CACHED_OUTLINK_BLOCKS:
            cached.popitem(last=False)
        return blocks

    def _blocks(
        self, mark: LoadMark, share: Share = WHOLE
    ) -> Iterator[tuple[OutlinkBlock, Sequence[ContentId | None]]]:
        """Yield the blocks in the order of tokens."""
        for chunk in self.tables.outlinks.scan(self.history().view, share):
            if chunk.load <= mark.batch:
                continue
            block = OutlinkBlock(chunk.data, content_number(chunk.part, chunk.chunk))
            numbers = range(block.first, block.first + len(block))
            yield block, self.contents(chunk.load, numbers)

    def _postings(
        self, target: Surt, load: int, last: Posting | None
    ) -> Iterator[tuple[int, Iterator[Posting]]]:
        streams = self._streams(Relation.INLINKS, target.encode())
        for number, of_load in groupby(streams, attrgetter("load")):
            if number >= load:
                begin = last if number == load else None
                parts = [_postings_of(stream, begin) for stream in of_load]
                yield number, parts[0] if len(parts) == 1 else merge(*parts)

    def _captures(self, checksums: Sequence[Checksum]) -> Iterator[Captures]:
        distinct = list(dict.fromkeys(checksums))
        keys = list(map(pack_checksum, distinct))
        streams = dict(
            zip(distinct, self.tables.sightings.streams_of_each(keys, self.view), strict=True)
        )
        several = [checksum for checksum in distinct if not _is_one_page(streams[checksum])]
        outcomes = dict(zip(several, self.outcomes(several), strict=True))
        refers = self._refers()
        for checksum in checksums:
            # The scope of a payload with one page need not be known: a stored content has the cut
            # of a page with it.
            scopes: Sequence[Scope] = tuple(Scope)
            if checksum in outcomes:
                scope = scope_of_outcome(outcomes[checksum])
                scopes = () if scope is None else (scope,)
            rows = rows_in(Relation.SIGHTINGS, b"", streams[checksum])
            # Revisits are looked up for the pages that the caller reads, and for no others.
            yield scopes, iter(rows) if refers else rows

    def sums(self) -> StoreSums:
        """Return the totals of all steps, and the space on all nodes."""
        history = self.history()
        steps = [*history.loads.values(), *history.takedowns.values()]
        removed = history.removed
        spans = [span for span in history.spans.values() if span[1]]
        return StoreSums(
            batches=len(history.loads),
            files=sum(1 for _ in self.files()),
            payloads=sum(facts.payloads for facts in steps) - removed[1],
            contents=sum(facts.contents for facts in steps) - removed[2],
            links=sum(facts.links for facts in steps) - removed[3],
            first=min((first for first, _ in spans), default=""),
            last=max((last for _, last in spans), default=""),
            bytes=self.database.bytes_on_disk(),
        )

    # Queries

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        for mementos in portions(super().mementos(surt, span), _FIRST_ROWS, most=AT_ONCE):
            self._ahead.mementos = mementos
            yield from mementos

    def mementos_of_each(
        self, surts: Sequence[Surt], span: Span = ALL_TIME
    ) -> Iterator[Iterator[Memento]]:
        view = self.history().view
        keys = [surt.encode() for surt in surts]
        of_each = self.tables.mementos.streams_of_each(keys, view)
        for surt, key, streams in zip(surts, keys, of_each, strict=True):
            rows = rows_in(Relation.MEMENTOS, key, streams)
            items = distinct_mementos(rows, self.names, span)
            yield (memento_of(surt, item) for item in items)

    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        yield from self.lists.surts(self.history().view, prefix, after)

    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        self.history()
        for surt, rows in self._captured(prefix, after, _FIRST_ROWS):
            if next(rows, None) is not None:
                yield surt

    def _count_contents(self) -> int:
        return sum(facts.contents for facts in self.history().loads.values())

    def batches(self) -> Iterator[Batch]:
        for step, facts in sorted(self.history().loads.items()):
            files, _, manifest = self._batch(step)
            yield Batch(facts.number, tuple(name for name, *_ in files), manifest)

    def _batch(self, step: int) -> tuple[list[tuple[str, str, int, str]], dict[str, str], str]:
        """Return files, settings and manifest of a batch."""
        rows = self.database.ask(
            "SELECT files, settings, manifest FROM batches WHERE step = ?", (step,)
        )
        if not rows:
            raise StoreError(
                f"{self.address.name} is damaged: batch {step} is missing. Load its graph "
                "files into a new store."
            )
        files, settings, manifest = rows[0]
        with unpacking(self.address.name, f"batch {step}"):
            return json.loads(files), json.loads(settings), manifest

    def batch_of(self, step: int) -> Batch:
        """Return the batch of a finished step."""
        files, _, manifest = self._batch(step)
        return Batch(self.history().loads[step].number, tuple(name for name, *_ in files), manifest)

    def last_batch(self) -> int:
        return max((facts.number for facts in self.history().loads.values()), default=0)

    def state(self) -> StoreState:
        return self.history().state

    def files(self) -> Iterator[KnownFile]:
        known = {
            file[0]: KnownFile(*file)
            for step in sorted(self.history().loads)
            for file in self._batch(step)[0]
        }
        yield from (known[name] for name in sorted(known))

    @property
    def layout(self) -> int:
        return min(self.layout_in_cassandra, STORE)

    @property
    def layout_in_cassandra(self) -> int:
        """The number of its layout, which `IN_CASSANDRA` may be instead of `STORE`."""
        return layout_of(self.database)

    def setting(self, name: str) -> str | None:
        return self.settings().get(name)

    def settings(self) -> dict[str, str]:
        """Return the settings the store was built with."""
        loads = self.history().loads
        return self._batch(max(loads))[1] if loads else {}

    def tables_at(self) -> Sequence[str]:
        found = self.database.ask("SELECT task FROM tasks WHERE load = ?", (OF_STORE,))
        return [address for (address,) in found]

    def close(self) -> None:
        """Do nothing: the connection belongs to the process, which reuses it for the next store."""


def outcome_in(streams: Sequence[Stream]) -> bytes | None:
    """Return the packed outcome of a payload.

    It is that of the first batch that read the payload, else that of the first batch.
    """
    outcomes = [chunk.data for stream in streams for chunk in stream.home if chunk.data]
    return next((outcome for outcome in outcomes if outcome[0]), outcomes[0] if outcomes else None)


def _is_one_page(captures: Iterable[Stream]) -> bool:
    """Return whether all captures of a payload are of one original."""
    rows = [chunk.data for stream in captures for chunk in stream.home]
    return (
        len({row.partition(b"\t")[0] for row in rows}) <= 1
        and not any(b"\n" in row for row in rows)
        and not any(stream.is_full for stream in captures)
    )


def _number_in(streams: Sequence[Stream]) -> tuple[int, int] | None:
    """Return load and number of a content, from its first load."""
    if not streams:
        return None
    first = streams[0].home[0]
    number = unpack_few(first.data)[0]
    return first.load, content_number(first.part, 0) + number


def _postings_of(stream: Stream, last: Posting | None) -> Iterator[Posting]:
    """Yield the inlinks of a stream after ``last``, in their order."""
    if last is None:
        chunks: Iterable[Chunk] = stream
    else:
        begin = last.form, last.content
        chunks = stream.chunks_after(
            lambda chunk: not chunk.data or start_of_inlinks(chunk.data) <= begin
        )
    for chunk in chunks:
        if chunk.data:
            for posting in postings_of(unpack_inlinks(chunk.data)):
                if last is None or posting > last:
                    yield posting


def rows_in(relation: Relation, key: bytes, streams: Iterable[Stream]) -> Iterable[Row]:
    """Return the rows of a SURT or payload in these streams, by key; a list if there is one row.

    Memory holds a few rows of each stream.
    """
    rows: list[Iterable[Row]] = [
        (unpack_row(relation, key, chunk.data) for chunk in stream if chunk.data)
        if stream.is_full or len(stream.home) > 1
        else [unpack_row(relation, key, stream.home[0].data)]
        for stream in streams
    ]
    return merge(*rows, key=attrgetter("key")) if len(rows) != 1 else rows[0]
