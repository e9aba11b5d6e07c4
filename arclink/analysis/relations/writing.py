"""Writes parts of the relations: rows of a store, in Parquet files that DuckDB sorted."""

import shutil
from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as arrow
from pyarrow import compute
from pyarrow.parquet import ParquetFile, ParquetWriter, read_metadata

from arclink.access.capture_fields import LENGTH, NUMBER, RELATION
from arclink.access.reader import what_they_say
from arclink.access.texts import printable, printable_uri
from arclink.analysis.relations.columns import (
    CAPTURES,
    LINKS,
    LINKS_BY_PAGE,
    LONGEST_WORD,
    MOST_PLACES,
)
from arclink.analysis.relations.held import translated
from arclink.analysis.relations.sql_texts import COMMON, text_of
from arclink.analysis.relations.state import new_part
from arclink.checksums import START_OF_REFERENCE
from arclink.model import Memento, Outlink, UriR
from arclink.portions import portions, uncollected
from arclink.rows.texts import TextRow, merged_texts
from arclink.store.protocols import Additions, ContentBlock
from arclink.uris.hosts import domain_of, host_of
from arclink.uris.resolution import checksum_of, serialised
from arclink.uris.surts import surt_of
from arclink.uris.uri_ids import packed_id

# The rows of the two relations, read from a store a block at a time, as Arrow record batches.
#
# No row is made one by one: a block of the store has each distinct link once, and the rows are
# places in it, computed with NumPy. Arrow hands them to DuckDB without a copy.

_ROWS = 20_000
"""Number of rows of a record batch, about."""

_URIS_KEPT = 100_000
"""Number of URIs whose parts are kept for later blocks."""

_TEXT = arrow.string()
_ID = arrow.binary(16)
_OF_URI = {"surt": _TEXT, "id": _ID, "host": _TEXT, "domain": _TEXT}

Numbers = npt.NDArray[np.int64]
_NewNumbers = npt.NDArray[np.int32]


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

_BROUGHT_ROWS = arrow.schema([("checksum", _TEXT)])
"""A row per content: the checksum of its payload."""


def _brought_rows(blocks: Iterable[ContentBlock]) -> Iterator[Any]:
    """Yield the payloads of contents as record batches of `_BROUGHT_ROWS`."""
    return batches_of(
        ((checksum_of(content),) for block in blocks for content in block.contents), _BROUGHT_ROWS
    )


