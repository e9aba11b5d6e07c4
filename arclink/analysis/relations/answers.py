"""Answers of SQL in the formats that users ask for, row by row, and as a result of Python."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

import orjson
import pyarrow as arrow

from arclink.access.declarations import SUBSET, warn_renamed
from arclink.access.formats.rows import (
    ABOUT,
    Row,
    RowAnswer,
    csv_pieces,
    csvw,
    parquet_pieces,
    saying,
)
from arclink.access.provenance import Provenance, provenance_of
from arclink.access.texts import columns, counted, cut_in_the_middle
from arclink.analysis.charts.results import ListedRows
from arclink.analysis.relations.database import RelationsDatabase, ask
from arclink.archives.locations import WAT_SUFFIXES
from arclink.checksums import EMPTY_CHECKSUMS
from arclink.errors import UsageError
from arclink.progress import shown_width
from arclink.store.protocols import Scans

# How often pages stayed the same from crawl to crawl, and what one copy of each would save.
#
# Source: the Cornell Web library, 2.1.1: it kept one copy of each content, and "surprisingly, there
# is as yet very little data about how many pages remain unchanged between crawls".

_SHOWN = ("period", "captures", "first", "same", "changed", "unknown", "payloads", "revisits")
_BYTES = ("bytes", "revisit_bytes", "saved_bytes")


def count_duplicates(database: RelationsDatabase, store: Scans, archive: str) -> RowAnswer:
    """Return the counts by month or year, and in total, for all formats of rows.

    Args:
        database: The relations of the store.
        store: The store, or the part of it that is counted.
        archive: Name of the archive; may be empty.

    Raises:
        OperatorError: The files of the relations cannot be read.
        StoreError: The store cannot be read.
    """
    values = {"empty": sorted(EMPTY_CHECKSUMS), "wat": WAT_SUFFIXES}
    *periods, whole = ask(database, "common", "duplicates", values=values)
    total = {name: value for name, value in whole.items() if name != "period"}
    return RowAnswer(
        {"total": total},
        [*_lines(total), *([""] if periods else [])],
        ["period", *total],
        {"periods": periods},
        shown=[*_SHOWN, *_BYTES],
        types={"period": "string", **dict.fromkeys(total, "int64")},  # `first` is no time here
        provenance=provenance_of(store, archive, "stats --duplicates", declared=(SUBSET,)),
    )


def _lines(total: Mapping[str, int]) -> Iterator[str]:
    """Yield the total in sentences; what is not known is said apart."""
    same, known = total["same"], total["same"] + total["changed"]
    yield f"{counted(total['captures'], 'capture')} of {counted(total['first'], 'URI')}"
    yield f"{same:,} of {known:,} captures have the payload of the one before{_share(same, known)}"
    if total["unknown"]:
        yield f"{total['unknown']:,} more may have it: one of the two payloads is unknown"
    full, saved = total["bytes"] - total["revisit_bytes"], total["saved_bytes"]
    yield (
        f"One copy of each payload would save {saved:,} of {full:,} bytes of records"
        f"{_share(saved, full)}; {counted(total['revisits'], 'revisit')} with "
        f"{total['revisit_bytes']:,} bytes saved theirs already"
    )
    if total["unknown_bytes"]:
        yield f"The bytes of {counted(total['unknown_bytes'], 'record')} are unknown"


def _share(part: int, whole: int) -> str:
    return f" ({part / whole:.1%})" if whole else ""


_MOST_SHOWN = 1_000
"""Number of rows that a terminal shows; other formats, and files, have all."""

_LONGEST_TITLE = 100
"""Characters of a query that are the title of its answer."""

_LARGEST = 1 << 63
"""Integers from this one on, of either sign, are texts in JSON."""

_JSON = (
    orjson.OPT_APPEND_NEWLINE | orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
)


def _write_sql_table(rows: Any) -> Iterator[bytes]:
    """Yield the answer as columns for a terminal, with the number of rows.

    Args:
        rows: A reader of record batches (`SqlDatabase.reading`).
    """
    names = rows.schema.names
    values = _rows_of(rows)
    is_cut = shown_width.get() is not None
    shown = [[*map(_shown, row)] for row in (islice(values, _MOST_SHOWN) if is_cut else values)]
    for line in columns(names, shown):
        yield f"{line}\n".encode()
    more = sum(1 for _ in values)
    if more:
        yield f"and {counted(more, 'more row')}; --format csv writes all\n".encode()


def _write_sql_csv(rows: Any) -> Iterator[bytes]:
    """Yield the answer as CSV (RFC 4180)."""
    return csv_pieces(rows.schema.names, ([*map(_text, row)] for row in _rows_of(rows)))


def _write_sql_json(rows: Any) -> Iterator[bytes]:
    """Yield the answer as JSON lines: an object for each row."""
    names = rows.schema.names
    for row in _rows_of(rows):
        fields = dict(zip(names, row, strict=True))
        yield orjson.dumps(fields, default=_plain, option=_JSON)


def _write_sql_parquet(rows: Any) -> Iterator[bytes]:
    """Yield the answer as one Parquet file.

    Raises:
        UsageError: Parquet has no form for a type of a column, such as an interval.
    """
    from pyarrow import ArrowNotImplementedError

    try:
        yield from parquet_pieces(rows.schema, rows)
    except ArrowNotImplementedError as error:
        raise UsageError(f"--format parquet: {error}; cast the column to a text") from error


def sql_as_csvw(schema: Any, url: str = "answer.csv") -> bytes:
    """Return the metadata of the answer as CSV, which says where it is from, too.

    Args:
        schema: The schema, which says it (`arclink.access.formats.rows.with_provenance`).
        url: Address of the CSV, relative to that of its metadata.
    """
    types = {field.name: str(field.type) for field in schema}
    # Lists are JSON in a cell here.
    kinds = {name: "string" if kind.startswith("list") else kind for name, kind in types.items()}
    about = orjson.loads(schema.metadata[ABOUT])
    return csvw(schema.names, kinds.__getitem__, {}, url=url, **saying(about["provenance"]))


SQL_FORMATS: Mapping[str, Callable[[Any], Iterator[bytes]]] = {
    "table": _write_sql_table,
    "csv": _write_sql_csv,
    "json": _write_sql_json,
    "parquet": _write_sql_parquet,
    "csvw": lambda rows: iter([sql_as_csvw(rows.schema)]),
}


class SqlAnswer(ListedRows[Row]):
    """The answer of a query in SQL: an Arrow table, whose rows are made when they are read.

    Times have the type of all results: 14 digits in items, UTC with milliseconds in frames. Other
    values are those of Arrow. Of columns with one name, the later ones have ``_1`` after it. It has
    no picture: what its rows count is not known.
    """

    def __init__(
        self, query: str, table: arrow.Table, read_from: str, provenance: Provenance
    ) -> None:
        self._query, self._read_from, self._provenance = query, read_from, provenance
        names: list[str] = []
        for name in table.column_names:  # a row by column would lose one of the same name
            while name in names:
                name = f"{name}_1"
            names.append(name)
        self._earlier, self._table = table, with_one_time(table.rename_columns(names))
        super().__init__(_Rows(self._table))

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the Arrow table, as the answer was one in earlier versions."""
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._earlier, name)
        warn_renamed(f"{name} of an answer of sql", f"to_arrow().{name}")
        return found

    @property
    def title(self) -> str:
        return cut_in_the_middle(" ".join(self._query.split()), _LONGEST_TITLE)

    @property
    def read_from(self) -> str:
        return self._read_from

    @property
    def provenance(self) -> Provenance:
        return self._provenance

    def as_rows(self, most: int | None = None) -> RowAnswer:
        types = {field.name: field.type for field in self._table.schema}
        rows = [*_Rows(self._table.slice(0, most))]
        return RowAnswer({}, (), [*types], {"rows": rows}, types=types, provenance=self._provenance)

    def to_arrow(self) -> arrow.Table:
        return self._table

    def picture(self, rows: RowAnswer | None = None) -> None:
        return None


