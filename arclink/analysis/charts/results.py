"""Answers as objects of Python: for notebooks, and for pandas, networkx and readers of Arrow.

Times are 14 digits in items, as everywhere in ArcLink. Elsewhere they have one type: in UTC, with
milliseconds (``timestamp[ms, tz=UTC]`` in Arrow, ``datetime64[ms, UTC]`` in pandas). Texts come
from pages of unknown authors, so a notebook gets them escaped, and no link to follow.
"""

import base64
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar, overload

from arclink.access.chronicles import unit_for
from arclink.access.formats.rows import (
    TIME_COLUMNS,
    UNKNOWN,
    Row,
    RowAnswer,
    arrow_of_rows,
    is_unknown,
    shown_text,
)
from arclink.access.provenance import Provenance, today
from arclink.access.tallies import Period
from arclink.access.texts import counted, cut_in_the_middle, safe_text
from arclink.errors import ArclinkError, UsageError
from arclink.extras import analysis_extra
from arclink.known import KnownLinks
from arclink.model import Timestamp

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    import pyarrow as arrow

    from arclink.analysis.charts.pictures import Drawing

_MOST_SHOWN = 20
"""Number of rows that a notebook shows."""

_MOST_DRAWN = 10_000
"""Number of rows whose times a notebook shows."""

_MOST_CHARACTERS = 100
"""Length after which a notebook cuts a text."""

_PERIOD = re.compile(r"\d{4}(-\d\d){0,2}")
_TIME_LISTS = frozenset({"timestamps"})


Item = TypeVar("Item")


class ResultRows(ABC):
    """An answer in rows."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What the rows are."""

    @property
    @abstractmethod
    def read_from(self) -> str:
        """What they were read from, in words; if it is unknown whether there are rows, why."""

    @property
    def known_by_day(self) -> Mapping[str, KnownLinks] | None:
        """What is known of each day with captures; None if it is not known, or plays no role."""
        return None

    @property
    @abstractmethod
    def size(self) -> int | None:
        """Number of rows; None if it is known only after all were read."""

    @abstractmethod
    def as_rows(self, most: int | None = None) -> RowAnswer:
        """Return the rows, or the first ``most`` of them. Lists of times are ``timestamps``."""

    @property
    def provenance(self) -> Provenance | None:
        """Where the rows are from; None if they are not read from one store."""
        return None

    @property
    def cite(self) -> str:
        """One line to cite, with the day of today; what the rows are, if they name no archive."""
        found = self.provenance
        return found.cite(today()) if found else f"{self.title}: {self.read_from}"

    def __repr__(self) -> str:
        try:
            read_from = self.read_from
            rows = "" if self.size is None else f"{counted(self.size, 'row')}, "
        except ArclinkError as error:  # its store is closed, perhaps
            return safe_text(f"<{self.title}: {error}>")
        return safe_text(f"<{self.title}: {rows}{read_from}>")

    def to_arrow(self) -> "arrow.Table":
        """Return the rows as an Arrow table.

        Raises:
            UsageError: Arrow is not installed.
        """
        return table_of(self.as_rows())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows for other libraries, such as polars (Arrow PyCapsule interface)."""
        stream: object = self.to_arrow().__arrow_c_stream__(requested_schema)
        return stream

    def to_pandas(self) -> "pd.DataFrame":
        """Return the rows as a pandas frame; numbers of which some are unknown are ``Int64``.

        Raises:
            UsageError: pandas or Arrow is not installed.
        """
        return frame_of(self.to_arrow())

    def to_networkx(self) -> "nx.MultiDiGraph":
        """Return rows that are links as a graph, with an edge for each row.

        Nodes are the columns ``source`` and ``target``; other columns are attributes of edges.

        Raises:
            UsageError: networkx is not installed, or rows are no links.
        """
        with analysis_extra():
            import networkx as nx
        rows = self.as_rows()
        if not {"source", "target"} <= {*rows.columns}:
            raise UsageError(f"{self.title}: rows are no links with source and target")
        graph = nx.MultiDiGraph()
        for values in rows.values():
            row = dict(zip(rows.columns, values, strict=True))
            graph.add_edge(row.pop("source"), row.pop("target"), **row)
        return graph

    def _repr_html_(self) -> str:
        """Return the first rows as a table, and their times as a picture, for a notebook."""
        rows = self.as_rows(_MOST_DRAWN)
        listed = [*rows.labelled()]
        names = [*(rows.shown or rows.columns)]
        head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in names)
        body = "".join(
            f"<tr>{''.join(_cell(name, row, rows.decimals) for name in names)}</tr>"
            for row in listed[:_MOST_SHOWN]
        )
        read_from = "; ".join(map(_text, self.read_from.split("; ")))
        parts = [f"<b>{_text(self.title)}</b>: {read_from}"]
        drawing = self.picture(rows)
        if drawing:
            data = base64.b64encode(drawing.file(self.read_from).encode()).decode()
            alt = escape(drawing.title)
            parts.append(f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}">')
        if listed:
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        if len(listed) > _MOST_SHOWN or self.size is None:
            of_all = "more" if self.size is None else f"{self.size:,}"
            parts.append(f"The first {min(len(listed), _MOST_SHOWN)} rows of {of_all}.")
        return "".join(f"<div>{part}</div>" for part in parts)

    def picture(self, rows: RowAnswer | None = None) -> "Drawing | None":
        """Return the times of the rows as a picture; None if they have no times.

        Rows of periods have a bar for each period, of their first number. Any other row counts at
        each of its ``timestamps``, else when it was first seen.

        Args:
            rows: The rows; by default the first 10,000.
        """
        from arclink.analysis.charts.pictures import Strip, scale_of, strips
        from arclink.analysis.charts.svg import Axis, most_of

        rows = rows or self.as_rows(_MOST_DRAWN)
        days = self.known_by_day
        label, counts = _by_period(rows)
        if counts:
            unit = next(one for one in Period if one.letters == len(min(counts)))
            first, last = _begin(min(counts)), _begin(max(counts))
        else:
            label = "seen" if "timestamps" in rows.columns else "first seen"
            times = [Timestamp(time) for time in _times(rows)]
            if not times:
                return None
            first, last = min(times), max(times)
            unit = unit_for(first, last, None if days is None else Period.DAY.known(days))
            counts = Counter(map(unit.of, times))
        axis = Axis(unit, first, last, None if days is None else {*unit.known(days), *+counts})
        gaps = axis.unknown() if axis.has_known else ()
        row = Strip(label, axis.bars(counts, label, label), "amount", f"{counts.total():,}")
        row = replace(row, gaps=gaps, height=60)
        scale = scale_of(axis, most_of([counts]), "times")
        drawing, found = strips(safe_text(self.title), [row], axis, scale), self.provenance
        if found is None:
            return replace(drawing, source=self.read_from)
        source = f"{self.read_from}\n{found.cite(today())}"
        return replace(drawing, source=source, provenance=found.as_fields(today()))


class ListedRows(ResultRows, Sequence[Item]):
    """An answer whose items are a sequence."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        return self._items[index]

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    @property
    def size(self) -> int:
        return len(self)


