"""Which format a request wants: ``format``, else ``Accept``, else RDF/XML; and in which profile, if it is one of RDF."""

from flask import Request

from arclink.access.formats import FORMATS, Format
from arclink.access.queries import BadParameterError
from service.problems import NotAcceptableError

OFFERED: tuple[Format, ...] = tuple(form for form in FORMATS.values() if form.media_types)
_BY_MEDIA_TYPE = {media_type: form for form in OFFERED for media_type in form.media_types}


def accepted_format(request: Request) -> tuple[Format, str]:
    """Return the format, in the profile asked for, and the media type to call it by.

    Raises:
        BadParameterError: ``format`` names none of ours, or ``profile`` none of this format.
        NotAcceptableError: The client accepts none of ours.
    """
    form, media_type = _format(request)
    profiles = request.args.getlist("profile")
    if len(profiles) > 1:
        raise BadParameterError("profile", profiles[1], "the parameter once")
    return form.in_profile("".join(profiles)), media_type


def _format(request: Request) -> tuple[Format, str]:
    names = request.args.getlist("format")
    if len(names) > 1:
        raise BadParameterError("format", names[1], "the parameter once")
    if names:
        form = FORMATS.get(names[0])
        if form is None or not form.media_types:
            raise BadParameterError("format", names[0], " or ".join(form.name for form in OFFERED))
        return form, form.media_types[0]
    if not request.accept_mimetypes:
        return OFFERED[0], OFFERED[0].media_types[0]
    media_type = request.accept_mimetypes.best_match(_BY_MEDIA_TYPE)
    if media_type is None:
        raise NotAcceptableError(tuple(form.name for form in OFFERED))
    return _BY_MEDIA_TYPE[media_type], media_type
