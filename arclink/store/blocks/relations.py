"""The rows of the sorted runs and the outcomes of payloads: values of the model as bytes, and back.

========= ======================================================= ==============================
relation  key, fields separated by NUL                            values
========= ======================================================= ==============================
inlinks   target SURT, form of the target URI, first content      heads, counts, steps
mementos  SURT, first timestamp or nothing, batch.chunk           fields, checksums
sightings payload, first original or nothing, batch.chunk         captures
========= ======================================================= ==============================

Keys name contents and payloads by ten hex digits. The middle field of mementos and sightings is not
greater than any item of its row; it is empty in the first row of a SURT or payload in a batch. A
hub has many rows of about `CHUNK` items.

- heads: sorted lines of kind TAB text [TAB rel], one per group of inlinks that differ only in their
  content
- counts: number of contents of each group
- steps: the sorted numbers of each group's contents: the first minus the number in the key, each
  further one minus the one before
- fields: one line per memento: timestamp, form of the original, status, mime, record type, reason,
  number of the file's name, offset and length; then the size of the packed checksum, empty for 21,
  and the languages, if they are known; separated by TAB. Empty values at the end are left out, and
  so are the TABs before them. Numbers are text: zstd compresses them as well as packed ones, and
  Python reads them faster
- checksums: packed, one after the other
- captures: lines of an original, TAB, and its timestamps separated by spaces

The *outcome* of a payload (column ``fate``) is everything in its `Payload` but the checksum.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from heapq import heappop, heappush
from itertools import accumulate, chain, compress, groupby, islice, pairwise
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, cast

from arclink.model import (
    ALL_TIME,
    NO_LANGUAGE,
    Checksum,
    Kind,
    Memento,
    Payload,
    Scope,
    Source,
    Span,
    Surt,
    Timestamp,
    UriR,
    maker,
)
from arclink.portions import portions
from arclink.store.blocks.byte_layouts import (
    Numbers,
    Sizes,
    pack_checksum,
    pack_few,
    pack_number_rows,
    pack_numbers,
    plain,
    unpack_checksum,
    unpack_few,
    unpack_numbers,
    uri_form,
    uri_of_form,
)
from arclink.store.blocks.inlink_numbers import unpack_postings
from arclink.store.blocks.rows import Row, order_of_copy

if TYPE_CHECKING:
    from arclink.rows.relations import MementoColumns

KEYS_OF_MEMENTO = 4
"""Leading columns that identify a memento: SURT, timestamp, original and checksum."""

CHUNK = 1000
"""Greatest number of mementos or sightings of a row; rows of inlinks may be slightly longer."""

NUL = b"\0"

POSTINGS_BYTES = 16 * 1024
"""Bytes of inlinks that are collected before they are packed together."""

_TAB = "\t"
_USUAL_CHECKSUM = 21
_NUMBER_BITS = 40


class Names(Protocol):
    """Numbers for words that many rows repeat, kept by the store."""

    def number_of(self, name: str) -> int:
        """Return the number of a name; an unknown name gets a new number."""

    def name_of(self, number: int) -> str:
        """Return the name with this number."""


class RowWriter(Protocol):
    """Takes rows one by one, in key order: a `RunWriter`, or its counterpart in another store."""

    def add(self, key: bytes, *values: bytes) -> None:
        """Add a row."""


class BlockWriter(Protocol):
    """Takes many rows at a time, in key order."""

    def add_block(self, keys: Sequence[bytes], columns: Iterable[tuple[Sizes, bytes]]) -> None:
        """Add rows: for each column, the sizes of the values and the joined values."""

    def close(self) -> None:
        """Write everything and end the run."""


def rows_of(field: bytes) -> tuple[bytes, bytes]:
    """Return the range of the keys whose first field is ``field``."""
    return field + NUL, field + b"\1"


def end_of_prefix(prefix: bytes) -> bytes | None:
    """Return a bound after all keys with a prefix; None if the prefix is empty.

    UTF-8 never contains the byte 0xFF.
    """
    return prefix + b"\xff" if prefix else None


def number_field(number: int) -> bytes:
    """Return the number of a content or payload as text that sorts in the order of the numbers."""
    return b"%010x" % number


# Inlinks


class Posting(NamedTuple):
    """An inlink in its stored form.

    Postings sort in the order of a SURT's inlinks, which does not depend on batches and merges.
    """

    form: str
    content: int
    head: str


_posting = maker(Posting)


class Groups(NamedTuple):
    """The links to a target, grouped by everything but their content.

    Attributes:
        heads: Sorted, distinct.
        counts: Number of contents of each head.
        numbers: Numbers of these contents, one head after the other; distinct within a head, in any
            order.
    """

    heads: Sequence[str]
    counts: Sequence[int]
    numbers: Sizes


def pack_head(kind: str, text: str, rel: str | None) -> str:
    r"""Return kind, text and rel as one string.

    >>> pack_head("a@href", "News", None)
    'a@href\tNews'
    """
    head = f"{kind}\t{text}" if rel is None else f"{kind}\t{text}\t{rel}"
    if head.count("\t") + head.count("\n") != (1 if rel is None else 2):
        return pack_head(plain(kind), plain(text), None if rel is None else plain(rel))
    return head


def unpack_head(head: str) -> tuple[Kind, str, str | None]:
    """Return the kind, text and rel that `pack_head` packed."""
    kind, text, *rel = head.split("\t")
    return Kind(kind), text, rel[0] if rel else None


class InlinksWriter:
    """Writes the inlinks of a batch.

    Rows are collected until they fill a block; then their numbers are packed together.

    Args:
        writer: Writer of the run.
    """

    def __init__(self, writer: BlockWriter) -> None:
        self._writer = writer
        self._start_block()

    def _start_block(self) -> None:
        self._targets: list[bytes] = []
        self._heads: list[bytes] = []
        self._groups: list[int] = []
        self._counts: list[int] = []
        self._numbers: list[int] = []
        self._size = 0

    def add(self, surt: bytes, target: str, groups: Groups) -> None:
        """Add a target, in the order of SURT and form of the target URI.

        Args:
            surt: SURT of the target.
            target: URI of the target.
            groups: The links to it, at least one.
        """
        key = surt + NUL + uri_form(surt.decode(), target).encode() + NUL
        for chunk in (groups,) if len(groups.numbers) <= CHUNK else _chunks_of(groups):
            heads = "\n".join(chunk.heads).encode()
            self._targets.append(key)
            self._heads.append(heads)
            self._groups.append(len(chunk.heads))
            self._counts += chunk.counts
            self._numbers.extend(chunk.numbers)
            self._size += len(key) + 12 + len(heads) + len(chunk.heads) + len(chunk.numbers)
            if self._size >= POSTINGS_BYTES:
                self._flush()

    def close(self) -> None:
        """Write the last block and end the run."""
        if self._targets:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        import numpy as np

        counts = np.array(self._counts, dtype=np.int64)
        groups = np.array(self._groups, dtype=np.int64)
        group_ends, row_group_ends = np.cumsum(counts), np.cumsum(groups)
        row_ends = group_ends[row_group_ends - 1]
        # To sort numbers within their groups, put the group's number into the high bits of each
        # and sort all of them once.
        keyed_numbers = np.repeat(np.arange(len(counts)) << _NUMBER_BITS, counts) | np.array(
            self._numbers, dtype=np.int64
        )
        keyed_numbers.sort()
        numbers = keyed_numbers & ((1 << _NUMBER_BITS) - 1)
        firsts = np.minimum.reduceat(
            numbers, row_ends - np.add.reduceat(counts, row_group_ends - groups)
        )
        differences = np.diff(numbers, prepend=0)
        group_starts = group_ends - counts
        differences[group_starts] = numbers[group_starts] - np.repeat(firsts, groups)
        packed_counts, count_ends = pack_number_rows(counts, row_group_ends)
        packed_steps, step_ends = pack_number_rows(differences, row_ends)
        self._writer.add_block(
            [
                target + number_field(first)
                for target, first in zip(self._targets, firsts.tolist(), strict=True)
            ],
            [
                (
                    np.fromiter(map(len, self._heads), np.int64, len(self._heads)),
                    b"".join(self._heads),
                ),
                (np.diff(count_ends, prepend=0), packed_counts),
                (np.diff(step_ends, prepend=0), packed_steps),
            ],
        )
        self._start_block()


def _chunks_of(groups: Groups) -> Iterator[Groups]:
    """Yield the groups in chunks of about `CHUNK` links, by number of the content.

    The links of one content stay together.
    """
    import numpy as np

    numbers = np.asarray(groups.numbers, dtype=np.int64)
    heads = np.repeat(np.arange(len(groups.heads)), groups.counts)
    order = np.lexsort((heads, numbers))
    numbers, heads = numbers[order], heads[order]
    begin = 0
    while begin < len(numbers):
        end = begin + CHUNK
        if end < len(numbers):
            end = int(np.searchsorted(numbers, numbers[end - 1], side="right"))
        by_head = np.lexsort((numbers[begin:end], heads[begin:end]))
        chunk_numbers, chunk_heads = numbers[begin:end][by_head], heads[begin:end][by_head]
        indexes, counts = np.unique(chunk_heads, return_counts=True)
        yield Groups(
            [groups.heads[index] for index in indexes.tolist()],
            counts.tolist(),
            chunk_numbers.tolist(),
        )
        begin = end


def postings_of(row: Row) -> Iterator[Posting]:
    """Return the inlinks of a row, in their order; a reader may need only the first of a thousand.

    Raises:
        ValueError: The row is damaged.
    """
    name = row.key.split(NUL)[1].decode()
    packed_heads, counts, steps = row.values
    heads = packed_heads.decode().split("\n")
    postings = unpack_postings(counts, steps, int(row.key[-10:], 16), len(heads))
    return (_posting((name, number, heads[index])) for number, index in postings)


def groups_of(row: Row) -> tuple[list[str], Numbers, Numbers]:
    """Return the groups of a row of inlinks.

    Returns:
        The heads, the number of contents of each, and the numbers of these contents, group by
        group.
    """
    heads, packed_counts, packed_steps = row.values
    return heads.decode().split("\n"), *_unpack_groups(
        packed_counts, packed_steps, int(row.key[-10:], 16)
    )


def _unpack_groups(
    packed_counts: bytes, packed_steps: bytes, first: int
) -> tuple[Numbers, Numbers]:
    import numpy as np

    counts, differences = unpack_numbers(packed_counts), unpack_numbers(packed_steps)
    if not counts.all() or counts.sum() != len(differences):
        raise ValueError(
            f"a row of inlinks counts {counts.sum()} of {len(differences)}, or a head has none"
        )
    sums = np.cumsum(differences)
    starts = np.cumsum(counts) - counts
    return counts, sums - np.repeat(sums[starts] - differences[starts], counts) + first


def kinds_of(row: Row) -> list[tuple[Kind, int]]:
    """Return the kind of each head of a row of inlinks, and its number of contents."""
    kinds = [Kind(head.partition("\t")[0]) for head in row.values[0].decode().split("\n")]
    return list(zip(kinds, unpack_few(row.values[1]), strict=True))


def target_of(row: Row) -> str:
    """Return the target URI of a row of inlinks."""
    return uri_of_form(surt_field(row), row.key.split(NUL)[1].decode())


# Mementos


def write_mementos(
    writer: RowWriter,
    mementos: Iterable["MementoColumns"],
    batch: int,
    names: Names,
    first_chunk: int = 0,
) -> None:
    """Write mementos that are sorted by surt, timestamp, original, checksum.

    Args:
        writer: Takes the rows.
        mementos: Of one batch.
        batch: Its number.
        names: Of the store.
        first_chunk: Greater than the chunks of other rows of these SURTs and this batch.
    """
    for surt, of_surt in groupby(mementos, itemgetter(0)):
        for chunk, part in enumerate(portions(of_surt, CHUNK), first_chunk):
            lines: list[str] = []
            checksums: list[bytes] = []
            for (
                _,
                timestamp,
                original,
                checksum,
                status,
                mime,
                record_type,
                file,
                offset,
                length,
                reason,
                languages,
            ) in part:
                packed = pack_checksum(checksum)
                checksums.append(packed)
                rest = "" if len(packed) == _USUAL_CHECKSUM else f"\t{len(packed)}"
                if languages != NO_LANGUAGE:
                    rest = f"{rest or _TAB}\t{languages}"
                lines.append(
                    f"{timestamp}\t{uri_form(surt, original)}\t{status}\t{mime}"
                    f"\t{record_type}\t{reason}"
                    f"\t{names.number_of(file)}\t{offset}\t{length}{rest}"
                )
            first = part[0][1] if chunk else ""
            writer.add(
                f"{surt}\0{first}\0{batch:x}.{chunk:x}".encode(),
                "\n".join(lines).encode(),
                b"".join(checksums),
            )


def batch_of_row(row: Row) -> int:
    """Return the number of the batch that wrote a row of mementos or sightings."""
    return int(row.key.rpartition(NUL)[2].partition(b".")[0], 16)


MementoItem = tuple[str, str, str, str, int, int, str, str, str, str, str]
"""A memento as a tuple that sorts in store order.