class RowResult(ListedRows[Row]):
    """An answer in rows, each a mapping by column, as of JSON: times are 14 digits.

    Attributes:
        about: What the answer says before its rows, by the names of JSON.
        lines: The same as text lines.
    """

    def __init__(
        self, title: str, answer: RowAnswer, days: Mapping[str, KnownLinks] | None = None
    ) -> None:
        self._title, self._days = title, days
        self.about, self.lines = answer.about, answer.lines
        self._answer = answer
        super().__init__([*answer.labelled()])

    def __bool__(self) -> bool:
        """Return whether a row is about something known: not only periods with unknown links."""
        return any(row.get("read") != 0 for row in self)

    @property
    def title(self) -> str:
        return self._title

    @property
    def read_from(self) -> str:
        return "; ".join(line for line in self.lines if line)

    @property
    def known_by_day(self) -> Mapping[str, KnownLinks] | None:
        return self._days

    @property
    def provenance(self) -> Provenance | None:
        return self._answer.provenance

    def as_rows(self, most: int | None = None) -> RowAnswer:
        return self._answer.first_rows(most)


def table_of(rows: RowAnswer) -> "arrow.Table":
    """Return rows as an Arrow table; see `arrow_of_rows`.

    Raises:
        UsageError: Arrow is not installed.
    """
    times = rows.times | _TIME_LISTS
    schema, tables = arrow_of_rows(rows.columns, rows.values(), rows.types, times)
    with analysis_extra():
        import pyarrow as arrow
    return arrow.concat_tables([schema.empty_table(), *tables])


def frame_of(table: "arrow.Table") -> "pd.DataFrame":
    """Return a pandas frame of a table; numbers of which some are unknown are ``Int64``.

    Raises:
        UsageError: pandas is not installed.
    """
    with analysis_extra():
        import pandas as pd
        import pyarrow as arrow
    frame: pd.DataFrame = table.to_pandas()
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count and arrow.types.is_integer(column.type):
            frame[name] = pd.array(column.to_pylist(), "Int64")
        elif arrow.types.is_list(column.type):  # arrays of NumPy would lose the time zone
            frame[name] = pd.Series(column.to_pylist(), dtype="object")
    return frame


def _by_period(rows: RowAnswer) -> tuple[str, Counter[str]]:
    """Return the sums of the first column with numbers by period, and its name; else nothing."""
    listed = [*rows.labelled()] if "period" in rows.columns else []
    if not listed or not all(_PERIOD.fullmatch(str(row["period"])) for row in listed):
        return "", Counter()
    name = next((one for one in rows.columns if any(type(row[one]) is int for row in listed)), "")
    counts: Counter[str] = Counter()
    for row in listed if name else ():
        value: Any = row[name]
        counts[str(row["period"])] += value or 0
    return name.replace("_", " "), counts


def _begin(period: str) -> Timestamp:
    digits = period.replace("-", "")
    return Timestamp(digits + "0101000000"[len(digits) - 4 :])


def _times(rows: RowAnswer) -> Iterator[str]:
    """Yield the times at which rows count, 14 digits each."""
    name = next((one for one in ("timestamps", "first", "timestamp") if one in rows.columns), "")
    for row in rows.labelled() if name else ():
        value: Any = row.get(name)
        if value:
            yield from [value] if isinstance(value, str) else value


def _cell(column: str, row: Mapping[str, object], decimals: int) -> str:
    value = row.get(column)
    is_number = isinstance(value, int | float)
    shown = UNKNOWN if is_unknown(column, row) else shown_text(column, value, decimals).strip()
    style = "text-align: " + ("right" if is_number else "left")
    if column in TIME_COLUMNS:
        style += "; white-space: nowrap"
    return f'<td style="{style}">{_text(shown)}</td>'


def _text(text: str) -> str:
    return f"<bdi>{escape(safe_text(cut_in_the_middle(text, _MOST_CHARACTERS)))}</bdi>"
