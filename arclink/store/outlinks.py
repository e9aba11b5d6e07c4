"""Blocks of contents with their outlinks: distinct links once, each content a list of their numbers.

Contents of one site stand together, and most of their links are the same menus and footers. So a block holds each distinct
(target, kind, text, rel) once, and a content's list of numbers repeats those of its neighbours, which zstd makes almost nothing.

::

    block = zstd( sizes of sections │ sections )

    0  targets, distinct                strings
    1  labels, distinct                 strings: kind, or kind TAB rel
    2  of each link: its text           strings
    3  of each link: number of target   signed steps
    4  of each link: number of label    numbers
    5  of each content: bytes of list   numbers
    6  of each content: list of links   signed steps, page order, the first as it is
"""

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count, islice
from typing import TypeVar, cast

import numpy as np
import orjson
import zstandard

from arclink.errors import StoreError
from arclink.model import Kind, Outlink, UriR
from arclink.store.packing import (
    Numbers,
    Strings,
    pack_number_rows,
    pack_numbers,
    pack_sections,
    pack_strings,
    plain,
    sign,
    steps,
    unpack_numbers,
    unpack_sections,
    unsign,
)

BLOCK_BYTES = 128 * 1024
"""JSON of the distinct links of a block; two to three times the size of the block before it is compressed."""

BLOCK_CONTENTS = 4096
"""A block has at most so many contents: error pages have few links."""

LEVEL = 3
"""Of zstd; measured in docs/decisions/20261121-sorted-runs.md."""

_SECTIONS = 7


_BORDER = b"],["
"""Between two links in compact JSON."""

Key = TypeVar("Key")


def numbering() -> dict[Key, int]:
    """Return a dictionary that gives each new key the next number, from 0 on."""
    return defaultdict(count().__next__)


class OutlinkBlock:
    """A decoded block; a content's links are decoded when asked for.

    Args:
        data: As the store holds it.
        first: Number of its first content.
    """

    def __init__(self, data: bytes, first: int) -> None:
        self.first = first
        sections = unpack_sections(zstandard.ZstdDecompressor().decompress(data), _SECTIONS)
        self._targets, self._texts = Strings(sections[0]), Strings(sections[2])
        labels = [unpack_label(label) for label in sections[1].decode().split("\n")]
        self._kinds, self._rels = [kind for kind, _ in labels], [rel for _, rel in labels]
        self._target_of = np.cumsum(unsign(unpack_numbers(sections[3])))
        self._label_of = unpack_numbers(sections[4])
        self._ends = np.cumsum(unpack_numbers(sections[5]))
        self._lists = sections[6]

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def distinct_links(self) -> list[tuple[str, str, str, str | None]]:
        """The distinct (target, kind, text, rel) of the block, by number."""
        return [(link.target, link.kind, link.text, link.rel) for link in self._links(np.arange(len(self._label_of)))]

    def numbers(self, content: int) -> Numbers:
        """Return the numbers of the links of a content, in page order."""
        place = content - self.first
        begin = self._ends[place - 1] if place else 0
        return np.cumsum(unsign(unpack_numbers(self._lists[begin : self._ends[place]])))

    def links(self, content: int) -> list[Outlink]:
        """Return the links of a content, in page order."""
        return self._links(self.numbers(content))

    def _links(self, numbers: Numbers) -> list[Outlink]:
        targets, texts = self._targets.take(self._target_of[numbers]), self._texts.take(numbers)
        labels = self._label_of[numbers].tolist()
        kinds, rels = [self._kinds[label] for label in labels], [self._rels[label] for label in labels]
        return list(map(Outlink._make, zip(cast("list[UriR]", targets), kinds, texts, rels, strict=True)))


class OutlinksWriter:
    """Writes the outlinks of contents with consecutive numbers.

    A link is not parsed each time it occurs: the JSON of a content is cut between its links, and the pieces are numbered as
    they are. Only distinct pieces are parsed, once per block; where one does not parse (a text may hold what looks like a
    border), the block is done again by parsing everything.

    Args:
        connection: In a transaction.
        first: Number of the first content.
    """

    def __init__(self, connection: sqlite3.Connection, first: int) -> None:
        self._connection = connection
        self._compress = zstandard.ZstdCompressor(level=LEVEL).compress
        self._first = first
        self.links = 0
        self._start_block()

    def _start_block(self) -> None:
        self._pieces: dict[bytes, int] = numbering()
        self._numbers: list[int] = []
        self._counts: list[int] = []
        self._size = 0
        self._odd: dict[int, bytes] = {}

    def add(self, links: bytes) -> None:
        """Add the next content.

        Args:
            links: JSON as in graph files: ``[[target, kind, text, rel], …]``.
        """
        known = len(self._pieces)
        if links.startswith(b"[[") and links.endswith((b"]]\n", b"]]")):
            pieces = links[2 : -3 if links.endswith(b"\n") else -2].split(_BORDER)
            self._numbers += map(self._pieces.__getitem__, pieces)
            self._counts.append(len(pieces))
            self._size += len(links) * (len(self._pieces) - known) // len(pieces)
        else:
            self._counts.append(0)
            if links.strip() != b"[]":
                self._odd[len(self._counts) - 1] = links
        if self._size >= BLOCK_BYTES or len(self._counts) >= BLOCK_CONTENTS:
            self._flush()

    def close(self) -> None:
        """Write the last block."""
        if self._counts:
            self._flush()

    def _flush(self) -> None:
        links = _parse_pieces(self._pieces) if not self._odd else None
        if links is None:
            links, self._numbers, self._counts = _parse_rows(self._rows())
        data = self._compress(pack_outlinks(links, self._numbers, self._counts))
        self._connection.execute("INSERT INTO outlinks (first, data) VALUES (?, ?)", (self._first, data))
        self._first += len(self._counts)
        self.links += len(self._numbers)
        self._start_block()

    def _rows(self) -> Iterator[bytes]:
        """Yield the JSON of the contents, put together again from its pieces."""
        pieces, numbers = list(self._pieces), iter(self._numbers)
        for place, size in enumerate(self._counts):
            joined = _BORDER.join(pieces[number] for number in islice(numbers, size))
            yield b"[[" + joined + b"]]" if size else self._odd.get(place, b"[]")


