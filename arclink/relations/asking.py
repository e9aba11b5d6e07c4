"""Questions about the relations: ``questions/NAME.sql``, with values that are bound by name.

A text has statements that define views and macros, and ends with one query. It reads values as
variables, ``getvariable('level')``: no value is ever a part of a text. Formats of exports run their
scripts in the same way.
"""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from arclink.relations.database import RelationsDatabase

_COMMENTS = re.compile(r"(\s|--[^\n]*\n)*")


def statements_of(database: RelationsDatabase, text: str) -> list[str]:
    """Return the statements of a text, without the comments before them."""
    statements = database.connection.extract_statements(text)
    return [_COMMENTS.sub("", statement.query, count=1).strip() for statement in statements]


def ask(
    database: RelationsDatabase, *names: str, values: Mapping[str, object] | None = None
) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a question, in the order of its query.

    Args:
        database: The relations.
        *names: The texts: those of views that it uses, and its own.
        values: What it asks for.

    Raises:
        OperatorError: The files of the relations cannot be read.
    """
    database.set(values or {})
    texts = [
        (files("arclink.relations") / "questions" / f"{name}.sql").read_text() for name in names
    ]
    *steps, query = statements_of(database, "\n".join(texts))
    for statement in steps:
        database.run(statement)
    rows: Sequence[Mapping[str, Any]] = database.answer(query).to_pylist()
    return rows
