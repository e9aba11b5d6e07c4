"""Answers of questions: SQL over the relations of a store."""

import base64
import hashlib
import json
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from enum import Enum
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import pyarrow as arrow
from pyarrow import compute

from arclink.access.chronicles import units_known
from arclink.access.formats.rows import RowAnswer
from arclink.access.provenance import Provenance
from arclink.access.tallies import Period
from arclink.access.words import found_places
from arclink.analysis.charts.results import ResultRows
from arclink.analysis.matrices.slices import EVER, Level
from arclink.analysis.questions.queries import AskQuery
from arclink.analysis.questions.table import (
    COUNTS_OF_CAPTURES,
    MEANINGS,
    Basis,
    QuestionScope,
    SliceGroups,
)
from arclink.analysis.relations.database import RelationsDatabase, prepared, with_integers
from arclink.analysis.relations.found import found_terms
from arclink.analysis.relations.parts import LAST, WebPart
from arclink.analysis.relations.sql_texts import COMMON, text_of
from arclink.analysis.relations.writing import quoted
from arclink.errors import NoTextsError
from arclink.known import NOTHING, KnownLinks, known_by, known_in
from arclink.model import ALL_TIME, Surt, Timestamp
from arclink.portions import portions
from arclink.uris.hosts import Host, domain_of, host_of
from arclink.version import VERSION

_FOLDER = "arclink.analysis.questions.sql"
_COMMON = ("words", "common")
_PARTS = arrow.schema(
    [
        ("number", arrow.int32()),
        *((name, arrow.string()) for name in ("key", "part_first", "part_last", "place")),
    ]
)

_KNOWN = """
    count(*) AS captures,
    count(*) FILTER (was_read) AS read,
    min(timestamp) FILTER (was_read) AS first,
    max(timestamp) FILTER (was_read) AS last
"""
"""The columns of `KnownLinks`."""

_LINKS_READ = "is_counted(content, status, leads_to_itself)"
_TEXT_READ = "content IN (SELECT content FROM known_texts) AND NOT leads_to_itself"
"""Conditions that the links, or the text, of a capture are known."""

_DAYS = f"""
    SELECT left(timestamp, 8) AS day, min(timestamp), max(timestamp), {_KNOWN}
    FROM (SELECT timestamp, {{was_read}} AS was_read FROM {{of}})
    GROUP BY ALL ORDER BY ALL
"""
"""The captures of each day: times of its first and last one, and what is known."""

_WINDOWS = f"""
    SELECT {{number}} AS number, period, {_KNOWN}
    FROM (
        SELECT *, period_of(timestamp) AS period, {{was_read}} AS was_read
        FROM {{of}}
        WHERE is_asked_time(timestamp)
    )
    GROUP BY ALL
"""
"""What is known in each window with captures, for each part."""

_TEXTS = """
    SELECT
        count(*) FILTER (is_cut),
        count(*) FILTER (NOT has_text OR starts_with(content, 'redirect:')),
        count(*) FILTER (has_text IS NULL AND NOT starts_with(content, 'redirect:'))
    FROM of_any_part LEFT JOIN (
        SELECT content, is_cut, is_cut IS NOT NULL AS has_text FROM texts
    ) USING (content)
    WHERE is_asked_time(timestamp) AND content IS NOT NULL
"""
"""The captures whose text is known in part, not at all, or was not read."""

_COMPARED = """
    SELECT count(*)
    FROM (
        SELECT number
        FROM said_of_part
        WHERE is_read_time(timestamp) AND is_known(content, status)
        GROUP BY number, surt
        HAVING earlier_time(timestamp) IS DISTINCT FROM max(timestamp)
    )
"""
"""The pages with a later capture than the earlier one that is compared."""

_MIDNIGHT, _ENDS = "000000", ("235959", ALL_TIME.last[8:])
"""Times of a day at which spans of whole days begin and end."""

_LEVELS = {
    QuestionScope.PAGE: Level.URI,
    QuestionScope.PREFIX: Level.URI,
    QuestionScope.DOMAIN: Level.DOMAIN,
}
"""How targets are grouped in questions whose rows are no pages, if not as hosts."""

_NAMED = ("uri", "host")
"""Parts of the web that are found by their names, not by a range of SURTs."""