_CAPTURE_ROWS = arrow.schema(
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


def _capture_rows(store: Additions, mementos: Iterable[Memento]) -> Iterator[Any]:
    """Yield captures as record batches of `_CAPTURE_ROWS`, in their order."""
    uris = _Uris()
    for some in portions(mementos, _ROWS):
        columns: list[Iterable[Any]] = [*RELATION.columns(some).values()]
        originals = [memento.original for memento in some]
        columns += [map(printable_uri, map(serialised, originals)), *uris.columns(originals)[2:]]
        contents, titles = zip(*store.shown(some), strict=True)
        columns += [contents, [title and printable(title) for title in titles]]
        statuses, mimes, lead_to_themselves = zip(*what_they_say(store, some), strict=True)
        columns += [RELATION.texts(statuses), RELATION.texts(mimes), lead_to_themselves]
        yield _batch(columns, _CAPTURE_ROWS)


def batches_of(rows: Iterable[tuple[Any, ...]], schema: Any) -> Iterator[Any]:
    """Yield rows as record batches."""
    for some in portions(rows, _ROWS):
        yield _batch(zip(*some, strict=True), schema)


def _batch(columns: Iterable[Any], schema: Any) -> Any:
    arrays = [
        arrow.array(column, field.type) for column, field in zip(columns, schema, strict=True)
    ]
    return arrow.RecordBatch.from_arrays(arrays, schema=schema)


# The links in the order of the store's contents, written while they are sorted by target.
#
# The links of a site are neighbours there: a question about what a site links to reads a few row
# groups. Nothing is sorted, so this file takes less time and memory than the one that is.

ROWS_OF_GROUP = 30_720
"""Rows of a row group. Fewer can be left unread more exactly, and need less memory."""

_COPIED = [column.name for column in LINKS_BY_PAGE if column in LINKS]
_SCHEMA = arrow.schema([*map(LINK_ROWS.field, _COPIED), ("row_group", arrow.int32())])


def _written_by_page(batches: Iterable[Any], path: Path) -> Iterator[Any]:
    """Yield record batches of `LINK_ROWS`, and write them to a new file.

    The file is whole when the last batch was yielded.
    """
    with (  # opened here: Arrow accepts only UTF-8 file names
        path.open("wb") as stream,
        ParquetWriter(stream, _SCHEMA, compression="zstd", store_schema=False) as writer,
    ):
        waiting: list[Any] = []
        rows = group = 0
        for batch in batches:
            waiting.append(batch)
            rows += batch.num_rows
            if rows >= ROWS_OF_GROUP:
                writer.write_table(_table(waiting, group))
                waiting, rows, group = [], 0, group + 1
            yield batch
        if waiting:
            writer.write_table(_table(waiting, group))


def _table(batches: Iterable[Any], group: int) -> Any:
    """Return a row group; all its batches have one dictionary: Arrow does not decode the texts."""
    table = arrow.Table.from_batches(batch.select(_COPIED) for batch in batches)
    number = arrow.repeat(arrow.scalar(group, arrow.int32()), len(table))
    return table.unify_dictionaries().append_column(_SCHEMA.field("row_group"), number)


# Texts, sorted by content, and their words, which name a content by the number of its row in the
# texts of the same part.
#
# Row groups of texts are small: what is shown of a few contents is read from a few of them. DuckDB
# holds some thousand rows at a time, so it gets the texts whose words it finds in small batches.

_TEXT_ROWS = arrow.schema(
    [
        *((name, _TEXT) for name in ("content", "title", "language", "text")),
        ("is_cut", arrow.bool_()),
    ]
)
"""A row per content."""

_COMPRESSED: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 3,
    "store_schema": False,
}

_BYTES_OF_TEXTS = 1 << 21
"""Characters of the texts of a row group, about."""

_WORDS = f"""
    INSERT INTO word_rows
    WITH word AS MATERIALIZED (
        SELECT word, content, count(*)::INTEGER AS times, list(place ORDER BY place) AS places
        FROM (
            SELECT content, unnest(words) AS word, generate_subscripts(words, 1)::INTEGER AS place
            FROM (
                SELECT
                    number AS content,
                    words_of(coalesce(title, '')) || [''] || words_of(text) AS words
                FROM text_rows
                WHERE text IS NOT NULL
            )
        )
        WHERE word <> '' AND strlen(word) <= {LONGEST_WORD}
        GROUP BY word, content
    )
    FROM word WHERE times <= {MOST_PLACES}
    UNION ALL
    SELECT word, content, CASE WHEN row = 0 THEN times END, list(place ORDER BY place)
    FROM (
        SELECT
            word, content, times, unnest(places) AS place,
            (generate_subscripts(places, 1) - 1) // {MOST_PLACES} AS row
        FROM word
        WHERE times > {MOST_PLACES}
    )
    GROUP BY word, content, times, row
"""
"""Adds the words of some texts. Rows are short: DuckDB sorts some 100,000 at once."""


_WORD_ROWS = arrow.schema(
    [
        ("word", _TEXT),
        ("content", arrow.int32()),
        ("times", arrow.int32()),
        ("places", arrow.list_(arrow.int32())),
    ]
)
"""A row of ``words``; the content is the number of its row in the texts of the part, from 0 on."""

_NUMBERED_TEXTS = _TEXT_ROWS.append(arrow.field("number", arrow.int32()))

_ENCODED: dict[str, Any] = {
    "use_dictionary": ["word"],
    "column_encoding": dict.fromkeys(["content", "places.list.element"], "DELTA_BINARY_PACKED"),
}
"""How columns of words are written: numbers that grow as differences."""

_BATCHES_OF_RUN = 8
"""Batches of texts whose words are sorted at once."""

