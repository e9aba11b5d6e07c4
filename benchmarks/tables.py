"""Tables of figures in Markdown, with a target for each figure and whether it is met."""

from collections.abc import Sequence
from dataclasses import dataclass, field

TIMES = " ×"  # noqa: RUF001  the sign of multiplication is meant
"""Unit of a ratio."""

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Target:
    """A required value, and the measured one.

    Attributes:
        text: The compared quantity.
        value: The measured value; None if it was not measured.
        limit: The required value.
        at_most: Whether the value must not be above the limit; else not below it.
        unit: Of both.
    """

    text: str
    value: float | None
    limit: float
    at_most: bool = True
    unit: str = ""

    @property
    def verdict(self) -> str:
        """Whether it is met."""
        if self.value is None:
            return "not measured"
        return (
            "met"
            if (self.value <= self.limit if self.at_most else self.value >= self.limit)
            else "not met"
        )


@dataclass(frozen=True, slots=True)
class Table:
    """Figures of one benchmark.

    Attributes:
        columns: Their heads; the first names the rows.
        rows: As many cells as columns; None is shown as nothing.
        notes: Sentences below it.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    targets: Sequence[Target] = ()
    notes: Sequence[str] = field(default=())


def format_table(table: Table) -> str:
    """Return a table, its targets and its notes as Markdown.

    Raises:
        ValueError: A row has another number of cells than there are columns.
    """
    parts = [f"### {table.title}", _grid(table.columns, table.rows)]
    if table.targets:
        rows = [
            [
                one.text,
                f"{'at most' if one.at_most else 'at least'} {format_cell(one.limit)}{one.unit}",
                _measured(one),
                one.verdict,
            ]
            for one in table.targets
        ]
        parts.append(_grid(["target", "asked", "measured", ""], rows))
    return "\n\n".join([*parts, *table.notes]) + "\n"


def format_cell(cell: Cell) -> str:
    """Return a cell's text: three digits that mean something, thousands parted.

    >>> [format_cell(cell) for cell in (1234567, 1234.5, 12.345, 0.012345, None, "text")]
    ['1,234,567', '1,234', '12.3', '0.0123', '', 'text']
    """
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def _measured(target: Target) -> str:
    return "" if target.value is None else format_cell(float(target.value)) + target.unit


def _grid(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    lines = [columns, ["---"] * len(columns)]
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"{len(row)} cells for {len(columns)} columns: {row}")
        lines.append([format_cell(cell) for cell in row])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