_LINKS_OF_MEGABYTE = 10_000
"""Number of links of a slice for each megabyte of memory: their pages and hosts are distinct."""

_SAMPLE = 10_000
"""Number of links by whose targets links are cut into slices."""

_BYTES_OF_ANSWER, _BYTES_OF_COUNT = 8_000, 200
"""Bytes of memory that an answer without rows takes, and a day with its captures, about."""

_MOST_ADDED = 20_000
"""Largest number of rows that are added for names without links in a window: for those with most
links."""

_ROW_KEY = ("number", "period")
"""Columns of the text of SQL by which rows come."""

_AT_ONCE = 500
"""Number of contents of which the text is read at once, to show a line of each."""

_MOST_COUNTED = 1_000_000
"""Links to a part are counted up to this number, before they are read (``links_of_part``)."""

_WHOLE: Mapping[str, object] = {
    "slice_first": "",
    "slice_end": LAST,
    "slice_by": None,
    "slices": 1,
    "slice": 0,
}
"""All links as one slice: the values of variables of `asked.sql`."""


@dataclass(frozen=True, slots=True)
class KnownCaptures:
    """The captures that an answer is read from.

    Attributes:
        first: Timestamp of the oldest; None without captures.
        last: Timestamp of the newest.
        by_day: What is known on each day with captures, oldest first.
    """

    first: Timestamp | None
    last: Timestamp | None
    by_day: Mapping[str, KnownLinks]

    @property
    def all(self) -> KnownLinks:
        """What is known of all of them together."""
        return known_in(self.by_day.values())

    @property
    def captures(self) -> int:
        """Their number."""
        return self.all.captures or 0

    @property
    def known(self) -> int:
        """Number of those whose links are known, also if there are no links."""
        return self.all.read or 0


class KnownTexts(NamedTuple):
    """The captures whose text is not known, or not all of it.

    Attributes:
        cut: Number of those whose page is longer than what was read.
        others: Number of those that are no HTML and no plain text.
        unread: Number of those whose text was not read from their archive file.
    """

    cut: int
    others: int
    unread: int