_ROWS_OF_SLICE, _SAMPLED = 2_000_000, 100
"""Rows of words that are sorted at once, about, and how many of them are looked at before."""


def _text_batches(rows: Iterable[TextRow]) -> Iterator[Any]:
    """Yield texts as record batches of `_TEXT_ROWS`, of about equal length."""
    waiting: list[TextRow] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += len(row[3] or "") + len(row[0])
        if size >= _BYTES_OF_TEXTS:
            yield _batch(zip(*waiting, strict=True), _TEXT_ROWS)
            waiting, size = [], 0
    if waiting:
        yield _batch(zip(*waiting, strict=True), _TEXT_ROWS)


def _texts_in(path: Path) -> Iterator[TextRow]:
    """Yield the rows of a file of texts."""
    with path.open("rb") as stream, ParquetFile(stream) as file:
        for group in range(file.num_row_groups):
            columns = file.read_row_group(group).to_pydict()
            yield from zip(*(columns[name] for name in _TEXT_ROWS.names), strict=True)


_MEMORY = "160MB"
"""Memory for sorting; what exceeds it goes to files in the folder of the output."""

_SORTING = "sorting"
"""Name of the folder for temporary files."""

CAPTURES_ORDER = "surt, timestamp, uri, written, checksum"
LINKS_ORDER = "target_surt, target, content, position"
_WORDS_ORDER = "word, content"
"""The sort keys of the files. Sorted by target, the links of a site are neighbours: no index."""

_ROWS_OF_GROUP = {CAPTURES_ORDER: 61_440, LINKS_ORDER: 122_880, _WORDS_ORDER: 30_720}
"""Rows of a row group, by sort key.

More rows compress better, but leave less memory for sorting; those of captures are long.
"""

_MOST_WORDS, _MOST_BYTES = 245_760, 32 << 20
"""Rows of a row group of all words, and its bytes in memory, about."""

IS_REFERENCE = f"starts_with(checksum, '{START_OF_REFERENCE}')"
"""Condition of SQL that a capture is a revisit that names a capture (`arclink.checksums`)."""

IS_REVISIT = "record_type = 'revisit'"

PAYLOAD = "regexp_replace(content, '-[0-9a-f]{16}$', '')"
"""SQL of the checksum of the payload in the id of a content (`arclink.model.ContentId`)."""

_MAY_BE_REPEATED = """
    a.checksum = e.checksum AND a.record_type <> 'revisit' AND (
        a.mime IS DISTINCT FROM e.shown_mime OR a.status IS DISTINCT FROM e.shown_status
    )
"""
"""Condition of SQL that a new capture has a payload which an earlier revisit repeats, and more."""

_VALUES = {
    "written": "nullif(c.written, c.uri)",
    "uri_id": "c.uri_id::BLOB::UUID",
    "status": "c.status::SMALLINT",
    "shown_status": "c.shown_status::SMALLINT",
    "time": "strptime(c.timestamp, '%Y%m%d%H%M%S')",
}
"""How values are made that the rows have in another form, or not at all."""

_CAPTURES = f"""
    SELECT {", ".join(f"{_VALUES.get(name, f'c.{name}')} AS {name}" for name, *_ in CAPTURES)}
    FROM capture_rows AS c
"""
_LINKS = f"""
    SELECT {", ".join(column.name for column in LINKS)}
    FROM (SELECT * REPLACE (target_id::BLOB::UUID AS target_id) FROM link_rows)
"""


