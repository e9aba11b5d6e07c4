"""Errors as ``application/problem+json`` (RFC 9457): the fault, the value and what is allowed."""

import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, TypedDict, Unpack

import orjson
from flask import Flask, Response, current_app, request
from werkzeug.exceptions import BadHost, BadRequest, HTTPException, NotFound
from werkzeug.http import parse_date

from arclink.access.queries import BadParameterError
from arclink.access.texts import printable
from arclink.errors import (
    CaptureError,
    GoneError,
    Limit,
    LimitError,
    NoTextsError,
    StoreError,
    UsageError,
    WriteError,
)
from arclink.files.atomic import is_of_room
from arclink.reasons import Reason
from arclink.service.pages.blocks import error_page, prefers_page
from arclink.service.settings import Hosts, attach_hosts, is_host_accepted
from arclink.service.stores import stores_of_app
from arclink.service.tables import NotReadyError, limit_in_words

MEDIA_TYPE = "application/problem+json"

_CAPTURE_STATUSES = {
    Reason.PAYLOAD_FILE_MISSING: HTTPStatus.SERVICE_UNAVAILABLE,
    Reason.PAYLOAD_NOT_AT_HAND: HTTPStatus.NOT_FOUND,
}
"""Statuses of captures that cannot be read; of a damaged record, 502."""

_DATES = ("HTTP_IF_MODIFIED_SINCE", "HTTP_IF_UNMODIFIED_SINCE", "HTTP_IF_RANGE")
_NO_DATE = "-"

_LONGEST_ACCEPT = 2_000
"""Characters of ``Accept``; werkzeug takes quadratic time over the blanks in it."""

_log = logging.getLogger("arclink.service")


class NotAcceptableError(Exception):
    """The client accepts no available format.

    Attributes:
        formats: Names of the available formats.
    """

    def __init__(self, formats: tuple[str, ...]) -> None:
        self.formats = formats
        super().__init__(
            f"none of the accepted media types is available; ask with format={'|'.join(formats)}"
        )


class _FailedArchive(TypedDict):
    """An archive that did not answer."""

    name: str
    detail: str


class _Members(TypedDict, total=False):
    parameter: str
    value: str
    allowed: Annotated[str, "Its allowed values."]
    formats: Sequence[str]
    archives: list[_FailedArchive]
    file: Annotated[str, "Name of the archive file of a capture that cannot be read."]
    reason: Annotated[str, "Why it cannot be read, in one word."]
    limit: Annotated[str, Limit, "The limit that the answer exceeds."]