@dataclass(frozen=True, slots=True, repr=False)
class AskAnswer(ResultRows):
    """The answer to a question; its items are its rows by column, times as 14 digits.

    Attributes:
        query: The question.
        table: The rows, an Arrow table: the columns of the question, after those of `EXTRA` that
            are needed.
        total: Number of rows without limit.
        known: What it was read from: without captures, no row does not mean "none".
        windows: What is known in each window of time, also without captures; empty for all time
            together.
        added: Number of rows that are only about a window in which nothing is known.
        compared: Number of pages that could be compared: at two times, or in two periods if there
            are no rows; None if the question compares no pages.
        texts: Of a question about texts: captures whose text is not known.
        places: Where each snippet has words (`found_places`).
        provenance: Where it is from; None if no door has said it.
    """

    query: AskQuery
    table: Any
    total: int
    known: KnownCaptures
    windows: Mapping[str, KnownLinks]
    added: int = 0
    compared: int | None = None
    texts: KnownTexts | None = None
    places: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    provenance: Provenance | None = None

    def periods(self, period: Period) -> Collection[str]:
        """Return the periods of which the question has an answer: no row means none in them."""
        return period.known(self.known.by_day, with_links=self.query.question.needs_read)

    @property
    def unchanged(self) -> int | None:
        """Number of pages that do not differ at two times; None if these are not compared."""
        if self.compared is None or not self.query.question.compares:
            return None
        return self.compared - self.total

    @property
    def bytes(self) -> int:
        """Bytes of memory that it takes, about, without what all answers share."""
        query = self.query
        asked = (one.written for one in query.asked)
        letters = sum(map(len, (*asked, *query.words, query.windows.written, *query.kinds.named)))
        counts = len(self.windows) + (0 if _is_of_all_days(query) else len(self.known.by_day))
        counts += sum(map(len, self.places.values()))
        letters += sum(map(len, self.places))
        return int(self.table.nbytes) + _BYTES_OF_ANSWER + 8 * letters + _BYTES_OF_COUNT * counts

    @property
    def left_out(self) -> int:
        """Number of rows after the limit."""
        return self.total - int(self.table.num_rows)

    @property
    def found(self) -> int:
        """Number of rows without limit, without those that are `added`."""
        return self.total - self.added

    @property
    def unknown(self) -> str:
        """Why no row does not mean "none"; empty if it has such rows, or if it does."""
        return "" if self.found else self.why_unknown

    @property
    def why_unknown(self) -> str:
        """Why no row does not mean "none"; empty if it does."""
        windows, known = self.windows.values(), self.known.all
        if windows and not any(one.is_known for one in windows):
            known = known_in(windows)
        if not known.captures or (self.query.question.needs_read and not known.read):
            return known.why_unknown("from then")
        if self.query.question.is_by_calendar and len(self.windows) == 1:
            (only,) = self.windows
            return f"all captures are of {only}, so there is nothing to compare"
        if self.query.question.is_by_calendar and self.compared == 0:
            before, after = [*self.windows][-2:]
            return f"no page with known links was captured both in {before} and in {after}"
        if "comparisons" in self.query.question.columns or self.compared == 0:  # all are in rows
            return "no page has two captures with known links to compare"
        return ""

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows by column, without those that are `added`."""
        telling = [name for name in self.query.question.columns if name not in COUNTS_OF_CAPTURES]
        rows: list[dict[str, Any]] = self.table.to_pylist()
        if not self.added:
            return rows
        return [row for row in rows if any(row[name] is not None for name in telling)]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.table.to_pylist())

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __bool__(self) -> bool:
        return bool(self.found)

    @property
    def title(self) -> str:
        of = ", ".join(one.written for one in self.query.asked if one.written)
        return f"{self.query.name} of {of or 'the archive'}"

    @property
    def read_from(self) -> str:
        return f"unknown: {self.unknown}" if self.unknown else self.known.all.read_from

    @property
    def known_by_day(self) -> Mapping[str, KnownLinks]:
        return self.known.by_day

    @property
    def size(self) -> int:
        return len(self)

    def as_rows(self, most: int | None = None) -> RowAnswer:
        """Return the rows, or the first ``most`` of them."""
        table = self.table.slice(0, most)
        types = {field.name: field.type for field in table.schema}
        return RowAnswer(
            {},
            (),
            table.column_names,
            {"rows": table.to_pylist()},
            types=types,
            meanings=MEANINGS,
            provenance=self.provenance,
        )


def ask(database: RelationsDatabase, query: AskQuery) -> AskAnswer:
    """Return the answer to a question.

    Args:
        database: The relations, for this question only: texts of questions make views in it.
        query: The question.

    Raises:
        LimitError: The answer exceeds a limit of the database.
        OperatorError: The files of the relations cannot be read.
        NoTextsError: The question is about texts, and none was read.
    """
    ready = _ready(database, query)
    if query.question.has_terms:
        _count_terms(database, query, ready)
    table, total = _rows(database, ready(text_of(_FOLDER, query.name)), query)
    places = dict[str, Sequence[tuple[int, int]]]()
    if "snippet" in table.column_names:
        table, places = _with_snippets(database, table, ready)
    known = _known(tuple(_days(database, query, ready)))
    windows = _windows(database, query, ready, known)
    if query.question.names_linkers and windows:
        in_windows = _in_windows(database, query, ready, windows)
        total += in_windows.num_rows - table.num_rows
        table = in_windows
    of_rows = table.num_rows
    if windows and "period" in table.column_names and not query.question.is_by_calendar:
        table = _with_unknown(table, query, _windows_of_parts(database, query, ready, windows))
    added = table.num_rows - of_rows
    total += added
    compared = None
    if query.question.compares:
        ((compared,),) = database.found(ready(_COMPARED))
    elif not total and query.question.is_by_calendar and query.question.is_of_links:
        ((compared,),) = database.found(ready("SELECT count(*) FROM pages_twice"))
    texts = None
    if query.question.is_of_texts:
        (counts,) = database.found(ready(_TEXTS))
        texts = KnownTexts(*counts)
    table = _with_extra(table, query)
    return AskAnswer(query, table, total, known, windows, added, compared, texts, places)


def _with_snippets(
    database: RelationsDatabase, table: Any, ready: Callable[[str], str]
) -> tuple[Any, dict[str, Sequence[tuple[int, int]]]]:
    """Return rows with the line that has most of the words, in place of its content.

    The second value is where each line has words.
    """
    contents = table.column("snippet").to_pylist()
    lines: dict[str, str] = {}
    places: dict[str, Sequence[tuple[int, int]]] = {}
    for some in portions(sorted({one for one in contents if one is not None}), _AT_ONCE):
        names = ", ".join(map(quoted, some))
        snippets = f"SELECT content, snippet_of(text) AS line FROM texts WHERE content IN ({names})"
        query = f"SELECT *, pieces_of(line), getvariable('phrases') FROM ({snippets})"
        for content, line, pieces, phrases in database.found(ready(query)):
            lines[content] = line
            places[line] = found_places(phrases, (one.values() for one in pieces or ()))
    shown = _texts([lines.get(one, "") for one in contents])
    place = table.column_names.index("snippet")
    return table.set_column(place, "snippet", arrow.chunked_array([shown])), places


def key_of(query: AskQuery) -> str:
    """Return a text that identifies a question, and the texts of SQL that answer it."""
    of_all: tuple[str, ...] = ("periods", "listed", "one", "many", "asked", *_further(query))
    if query.question.names_linkers:
        of_all = (*of_all, f"{query.name}-by-window")
    texts = text_of(COMMON, *_COMMON) + text_of(_FOLDER, *of_all, query.name)
    asked = json.dumps(asdict(query), default=_plain)
    return hashlib.sha256(f"{VERSION} {_DAYS} {texts} {asked}".encode()).hexdigest()[:32]


def _plain(value: object) -> object:
    """Return a value of a question in a form that JSON has, the same in each process."""
    return value.name if isinstance(value, Enum) else sorted(value)  # type: ignore[call-overload]


def answer_as_row(answer: AskAnswer) -> bytes:
    """Return an answer as a text on one line, for `answer_of_row`."""
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, answer.table.schema) as writer:
        writer.write_table(answer.table)
    table = base64.b64encode(sink.getvalue()).decode()
    windows = {name: astuple(known) for name, known in answer.windows.items()}
    facts = (*astuple(answer.known), windows, answer.added, answer.compared, answer.texts)
    return json.dumps((key_of(answer.query), answer.total, *facts, table)).encode()


def key_of_row(row: bytes) -> str:
    """Return the key of the question whose answer a text is."""
    key: str = json.loads(row)[0]
    return key


def answer_of_row(query: AskQuery, row: bytes) -> AskAnswer:
    """Return the answer to a question that `answer_as_row` has written."""
    _, total, first, last, *counts, added, compared, texts, table = json.loads(row)
    rows = arrow.ipc.open_stream(base64.b64decode(table)).read_all()
    days, windows = ({name: KnownLinks(*one) for name, one in of.items()} for of in counts)
    known = KnownCaptures(first, last, days)
    texts = texts and KnownTexts(*texts)
    return AskAnswer(query, rows, total, known, windows, added, compared, texts)


def _ready(database: RelationsDatabase, query: AskQuery) -> Callable[[str], str]:
    """Set the values of a query; return a function that makes its views before a query of SQL."""
    is_one = len(query.asked) == 1
    if not is_one:
        database.add_table("parts", _PARTS, _parts(query))
    windows = "listed" if query.windows.listed else "periods"
    views = (
        text_of(COMMON, *_COMMON),
        text_of(_FOLDER, windows, "one" if is_one else "many", "asked", *_further(query)),
    )
    database.set(_values(database, query))
    if query.question.is_of_texts:
        if not database.has_texts:
            raise NoTextsError
        if query.words:
            prepared(database, f"{views[0]}\nSELECT words_of('')", {})  # defines the macro
            found = found_terms(database, query.words)
            database.run(f"CREATE OR REPLACE TEMP VIEW found_terms AS {found}")
    slices: list[Mapping[str, object]] = []
    links_of_part: int | None = None

    def ready(text: str) -> str:
        return prepared(database, "\n".join((*views, text)), _WHOLE, run)

    def run(statement: str) -> None:
        """Run a statement; one that adds rows for each slice of the links."""
        if not statement.startswith("INSERT"):
            database.finish(statement)
            return
        if not slices:
            slices.extend(_slices(database, query, links_of_part))
        for one in slices:
            database.set(one)
            database.finish(statement)
        database.set(_WHOLE)

    reads_links = query.question.basis is Basis.ARCHIVE or query.question.groups is not None
    if is_one and reads_links and query.scope is not QuestionScope.ARCHIVE:
        database.set({"links_of_part": _MOST_COUNTED})
        (links,) = database.answer(ready("SELECT count(*) FROM to_part")).column(0).to_pylist()
        links_of_part = links if links < _MOST_COUNTED else None
        database.set({"links_of_part": links_of_part})
    return ready


def _further(query: AskQuery) -> tuple[str, ...]:
    """Return the names of further texts of SQL that a question needs."""
    finds_words = ("phrases",) if query.question.words is not None else ()
    return (*finds_words, "texts") if query.question.is_of_texts else finds_words


def _slices(
    database: RelationsDatabase, query: AskQuery, links_of_part: int | None
) -> Sequence[Mapping[str, object]]:
    """Return the slices of links that are read one after the other, so that each fits into memory.

    Each has all links of its groups. What is linked is a range of the links, which are sorted by
    it; other groups are those whose hashes have one remainder.

    Args:
        database: The relations, with the views and values of the query.
        query: The question.
        links_of_part: Number of links to the part; None if they were not counted to the end.
    """
    most = database.memory * _LINKS_OF_MEGABYTE
    if query.question.groups is None or len(query.asked) > 1:
        return [_WHOLE]
    (links,) = database.once("SELECT count(*) FROM links")[0]
    if links > most and links_of_part is not None:
        links = links_of_part
    elif links > most and query.scope is not QuestionScope.ARCHIVE:
        (links,) = database.answer("SELECT count(*) FROM to_part").column(0).to_pylist()
    number = -(-links // most)
    if number <= 1:
        return [_WHOLE]
    if query.question.groups is SliceGroups.TARGETS and query.level in (None, Level.URI):
        found = database.answer(f"SELECT target_surt FROM to_part USING SAMPLE {_SAMPLE} ROWS")
        sample = sorted(found.column(0).to_pylist())
        cuts = [sample[index * len(sample) // number] for index in range(1, number)]
        ends = [*dict.fromkeys(("", *cuts)), LAST]
        return [{**_WHOLE, "slice_first": first, "slice_end": end} for first, end in pairwise(ends)]
    of_targets = query.level.value if query.level else ""
    by = {SliceGroups.TEXTS: "text", SliceGroups.LINKERS: "linker"}.get(
        query.question.groups, of_targets
    )
    return [{**_WHOLE, "slice_by": by, "slices": number, "slice": one} for one in range(number)]


def _parts(query: AskQuery) -> Iterator[tuple[Any, ...]]:
    for number, (_, part) in enumerate(query.asked):
        key = part.name if part.part in _NAMED else ""
        yield number, key, part.first, part.last, _place(query, part)


def _place(query: AskQuery, part: WebPart) -> str:
    """Return the host of a part, or its domain at that level; empty without a host."""
    host = part.name if part.part in ("host", "site") else host_of(Surt(part.first))
    return domain_of(Host(host)) if query.level is Level.DOMAIN else host


def _count_terms(database: RelationsDatabase, query: AskQuery, ready: Callable[[str], str]) -> None:
    """Make a view of how frequent all terms are.

    They are counted once for all questions about these relations: to split all texts of 10 million
    links takes seconds.
    """
    name = f"frequency_of_{query.term.value}_{_level(query).value}"

    def count() -> None:
        counted = ready(text_of(_FOLDER, f"frequency-of-{query.term.value}"))
        database.finish(f"CREATE TABLE {name} AS {counted}")

    database.make_once(name, count)
    database.run(f"CREATE OR REPLACE TEMP VIEW frequency AS FROM {name}")


def _rows(database: RelationsDatabase, text: str, query: AskQuery) -> tuple[Any, int]:
    """Return the first rows of each part and period, and the number of all rows."""
    limit, least = query.limit, query.min_hosts if "hosts" in query.question.columns else 0
    kept, total, group, place, size = [], 0, None, 0, 0

    def keep(batch: Any) -> None:
        nonlocal size
        size += batch.nbytes
        database.check_rows(size)
        kept.append(batch)

    with database.reading(text) as rows:
        groups = [name for name in _ROW_KEY if name in rows.schema.names]
        for batch in rows:
            if least:
                batch = batch.filter(compute.greater_equal(batch.column("hosts"), least))
            total += batch.num_rows
            if not limit:
                keep(batch)
                continue
            wanted = []
            columns = (batch.column(name).to_pylist() for name in groups)
            for number, *found in zip(range(batch.num_rows), *columns, strict=True):
                place = place + 1 if found == group else 0
                group = found
                if place < limit:
                    wanted.append(number)
            keep(batch.take(_integers(wanted)))
        return with_integers(arrow.Table.from_batches(kept, rows.schema)), total


def _in_windows(
    database: RelationsDatabase,
    query: AskQuery,
    ready: Callable[[str], str],
    windows: Mapping[str, KnownLinks],
) -> Any:
    """Return rows whose names link, with rows of windows without links, each with what is known."""
    # Years of days without a capture would bury the others: each has one row for all names.
    is_by_day = query.windows.period is Period.DAY
    names = [name for name, known in windows.items() if known.captures or not is_by_day]
    most_named = _MOST_ADDED // max(1, len(names))
    database.set({"every_window": names, "most_rows": query.limit, "most_named": most_named})
    return database.answer(ready(text_of(_FOLDER, f"{query.name}-by-window")))


def _with_unknown(table: Any, query: AskQuery, parts: Sequence[Mapping[str, KnownLinks]]) -> Any:
    """Return rows with what is known in their windows, and a row for each window with nothing.

    Args:
        table: The rows, by part and window.
        query: The question.
        parts: What is known in each window, of each part.
    """
    question, key = query.question, [one for one in _ROW_KEY if one in table.column_names]
    keys = [*zip(*(table.column(name).to_pylist() for name in key), strict=True)]
    by_key = {
        (number, window)[-len(key) :]: known
        for number, windows in enumerate(parts)
        for window, known in windows.items()
    }
    counts = tuple(name for name in ("captures", "read") if name not in question.columns)
    if question.needs_read and not question.names_linkers:
        for name in counts:
            of_rows = [getattr(by_key.get(one, NOTHING), name) or 0 for one in keys]
            table = table.append_column(name, _integers(of_rows))
    is_known = attrgetter("is_known" if question.needs_read else "captures")
    unknown = [one for one, known in by_key.items() if not is_known(known)]
    unknown = [*{*unknown} - {*keys}]
    if not unknown:
        return table
    if not question.needs_read:
        counts = COUNTS_OF_CAPTURES
    values = {
        name: _integers([getattr(by_key[one], name, 0) or 0 for one in unknown]) for name in counts
    }
    *numbers, periods = zip(*unknown, strict=True)
    values |= {"number": _integers(numbers[0] if numbers else ()), "period": _texts(periods)}
    rows = [
        values[field.name].cast(field.type)
        if field.name in values
        else arrow.nulls(len(unknown), field.type)
        for field in table.schema
    ]
    added = arrow.Table.from_arrays(rows, schema=table.schema)
    order = [(name, "ascending") for name in key]
    return arrow.concat_tables([table, added]).sort_by(order)  # a stable order


def _integers(numbers: Sequence[int]) -> Any:
    """Return numbers as an Arrow array. `arrow.array` would import pandas: 0.5 CPU s or more."""
    buffer = arrow.py_buffer(array("q", numbers))
    return arrow.Array.from_buffers(arrow.int64(), len(numbers), [None, buffer])


def _texts(texts: Sequence[str]) -> Any:
    """Return texts as an Arrow array; see `_integers`."""
    coded = [text.encode() for text in texts]
    ends = array("i", accumulate(map(len, coded), initial=0))
    buffers = [None, arrow.py_buffer(ends), arrow.py_buffer(b"".join(coded))]
    return arrow.Array.from_buffers(arrow.string(), len(coded), buffers)


def _with_extra(table: Any, query: AskQuery) -> Any:
    """Return rows with those columns of `EXTRA` that are needed."""
    if "number" in table.column_names:
        numbers = table.column("number")
        table = table.drop_columns(["number"])
        if len(query.asked) > 1:
            written = arrow.array([one.written for one in query.asked], arrow.string())
            table = table.add_column(0, "asked", arrow.chunked_array([written]).take(numbers))
    if query.windows == EVER and "period" in table.column_names:
        table = table.drop_columns(["period"])
    return table


def _days(
    database: RelationsDatabase, query: AskQuery, ready: Callable[[str], str]
) -> Sequence[tuple[Any, ...]]:
    """Return the captures of each day that an answer is read from."""
    of, (first, last) = _read_from(query), astuple(query.span)
    if of != "captures" or first[8:] != _MIDNIGHT or last[8:] not in _ENDS:
        time = f"is_{'read' if query.question.compares else 'asked'}_time(timestamp)"
        asked = _DAYS.format(of=f"{of} WHERE {time}", was_read=_was_read(query))
        return database.found(ready(asked))
    days = database.once(ready(_DAYS.format(of="captures", was_read=_was_read(query))))
    return [row for row in days if first[:8] <= row[0] <= last[:8]]


def _was_read(query: AskQuery) -> str:
    return _TEXT_READ if query.question.is_of_texts else _LINKS_READ


def _read_from(query: AskQuery) -> str:
    return "of_any_part" if query.question.basis is Basis.PART else "captures"


def _windows(
    database: RelationsDatabase,
    query: AskQuery,
    ready: Callable[[str], str],
    known: KnownCaptures,
) -> Mapping[str, KnownLinks]:
    """Return the `KnownLinks` of each window: an answer is read from these captures."""
    period, listed = query.windows.period, query.windows.listed
    if period and query.question.is_by_calendar:  # it compares periods with captures
        return known_by(known.by_day, period.letters)
    if period:
        return units_known(period, known.by_day, query.span)
    found = _by_window(database, ready, "0", _read_from(query), query) if listed else {}
    return {name: found.get((0, name), NOTHING) for name, _ in listed}


def _windows_of_parts(
    database: RelationsDatabase,
    query: AskQuery,
    ready: Callable[[str], str],
    windows: Mapping[str, KnownLinks],
) -> Sequence[Mapping[str, KnownLinks]]:
    """Return the `KnownLinks` of each window, for each part that is asked about."""
    if len(query.asked) == 1 or query.question.basis is Basis.ARCHIVE:
        return [windows] * len(query.asked)
    found = _by_window(database, ready, "number", "of_part", query)
    return [
        {name: found.get((number, name), NOTHING) for name in windows}
        for number in range(len(query.asked))
    ]


def _by_window(
    database: RelationsDatabase, ready: Callable[[str], str], number: str, of: str, query: AskQuery
) -> Mapping[tuple[int, str], KnownLinks]:
    windows = _WINDOWS.format(number=number, of=of, was_read=_was_read(query))
    rows = database.found(ready(windows))
    return {(number, window): KnownLinks(*counts) for number, window, *counts in rows}


def _is_of_all_days(query: AskQuery) -> bool:
    """Return whether an answer is read from all captures: such answers share their counts."""
    return _read_from(query) == "captures" and query.span == ALL_TIME


@lru_cache(4)
def _known(days: tuple[tuple[Any, ...], ...]) -> KnownCaptures:
    return KnownCaptures(
        Timestamp(days[0][1]) if days else None,
        Timestamp(days[-1][2]) if days else None,
        {Period.DAY.of(Timestamp(day)): KnownLinks(*counts) for day, _, _, *counts in days},
    )


def _level(query: AskQuery) -> Level:
    return query.level or _LEVELS.get(query.scope, Level.HOST)


def _values(database: RelationsDatabase, query: AskQuery) -> Mapping[str, object]:
    parts = [asked.part for asked in query.asked]
    return {
        "level": _level(query).value,
        "is_external": query.is_external,
        "kinds": database.kinds(query.wants),
        "part": parts[0].part,
        "name": parts[0].name,
        "place": _place(query, parts[0]),
        "first": min(part.first for part in parts),
        "last": max(part.last for part in parts),
        **query.windows.values,
        **_WHOLE,
        "words": [*query.words],
        "number_of_terms": len(query.words),
        "is_by_date": query.is_by_date,
        "term": query.term.value,
        "number_of_parts": len(parts),
        "links_of_part": None,
        "is_new": query.is_new,
        "is_from": query.span.first != ALL_TIME.first,
        "since": query.span.first,
        "until": query.span.last,
    }