class PartWriter:
    """Writes files of a relation to a folder.

    Args:
        folder: The folder, which exists. Temporary files are in it, too, until `close`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._connection = connected(
            memory_limit=_MEMORY,
            threads=1,  # each further one needs as much memory again to write
            temp_directory=str(folder / _SORTING),
            preserve_insertion_order=False,
        )

    def write_captures(self, name: str, store: Additions, mementos: Iterable[Memento]) -> None:
        """Write captures of a store."""
        with self._fed("capture_rows", _CAPTURE_ROWS, _capture_rows(store, mementos)):
            self.copy(_CAPTURES, CAPTURES_ORDER, name)

    def changes(self, earlier: Iterable[Path], contents: Iterable[ContentBlock], name: str) -> bool:
        """Return whether captures of a batch may change what earlier captures show.

        Args:
            earlier: Files with the earlier captures.
            contents: What the batch brought: perhaps the payload of an earlier capture.
            name: Of the file with the captures of the batch: a revisit may name one of them.
        """
        added = reading([self.folder / name])
        with self._fed("brought_rows", _BROUGHT_ROWS, _brought_rows(contents)):
            found = self.run(
                f"SELECT 1 FROM {reading(earlier)} AS e WHERE "
                "(content IS NULL AND checksum IN (SELECT checksum FROM brought_rows)) OR "
                f"({IS_REFERENCE} AND surt IN (SELECT surt FROM {added})) OR "
                f"({IS_REVISIT} AND EXISTS (FROM {added} AS a WHERE {_MAY_BE_REPEATED})) "
                "LIMIT 1"
            )
        return bool(found)

    def write_links(self, name: str, by_page: str, blocks: Iterable[ContentBlock]) -> None:
        """Write the links of contents to two files: sorted by target, and in their order."""
        rows = _written_by_page(link_rows(blocks), self.folder / by_page)
        with self._fed("link_rows", LINK_ROWS, rows):
            self.copy(_LINKS, LINKS_ORDER, name)

    def write_texts(self, name: str, rows: Iterable[TextRow], words: str = "") -> None:
        """Write texts, sorted by content, and their words to another file."""
        if words:
            self.run(text_of(COMMON, "words"))
            columns = "word VARCHAR, content INTEGER, times INTEGER, places INTEGER[]"
            self.run(f"CREATE TABLE word_rows ({columns})")
        runs: list[str] = []
        written = 0
        with (
            (self.folder / name).open("wb") as stream,
            ParquetWriter(stream, _TEXT_ROWS, **_COMPRESSED) as file,
        ):
            for number, batch in enumerate(_text_batches(rows), 1):
                file.write_batch(batch)
                if words:
                    rows_here = arrow.array(range(written, written + len(batch)), arrow.int32())
                    batch = batch.append_column(_NUMBERED_TEXTS.field("number"), rows_here)
                    with self._fed("text_rows", _NUMBERED_TEXTS, iter([batch])):
                        self.run(_WORDS)
                    if number % _BATCHES_OF_RUN == 0:
                        self._end_run(runs)
                written += len(batch)
        if words:
            self._end_run(runs)
            self.write_words([self.folder / run for run in runs], words)

    def _end_run(self, runs: list[str]) -> None:
        """Write the words of some texts to a file of their own."""
        (self.folder / _SORTING).mkdir(exist_ok=True)
        runs.append(f"{_SORTING}/words-{len(runs)}")
        self.copy("FROM word_rows", _WORDS_ORDER, runs[-1])
        self.run("TRUNCATE word_rows")

    def merge_texts(
        self, parts: Sequence[Path], name: str, words: str, gone: Container[str] = ()
    ) -> None:
        """Write the texts and words of some parts as those of one, except for some contents.

        Args:
            parts: Folders of the parts.
            name: Name of the files of texts.
            words: Name of the files of words.
            gone: The contents that are left out.
        """
        numbers = {number: array("i") for number in range(len(parts))}
        self.write_texts(
            name, merged_texts((_texts_in(part / name) for part in parts), gone, numbers)
        )
        of_parts = [np.frombuffer(numbers[number], np.int32) for number in range(len(parts))]
        self.write_words([part / words for part in parts], words, of_parts)

    def write_words(
        self, files: Sequence[Path], name: str, numbers: Sequence[_NewNumbers] = ()
    ) -> None:
        """Write the rows of some files of words as one file, a slice of them at a time.

        To sort them all at once, DuckDB would hold a part of each file in memory.

        Args:
            files: The files, each sorted.
            name: Name of the new file.
            numbers: By file, the new number of each content, -1 for one that is left out; numbers
                stay if they are not given.
        """
        waiting, rows = [], 0
        with (
            (self.folder / name).open("wb") as stream,
            ParquetWriter(stream, _WORD_ROWS, **_COMPRESSED, **_ENCODED) as file,
        ):
            for words in self._slices_of_words(files, numbers):
                query = f"FROM ({words}) ORDER BY {_WORDS_ORDER}"
                with translated():
                    for batch in self._connection.sql(query).to_arrow_reader(_ROWS):
                        waiting.append(batch.cast(_WORD_ROWS))
                        rows += len(batch)
                        if rows >= _MOST_WORDS or _bytes_of(waiting) > _MOST_BYTES:
                            file.write_table(arrow.Table.from_batches(waiting))
                            waiting, rows = [], 0
            if waiting:
                file.write_table(arrow.Table.from_batches(waiting))

    def _slices_of_words(
        self, files: Sequence[Path], numbers: Sequence[_NewNumbers]
    ) -> Iterator[str]:
        """Yield the SQL of rows that follow each other in the order of words; see `write_words`."""
        sources, sizes = [_Words(reading(files))], [rows_in(files)]
        if numbers:
            each = zip(files, numbers, strict=True)
            sources = [_Words(reading([file]), of) for file, of in each]
            sizes = [rows_in([file]) for file in files]
        slices = 1 + sum(sizes) // _ROWS_OF_SLICE
        sample = [
            bound
            for source, size in zip(sources, sizes, strict=True)
            if slices > 1
            for bound in self._sample(source, 1 + _SAMPLED * slices * size // sum(sizes))
        ]
        for first, last in pairwise([None, *sorted(sample)[_SAMPLED::_SAMPLED], None]):
            if numbers:
                tables = [
                    self._renumbered(source.between(first, last), of)
                    for source, of in zip(sources, numbers, strict=True)
                ]
                self._connection.register("renumbered", arrow.concat_tables(tables))
            yield "FROM renumbered" if numbers else sources[0].between(first, last)

    def _sample(self, words: "_Words", rows: int) -> list["_Bound"]:
        found = self.run(
            f"SELECT word, content FROM {words.rows} USING SAMPLE reservoir({rows} ROWS) "
            "REPEATABLE (1)"
        )
        return [(word, words.new_number(number)) for word, number in found]

    def _renumbered(self, words: str, numbers: _NewNumbers) -> Any:
        """Return the rows of SQL as an Arrow table, with new numbers of contents."""
        with translated():
            table = self._connection.sql(words).to_arrow_table()
        new = numbers[table["content"].to_numpy()]
        return table.set_column(1, "content", arrow.array(new)).filter(arrow.array(new >= 0))

    def copy(self, query: str, order: str, name: str) -> None:
        """Write the rows of a query, sorted."""
        self._write(f"{query} ORDER BY {order}", _ROWS_OF_GROUP[order], name)

    def copy_by_page(self, query: str, name: str) -> None:
        """Write links in the order of a query, which one thread does not change."""
        number = f"((row_number() OVER () - 1) // {ROWS_OF_GROUP})::INTEGER"
        rows = f"SELECT * REPLACE ({number} AS row_group) FROM ({query})"
        self._write(rows, ROWS_OF_GROUP, name)

    def _write(self, query: str, rows_of_group: int, name: str) -> None:
        self.run(
            f"COPY ({query}) TO {quoted(str(self.folder / name))} (FORMAT parquet, "
            f"COMPRESSION zstd, ROW_GROUP_SIZE {rows_of_group})"
        )

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement to its end, and return its rows.

        Raises:
            Exception: Those of `translated`.
        """
        with translated():
            return executed(self._connection, statement)

    @contextmanager
    def _fed(self, name: str, schema: Any, batches: Iterator[Any]) -> Iterator[None]:
        """Make record batches readable under a name; errors of their source keep their type."""
        raised: list[BaseException] = []

        def watched() -> Iterator[Any]:
            try:
                yield from batches
            except GeneratorExit:
                raise
            except BaseException as error:  # Arrow would make a text of it
                raised.append(error)
                raise

        self._connection.register(name, arrow.RecordBatchReader.from_batches(schema, watched()))
        try:
            with uncollected():
                yield
        except (Exception, KeyboardInterrupt):
            if raised:
                raise raised[0] from None
            raise
        finally:
            with suppress(duckdb.Error):
                self._connection.unregister(name)

    def close(self) -> None:
        self._connection.close()


