"""The questions about pages, sites and the whole archive, as resources."""

from http import HTTPStatus
from typing import Final, TypedDict

from flask import Blueprint, Response, jsonify, request

from arclink.access.common import SUBSET
from arclink.access.declarations import AnyParameter, Form, Given, Parameter
from arclink.access.formats.rows import RowAnswer, RowFormat
from arclink.access.formats.seeds import SEED_FORMATS, seeds_of
from arclink.questions.queries import ASK_PARAMETERS, AskQuery, question_asked
from arclink.questions.rows import ask_as_rows, questions_as_rows, said_from
from arclink.service.negotiation import (
    ASK_FORMAT,
    ROW_FORMAT,
    accepted_ask_format,
    accepted_row_format,
)
from arclink.service.responses import asked, respond
from arclink.service.stores import current_store, requested_store, stores_of_app
from arclink.service.tables import NotReadyError

questions = Blueprint("questions", __name__)

ASK: tuple[AnyParameter, ...] = (*ASK_PARAMETERS, SUBSET, ASK_FORMAT)
LIST: tuple[AnyParameter, ...] = (ROW_FORMAT,)

FOUND: Final = "ArcLink-Found"
"""Header with the number of rows that an answer would have without limit."""

UNKNOWN: Final = "ArcLink-Unknown"
"""Header that says why an answer without rows does not mean "none"."""

LEFT_OUT: Final = "ArcLink-Left-Out"
"""Header with the number of what an answer does not have: addresses of rows in a list for crawlers,
archived headers of a capture."""


def _not_empty(text: str) -> str:
    if not text:
        raise ValueError
    return text


_BEGINS = Parameter(
    "begins",
    "The beginning of an address: of a host, or with a slash, of a page.",
    Form("at least one letter", {"type": "string", "minLength": 1}, _not_empty),
    is_required=True,
    metavar="TEXT",
)
COMPLETE: tuple[AnyParameter, ...] = (_BEGINS,)


@questions.get("/ask")
def list_questions() -> Response:
    """Answer with the table of questions."""
    return respond(questions_as_rows(), accepted_row_format(request, asked(LIST)))


@questions.get("/ask/<question>")
def ask_question(question: str) -> Response:
    """Answer a question; that nothing is known is an answer, and not a 404.

    Raises:
        BadParameterError: There is no such question, or a parameter is wrong.
        NotReadyError: The relations of the store cannot be asked now.
        LimitError: The answer exceeds a limit.
        StoreError: The store cannot be read.
    """
    question = question_asked(question)
    given = asked(ASK)
    query = AskQuery.of(given.without(SUBSET.name, ASK_FORMAT.name), name=question)
    form = accepted_ask_format(request, given, query)
    return respond_to_question(query, given, form)


def respond_to_question(query: AskQuery, given: Given, form: tuple[RowFormat, str]) -> Response:
    """Return the answer of a store to a question; see `ask_question`."""
    store, stores = requested_store(given), stores_of_app()
    answer = stores.tables.answer(store, query)
    rows = ask_as_rows(said_from(answer, store, stores.settings.cited_as, given))
    return respond_with_rows(rows, form, answer.total, answer.unknown)


def respond_with_rows(
    rows: RowAnswer, form: tuple[RowFormat, str], total: int, unknown: str
) -> Response:
    """Return an answer, with its number of rows and why it may have none in headers."""
    response = respond(rows, form)
    response.headers[FOUND] = str(total)
    if unknown:
        response.headers[UNKNOWN] = unknown
    if form[0].name in SEED_FORMATS:
        response.headers[LEFT_OUT] = str(seeds_of(rows)[1])
    return response


class AddressesFields(TypedDict):
    """Known addresses that begin as the one that is typed."""

    addresses: list[str]


@questions.get("/complete")
def complete_address() -> Response:
    """Answer with known addresses that begin in the same way, for the address field of pages.

    Without relations, or if they take too long, there is no content: that is no error of a field.

    Raises:
        BadParameterError: A parameter is wrong or missing.
        StoreError: The store cannot be read.
    """
    typed = _BEGINS.required(asked(COMPLETE))
    try:
        found = stores_of_app().tables.addresses_like(current_store(), typed)
    except NotReadyError:
        return Response(status=HTTPStatus.NO_CONTENT)
    return jsonify(addresses=found)
