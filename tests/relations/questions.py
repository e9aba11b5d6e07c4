"""The answers on the page of questions (docs/how-to/questions.md), and a command that writes them.

``python -m tests.relations.questions STORE`` writes them again, for a store of the demo archive.
"""

import re
import sys
from pathlib import Path

import arclink
from arclink.linkgraph import LinkGraph

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "questions.md"

_ANSWERED = re.compile(r"(```sql\n(.*?)```\n\n)(\|[^\n]*\n)*", re.DOTALL)


def with_answers(text: str, graph: LinkGraph) -> str:
    """Return a page with the answers of a graph: a table after each query."""
    return _ANSWERED.sub(lambda found: found[1] + _answer(graph, found[2]), text)


def queries(text: str) -> list[str]:
    """Return the queries of a page."""
    return [found[2] for found in _ANSWERED.finditer(text)]


def _answer(graph: LinkGraph, query: str) -> str:
    table = graph.sql(query).to_arrow()
    rows = [table.column_names, ["---"] * table.num_columns]
    rows += [list(row.values()) for row in table.to_pylist()]
    return "".join(f"| {' | '.join(map(_cell, row))} |\n" for row in rows)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return text.replace("|", "\\|")


if __name__ == "__main__":
    with arclink.open(sys.argv[1]) as opened:
        PAGE.write_text(with_answers(PAGE.read_text("utf-8"), opened), encoding="utf-8")