def with_one_time(table: arrow.Table) -> arrow.Table:
    """Return a table whose times are in UTC with milliseconds, as in all results.

    Times of SQL without a zone are in UTC. Fractions of a millisecond are cut.
    """
    time = arrow.timestamp("ms", tz="UTC")
    for index, field in enumerate(table.schema):
        is_list = arrow.types.is_list(field.type)
        if arrow.types.is_timestamp(field.type.value_type if is_list else field.type):
            kind = arrow.list_(time) if is_list else time
            table = table.set_column(index, field.name, table.column(index).cast(kind, safe=False))
    return table


class _Rows(Sequence[Row]):
    """The rows of a table by column, with times as 14 digits; each is made when it is read."""

    def __init__(self, table: arrow.Table) -> None:
        self._table = table

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[Row]:
        for row in _rows_of(self._table.to_batches()):
            yield dict(zip(self._table.column_names, map(_digits, row), strict=True))

    def __getitem__(self, index: Any) -> Any:
        numbers = range(len(self))[index]
        if isinstance(numbers, range):
            return [*_Rows(self._table.take(arrow.array(numbers, arrow.int64())))]
        return next(iter(_Rows(self._table.slice(numbers, 1))))


def _digits(value: object) -> object:
    """Return times in a value as 14 digits, any other value unchanged."""
    if isinstance(value, datetime):
        return re.sub(r"\D", "", value.isoformat()[:19])
    if isinstance(value, dict):
        return {name: _digits(one) for name, one in value.items()}
    return [*map(_digits, value)] if isinstance(value, list) else value


def _rows_of(rows: Any) -> Iterator[tuple[Any, ...]]:
    for batch in rows:
        yield from zip(*map(_values, batch.columns), strict=True)


def _values(column: Any) -> list[Any]:
    """Return the values of a column; those that Python has no form for (infinity) as texts."""
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):
        values = column.cast("string").to_pylist()
    return values


def _shown(value: object) -> str:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return f"{value:>6,}"
    if isinstance(value, float):
        return f"{value:>8,.6g}"
    return "-" if value is None else str(_text(value))


def _text(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, UUID):
        return value.hex
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | dict):
        return orjson.dumps(value, default=_plain, option=_JSON).decode().rstrip()
    return "" if value is None else value


def _plain(value: object) -> object:
    """Return a value in a form that JSON has."""
    if isinstance(value, Decimal):
        if value != value.to_integral_value():
            return float(value)
        return int(value) if abs(value) < _LARGEST else str(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return value.hex
    return value.hex() if isinstance(value, bytes) else str(value)
