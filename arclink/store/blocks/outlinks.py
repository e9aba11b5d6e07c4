"""Blocks of contents with outlinks: each distinct link once, and a list of numbers per content.

Contents of one site are neighbours, and most of their links are the same menus and footers. So a
block stores each distinct (target, kind, text, rel) once. The number lists of neighbouring contents
are nearly equal, so zstd compresses them to almost nothing.

::

    block = zstd( sizes of sections │ sections )

    0  targets, distinct                strings
    1  labels, distinct                 strings: kind, or kind TAB rel
    2  of each link: its text           strings
    3  of each link: number of target   signed steps
    4  of each link: number of label    numbers
    5  of each content: bytes of list   numbers
    6  of each content: list of links   signed steps in page order, starting with the first number
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, compress, count
from typing import TYPE_CHECKING, TypeVar

import orjson
import zstandard

from arclink.errors import StoreError
from arclink.model import Kind, Outlink, maker
from arclink.portions import portions
from arclink.store.blocks.byte_layouts import (
    Strings,
    decompressed,
    pack_number_rows,
    pack_numbers,
    pack_sections,
    pack_strings,
    plain,
    sign,
    steps,
    unpack_ends,
    unpack_few,
    unpack_sections,
    unpack_steps,
)

if TYPE_CHECKING:
    import numpy.typing as npt


LEVEL = 3
"""Compression level of zstd; measured in docs/decisions/20261121-sorted-runs.md."""

_SECTIONS = 7

_AT_ONCE = 1_000
"""Number of links that are decoded together: a page may have many more than its reader wants."""

_outlink = maker(Outlink)

Key = TypeVar("Key")


def _numbering() -> dict[Key, int]:
    """Return a dictionary that gives each new key the next number, from 0 on."""
    return defaultdict(count().__next__)


class OutlinkBlock:
    """A decoded block; the links of a content are decoded on demand.

    Args:
        data: The block in its stored form.
        first: Number of its first content.
    """

    def __init__(self, data: bytes, first: int) -> None:
        self.first = first
        sections = unpack_sections(decompressed(data), _SECTIONS)
        self._targets, self._texts = Strings(sections[0]), Strings(sections[2])
        labels = [_unpack_label(label) for label in sections[1].decode().split("\n")]
        self._kinds, self._rels = [kind for kind, _ in labels], [rel for _, rel in labels]
        self._target_of = unpack_steps(sections[3])
        self._label_of = unpack_few(sections[4])
        self._ends = unpack_ends(sections[5])
        self._lists = sections[6]

    def __len__(self) -> int:
        return len(self._ends) - 1

    @property
    def distinct_links(self) -> list[tuple[str, str, str, str | None]]:
        """The distinct (target, kind, text, rel) tuples of the block, by number."""
        return [(link.target, link.kind, link.text, link.rel) for link in self.all_links()]

    def all_links(self) -> list[Outlink]:
        """Return the distinct links of the block, by number."""
        return self._links([*range(len(self._label_of))])

    def numbers(self, content: int) -> list[int]:
        """Return the numbers of the links of a content, in page order."""
        index = content - self.first
        return unpack_steps(self._lists[self._ends[index] : self._ends[index + 1]])

    def links(self, content: int) -> Iterator[Outlink]:
        """Return the links of a content, in page order, decoded when they are read."""
        return chain.from_iterable(map(self._links, portions(self.numbers(content), _AT_ONCE)))

    def kinds(self, content: int) -> list[tuple[Kind, int]]:
        """Return the number of distinct links of a content by kind; a kind may occur again."""
        labels = Counter([self._label_of[number] for number in set(self.numbers(content))])
        return [(self._kinds[label], times) for label, times in sorted(labels.items())]

    def _links(self, numbers: list[int]) -> list[Outlink]:
        targets = self._targets.take([self._target_of[number] for number in numbers])
        texts = self._texts.take(numbers)
        labels = [self._label_of[number] for number in numbers]
        kinds = [self._kinds[label] for label in labels]
        rels = [self._rels[label] for label in labels]
        return list(map(_outlink, zip(targets, kinds, texts, rels, strict=True)))


def without(
    block: OutlinkBlock, contents: frozenset[int], links: frozenset[int] = frozenset()
) -> bytes:
    """Return a compressed block without all links of some contents, and without some links.

    The contents keep their positions.

    Args:
        block: The block to copy.
        contents: Numbers of contents that lose all their links.
        links: Numbers of distinct links that all contents lose.
    """
    lists = [
        [number for number in block.numbers(content) if number not in links]
        if content not in contents
        else []
        for content in range(block.first, block.first + len(block))
    ]
    used = sorted({*chain.from_iterable(lists)})
    place = {number: index for index, number in enumerate(used)}
    distinct = block.distinct_links
    columns = _columns([list(distinct[number]) for number in used])
    assert columns is not None  # a decoded block has valid links
    return zstandard.ZstdCompressor(level=LEVEL).compress(
        pack_outlinks(
            columns,
            [place[number] for number in chain.from_iterable(lists)],
            [len(numbers) for numbers in lists],
        )
    )


def packed_block(
    links: bytes, lists: bytes, wanted: Sequence[bool], compressed: Callable[[bytes], bytes]
) -> tuple[bytes, int]:
    """Return a block of graph files as a block of a store, and its number of links.

    Args:
        links: The distinct links of a block, as in graph files: ``[[target, kind, text, rel], …]``.
        lists: For each content, the numbers of its links: ``[[number, …], …]``.
        wanted: For each content, whether the new block holds it.
        compressed: Compresses with zstd.

    Raises:
        StoreError: The arguments are not a block.
    """
    import numpy as np

    columns, numbers = (
        _columns(_parsed(links)),
        list(compress(_lists(_parsed(lists), len(wanted)), wanted)),
    )
    if columns is None:
        raise StoreError(_refusal(links))
    flat = np.fromiter(chain.from_iterable(numbers), np.int64)
    counts = np.fromiter(map(len, numbers), np.int64, len(numbers))
    if len(flat) and not (flat.min() >= 0 and flat.max() < len(columns[0])):
        raise StoreError(_refusal(lists))
    if not all(wanted):
        used, flat = np.unique(flat, return_inverse=True)
        columns = _columns([[column[index] for column in columns] for index in used.tolist()])
        assert columns is not None  # each was checked before
    return compressed(pack_outlinks(columns, flat, counts)), len(flat)


Columns = tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[str | None]]
"""Links by column: targets, kinds, texts, rels."""


def pack_outlinks(links: Columns, numbers: "npt.ArrayLike", counts: "npt.ArrayLike") -> bytes:
    """Return a block, not yet compressed.

    Args:
        links: The distinct links.
        numbers: The numbers of the links of all contents, one content after the other.
        counts: The number of links of each content.
    """
    import numpy as np

    targets, kinds, texts, rels = links
    target_numbers: dict[str, int] = _numbering()
    label_numbers: dict[tuple[str, str | None], int] = _numbering()
    target_of = np.fromiter(map(target_numbers.__getitem__, targets), np.int64, len(targets))
    label_of = np.fromiter(
        map(label_numbers.__getitem__, zip(kinds, rels, strict=True)), np.int64, len(kinds)
    )
    ends = np.cumsum(np.asarray(counts, dtype=np.int64))
    starts = np.concatenate(([0], ends[:-1]))
    flat = np.asarray(numbers, dtype=np.int64)
    lists, list_ends = pack_number_rows(sign(steps(flat, starts[starts < len(flat)])), ends)
    return pack_sections(
        [
            pack_strings(list(target_numbers)),
            "\n".join(_pack_label(kind, rel) for kind, rel in label_numbers).encode(),
            pack_strings(texts),
            pack_numbers(sign(np.diff(target_of, prepend=0))),
            pack_numbers(label_of),
            pack_numbers(np.diff(list_ends, prepend=0)),
            lists,
        ]
    )


def _pack_label(kind: str, rel: str | None) -> str:
    """Return kind and rel as one string."""
    return plain(kind) if rel is None else f"{plain(kind)}\t{plain(rel)}"


def _unpack_label(label: str) -> tuple[Kind, str | None]:
    """Return the kind and rel that `_pack_label` packed."""
    kind, tab, rel = label.partition("\t")
    return Kind(kind), rel if tab else None


def _parsed(json: bytes) -> object:
    try:
        return orjson.loads(json)
    except orjson.JSONDecodeError as error:
        raise StoreError(_refusal(json)) from error


def _lists(lists: object, contents: int) -> list[list[int]]:
    """Return the lists of a block.

    Raises:
        StoreError: They are not lists of numbers, or not one per content.
    """
    if (
        not isinstance(lists, list)
        or len(lists) != contents
        or not all(isinstance(numbers, list) for numbers in lists)
    ):
        raise StoreError(
            f"a block of {contents} contents has another number of lists: "
            f"{str(lists)[:200]}. Write the graph files again."
        )
    if {*map(type, chain.from_iterable(lists))} - {int}:
        raise StoreError(
            f"a list of links has an entry that is not a number: {str(lists)[:200]}. Write "
            "the graph files again."
        )
    return lists


def _columns(links: object) -> Columns | None:
    """Return links by column; None if some items are not links."""
    if not isinstance(links, list):
        return None
    if not links:
        return (), (), (), ()
    if {*map(type, links)} != {list} or {*map(len, links)} != {4}:
        return None
    targets, kinds, texts, rels = zip(*links, strict=True)
    types = {*map(type, targets), *map(type, kinds), *map(type, texts)}
    return (
        (targets, kinds, texts, rels)
        if types == {str} and {*map(type, rels)} <= {str, type(None)}
        else None
    )


def _refusal(row: bytes) -> str:
    return (
        "outlinks in the graph files are not lists of links: "
        f"{row[:200].decode('utf-8', 'replace')}. Write the graph files again."
    )
