"""Questions about the relations: ``questions/NAME.sql``, with values that are bound by name.

A text has statements that define views and macros, and ends with one query. It reads values as
variables, ``getvariable('level')``: no value is ever a part of a text. Formats of exports run their
scripts in the same way.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from arclink.analysis.relations.database import RelationsDatabase

FOLDER = "arclink.analysis.relations.questions"
"""Where the texts of relations and analyses are."""

_COMMENTS = re.compile(r"(\s|--[^\n]*\n)*")
_COMMENT = re.compile(r"--[^\n]*")
_CREATES = re.compile(r"CREATE OR REPLACE TEMP (?:MACRO|VIEW) (\w+)")


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
    query = prepared(database, text_of(FOLDER, *names), values or {})
    rows: Sequence[Mapping[str, Any]] = database.answer(query).to_pylist()
    return rows


def prepared(
    database: RelationsDatabase,
    text: str,
    values: Mapping[str, object],
    run: Callable[[str], object] | None = None,
) -> str:
    """Return the query at the end of a text, after those definitions were made that it uses.

    Args:
        database: The relations.
        text: The text.
        values: The values of its variables.
        run: Runs the statements that make and fill tables; `RelationsDatabase.finish` if not given.
    """
    database.set(values)
    if text not in _NEEDED:
        _NEEDED[text] = _needed(statements_of(database, text))
    *steps, query = _NEEDED[text]
    for statement in steps:
        if created := _CREATES.match(statement):
            database.define(created[1], statement)
        else:
            (run or database.finish)(statement)
    return query


_NEEDED: dict[str, Sequence[str]] = {}
"""The statements of texts."""


def _needed(statements: Sequence[str]) -> Sequence[str]:
    """Return the query at the end after those definitions that it uses, directly or not."""
    *steps, query = statements
    needed = [query]
    for step in reversed(steps):
        created = _CREATES.match(step)
        is_used = created and any(
            re.search(rf"\b{created[1]}\b", _COMMENT.sub("", one)) for one in needed
        )
        if is_used or not created:
            needed.insert(0, step)
    return needed


def text_of(folder: str, *names: str) -> str:
    """Return texts of SQL as one; ``folder`` is the package that they are in."""
    return "\n".join(_read(folder, name) for name in names)


@cache
def _read(folder: str, name: str) -> str:
    package, _, below = folder.rpartition(".")
    return (files(package) / below / f"{name}.sql").read_text("utf-8")
