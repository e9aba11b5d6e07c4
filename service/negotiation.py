"""Which format a request wants: ``format``, else ``Accept``, else RDF/XML; and in which profile, if it is one of RDF."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from flask import Request

from arclink.access.formats import FORMATS, Format
from arclink.access.formats.rows import ROW_FORMATS, RowFormat
from arclink.access.queries import BadParameterError
from service.problems import NotAcceptableError


class _Offered(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def media_types(self) -> tuple[str, ...]: ...


_Any = TypeVar("_Any", bound=_Offered)


def accepted_format(request: Request) -> tuple[Format, str]:
    """Return the format, in the profile asked for, and the media type to call it by.

    Raises:
        BadParameterError: ``format`` names none of ours, or ``profile`` none of this format.
        NotAcceptableError: The client accepts none of ours.
    """
    form, media_type = _format(request, FORMATS)
    profiles = request.args.getlist("profile")
    if len(profiles) > 1:
        raise BadParameterError("profile", profiles[1], "the parameter once")
    return form.in_profile("".join(profiles)), media_type


def accepted_row_format(request: Request) -> tuple[RowFormat, str]:
    """Return the format of an answer that is rows, and the media type to call it by; JSON if nothing is said.

    Raises:
        BadParameterError: ``format`` names none of ours.
        NotAcceptableError: The client accepts none of ours.
    """
    return _format(request, ROW_FORMATS)


def _format(request: Request, formats: Mapping[str, _Any]) -> tuple[_Any, str]:
    offered = [form for form in formats.values() if form.media_types]
    names = request.args.getlist("format")
    if len(names) > 1:
        raise BadParameterError("format", names[1], "the parameter once")
    if names:
        form = formats.get(names[0])
        if form is None or not form.media_types:
            raise BadParameterError("format", names[0], " or ".join(form.name for form in offered))
        return form, form.media_types[0]
    if not request.accept_mimetypes:
        return offered[0], offered[0].media_types[0]
    return _accepted(request, offered)


def _accepted(request: Request, offered: Sequence[_Any]) -> tuple[_Any, str]:
    by_media_type = {media_type: form for form in offered for media_type in form.media_types}
    media_type = request.accept_mimetypes.best_match(by_media_type)
    if media_type is None:
        raise NotAcceptableError(tuple(form.name for form in offered))
    return by_media_type[media_type], media_type
