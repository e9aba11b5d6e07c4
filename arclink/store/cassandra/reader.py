"""`CassandraReader`: answers the queries of a `GraphStore` from Cassandra.

Each query reads rows of the finished steps only (`arclink.store.cassandra.steps`). Methods that end
in ``_in`` read the state of the store that their caller names.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from heapq import merge
from itertools import chain, groupby, islice
from operator import attrgetter

from arclink.checksums import is_reference, parse_name
from arclink.errors import StoreError, UsageError
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
    pack_checksum,
    split_content,
    unpack_checksum,
    unpack_few,
    uri_form,
    uri_of_form,
)
from arclink.store.blocks.cuts import CapturesByCut
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.references import checksum_shown, not_modified_since
from arclink.store.blocks.relations import (
    Posting,
    in_order,
    kinds_of,
    memento_of,
    mementos_of,
    pack_head,
    pages_of,
    postings_of,
    scope_of_fate,
    sorted_copies,
    unpack_fate,
    unpack_head,
)
from arclink.store.blocks.rows import Row
from arclink.store.blocks.stored_rows import distinct_mementos
from arclink.store.cassandra.addresses import Address
from arclink.store.cassandra.look_ups import LookUps
from arclink.store.cassandra.rows import (
    NamesByHash,
    content_number,
    place_of,
    start_of_inlinks,
    unpack_inlinks,
    unpack_mementos,
    unpack_sightings,
)
from arclink.store.cassandra.schema import open_database
from arclink.store.cassandra.steps import History, Steps
from arclink.store.cassandra.surt_lists import SurtLists
from arclink.store.cassandra.tables import (
    Chunk,
    HomeRows,
    StoreView,
    Stream,
    Tables,
)
from arclink.store.protocols import (
    ContentBlock,
    KnownFile,
    StoreState,
    WholeStore,
)
from arclink.store.scans import watched_contents, watched_mementos
from arclink.store.seals import unpacking
from arclink.uris.resolution import content_id

PIECES = 16
"""Number of token ranges in which a whole table is read."""

AT_ONCE = 128
"""Number of inlinks whose contents are looked up together, and of checksums in one query."""

FIRST_ROWS = 8
"""Number of SURTs or mementos that are read together first; it doubles: few may be wanted."""

FEW_CAPTURES = 500
"""Limit of captures of a payload that are scanned per content; more are sorted by cut first."""

CACHED_BLOCKS = 2048
CACHED_OUTLINK_BLOCKS = 16
CACHED_BY_CUT = 4


class CassandraReader(WholeStore):
    """The queries of a `GraphStore` for a keyspace of a Cassandra cluster.

    Any thread may use it, one at a time.

    Args:
        address: Of the store.
        create: Open it for loading; the schema must exist (``arclink schema apply``).

    Raises:
        StoreError: The store is missing or of another version, or no node answers.
    """

    def __init__(self, address: Address, *, create: bool = False) -> None:
        self.address = address
        self._is_loader = create
        self.database = open_database(address)
        self.tables = Tables(self.database)
        self.steps = Steps(self.database)
        self.names = NamesByHash(self.database)
        self._seen: History | None = None
        self._held: History | None = None
        self._blocks: OrderedDict[tuple[int, int, int], list[str]] = OrderedDict()
        self._outlink_blocks: OrderedDict[tuple[int, int, int], OutlinkBlock] = OrderedDict()
        self._ahead = LookUps(self.fates_in, self.numbers_of)
        self._by_cut: OrderedDict[Checksum, CapturesByCut] = OrderedDict()
        self._last_target: tuple[StoreView, Surt, HomeRows] | None = None
        self.lists = SurtLists(self.tables, lambda: self.steps.history(fresh=True).view.lists)

    # The visible steps

    def history(self) -> History:
        """Return the history; clear the caches if it has changed."""
        if self._held is not None:
            return self._held
        history = self.steps.history(fresh=self._is_loader)
        if history is not self._seen:
            self._seen = history
            self.drop_caches()
        return history

    def drop_caches(self) -> None:
        """Clear the caches, because the store has changed."""
        self._blocks.clear()
        self._outlink_blocks.clear()
        self._by_cut.clear()
        self._last_target = None
        self._ahead.clear()
        self.lists.clear()

    # Queries

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        held = self._held
        self._held = self.history()
        try:
            yield
        finally:
            self._held = held

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        remaining, count = self.mementos_in(self.history().view, surt, span), FIRST_ROWS
        while mementos := list(islice(remaining, count)):
            self._ahead.mementos = mementos
            yield from mementos
            count = min(2 * count, AT_ONCE)

    def mementos_in(self, view: StoreView, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        """Yield the mementos of a SURT in one state of the store."""
        return self.mementos_of(surt, self.tables.mementos.streams(surt.encode(), view), span)

    def mementos_of(
        self, surt: Surt, streams: Iterable[Stream], span: Span = ALL_TIME
    ) -> Iterator[Memento]:
        """Yield the mementos of a SURT from these streams."""
        for item in distinct_mementos(memento_rows(surt, streams), self.names):
            if item[0] > span.last:
                return
            if item[0] >= span.first:
                yield memento_of(surt, item)

    def copies(self, surt: Surt) -> Iterator[Memento]:
        streams = self.tables.mementos.streams(surt.encode(), self.history().view)
        items = in_order(memento_rows(surt, streams), lambda row: mementos_of(row, self.names))
        for item in sorted_copies(items):
            yield memento_of(surt, item)

    def payload(self, checksum: Checksum) -> Payload | None:
        return self.payload_in(self.history().view, checksum)

    def payload_in(self, view: StoreView, checksum: Checksum) -> Payload | None:
        """Return a payload in one state of the store."""
        fate = self.fates_in(view, [checksum])[0]
        return None if fate is None else unpack_fate(checksum, fate, self.names)

    def content_of(self, memento: Memento) -> ContentId | None:
        view = self.history().view
        checksum = checksum_shown(self, memento)
        if checksum is None:
            return None
        scope = scope_of_fate(self._ahead.fate(view, checksum, memento))
        if scope is None:
            return None
        content = content_id(checksum, memento.original, scope)
        # The payload may have been read for other originals only; for this one, it may not
        # have been available any more.
        return content if self._ahead.number(view, content) is not None else None

    def outlinks(self, content: ContentId) -> Iterator[Outlink]:
        view = self.history().view
        numbers = self._ahead.numbers_from(view, content)
        if numbers:
            blocks = self._outlink_blocks_of(view, numbers)
            yield from blocks[0].links(numbers[0][1])

    def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
        view = self.history().view
        load, last = (0, None) if after is None else self._posting(view, target, after)
        for number, postings in self._postings(view, target, load, last):
            while chunk := list(islice(postings, AT_ONCE)):
                contents = self._contents_of(view, number, [posting.content for posting in chunk])
                uris = {
                    form: uri_of_form(target, form) for form in {posting.form for posting in chunk}
                }
                heads = {head: unpack_head(head) for head in {posting.head for posting in chunk}}
                for (form, _, head), content in zip(chunk, contents, strict=True):
                    if content is not None:
                        yield Inlink(uris[form], *heads[head], content)

    def _postings(
        self, view: StoreView, target: Surt, load: int, last: Posting | None
    ) -> Iterator[tuple[int, Iterator[Posting]]]:
        """Yield the inlinks of each load from ``load`` on, in order.

        From ``load`` itself, only those after ``last``.
        """
        for number, of_load in groupby(self._inlinks_of(view, target), attrgetter("load")):
            if number < load:
                continue
            begin = last if number == load else None
            parts = [_postings_of(stream, begin) for stream in of_load]
            yield number, parts[0] if len(parts) == 1 else merge(*parts)

    def inlink_kinds(self, target: Surt) -> Iterator[tuple[Kind, int]]:
        for stream in self._inlinks_of(self.history().view, target):
            for chunk in stream:
                if chunk.data:
                    yield from kinds_of(unpack_inlinks(chunk.data))

    def _inlinks_of(self, view: StoreView, target: Surt) -> Iterator[Stream]:
        """Yield the streams of inlinks of a target.

        An answer reads the kinds of the inlinks and then the inlinks: rows of the last target are
        kept.
        """
        table, key = self.tables.inlinks, target.encode()
        if self._last_target is None or self._last_target[:2] != (view, target):
            self._last_target = view, target, table.home_of(key)
        return table.streams_in(key, self._last_target[2], view)

    def sightings(self, content: ContentId, span: Span = ALL_TIME) -> Iterator[Sighting]:
        for pages in self.sources([content], span):
            for original, timestamps in pages:
                yield from (Sighting(original, timestamp) for timestamp in timestamps)

    def sources(
        self, contents: Iterable[ContentId], span: Span = ALL_TIME
    ) -> Iterator[Iterator[Source]]:
        remaining = iter(contents)
        while chunk := list(islice(remaining, AT_ONCE)):
            history = self.history()
            checksums = [split_content(content)[0] for content in chunk]
            captures = self._captures_in(history.view, checksums)
            several = [
                checksum for checksum, streams in captures.items() if not _is_one_page(streams)
            ]
            scopes = dict(
                zip(several, map(scope_of_fate, self.fates_in(history.view, several)), strict=True)
            )
            refers = history.refers
            for content, checksum in zip(chunk, checksums, strict=True):
                streams = captures[checksum]
                if checksum in scopes:
                    pages = self._pages_with(content, checksum, scopes[checksum], streams)
                else:
                    pages = _page_with(content, checksum, streams)
                yield self._within(pages, span, refers=refers)

    def _captures_in(
        self, view: StoreView, checksums: Iterable[Checksum]
    ) -> dict[Checksum, list[Stream]]:
        """Return the captures of each payload."""
        distinct = list(dict.fromkeys(checksums))
        answers = self.tables.sightings.streams_of_each(list(map(pack_checksum, distinct)), view)
        return dict(zip(distinct, answers, strict=True))

    def _within(self, pages: Iterable[Source], span: Span, *, refers: bool) -> Iterator[Source]:
        """Yield pages with their timestamps inside ``span``; pages without any are left out.

        Args:
            pages: Pages that show one content.
            span: Times of the captures.
            refers: Whether the store has revisits that name a capture, which may be one of these.
        """
        for original, timestamps in pages:
            if refers:
                timestamps = sorted(
                    {*timestamps, *not_modified_since(self, self._referring, original, timestamps)}
                )
            within = [timestamp for timestamp in timestamps if span.first <= timestamp <= span.last]
            if within:
                yield original, within

    def _pages_with(
        self,
        content: ContentId,
        checksum: Checksum,
        scope: Scope | None,
        captures: Sequence[Stream],
    ) -> Iterable[Source]:
        """Return the pages that show one content of a payload; none if it was not read.

        If the payload has very many captures, they are sorted once for all its contents.
        """
        if scope is None:
            return ()
        home = sum(chunk.data.count(b"\n") + 1 for stream in captures for chunk in stream.home)
        if scope is Scope.NONE or home < FEW_CAPTURES:
            pages = pages_of(sighting_rows(captures))
            return (
                (original, times)
                for original, times in pages
                if content_id(checksum, original, scope) == content
            )
        by_cut = self._by_cut.get(checksum)
        if by_cut is None:
            by_cut = self._by_cut[checksum] = CapturesByCut(
                checksum, scope, pages_of(sighting_rows(captures))
            )
            if len(self._by_cut) > CACHED_BY_CUT:
                self._by_cut.popitem(last=False)  # its file is deleted after its last reader
        return by_cut.of(split_content(content)[1])

    def pages_in(self, view: StoreView, checksum: Checksum) -> Iterable[Source]:
        """Return the pages that show a payload, by original, in one state of the store."""
        return pages_of(sighting_rows(self.tables.sightings.streams(pack_checksum(checksum), view)))

    def _referring(self, reference: Checksum) -> Iterable[Source]:
        return self.pages_in(self.history().view, reference)

    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        yield from self.lists.surts(self.history().view, prefix, after)

    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        view, count = self.history().view, FIRST_ROWS
        surts = self.lists.surts(view, prefix, after, captured=True)
        while chunk := list(islice(surts, count)):
            answers = self.tables.mementos.streams_of_each([surt.encode() for surt in chunk], view)
            for surt, streams in zip(chunk, answers, strict=True):
                if next(self.mementos_of(surt, streams), None) is not None:
                    yield surt
            count = min(2 * count, AT_ONCE)

    def scan_mementos(self, span: Span = ALL_TIME, prefix: Surt = ALL_SURTS) -> Iterator[Memento]:
        return watched_mementos(self._scan_mementos(span, prefix), lambda: None)

    def _scan_mementos(self, span: Span, prefix: Surt) -> Iterator[Memento]:
        view = self.history().view
        surts = self.lists.surts(view, prefix, captured=True)
        while chunk := list(islice(surts, AT_ONCE)):
            answers = self.tables.mementos.streams_of_each([surt.encode() for surt in chunk], view)
            for surt, streams in zip(chunk, answers, strict=True):
                yield from self.mementos_of(surt, streams, span)

    def scan_contents(self) -> Iterator[ContentBlock]:
        """Yield every content with its links, block by block, in the order of tokens."""
        contents = sum(facts.contents for facts in self.history().loads.values())
        return watched_contents(self._scan_contents(), lambda: contents)

    def _scan_contents(self) -> Iterator[ContentBlock]:
        view = self.history().view
        for low, high in self.database.token_ranges(PIECES):
            for chunk in self.tables.outlinks.scan(low, high, view):
                place = chunk.load, chunk.part, chunk.chunk
                block = OutlinkBlock(chunk.data, content_number(chunk.part, chunk.chunk))
                ids = self.block_contents(view, [place])[place]
                here = [position for position in range(len(block)) if ids[position]]
                if here:
                    links = [
                        Outlink(UriR(target), Kind(kind), text, rel)
                        for target, kind, text, rel in block.distinct_links
                    ]
                    yield ContentBlock(
                        [ContentId(ids[position]) for position in here],
                        links,
                        [block.numbers(block.first + position) for position in here],
                    )

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

    def setting(self, name: str) -> str | None:
        return self.settings().get(name)

    def settings(self) -> dict[str, str]:
        """Return the settings the store was built with."""
        loads = self.history().loads
        return self._batch(max(loads))[1] if loads else {}

    # Queries of a build

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        remaining = iter(wanted)
        while chunk := list(islice(remaining, AT_ONCE)):
            view = self.history().view
            fates = self.fates_in(view, [checksum for checksum, _ in chunk])
            contents = [
                [content_id(checksum, original, scope) for original in originals]
                if (scope := scope_of_fate(fate)) is not None
                else []
                for (checksum, originals), fate in zip(chunk, fates, strict=True)
            ]
            distinct = list(dict.fromkeys(chain.from_iterable(contents)))
            known = {
                content
                for content, place in zip(distinct, self.numbers_of(view, distinct), strict=True)
                if place is not None
            }
            for (checksum, originals), fate, ids in zip(chunk, fates, contents, strict=True):
                payload = None if fate is None else unpack_fate(checksum, fate, self.names)
                if payload is None or payload.scope is None:
                    yield payload, originals
                else:
                    yield (
                        payload,
                        [
                            original
                            for original, content in zip(originals, ids, strict=True)
                            if content not in known
                        ],
                    )

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        for original, _ in self.pages_in(self.history().view, checksum):
            yield original

    def named_payloads(self) -> Iterator[tuple[Checksum, Checksum]]:
        history = self.history()
        if not history.refers:
            return
        for low, high in self.database.token_ranges(PIECES):
            for key, streams in self.tables.payloads.scan(low, high, history.view):
                name = unpack_checksum(key)
                checksum, reference = parse_name(name)
                if is_reference(reference):
                    fate = _fate_in(streams)
                    if checksum != name:
                        fate = self.fates_in(history.view, [checksum])[0]
                    if scope_of_fate(fate) is None:
                        yield checksum, reference

    def close(self) -> None:
        """Do nothing: the connection belongs to the process, which reuses it for the next store."""

    # Internal functions

    def fates_in(self, view: StoreView, checksums: Sequence[Checksum]) -> list[bytes | None]:
        """Return the packed fate of each payload."""
        answers = self.tables.payloads.streams_of_each(
            [pack_checksum(checksum) for checksum in checksums], view
        )
        return [_fate_in(streams) for streams in answers]

    def numbers_of(
        self, view: StoreView, contents: Sequence[ContentId]
    ) -> list[tuple[int, int] | None]:
        """Return load and number of each content; None if the store has no such content."""
        answers = self.tables.contents.streams_of_each(
            [content.encode() for content in contents], view
        )
        return [_number_in(streams) for streams in answers]

    def _contents_of(
        self, view: StoreView, load: int, numbers: Sequence[int]
    ) -> list[ContentId | None]:
        """Return contents by their number in a load; None for a removed one."""
        blocks = self.block_contents(view, {(load, *place_of(number)[:2]) for number in numbers})
        places = [(load, *place_of(number)) for number in numbers]
        return [ContentId(blocks[place[:3]][place[3]]) or None for place in places]

    def block_contents(
        self, view: StoreView, wanted: Iterable[tuple[int, int, int]]
    ) -> dict[tuple[int, int, int], list[str]]:
        """Return the contents of blocks, by place; an empty text for a removed content."""
        places = sorted(wanted)
        missing = [place for place in places if place not in self._blocks]
        contents = {place: self._blocks[place] for place in places if place in self._blocks}
        for place, data in zip(missing, self.tables.blocks.get_each(missing, view), strict=True):
            if not data:
                raise StoreError(
                    f"{self.address.name} is damaged: block {place} is missing. Run arclink "
                    f"verify --store {self.address.name}."
                )
            contents[place] = self._blocks[place] = data.decode().split("\n")
        while len(self._blocks) > CACHED_BLOCKS:
            self._blocks.popitem(last=False)
        return contents

    def outlink_block(self, view: StoreView, load: int, number: int) -> OutlinkBlock:
        """Return the block with the links of a content."""
        return self._outlink_blocks_of(view, [(load, number)])[0]

    def _outlink_blocks_of(
        self, view: StoreView, numbers: Sequence[tuple[int, int]]
    ) -> list[OutlinkBlock]:
        """Return the blocks with the links of contents; if the first is known, only that one."""
        places = [(load, *place_of(number)[:2]) for load, number in numbers]
        cached = self._outlink_blocks
        if places[0] in cached:
            return [cached[places[0]]]
        missing = [place for place in dict.fromkeys(places) if place not in cached]
        for place, data in zip(missing, self.tables.outlinks.get_each(missing, view), strict=True):
            cached[place] = OutlinkBlock(data, content_number(*place[1:]))
        blocks = [cached[place] for place in places]
        while len(cached) > CACHED_OUTLINK_BLOCKS:
            cached.popitem(last=False)
        return blocks

    def _posting(self, view: StoreView, target: Surt, inlink: Inlink) -> tuple[int, Posting]:
        place = self._ahead.number(view, inlink.content)
        if place is None:
            raise UsageError(
                f"cannot continue after an inlink of {inlink.content}: the store has no such "
                "content"
            )
        load, number = place
        return load, Posting(
            uri_form(target, inlink.target), number, pack_head(inlink.kind, inlink.text, inlink.rel)
        )


def _fate_in(streams: Sequence[Stream]) -> bytes | None:
    """Return the packed fate of a payload.

    It is that of the first batch that read the payload, else that of the first batch.
    """
    fates = [chunk.data for stream in streams for chunk in stream.home if chunk.data]
    return next((fate for fate in fates if fate[0]), fates[0] if fates else None)


def _is_one_page(captures: Iterable[Stream]) -> bool:
    """Return whether all captures of a payload are of one original."""
    rows = [chunk.data for stream in captures for chunk in stream.home]
    return (
        len({row.partition(b"\t")[0] for row in rows}) <= 1
        and not any(b"\n" in row for row in rows)
        and not any(stream.is_full for stream in captures)
    )


def _page_with(
    content: ContentId, checksum: Checksum, captures: Sequence[Stream]
) -> Iterable[Source]:
    """Return the only page that shows a payload if it shows the content.

    The scope of the payload need not be known: a stored content has the cut of a page with it.
    """
    return (
        page
        for page in pages_of(sighting_rows(captures))
        if any(content_id(checksum, page[0], scope) == content for scope in Scope)
    )


def _number_in(streams: Sequence[Stream]) -> tuple[int, int] | None:
    """Return load and number of a content, from its first load."""
    if not streams:
        return None
    first = streams[0].home[0]
    place = unpack_few(first.data)[0]
    return first.load, content_number(first.part, 0) + place


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


def _merged(streams: Iterable[Stream], unpack: Callable[[bytes], Row]) -> Iterator[Row]:
    """Yield the rows of streams, by key; memory holds a few rows of each stream."""
    rows = [(unpack(chunk.data) for chunk in stream if chunk.data) for stream in streams]
    return merge(*rows, key=attrgetter("key")) if len(rows) > 1 else chain.from_iterable(rows)


def memento_rows(surt: Surt, streams: Iterable[Stream]) -> Iterator[Row]:
    """Return the rows of mementos of a SURT in these streams, by key."""
    key = surt.encode()
    return _merged(streams, lambda data: unpack_mementos(key, data))


def sighting_rows(streams: Iterable[Stream]) -> Iterable[Row]:
    """Return the rows of sightings in these streams, by key."""
    found = list(streams)
    if len(found) == 1 and len(found[0].home) == 1 and found[0].home[0].data:
        return [unpack_sightings(found[0].home[0].data)]
    return _merged(found, unpack_sightings)
