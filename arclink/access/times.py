"""The parameters of times: ``from``, ``to`` and ``at``.

They are separate from `arclink.access.queries` because builds select captures by time, too, and
need nothing else of a query.
"""

from collections.abc import Callable

from arclink.access.declarations import (
    AnyParameter,
    BadParameterError,
    ConflictError,
    Form,
    Given,
    Parameter,
)
from arclink.model import ALL_TIME, Span, Timestamp
from arclink.timestamps import PATTERN as TIME_PATTERN
from arclink.timestamps import NotATimeError, first_of, last_of

_TIMES = "1 to 14 digits such as 2013 or 20130211, or ISO 8601 such as 2013-02-11T10:20:30Z"
_TIME_SCHEMA = {"type": "string", "pattern": f"^(?:{TIME_PATTERN})$"}


def _reader(read: Callable[[str], Timestamp]) -> Callable[[str], Timestamp]:
    """Return ``read`` without the reason of an error that `_TIMES` gives already."""

    def read_time(text: str) -> Timestamp:
        try:
            return read(text)
        except NotATimeError as error:
            raise ValueError from error

    return read_time


SINCE: Form[Timestamp] = Form(_TIMES, _TIME_SCHEMA, _reader(first_of))
"""Reads a time as the first second that it can mean."""
UNTIL: Form[Timestamp] = Form(_TIMES, _TIME_SCHEMA, _reader(last_of))
"""Reads a time as the last second that it can mean."""

FROM = Parameter(
    "from",
    "Only captures at or after this time; 2010 means the beginning of 2010.",
    SINCE,
    metavar="TIME",
    otherwise="all time",
)
TO = Parameter(
    "to",
    "Only captures at or before this time; 2010 means the end of 2010.",
    UNTIL,
    metavar="TIME",
    otherwise="all time",
)
AT = Parameter(
    "at",
    "Links of the mementos in force at the end of this time; cannot be combined with from or to.",
    UNTIL,
    metavar="TIME",
    fields=(),
)
TIMES: tuple[AnyParameter, ...] = (FROM, TO, AT)
AT_OR_SPAN = "cannot be used with from or to: give one time, or a range"
"""The conflict between `AT` and `FROM` or `TO`."""


def timestamp_first(name: str, text: str) -> Timestamp:
    """Return the first second that ``text`` can mean.

    Raises:
        BadParameterError: It is neither 1 to 14 digits nor ISO 8601. The error names the parameter
            ``name``.
    """
    return FROM.read(text, name)


def times_of(given: Given) -> tuple[Span, Timestamp | None]:
    """Return the range of observation, and the time whose state the query wants; None without."""
    at = AT.of(given)
    if at is None:
        return span_of(given), None
    if FROM.of(given) or TO.of(given):
        raise ConflictError("at", given.text(AT), AT_OR_SPAN)
    return ALL_TIME, at


def span_of(
    given: Given, since: Parameter[Timestamp] = FROM, until: Parameter[Timestamp] = TO
) -> Span:
    """Return the range given by ``from`` and ``to``, as these two parameters read them.

    Raises:
        BadParameterError: One of them is not a time, or the range is empty.
    """
    span = Span(since.of(given) or ALL_TIME.first, until.of(given) or ALL_TIME.last)
    if span.first > span.last:
        raise BadParameterError(
            "from", given.text(since), f"a time that is not after to={given.text(until)}"
        )
    return span