class ProblemFields(_Members):
    """What is wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


def problem(status: HTTPStatus, detail: str, **members: Unpack[_Members]) -> Response:
    """Return a problem with ``members`` as extensions (RFC 9457, section 3.2).

    Browsers get a page, except from the replay origin, which has no pages, and for a request whose
    host is unusable or not a name of the service: no page can link to files of the service then.
    """
    if prefers_page() and current_app.has_static_folder and _is_host_good():
        response = error_page(status, detail)
        response.vary.add("Accept")
        return response
    fields: ProblemFields = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": printable(detail),
        **members,
    }
    response = Response(
        orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE),
        status.value,
        content_type=MEDIA_TYPE,
    )
    response.vary.add("Accept")
    return response


def register_problems(app: Flask, hosts: Hosts) -> None:
    """Register handlers that turn every error of ``app`` into a problem.

    Args:
        app: An application.
        hosts: Names under which it answers; to ask under another name is an error.
    """
    attach_hosts(app, hosts)
    app.before_request(_ignore_long_accept)  # first, because problems are also negotiated
    app.before_request(_refuse_bad_host)
    app.before_request(_refuse_other_hosts)
    app.before_request(_ignore_dates_out_of_range)
    app.register_error_handler(BadParameterError, _bad_parameter)
    app.register_error_handler(GoneError, _gone)
    app.register_error_handler(LimitError, _over_limit)
    app.register_error_handler(NoTextsError, _no_texts)
    app.register_error_handler(UsageError, _usage)
    app.register_error_handler(NotAcceptableError, _not_acceptable)
    app.register_error_handler(StoreError, store_away)
    app.register_error_handler(NotReadyError, _not_ready)
    app.register_error_handler(CaptureError, _capture)
    app.register_error_handler(WriteError, _unwritable)
    app.register_error_handler(OSError, _system)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(Exception, _unexpected)


def _ignore_long_accept() -> None:
    """Answer as without ``Accept`` if it is too long (RFC 9110, section 12.5.1, permits this)."""
    if len(request.environ.get("HTTP_ACCEPT", "")) > _LONGEST_ACCEPT:
        del request.environ["HTTP_ACCEPT"]


def _refuse_bad_host() -> None:
    if _is_host_bad():
        raise BadRequest("The header Host of the request is not the name of a host.")


def _is_host_good() -> bool:
    return not _is_host_bad() and is_host_accepted()


def _refuse_other_hosts() -> Response | None:
    if is_host_accepted():
        return None
    return problem(
        HTTPStatus.MISDIRECTED_REQUEST,
        "This service answers only under the names of its own machine, and under its public "
        "address, which the operator gives with --public.",
    )


def _is_host_bad() -> bool:
    """Return whether no URL of this service can be built from the header ``Host``."""
    if isinstance(request.routing_exception, BadHost):
        return True
    try:
        return not request.host_url
    except UnicodeError:  # not a name in Punycode
        return True


def _ignore_dates_out_of_range() -> None:
    """Make dates that werkzeug cannot read dates that it ignores (RFC 9110, section 13.1.3)."""
    for name in _DATES:
        try:
            parse_date(request.environ.get(name))
        except OverflowError:
            request.environ[name] = _NO_DATE


def note_loss(error: StoreError) -> int:
    """Log a store error and close the store; return the seconds after which to retry.

    The error's text goes to the log only, because it names files.
    """
    stores = stores_of_app()
    _log.error("the store cannot be read: %s", error)
    stores.forget()
    return stores.settings.retry_after


def store_away(error: StoreError) -> Response:
    """Return the problem for a store that cannot be read."""
    retry_after = note_loss(error)
    response = problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The link graph cannot be read at the moment; try again later.",
    )
    response.headers["Retry-After"] = str(retry_after)
    return response


def _not_ready(error: NotReadyError) -> Response:
    response = problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
    response.headers["Retry-After"] = "5"
    return response


def _bad_parameter(error: BadParameterError) -> Response:
    return problem(
        HTTPStatus.BAD_REQUEST,
        str(error),
        parameter=printable(error.name[:200]),
        value=printable(error.value),
        allowed=printable(error.allowed),
    )


def _capture(error: CaptureError) -> Response:
    """Return the problem for a capture that cannot be read; paths go to the log only."""
    _log.error("a capture cannot be read: %s", error)
    if error.reason is None:
        return problem(HTTPStatus.NOT_FOUND, str(error))
    status = _CAPTURE_STATUSES.get(error.reason, HTTPStatus.BAD_GATEWAY)
    detail = f"The capture cannot be read: {error.reason.text} ({error.file})."
    return problem(status, detail, file=printable(error.file), reason=error.reason.name)


def _usage(error: UsageError) -> Response:
    return problem(HTTPStatus.BAD_REQUEST, str(error))


def _no_texts(error: NoTextsError) -> Response:
    """Return the problem that the answer is not known: the operator can read texts (409)."""
    return problem(HTTPStatus.CONFLICT, str(error))


def _over_limit(error: LimitError) -> Response:
    """Return the problem for an answer that exceeds a limit.

    The request is well-formed, and the same request would exceed it again: so the status is 422
    (RFC 9110, section 15.5.21), not 400, and not one that lets clients and proxies repeat it. What
    waits for others only is `NotReadyError`, with 503.
    """
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    return problem(status, limit_in_words(error), limit=error.limit.value)


def _gone(error: GoneError) -> Response:
    return problem(HTTPStatus.GONE, str(error))


def _unwritable(error: WriteError) -> Response:
    """Return the problem for an answer that needs a file; paths go to the log only."""
    _log.error("a file cannot be written: %s", error)
    return _without_room(error.reason)


def _system(error: OSError) -> Response:
    if not is_of_room(error):
        return _unexpected(error)
    _log.error("a file cannot be written: %s", error)
    return _without_room(error.strerror or str(error))


def _without_room(reason: str) -> Response:
    return problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        f"This answer needs a file that the service cannot write: {reason}. Of the orders of "
        "/stream, only rank needs one next to the store; surt needs none.",
    )


def _not_acceptable(error: NotAcceptableError) -> Response:
    return problem(HTTPStatus.NOT_ACCEPTABLE, str(error), formats=error.formats)


def _http(error: HTTPException) -> Response:
    if error.code is None or error.code < 400:
        return Response(error.get_body(), error.code, error.get_headers())
    detail = error.description or ""
    if error.code == 404 and detail == NotFound.description:
        detail = "There is nothing at this path; the page at / lists the resources."
    response = problem(HTTPStatus(error.code), detail)
    for name, value in error.get_headers():
        if name.lower() not in ("content-type", "content-length"):
            response.headers[name] = value
    return response


def _unexpected(error: Exception) -> Response:
    _log.error("a request failed", exc_info=error)
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "This service has an internal error; its log has the details.",
    )