Its items are timestamp, original, checksum, file and offset; then length, status, mime, record
type, reason and languages.
"""


def _order_of_columns(columns: "MementoColumns") -> tuple[object, ...]:
    """Return `order_of_copy` of a row of the graph files."""
    *_, file, offset, length, reason, _ = columns
    return order_of_copy(file, offset, length, reason)


def without_copies(rows: Iterable[list[bytes]]) -> Iterator["MementoColumns"]:
    """Yield the mementos of sorted rows; of several copies, only the first by `order_of_copy`.

    Args:
        rows: Rows of ``mementos``, as `arclink.store.graph_files` yields them.
    """
    from arclink.rows.relations import memento_columns  # for loads alone

    last: MementoColumns | None = None
    for columns in rows:
        row = memento_columns(b"\t".join(columns).rstrip(b"\n"))
        if last is not None:
            if last[:KEYS_OF_MEMENTO] == row[:KEYS_OF_MEMENTO]:
                last = min(last, row, key=_order_of_columns)
                continue
            yield last
        last = row
    if last is not None:
        yield last


def _order_of_item(item: MementoItem) -> tuple[object, ...]:
    """Return the sort key of items of one memento: `order_of_copy`, then all other columns."""
    return *order_of_copy(item[3], item[4], item[5], item[9]), item


def _first_of_copies(copies: Iterator[MementoItem]) -> MementoItem:
    """Return the copy of a memento that a store shows."""
    first = next(copies)
    others = list(copies)
    return min([first, *others], key=_order_of_item) if others else first


def distinct_mementos(
    rows: Iterable[Row], names: Names, span: Span = ALL_TIME
) -> Iterable[MementoItem]:
    """Return the mementos of one SURT within ``span``, sorted, each key once.

    Args:
        rows: All rows of the SURT, by key.
        names: Of the store.
        span: Times of the mementos.
    """
    rest = iter(rows)
    first = list(islice(rest, 2))
    if len(first) == 1:
        items = mementos_of(first[0], names, span)
        # The usual case: one row, and no two captures at one time.
        if len(items) < 2 or all(one[0] < other[0] for one, other in pairwise(items)):
            return items
        return _first_copies(items, span)
    late = _rows_from(chain(first, rest), span.first)
    return _first_copies(in_order(late, lambda row: mementos_of(row, names)), span)


def _rows_from(rows: Iterable[Row], first: str) -> Iterator[Row]:
    """Yield the rows of mementos of one SURT that may have times from ``first`` on, by key.

    The rows of one batch are in the order of time, so of those that begin earlier, only the last
    one of each batch may have such times. Rows of Cassandra do not name their batch: any may.
    """
    rest = iter(rows)
    earlier: dict[bytes | int, Row] = {}
    for row in rest:
        if row.key.split(NUL)[1].decode() >= first:
            rest = chain([row], rest)
            break
        earlier[row.key.rpartition(NUL)[2].partition(b".")[0] or len(earlier)] = row
    yield from sorted(earlier.values(), key=attrgetter("key"))
    yield from rest


def _first_copies(items: Iterable[MementoItem], span: Span) -> Iterator[MementoItem]:
    for (timestamp, *_), copies in groupby(items, itemgetter(0, 1, 2)):
        if timestamp > span.last:
            return
        if timestamp >= span.first:
            yield _first_of_copies(copies)


def sorted_copies(items: Iterable[MementoItem]) -> Iterator[MementoItem]:
    """Yield items with the copies of each memento in their order."""
    for _, copies in groupby(items, itemgetter(0, 1, 2)):
        yield from sorted(copies, key=_order_of_item)


_memento = maker(Memento)


def memento_of(surt: Surt, item: MementoItem) -> Memento:
    """Return the memento with this SURT and these items."""
    (
        timestamp,
        original,
        checksum,
        file,
        offset,
        length,
        status,
        mime,
        record_type,
        reason,
        languages,
    ) = item
    return _memento(
        (
            surt,
            timestamp,
            original,
            checksum,
            status,
            mime,
            record_type,
            file,
            offset,
            length,
            reason,
            languages,
        )
    )


def surt_field(row: Row) -> Surt:
    """Return the SURT of a row of inlinks or mementos."""
    return Surt(row.key[: row.key.index(NUL)].decode())


def mementos_of(row: Row, names: Names, span: Span = ALL_TIME) -> list[MementoItem]:
    """Return the mementos of a row within ``span``, sorted."""
    surt = surt_field(row)
    fields, checksums = row.values
    begin, first, last = 0, span.first, span.last
    items: list[MementoItem] = []
    # Neighbours usually have the same form and file, so each is decoded once.
    originals: dict[str, UriR] = {}
    files: dict[str, str] = {}
    for line in fields.decode().split("\n"):
        timestamp, form, status, mime, record_type, reason, number, offset, length, *rest = (
            line.split("\t")
        )
        packed, languages = begin, NO_LANGUAGE
        if rest:
            begin += int(rest[0] or _USUAL_CHECKSUM)
            if len(rest) > 1:
                languages = rest[1]
        else:
            begin += _USUAL_CHECKSUM
        if not first <= timestamp <= last:
            continue
        original = originals.get(form)
        if original is None:
            original = originals[form] = uri_of_form(surt, form)
        file = files.get(number)
        if file is None:
            file = files[number] = names.name_of(int(number))
        items.append(
            (
                timestamp,
                original,
                unpack_checksum(checksums[packed:begin]),
                file,
                int(offset),
                int(length),
                status,
                mime,
                record_type,
                reason,
                languages,
            )
        )
    return items


# Sightings


def write_sightings(
    writer: RowWriter, captures: Iterable[tuple[int, str, str]], batch: int
) -> None:
    """Write captures: (number of the payload, original, timestamp), sorted and distinct."""
    for payload, of_payload in groupby(captures, itemgetter(0)):
        for chunk, part in enumerate(portions(of_payload, CHUNK)):
            first = part[0][1] if chunk else ""
            lines = [
                f"{original}\t" + " ".join(timestamp for *_, timestamp in of_original)
                for original, of_original in groupby(part, itemgetter(1))
            ]
            key = number_field(payload) + f"\0{first}\0{batch:x}.{chunk:x}".encode()
            writer.add(key, "\n".join(lines).encode())


def sightings_of(row: Row) -> list[tuple[str, str]]:
    """Return the (original, timestamp) pairs of a row, sorted."""
    pairs = []
    for line in row.values[0].decode().split("\n"):
        original, timestamps = line.split("\t")
        pairs += [(original, timestamp) for timestamp in timestamps.split(" ")]
    return pairs


def pages_of(rows: Iterable[Row]) -> Iterable[Source]:
    """Return the pages that show a payload, by original.

    Args:
        rows: All rows of the payload, by key.
    """
    if isinstance(rows, list) and len(rows) == 1:  # the usual case: nothing to merge
        lines = [line.split("\t") for line in rows[0].values[0].decode().split("\n")]
        return [
            (UriR(original), cast("list[Timestamp]", timestamps.split(" ")))
            for original, timestamps in lines
        ]
    if isinstance(rows, list) and sum(len(row.values[0]) for row in rows) <= _FEW_BYTES:
        pairs = sorted({pair for row in rows for pair in sightings_of(row)})
        return [
            (UriR(original), [Timestamp(time) for _, time in same])
            for original, same in groupby(pairs, itemgetter(0))
        ]
    return _merged_pages(rows)


def page_in(sightings: bytes | None) -> list[Source] | None:
    """Return the page of a payload that has one page, from its only row; None for any other row.

    Each content of the payload is then on this page.
    """
    if sightings is None:
        return None
    original, _, timestamps = sightings.decode().partition("\t")
    if "\n" in timestamps:
        return None
    return [(UriR(original), cast("list[Timestamp]", timestamps.split(" ")))]


_FEW_BYTES = 16 << 10
"""Greatest size in bytes of sightings that are sorted in memory at once."""


def _merged_pages(rows: Iterable[Row]) -> Iterator[Source]:
    for original, captures in groupby(in_order(rows, sightings_of), itemgetter(0)):
        yield UriR(original), [Timestamp(timestamp) for (_, timestamp), _ in groupby(captures)]


def payload_of(row: Row) -> int:
    """Return the number of the payload of a row of sightings."""
    return int(row.key[:10], 16)


# Rows of all relations


Item = TypeVar("Item")
Sorted = TypeVar("Sorted", bound=tuple[object, ...])


def in_order(rows: Iterable[Row], items_of: Callable[[Row], Sequence[Sorted]]) -> Iterator[Sorted]:
    """Yield the items of rows that may overlap, sorted; equal items are all kept.

    Memory holds only the rows that overlap: a row is decoded after the items that sort before its
    middle field.

    Args:
        rows: Rows of one SURT or payload, by key.
        items_of: Decodes a row; its items are sorted, and their first member is not less than the
            row's middle field.
    """
    opened: list[tuple[Sorted, int, int, Sequence[Sorted]]] = []
    for number, row in enumerate(rows):
        lower = row.key.split(NUL)[1].decode()
        while opened and opened[0][0][0] < lower:  # type: ignore[operator]
            yield _next(opened)
        items = items_of(row)
        heappush(opened, (items[0], number, 0, items))
    while opened:
        if len(opened) == 1:
            _, _, index, items = opened.pop()
            yield from items[index:]
        else:
            yield _next(opened)


def _next(opened: list[tuple[Sorted, int, int, Sequence[Sorted]]]) -> Sorted:
    item, number, index, items = heappop(opened)
    if index + 1 < len(items):
        heappush(opened, (items[index + 1], number, index + 1, items))
    return item


# Rows without forgotten items


def _without_first(key: bytes, first: str) -> bytes:
    """Return the key of a row of mementos or sightings after its first item was removed.

    Its middle field becomes ``first``, unless it is empty.
    """
    owner, middle, chunk = key.split(NUL)
    return NUL.join((owner, first.encode() if middle else b"", chunk))


def kept_mementos(row: Row, items: Sequence[MementoItem], is_kept: Sequence[bool]) -> Row | None:
    """Return a row of mementos with some of its items; None if no item is kept."""
    if all(is_kept):
        return row
    fields, checksums = row.values
    lines = list(compress(fields.split(b"\n"), is_kept))
    if not lines:
        return None
    ends = list(accumulate(len(pack_checksum(item[2])) for item in items))
    packed = [checksums[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    key = row.key if is_kept[0] else _without_first(row.key, next(compress(items, is_kept))[0])
    return Row(key, (b"\n".join(lines), b"".join(compress(packed, is_kept))))


def kept_sightings(row: Row, is_kept: Callable[[str, str], bool]) -> Row | None:
    """Return a row of sightings with the (original, timestamp) pairs to keep; None without any."""
    pairs = sightings_of(row)
    kept = [pair for pair in pairs if is_kept(*pair)]
    if len(kept) == len(pairs):
        return row
    if not kept:
        return None
    lines = [
        f"{original}\t" + " ".join(timestamp for _, timestamp in same)
        for original, same in groupby(kept, itemgetter(0))
    ]
    key = row.key if kept[0][0] == pairs[0][0] else _without_first(row.key, kept[0][0])
    return Row(key, ("\n".join(lines).encode(),))


_SMALL = 64
"""Size in bytes of steps up to which summing them one by one is faster than decoding the row."""


def kept_inlinks(row: Row, gone: Numbers) -> Row | None:
    """Return a row of inlinks without those of some contents; None if no inlink is left.

    The key stays, since all remaining numbers are at least the number in it.

    Args:
        row: Usually a row without any of these contents, in the same block as a row that has some.
        gone: Numbers of the contents, sorted, at least one.
    """
    import numpy as np

    first, steps = int(row.key[-10:], 16), row.values[2]
    if first > gone[-1] or (len(steps) <= _SMALL and first + sum(unpack_few(steps)) < gone[0]):
        return row
    heads, counts, numbers = groups_of(row)
    is_kept = np.isin(numbers, gone, invert=True)
    if is_kept.all():
        return row
    if not is_kept.any():
        return None
    group = np.repeat(np.arange(len(heads)), counts)[is_kept]
    indexes, left = np.unique(group, return_counts=True)
    numbers = numbers[is_kept]
    differences = np.diff(numbers, prepend=0)
    starts = np.cumsum(left) - left
    differences[starts] = numbers[starts] - int(row.key[-10:], 16)
    return Row(
        row.key,
        (
            "\n".join(heads[index] for index in indexes.tolist()).encode(),
            pack_numbers(left),
            pack_numbers(differences),
        ),
    )


# Payloads

_TITLED = 8
"""The bit of the first number of an outcome that says that the title is known."""

_LONGEST_NUMBER = 9
"""Bytes of the longest packed number."""


def pack_outcome(payload: Payload, names: Names) -> bytes:
    """Return all fields of a payload except its checksum, packed."""
    scope = 0 if payload.scope is None else payload.scope + 1
    title = b"" if payload.title is None else payload.title.encode()
    numbers = [
        *([scope] if payload.title is None else [scope | _TITLED, len(title)]),
        names.number_of(payload.charset),
        names.number_of(payload.file),
        payload.offset,
        names.number_of(payload.reason),
    ]
    for name, count in payload.counts:
        numbers += (names.number_of(name), count)
    return pack_few(numbers) + title


def united_pages(pages: Iterable[Source]) -> list[Source]:
    """Return pages by original, each once."""
    found = [*pages]
    if len({original for original, _ in found}) == len(found):
        return sorted(found, key=itemgetter(0))
    times: dict[UriR, set[Timestamp]] = {}
    for original, timestamps in found:
        times.setdefault(original, set()).update(timestamps)
    return [(original, sorted(times[original])) for original in sorted(times)]


def scope_of_outcome(outcome: bytes | None) -> Scope | None:
    """Return the scope of a payload; None if it was not read.

    The scope is in the first byte, and most queries need no more.
    """
    return _scope(outcome[0] & ~_TITLED) if outcome else None


@cache
def _scope(number: int) -> Scope | None:
    return Scope(number - 1) if number else None


def title_of_outcome(outcome: bytes | None) -> str | None:
    """Return the title of a payload, empty if it has none; None if it is not known."""
    if not outcome or not outcome[0] & _TITLED:
        return None
    return outcome[_begin_of_title(outcome) :].decode()


def _begin_of_title(outcome: bytes) -> int:
    size = next(iter(unpack_few(outcome[1 : 1 + _LONGEST_NUMBER])), len(outcome))
    if size >= len(outcome):
        raise ValueError(f"a title has {size} of {len(outcome)} bytes")
    return len(outcome) - size


def unpack_outcome(checksum: Checksum, outcome: bytes, names: Names) -> Payload:
    """Return the payload whose `pack_outcome` is ``outcome``."""
    title = title_of_outcome(outcome)
    numbers = unpack_few(outcome if title is None else outcome[: _begin_of_title(outcome)])
    if title is not None:
        numbers[:2] = [numbers[0] & ~_TITLED]
    number, charset, file, offset, reason, *rest = numbers
    counts = tuple(
        (names.name_of(name), count) for name, count in zip(rest[::2], rest[1::2], strict=True)
    )
    return Payload(
        checksum,
        _scope(number),
        names.name_of(charset),
        names.name_of(file),
        offset,
        names.name_of(reason),
        counts,
        title,
    )