Link = tuple[str, str, str, str | None]

Columns = tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[str | None]]
"""Links by column: targets, kinds, texts, rels."""


def pack_outlinks(links: Columns, numbers: Sequence[int], counts: Sequence[int]) -> bytes:
    """Return a block, not compressed yet.

    Args:
        links: The distinct links.
        numbers: The numbers of the links of all contents, one content after the other.
        counts: How many links each content has.
    """
    targets, kinds, texts, rels = links
    target_numbers: dict[str, int] = numbering()
    label_numbers: dict[tuple[str, str | None], int] = numbering()
    target_of = np.fromiter(map(target_numbers.__getitem__, targets), np.int64, len(targets))
    label_of = np.fromiter(map(label_numbers.__getitem__, zip(kinds, rels, strict=True)), np.int64, len(kinds))
    ends = np.cumsum(np.asarray(counts, dtype=np.int64))
    starts = np.concatenate(([0], ends[:-1]))
    flat = np.asarray(numbers, dtype=np.int64)
    lists, list_ends = pack_number_rows(sign(steps(flat, starts[starts < len(flat)])), ends)
    return pack_sections(
        [
            pack_strings(list(target_numbers)),
            "\n".join(pack_label(kind, rel) for kind, rel in label_numbers).encode(),
            pack_strings(texts),
            pack_numbers(sign(np.diff(target_of, prepend=0))),
            pack_numbers(label_of),
            pack_numbers(np.diff(list_ends, prepend=0)),
            lists,
        ]
    )


def pack_label(kind: str, rel: str | None) -> str:
    """Return kind and rel as one string."""
    return plain(kind) if rel is None else f"{plain(kind)}\t{plain(rel)}"


def unpack_label(label: str) -> tuple[Kind, str | None]:
    """Return what `pack_label` was given."""
    kind, tab, rel = label.partition("\t")
    return Kind(kind), rel if tab else None


def _parse_pieces(pieces: Collection[bytes]) -> Columns | None:
    """Return the link of each piece; None if a piece is not exactly one link.

    A border inside of a string leaves a piece whose string has no end. So such a piece never parses alone, and together
    with its other half it gives one link where there are two pieces: the count tells.
    """
    try:
        links: list[list[str | None]] = orjson.loads(b"[[" + _BORDER.join(pieces) + b"]]") if pieces else []
    except orjson.JSONDecodeError:
        return None
    return _columns(links) if len(links) == len(pieces) else None


def _columns(links: Sequence[Sequence[str | None]]) -> Columns | None:
    """Return links by column; None if they are not all links."""
    if not links:
        return (), (), (), ()
    if set(map(type, links)) != {list} or set(map(len, links)) != {4}:
        return None
    targets, kinds, texts, rels = zip(*links, strict=True)
    types = {*map(type, targets), *map(type, kinds), *map(type, texts)}
    return (targets, kinds, texts, rels) if types == {str} and {*map(type, rels)} <= {str, type(None)} else None


def _parse_rows(rows: Iterable[bytes]) -> tuple[Columns, list[int], list[int]]:
    """Return distinct links, numbers and counts of contents, by parsing each of them.

    Raises:
        StoreError: A row is no list of links.
    """
    known: dict[Link, int] = numbering()
    numbers: list[int] = []
    counts = []
    for row in rows:
        try:
            links = orjson.loads(row)
        except orjson.JSONDecodeError as error:
            raise StoreError(_refusal(row)) from error
        columns = _columns(links) if isinstance(links, list) else None
        if columns is None:
            raise StoreError(_refusal(row))
        numbers += map(known.__getitem__, zip(*columns, strict=True))
        counts.append(len(links))
    by_column = _columns([list(link) for link in known])
    assert by_column is not None  # each was checked with its row
    return by_column, numbers, counts


def _refusal(row: bytes) -> str:
    return f"outlinks of the graph files are no lists of links: {row[:200].decode('utf-8', 'replace')}. Write the graph files again."
