"""Choice of an answer's format: ``format``, else ``Accept``, else RDF/XML; and the RDF profile."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from flask import Request

from arclink.access.declarations import Given, Parameter, named
from arclink.access.formats import FORMAT as ANY_FORMAT
from arclink.access.formats import FORMATS, Format, chosen_format
from arclink.access.formats.rows import ROW_FORMAT as ANY_ROW_FORMAT
from arclink.access.formats.rows import ROW_FORMATS, SEED_FORMATS, RowFormat
from arclink.questions.queries import AskQuery
from arclink.questions.rows import ASK_FORMAT as ANY_ASK_FORMAT
from arclink.questions.rows import check_format
from arclink.service.problems import NotAcceptableError


class _Offered(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def media_types(self) -> tuple[str, ...]: ...


_Any = TypeVar("_Any", bound=_Offered)


def _negotiated(parameter: Parameter[_Any], formats: Mapping[str, _Any]) -> Parameter[_Any]:
    """Return the parameter ``format`` for HTTP: one of ``formats``, and no default."""
    return replace(
        parameter, form=named(formats), default=None, otherwise="as the Accept header says"
    )


# Formats without a media type are for terminals.
_OFFERED = {name: form for name, form in FORMATS.items() if form.media_types}
_OFFERED_ROWS = {name: form for name, form in ROW_FORMATS.items() if form.media_types}
_OFFERED_ANSWERS = {**_OFFERED_ROWS, **SEED_FORMATS}

FORMAT = _negotiated(ANY_FORMAT, _OFFERED)
ROW_FORMAT = _negotiated(ANY_ROW_FORMAT, _OFFERED_ROWS)
ASK_FORMAT = _negotiated(ANY_ASK_FORMAT, _OFFERED_ANSWERS)


def accepted_format(request: Request, given: Given) -> tuple[Format, str]:
    """Return the format of an answer, with its profile and fields, and the media type to send.

    Raises:
        BadParameterError: ``format`` is unknown, or the format does not have this ``profile``.
        NotAcceptableError: The client accepts no available format.
    """
    form, media_type = _chosen(request, FORMAT.optional(given), [*_OFFERED.values()])
    return chosen_format(form, given), media_type


def accepted_row_format(request: Request, given: Given) -> tuple[RowFormat, str]:
    """Return the format of an answer in rows, and the media type to send; JSON by default.

    Raises:
        BadParameterError: ``format`` is unknown.
        NotAcceptableError: The client accepts no available format.
    """
    return _chosen(request, ROW_FORMAT.optional(given), [*_OFFERED_ROWS.values()])


def accepted_ask_format(request: Request, given: Given, query: AskQuery) -> tuple[RowFormat, str]:
    """Return the format of an answer to a question; see `accepted_row_format`."""
    preferred = ASK_FORMAT.optional(given)
    if preferred is not None:
        check_format(query, preferred)
    offered = _OFFERED_ANSWERS if query.has_uris else _OFFERED_ROWS
    return _chosen(request, preferred, [*offered.values()])


def _chosen(request: Request, preferred: _Any | None, offered: Sequence[_Any]) -> tuple[_Any, str]:
    if preferred is not None:
        return preferred, preferred.media_types[0]
    if not request.accept_mimetypes:
        return offered[0], offered[0].media_types[0]
    by_media_type: dict[str, _Any] = {}
    for form in offered:  # of two with one media type, the second one is asked for by its name
        for media_type in form.media_types:
            by_media_type.setdefault(media_type, form)
    accepted = request.accept_mimetypes.best_match(by_media_type)
    if accepted is None:
        raise NotAcceptableError(tuple(form.name for form in offered))
    return by_media_type[accepted], accepted
