"""The rows of the two relations, read from a store a block at a time, as Arrow record batches.

No row is made one by one: a block of the store has each distinct link once, and the rows are places
in it, computed with NumPy. Arrow hands them to DuckDB without a copy.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as arrow
from pyarrow import compute

from arclink.access.capture_fields import LENGTH, NUMBER, RELATION
from arclink.access.link_states import what_they_say
from arclink.access.texts import printable, printable_uri
from arclink.model import Memento, Outlink, UriR
from arclink.portions import portions
from arclink.store.protocols import Additions, ContentBlock
from arclink.uris.hosts import domain_of, host_of
from arclink.uris.resolution import checksum_of, serialised
from arclink.uris.surts import surt_of
from arclink.uris.uri_ids import packed_id

_ROWS = 20_000
"""Number of rows of a record batch, about."""

_URIS_KEPT = 100_000
"""Number of URIs whose parts are kept for later blocks."""

_TEXT = arrow.string()
_ID = arrow.binary(16)
_OF_URI = {"surt": _TEXT, "id": _ID, "host": _TEXT, "domain": _TEXT}

Numbers = npt.NDArray[np.int64]


class _Uris:
    """SURT, URI-ID, host and domain of URIs; those of earlier blocks are remembered."""

    def __init__(self) -> None:
        self._parts: dict[UriR, tuple[str, str, bytes, str | None, str | None]] = {}

    def columns(self, uris: Sequence[UriR]) -> list[Any]:
        """Return the columns of these URIs: URI, SURT, URI-ID, host, domain."""
        known = self._parts
        if len(known) > _URIS_KEPT:
            known.clear()
        missing = [uri for uri in dict.fromkeys(uris) if uri not in known]
        surts = [*map(surt_of, missing)]
        hosts = [*map(host_of, surts)]
        parts = zip(
            map(printable_uri, missing),
            map(printable_uri, surts),
            map(packed_id, surts),
            (host or None for host in hosts),
            (domain or None for domain in map(domain_of, hosts)),
            strict=True,
        )
        known.update(zip(missing, parts, strict=True))
        types = (_TEXT, *_OF_URI.values())
        columns = zip(*map(known.__getitem__, uris), strict=True) if uris else ((),) * len(types)
        return [arrow.array(column, kind) for column, kind in zip(columns, types, strict=True)]


# Links

LINK_ROWS = arrow.schema(
    [
        ("content", arrow.dictionary(arrow.int32(), _TEXT)),
        ("position", arrow.int32()),
        ("occurrences", arrow.int32()),
        ("target", arrow.dictionary(arrow.int32(), _TEXT)),
        *(
            (f"target_{name}", arrow.dictionary(arrow.int32(), kind))
            for name, kind in _OF_URI.items()
        ),
        *((name, arrow.dictionary(arrow.int32(), _TEXT)) for name in ("kind", "text", "rel")),
    ]
)
"""A row per distinct link of a content: its number there in page order, and how often it occurs."""


def link_rows(blocks: Iterable[ContentBlock]) -> Iterator[Any]:
    """Yield the links of all contents as record batches of `LINK_ROWS`, in the order of the store.

    Args:
        blocks: Of `Scans.scan_contents`; each content occurs once in them.
    """
    uris = _Uris()
    for block in blocks:
        links: dict[Outlink, int] = {}
        number_of = np.array([links.setdefault(link, len(links)) for link in block.links], np.int64)
        if not links:
            continue
        of_links = _columns_of_links(list(links), uris)
        for begin, end in _parts(block.lists):
            rows = _distinct(block.lists[begin:end], number_of, len(links))
            contents = arrow.array(block.contents[begin:end], _TEXT)
            columns = [
                arrow.DictionaryArray.from_arrays(
                    arrow.array(rows.content, arrow.int32()), contents
                ),
                arrow.array(rows.position, arrow.int32()),
                arrow.array(rows.occurrences, arrow.int32()),
                *(
                    arrow.DictionaryArray.from_arrays(numbers.take(rows.link_array), values)
                    for numbers, values in of_links
                ),
            ]
            yield arrow.RecordBatch.from_arrays(columns, schema=LINK_ROWS)


class _Rows(NamedTuple):
    """The distinct links of some contents.

    Attributes:
        content: Index of the content.
        link_array: Number of the link in the block, as an Arrow array.
        position: Number of the link among the distinct links of the content, in page order.
        occurrences: How often the content has the link.
    """

    content: Numbers
    link_array: Any
    position: Numbers
    occurrences: Numbers


def _distinct(lists: Sequence[Numbers], number_of: Numbers, links: int) -> _Rows:
    sizes = np.array([*map(len, lists)], np.int64)
    flat = number_of[np.concatenate(lists)]
    content = np.repeat(np.arange(len(lists)), sizes)
    keys, first, occurrences = np.unique(
        content * links + flat, return_index=True, return_counts=True
    )
    in_page_order = np.argsort(first)  # and by content: their lists follow each other
    content, link = np.divmod(keys[in_page_order], links)
    starts = np.searchsorted(content, content)
    return _Rows(
        content,
        arrow.array(link, arrow.int32()),
        np.arange(len(content)) - starts,
        occurrences[in_page_order],
    )


def _columns_of_links(links: Sequence[Outlink], uris: _Uris) -> list[tuple[Any, Any]]:
    """Return the columns of links from ``target`` on: the number of each link, and the values."""
    targets, kinds, texts, rels = zip(*links, strict=True)
    columns = []
    numbers, distinct = _numbered(targets)
    columns += [(numbers, column) for column in uris.columns(distinct)]
    for column in (kinds, texts, rels):
        numbers, distinct = _numbered(column)
        values = [None if text is None else printable(text) for text in distinct]
        columns.append((numbers, arrow.array(values, _TEXT)))
    return [_without_null(*column) for column in columns]


def _without_null(numbers: Any, values: Any) -> tuple[Any, Any]:
    """Return the same column with null as a number: Arrow writes no dictionary that has it."""
    if values.null_count:
        is_there = values.is_valid().take(numbers)
        numbers = compute.if_else(is_there, numbers, arrow.scalar(None, numbers.type))
        values = values.fill_null("")
    return numbers, values


def _numbered(values: Iterable[Any]) -> tuple[Any, list[Any]]:
    """Return the number of each value as an Arrow array, and the distinct values by number."""
    numbers: dict[Any, int] = {}
    of_each = [numbers.setdefault(value, len(numbers)) for value in values]
    return arrow.array(of_each, arrow.int32()), list(numbers)


def _parts(lists: Sequence[Numbers]) -> Iterator[tuple[int, int]]:
    """Yield ranges of lists with about `_ROWS` links together; lists without any are no range."""
    begin, rows = 0, 0
    for index, numbers in enumerate(lists):
        rows += len(numbers)
        if rows >= _ROWS:
            yield begin, index + 1
            begin, rows = index + 1, 0
    if rows:
        yield begin, len(lists)


# Captures

BROUGHT_ROWS = arrow.schema([("checksum", _TEXT)])
"""A row per content: the checksum of its payload."""


def brought_rows(blocks: Iterable[ContentBlock]) -> Iterator[Any]:
    """Yield the payloads of contents as record batches of `BROUGHT_ROWS`."""
    return batches_of(
        ((checksum_of(content),) for block in blocks for content in block.contents), BROUGHT_ROWS
    )


CAPTURE_ROWS = arrow.schema(
    [
        *(
            (name, arrow.int64() if field.kind in (NUMBER, LENGTH) else _TEXT)
            for name, field in RELATION.fields.items()
        ),
        *(("uri", _TEXT), ("uri_id", _ID), ("host", _TEXT), ("domain", _TEXT)),
        ("content", _TEXT),
        ("title", _TEXT),
        ("shown_status", _TEXT),
        ("shown_mime", _TEXT),
        ("leads_to_itself", arrow.bool_()),
    ]
)
"""A row per capture; ``title`` is that of the payload that it shows."""


def capture_rows(store: Additions, mementos: Iterable[Memento]) -> Iterator[Any]:
    """Yield captures as record batches of `CAPTURE_ROWS`, in their order."""
    uris = _Uris()
    for some in portions(mementos, _ROWS):
        columns: list[Iterable[Any]] = [*RELATION.columns(some).values()]
        originals = [memento.original for memento in some]
        columns += [map(printable_uri, map(serialised, originals)), *uris.columns(originals)[2:]]
        contents, titles = zip(*store.shown(some), strict=True)
        columns += [contents, [title and printable(title) for title in titles]]
        statuses, mimes, lead_to_themselves = zip(*what_they_say(store, some), strict=True)
        columns += [RELATION.texts(statuses), RELATION.texts(mimes), lead_to_themselves]
        yield _batch(columns, CAPTURE_ROWS)


def batches_of(rows: Iterable[tuple[Any, ...]], schema: Any) -> Iterator[Any]:
    """Yield rows as record batches."""
    for some in portions(rows, _ROWS):
        yield _batch(zip(*some, strict=True), schema)


def _batch(columns: Iterable[Any], schema: Any) -> Any:
    arrays = [
        arrow.array(column, field.type) for column, field in zip(columns, schema, strict=True)
    ]
    return arrow.RecordBatch.from_arrays(arrays, schema=schema)