_Bound = tuple[str, int]
"""Where a slice of words ends and the next one begins: a word, and a new number of a content."""


class _Words:
    """Sorted rows of words.

    Args:
        rows: The SQL that reads them.
        numbers: The new number of each content, -1 for one that is left out; the numbers stay if
            they are not given.
    """

    def __init__(self, rows: str, numbers: _NewNumbers | None = None) -> None:
        self.rows = rows
        # Numbers that do not become smaller: those of contents that are left out, too.
        self._bounds = None if numbers is None else np.maximum.accumulate(numbers)

    def new_number(self, number: int) -> int:
        return number if self._bounds is None else int(self._bounds[number])

    def between(self, first: _Bound | None, last: _Bound | None) -> str:
        """Return the SQL of the rows from one bound on, and before another."""
        conditions = ["true"]
        for bound, sign in ((first, ">"), (last, "<")):
            if bound is not None:
                word, number = quoted(bound[0]), bound[1]
                if self._bounds is not None:
                    number = int(np.searchsorted(self._bounds, number))
                here = f"content {'>=' if sign == '>' else '<'} {number}"
                conditions += [f"word {sign}= {word}", f"(word {sign} {word} OR {here})"]
        return f"FROM {self.rows} WHERE {' AND '.join(conditions)}"


