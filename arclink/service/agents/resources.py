"""The resources that only agents have: the readable text of a capture, and SQL."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import orjson
from flask import Blueprint, Response

from arclink.access.capture_fields import EXPLANATION
from arclink.access.common import SQL, SUBSET
from arclink.access.declarations import Parameter, whole_number
from arclink.access.provenance import provenance_of
from arclink.access.queries import URI
from arclink.access.texts import printable
from arclink.access.times import AT
from arclink.captures.locate import find_capture
from arclink.captures.text import read_text
from arclink.errors import UsageError
from arclink.relations.columns import CAPTURES, LINKS, Column
from arclink.service.archived import check_pages, reader_of
from arclink.service.openapi import Resource
from arclink.service.responses import asked
from arclink.service.schemas import Schema
from arclink.service.stores import requested_store, stores_of_app

for_agents = Blueprint("for_agents", __name__)

MOST_BYTES: Final = 40_000
"""Bytes of the JSON of one answer: some 10,000 tokens of a language model."""

_BYTES_OF_ROWS: Final = MOST_BYTES - 2_000
"""The same of the rows of SQL: what they were read from comes in addition."""

_TIME = replace(AT, about="The capture in force at the end of this time.", otherwise="the newest")
_BEGIN = Parameter(
    "begin",
    "Number of characters of the text to pass over; `next` in an answer says where it continues.",
    whole_number(None),
    default="0",
)
_LENGTH = Parameter(
    "limit",
    "Largest number of characters of the text.",
    whole_number(MOST_BYTES, least=1),
    default="20000",
)
_SQL = replace(SQL, about="One query in the SQL of DuckDB, which can only read.", is_required=True)


_JSON: Final[dict[str, Schema]] = {"application/json": {"type": "object"}}


def _listed(name: str, columns: Sequence[Column]) -> str:
    return f"{name} ({', '.join(column.name for column in columns)})"


RESOURCES: Sequence[Resource] = (
    Resource(
        "/get",
        "get",
        "The readable text of a capture, and the record that it was read from.",
        _JSON,
        parameters=(URI, _TIME, _BEGIN, _LENGTH, SUBSET),
    ),
    Resource(
        "/sql",
        "sql",
        f"The rows of a query over the tables {_listed('captures', CAPTURES)} and "
        f"{_listed('links', LINKS)}. USING (content) joins a capture to the links that it shows; "
        "a capture without content has unknown links, not none. DESCRIBE captures and DESCRIBE "
        "links have the types.",
        _JSON,
        parameters=(_SQL, SUBSET),
    ),
)


@for_agents.get("/get")
def get_text() -> Response:
    """Answer with a part of the readable text of a capture.

    Raises:
        BadParameterError: A parameter is wrong.
        CaptureError: There is no such capture, or it has no text.
        StoreError: The store cannot be read.
    """
    check_pages()
    given = asked(RESOURCES[0].parameters)
    store = requested_store(given)
    memento = find_capture(store, given.text(URI), given.text(_TIME))
    with reader_of(store).read(memento) as page:
        found = read_text(page)
        source = page.body_memento
    lines = "\n".join(found.lines()).split("\n")
    text, begin = "\n".join(map(printable, lines)), _BEGIN.required(given)
    end = begin + _LENGTH.required(given)
    return _answer(
        capture=EXPLANATION.of(memento),
        read_from={"file": printable(source.file), "offset": source.offset},
        title=printable(found.title),
        characters=len(text),
        is_whole=not found.is_cut,
        begin=begin,
        next=end if end < len(text) else None,
        text=text[begin:end],
    )


@for_agents.get("/sql")
def answer_sql() -> Response:
    """Answer with the first rows of a query, and with what is known of the captures at all.

    Raises:
        BadParameterError: A parameter is wrong.
        UsageError: The query is not one, or two columns have one name.
        NotReadyError: The relations cannot be asked now.
        LimitError: The answer exceeds a limit.
        StoreError: The store cannot be read.
    """
    given = asked(RESOURCES[1].parameters)
    store, rows, is_whole, size = requested_store(given), [], True, 0
    with (
        stores_of_app().tables.of_users(store) as database,
        database.reading(_SQL.required(given)) as found,
    ):
        from arclink.relations.answers import SQL_FORMATS  # here: it needs the extra `analysis`

        names = found.schema.names
        if len({*names}) < len(names):
            raise UsageError("two columns of the answer have one name: name them apart with AS")
        for row in SQL_FORMATS["json"](found):
            size += len(row)
            if size > _BYTES_OF_ROWS:
                is_whole = False
                break
            rows.append(orjson.loads(row))
    if not (rows or is_whole):
        raise UsageError(
            f"the first row has more than {_BYTES_OF_ROWS:,} bytes: choose fewer columns, or the "
            "beginning of a text with left(text, 1000)"
        )
    archive = stores_of_app().settings.cited_as
    return _answer(
        columns=names,
        rows=rows,
        is_whole=is_whole,
        read_from=store.known().as_fields,
        provenance=provenance_of(store, archive, "sql", given, (_SQL, SUBSET)).as_fields(),
    )


def _answer(**fields: object) -> Response:
    return Response(orjson.dumps(fields), content_type="application/json")
