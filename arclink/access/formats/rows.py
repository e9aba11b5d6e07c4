"""Answers made of rows: as JSON, JSON lines, CSV, Parquet, and columns for a terminal.

`arclink.access.formats.link_rows` and its sibling modules convert each kind of answer into a
`RowAnswer`, which all formats can write.
"""

import codecs
import csv
import io
import os
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import orjson

from arclink.access.declarations import Parameter, named
from arclink.access.formats import CSVW, PARQUET
from arclink.access.formats.table import date_and_time
from arclink.access.provenance import Provenance
from arclink.access.replay import moment_of
from arclink.access.texts import columns, percent_encoded
from arclink.extras import analysis_extra
from arclink.model import Timestamp
from arclink.portions import portions

# Metadata of a CSV file: what its columns mean, and where its rows are from.
#
# Source: Metadata Vocabulary for Tabular Data (CSVW), W3C Recommendation, 2015.

_SUFFIX = "-metadata.json"
"""End of the name by which programs find such a file (Model for Tabular Data, section 5.3)."""

_CONTEXT = "http://www.w3.org/ns/csvw"

# CSVW has no form for times of 14 digits, so they are texts of such a form.
_TIME = {
    "base": "string",
    "format": "[0-9]{14}",
    "dc:description": "UTC: YYYYMMDDhhmmss",
}
_DATATYPES: Mapping[str, object] = {
    "bool": {"base": "boolean", "format": "True|False"},
    "double": "double",
    "float": "float",
    "decimal128": "decimal",
    "date32[day]": "date",
    "time": _TIME,
    **{f"{sign}int{bits}": "integer" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""Datatypes by Arrow types; any other is a text."""


def csvw(
    columns: Iterable[str],
    kind_of: Callable[[str], str],
    about: Mapping[str, str],
    notes: object = None,
    *,
    url: str = "answer.csv",
    cite: str = "",
    archive: str = "",
    never_null: Container[str] = (),
) -> bytes:
    """Return the metadata of a CSV file as JSON.

    Args:
        columns: Names of its columns, in order; two may be equal.
        kind_of: Returns the Arrow type of a column or its name, ``time`` for 14 digits, or a name
            that begins with ``list`` for texts that are separated by spaces.
        about: What columns mean, by name.
        notes: Members of JSON about the file.
        url: Address of the file, relative to that of its metadata.
        cite: A line to cite.
        archive: Name of the archive.
        never_null: Columns in which an empty cell is an empty text, not a missing value.
    """
    names: dict[str, None] = {}
    fields = []
    for column in columns:
        name = base = _name_of(column)
        number = 2
        while name in names:
            name, number = f"{base}.{number}", number + 1
        names[name] = None
        kind = kind_of(column)
        field: dict[str, Any] = {"name": name, "titles": column or " "}
        if column in about:
            field["dc:description"] = about[column]
        field["datatype"] = _DATATYPES.get(kind.partition("(")[0], "string")
        if kind.startswith("list"):
            field["separator"] = " "
        elif column in never_null:
            field["null"] = []  # without it, an empty cell is null (section 5.1.1)
        fields.append(field)
    document = {
        "@context": [_CONTEXT, {"@language": "en"}],
        "url": url,
        **({"dc:source": archive} if archive else {}),
        **({"dc:bibliographicCitation": cite} if cite else {}),
        "dialect": {"header": True, "encoding": "utf-8", "lineTerminators": ["\r\n"]},
        "tableSchema": {"columns": fields},
        **({"notes": notes if isinstance(notes, list) else [notes]} if notes else {}),
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def saying(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `csvw` that say where a file is from, from the members of JSON."""
    return {
        "notes": provenance,
        "cite": provenance["cite"],
        "archive": provenance["archive"] or "",
    }


def next_to(path: Path) -> Path:
    """Return the path of the metadata of a CSV file."""
    return path.with_name(f"{path.name}{_SUFFIX}")


def remove_metadata(path: Path) -> None:
    """Remove the metadata that ArcLink wrote about the CSV file that was at a path.

    Raises:
        OSError: It cannot be removed.
    """
    metadata = next_to(path)
    with suppress(ValueError, LookupError, TypeError):  # not ours
        if metadata.is_file():
            found = orjson.loads(metadata.read_bytes())
            if found["url"] == address_of(path) and found["notes"][0]["arclink"]:
                metadata.unlink()


def address_of(path: Path) -> str:
    """Return the address of a file for metadata next to it.

    >>> address_of(Path("answers/of 2010.csv"))
    'of%202010.csv'
    """
    return quote(os.fsencode(path.name))


def _name_of(column: str) -> str:
    """Return a name that variables of URI templates may have (RFC 6570, section 2.3).

    >>> _name_of("first_seen"), _name_of("_count(*)")
    ('first_seen', '%5Fcount%28%2A%29')
    """
    written = "".join(
        one if one.isascii() and (one.isalnum() or one in "_.") else percent_encoded(one)
        for one in column
    )
    if written[:1] in ("_", "."):
        written = percent_encoded(written[0]) + written[1:]
    return written or "%20"


# Parquet of answers in rows, through Arrow: columns with types, and what the answer is about.
#
# Times are in UTC. Parquet has no type with seconds, so they have milliseconds. Other types are
# those that the answer declares, or else those of its values.
#
# Source: Apache Parquet.

ABOUT = b"arclink"
"""Key of the metadata of a file: what it is about, as JSON."""

_ROWS_OF_GROUP = 50_000


def parquet_pieces(schema: Any, batches: Iterable[Any]) -> Iterator[bytes]:
    """Yield one Parquet file, a row group for each record batch or table.

    Raises:
        ArrowNotImplementedError: Parquet has no form for a type of a column.
    """
    from pyarrow.parquet import ParquetWriter

    buffer = BytesIO()
    with ParquetWriter(buffer, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write(batch)
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def with_provenance(schema: Any, provenance: Mapping[str, object]) -> Any:
    """Return an Arrow schema that says where its rows are from (members of JSON)."""
    return schema.with_metadata({ABOUT: orjson.dumps({"provenance": provenance})})


def parquet_of_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    about: Mapping[str, object],
    types: Mapping[str, Any],
    times: Collection[str],
) -> Iterator[bytes]:
    """Yield rows as one Parquet file; see `arrow_of_rows`.

    Args:
        columns: See `arrow_of_rows`.
        rows: Likewise.
        about: What the file is about, for its metadata.
        types: See `arrow_of_rows`.
        times: Likewise.

    Raises:
        UsageError: Arrow is not installed.
    """
    schema, groups = arrow_of_rows(columns, rows, types, times)
    schema = schema.with_metadata({ABOUT: orjson.dumps(about, default=str)})
    return parquet_pieces(schema, (group.cast(schema) for group in groups))


def arrow_of_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    types: Mapping[str, Any],
    times: Collection[str],
) -> tuple[Any, Iterator[Any]]:
    """Return the Arrow schema of rows, and the rows as tables of up to 50,000.

    Args:
        columns: Names of the columns.
        rows: Their values in this order; times are 14 digits, other values as of JSON.
        types: Arrow types of columns or their names, where they are known; else those of the first
            group of rows.
        times: Names of the columns of times. If their type is ``list<timestamp>``, values are lists
            of times.

    Raises:
        UsageError: Arrow is not installed.
    """
    with analysis_extra():
        import pyarrow as arrow

    rest = iter(rows)
    some = list(islice(rest, _ROWS_OF_GROUP))
    time = arrow.timestamp("ms", tz="UTC")
    fields = []
    for number, name in enumerate(columns):
        kind = types.get(name)
        if isinstance(kind, str) and kind.startswith("list<"):
            of_items = kind.removeprefix("list<").removesuffix(">")
            kind = arrow.list_(time if of_items == "timestamp" else arrow.type_for_alias(of_items))
        elif name in times:
            kind = time
        elif isinstance(kind, str):
            kind = arrow.type_for_alias(kind)
        if kind is None:
            kind = arrow.array([row[number] for row in some]).type
        # Without any value, it is a column of texts: other libraries do not read "null".
        fields.append((name, "string" if kind == arrow.null() else kind))
    schema = arrow.schema(fields)

    def groups() -> Iterator[Any]:
        group = some
        while group:
            values = zip(*group, strict=True)
            yield arrow.table(
                [
                    arrow.array([*map(_moment, one)] if field.name in times else one, field.type)
                    for field, one in zip(schema, values, strict=True)
                ],
                schema=schema,
            )
            group = list(islice(rest, _ROWS_OF_GROUP))

    return schema, groups()


def _moment(time: Any) -> Any:
    if isinstance(time, list | tuple):
        return [*map(_moment, time)]
    return moment_of(Timestamp(time)) if time else None


# Rows that are pages, as lists for crawlers.
#
# Source: Heritrix 3, *seeds.txt* (a URI per line); Browsertrix Crawler, *YAML config* (``seeds``).


Row = Mapping[str, object]
"""Values by column, cleaned for writing.

A value is a text, a number, None, or a list of texts.
"""

TIME_COLUMNS = frozenset(
    {
        "first",
        "last",
        "before",
        "after",
        "last_without",
        "first_with",
        "last_with",
        "first_without",
        "time",
        "timestamp",
        "seen",
        "since",
        "host_last",
        "captured",
    }
)
"""Columns whose values are timestamps."""

UNKNOWN = "unknown"
"""What people read in place of a number of links that is not known."""

_ROWS_AT_ONCE = 5_000
"""Number of rows that are written together."""

_FORMULAS = re.compile(
    r"""(?:^|(?<=[;\t\r\n]))  # where a cell begins, also if semicolons or tabs separate cells
    (?=(?:["\ufeff]|[^\S\t\r\n])*[=+\-@\uff1d\uff0b\uff0d\uff20])  # blanks and a sign
    |^(?=[\t\r])""",
    re.VERBOSE,
)
"""Places in a text at which a spreadsheet could read a formula."""


@dataclass(frozen=True, slots=True)
class RowAnswer:
    """An answer made of lists of rows.

    Attributes:
        about: The JSON fields before the rows.
        lines: The same information as text lines for users.
        columns: Names of the columns of CSV, in order.
        shown: Names of the columns in a terminal; if empty, those of CSV. The last column is never
            truncated.
        sections: The rows, by the name of their list in JSON.
        section: Name of the column that contains the name of the list, for formats that write all
            lists as one; empty if there is only one list.
        labels: The value of that column, by list.
        next: Cursor of the next page; None on the last page.
        decimals: Number of decimal places in a terminal.
        types: Arrow types of columns, or their names, where they are known also without rows.
        uris: Name of the column with the page that a row is; empty if rows are something else.
        meanings: What columns mean, as sentences by name; empty if they are not declared.
        provenance: Where the rows are from; None if they are not read from one store.
        url: Address of the same answer as CSV, for its metadata.
    """

    about: Mapping[str, object]
    lines: Sequence[str]
    columns: Sequence[str]
    sections: Mapping[str, Sequence[Row]]
    section: str = ""
    labels: Mapping[str, str] | None = None
    shown: Sequence[str] = ()
    next: str | None = None
    decimals: int = 6
    types: Mapping[str, Any] = field(default_factory=dict)
    uris: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    provenance: Provenance | None = None
    url: str = "answer.csv"

    @property
    def head(self) -> Mapping[str, object]:
        """The members of JSON before the rows."""
        from_where = self.provenance and {"provenance": self.provenance.as_fields()}
        return {**self.about, **(from_where or {})}

    @property
    def document(self) -> Mapping[str, object]:
        """All members of JSON."""
        return {**self.head, **self.sections}

    @property
    def times(self) -> frozenset[str]:
        """Names of the columns of times; a declared type tells others of the same name."""
        named = TIME_COLUMNS.intersection(self.columns)
        return frozenset(one for one in named if str(self.types.get(one, "string")) == "string")

    def as_csvw(self, url: str, day: str = "") -> bytes:
        """Return the metadata of the answer as CSV.

        Args:
            url: Address of the CSV, relative to that of its metadata.
            day: The day on which it was read, for a file; or empty.
        """
        times = self.times

        def kind_of(column: str) -> str:
            if column in times:
                return "time"
            if column in self.types:
                return str(self.types[column])
            values = (row.get(column) for row in self.labelled())
            value = next((one for one in values if one is not None), "")
            return _KINDS.get(type(value), "string")

        said = saying(self.provenance.as_fields(day)) if self.provenance else {}
        notes = said or {"notes": self.about.get("archives")}
        rows = [*self.labelled()]
        never_null = [
            column
            for column in self.columns
            if kind_of(column) == "string" and all(row.get(column) is not None for row in rows)
        ]
        return csvw(self.columns, kind_of, self.meanings, url=url, never_null=never_null, **notes)

    def first_rows(self, most: int | None) -> Self:
        """Return the answer with up to ``most`` rows of each list; with all of them if None."""
        return replace(self, sections={name: rows[:most] for name, rows in self.sections.items()})

    def labelled(self) -> Iterator[Row]:
        """Yield the rows of all lists, each with the label of its list."""
        for name, rows in self.sections.items():
            label = {self.section: (self.labels or {}).get(name, name)} if self.section else {}
            yield from ({**label, **row} for row in rows)

    def values(self) -> Iterator[Sequence[object]]:
        """Yield the values of all rows, in the order of the columns."""
        return ([row.get(column) for column in self.columns] for row in self.labelled())


@dataclass(frozen=True, slots=True)
class RowFormat:
    """One way to write rows; see `arclink.access.formats.Format`."""

    name: str
    media_types: tuple[str, ...]
    write: Callable[[RowAnswer], Iterator[bytes]]


def _write_rows_json(answer: RowAnswer) -> Iterator[bytes]:
    """Yield one document that ends with a line end."""
    yield orjson.dumps(answer.document, option=orjson.OPT_APPEND_NEWLINE)


def _write_rows_json_lines(answer: RowAnswer) -> Iterator[bytes]:
    """Yield one line per row; without rows, yield nothing."""
    for row in answer.labelled():
        yield orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def csv_pieces(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    """Yield CSV (RFC 4180): a header, and the rows as they come; UTF-8, lines end with CR LF."""
    return csv_of_parts(columns, portions(rows, _ROWS_AT_ONCE))


def csv_of_parts(
    columns: Sequence[str],
    parts: Iterable[Iterable[Sequence[object]]],
    *,
    has_quoted_texts: bool = False,
) -> Iterator[bytes]:
    """Yield CSV of rows that come in parts, each part before the next one is read.

    Args:
        columns: The header.
        parts: The rows.
        has_quoted_texts: Whether all texts are in quotes, not only those that RFC 4180 requires.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(
        buffer, quoting=csv.QUOTE_NONNUMERIC if has_quoted_texts else csv.QUOTE_MINIMAL
    )
    writer.writerow(columns)
    for some in parts:
        writer.writerows(some)
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    if buffer.tell():
        yield buffer.getvalue().encode()


def spreadsheet_of_parts(
    columns: Sequence[str], parts: Iterable[Iterable[Sequence[object]]]
) -> Iterator[bytes]:
    """Yield CSV for spreadsheets: with a byte order mark, and no text that is a formula.

    Times are ISO 8601 with a blank, which they read as times; 14 digits would be a number to them.
    Without the mark, Excel reads UTF-8 as another charset. A text that a spreadsheet would compute
    has an apostrophe in front, as a user would write it. Where semicolons separate cells, as in the
    German Excel, quotes after a comma do not keep a text together: each part has its apostrophe.
    LibreOffice takes commas, semicolons and tabs as separators, but not in quotes.

    Source: OWASP, CSV Injection.
    """
    yield codecs.BOM_UTF8
    write = [_spreadsheet_time if column in TIME_COLUMNS else _no_formula for column in columns]
    written = (
        [[one(value) for one, value in zip(write, row, strict=True)] for row in part]
        for part in parts
    )
    yield from csv_of_parts(columns, written, has_quoted_texts=True)


def _spreadsheet_time(value: object) -> object:
    return date_and_time(Timestamp(str(value))) if _is_time(value) else _no_formula(value)


def _is_time(value: object) -> bool:
    return isinstance(value, str) and len(value) == 14 and value.isdigit()


def _no_formula(value: object) -> object:
    return _FORMULAS.sub("'", value) if isinstance(value, str) else value


def _write_rows_csv(answer: RowAnswer) -> Iterator[bytes]:
    """Yield CSV. The texts of a list are separated by spaces."""
    return csv_pieces(answer.columns, ([*map(_cell, row)] for row in answer.values()))


def _write_rows_spreadsheet(answer: RowAnswer) -> Iterator[bytes]:
    """Yield CSV for spreadsheets."""
    return spreadsheet_of_parts(answer.columns, [[[*map(_cell, row)] for row in answer.values()]])


def _write_rows_parquet(answer: RowAnswer) -> Iterator[bytes]:
    """Yield one Parquet file."""
    return parquet_of_rows(answer.columns, answer.values(), answer.head, answer.types, answer.times)


def _write_rows_csvw(answer: RowAnswer) -> Iterator[bytes]:
    """Yield what the CSV of the answer means, and where it is from; no rows."""
    yield answer.as_csvw(answer.url)


_KINDS: Mapping[type, str] = {bool: "bool", int: "int64", float: "double", list: "list"}
"""Arrow types of values, for columns without a declared one."""


def _write_rows_table(answer: RowAnswer) -> Iterator[bytes]:
    """Yield text lines for users, then the rows in columns."""
    for line in answer.lines:
        yield f"{line}\n".encode()
    names = answer.shown or answer.columns
    rows = [
        [
            UNKNOWN
            if is_unknown(column, row)
            else shown_text(column, row.get(column), answer.decimals)
            for column in names
        ]
        for row in answer.labelled()
    ]
    if rows:
        for line in columns([column.replace("_", " ") for column in names], rows):
            yield f"{line}\n".encode()
    if answer.next is not None:
        yield f"\nThere is more: repeat the command with --cursor {answer.next}\n".encode()


ROW_FORMATS: Mapping[str, RowFormat] = {
    form.name: form
    for form in (
        RowFormat("table", (), _write_rows_table),
        RowFormat("json", ("application/json",), _write_rows_json),
        RowFormat(
            "jsonl",
            ("application/jsonl", "application/x-ndjson", "application/jsonlines"),
            _write_rows_json_lines,
        ),
        RowFormat("csv", ("text/csv",), _write_rows_csv),
        RowFormat("spreadsheet", ("text/csv",), _write_rows_spreadsheet),
        RowFormat("parquet", (PARQUET,), _write_rows_parquet),
        RowFormat("csvw", (CSVW,), _write_rows_csvw),
    )
}
"""Formats by name; the first with a media type is the default of the service."""

ROW_FORMAT = Parameter("format", "Format of the answer.", named(ROW_FORMATS), default="table")


def _cell(value: object) -> object:
    if isinstance(value, list):
        return " ".join(str(one).replace(" ", "%20") for one in value)
    return "" if value is None else value


def is_unknown(column: str, row: Row) -> bool:
    """Return whether people read `UNKNOWN` in an empty cell: no links of the row are known."""
    return row.get(column) is None and row.get("read") == 0 and column not in TIME_COLUMNS


def shown_text(column: str, value: object, decimals: int) -> str:
    """Return a value as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:>6,}"
    if isinstance(value, float):
        return f"{value:>8,.{decimals}f}"
    if column in TIME_COLUMNS and _is_time(value):
        return date_and_time(Timestamp(str(value)))
    return str(_cell(value))


_SCHEMES = ("http://", "https://")


def seeds_of(answer: RowAnswer) -> tuple[Sequence[str], int]:
    """Return the addresses of rows, each once, and the number of those that no crawler captures."""
    found = (row[answer.uris] for row in answer.labelled())
    addresses = dict.fromkeys(str(uri) for uri in found if uri is not None)
    seeds = [address for address in addresses if address.lower().startswith(_SCHEMES)]
    return seeds, len(addresses) - len(seeds)


def _write_seeds(answer: RowAnswer) -> Iterator[bytes]:
    """Yield the addresses, one per line."""
    for seed in seeds_of(answer)[0]:
        yield f"{seed}\n".encode()


def _write_browsertrix(answer: RowAnswer) -> Iterator[bytes]:
    """Yield a configuration of Browsertrix Crawler (YAML) that captures these pages only."""
    seeds, _ = seeds_of(answer)
    yield b"seeds:\n" if seeds else b"seeds: []\n"
    for seed in seeds:
        # A JSON string is a YAML string.
        yield b"- url: " + orjson.dumps(seed) + b"\n  scopeType: page\n"


SEED_FORMATS: Mapping[str, RowFormat] = {
    form.name: form
    for form in (
        RowFormat("seeds", ("text/plain",), _write_seeds),
        RowFormat("browsertrix", ("application/yaml",), _write_browsertrix),
    )
}
"""The formats by name."""