def _bytes_of(batches: Sequence[Any]) -> int:
    return sum(batch.nbytes for batch in batches)


_BYTES_OF_ROW = 280
"""Bytes that a row takes in a part and while it is sorted; rarely more."""


def make_part(folder: Path, rows: int, write: Callable[[PartWriter], None], name: str = "") -> str:
    """Write a new part of up to some rows of one kind, and return its name; see `new_part`."""

    def write_files(made: Path) -> None:
        with closing(PartWriter(made)) as writer:
            write(writer)
        shutil.rmtree(made / _SORTING, ignore_errors=True)

    return new_part(folder, rows * _BYTES_OF_ROW, write_files, name)


def rows_of_texts(files: Iterable[Path]) -> int:
    """Return the number of rows of other relations that need as much room as texts, about."""
    size: int = sum(path.stat().st_size for path in files)
    return 4 * size // _BYTES_OF_ROW


def connected(**settings: Any) -> Any:  # Any: of DuckDB
    """Return a DuckDB in memory with these settings."""
    connection = duckdb.connect(":memory:", config=settings)
    # A progress bar would be part of the output. In a notebook without ipywidgets, DuckDB has no
    # bar, and raises an error instead of changing the setting.
    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")
    return connection


def executed(connection: Any, statement: str) -> list[tuple[Any, ...]]:
    """Run a statement to its end, and return its rows.

    Raises:
        KeyboardInterrupt: A handler of a signal has raised it, or one of its subclasses, of which
            DuckDB does not say more.
    """
    try:
        rows: list[tuple[Any, ...]] = connection.execute(statement).fetchall()
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from error
    return rows


def finds(paths: Iterable[Path], condition: str) -> bool:
    """Return whether some files of a relation have a row that meets a condition of SQL."""
    with closing(connected(threads=1)) as connection, translated():
        query = f"SELECT 1 FROM {reading(paths)} WHERE {condition} LIMIT 1"
        return connection.execute(query).fetchone() is not None


def rows_in(paths: Iterable[Path]) -> int:
    """Return the number of rows of some files of a relation."""
    return sum(read_metadata(path).num_rows for path in paths)


def quoted(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def reading(paths: Iterable[Path | str]) -> str:
    """Return the SQL that reads some Parquet files as one relation."""
    return f"read_parquet([{', '.join(quoted(str(path)) for path in paths)}])"
