"""Timestamps: 14 digits, UTC, ``YYYYMMDDhhmmss``; always a date that exists.

Strategy. What an archive says is never thrown away for being imprecise (a capture without a place in time is lost):
less than 14 digits are padded low, more are cut, a part that no calendar has moves to the nearest that it has; each is
counted. What a *person* asks is taken literally: a date that does not exist is an error, since the answer would be to
another question.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, datetime

from arclink.model import Timestamp
from arclink.reasons import Reason

_PARTS = ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14))
"""Where year, month, day, hour, minute and second stand."""

_LEAST = (1, 1, 1, 0, 0, 0)
_GREATEST = (9999, 12, 31, 23, 59, 59)

_DIGITS = re.compile(r"[0-9]{1,14}")
_ISO = re.compile(
    r"(?P<date>[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?)"
    r"(?:[Tt ](?P<time>[0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2}(?:[.,][0-9]+)?)?)?)(?P<zone>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)


class TimestampError(ValueError):
    """A text is no point in time; the message says what is wrong with it and what is allowed."""


def normal_timestamp(text: str) -> tuple[Timestamp, Reason | None]:
    """Return the timestamp that an archive's digits mean, and the note to count if they had to be changed.

    The first that applies is the note: padded, cut, moved. A month or day of ``00`` says "unknown" and is padded; any
    other part that does not exist (month 13, 31 February, second 60) moves to the nearest that does.

    Args:
        text: 4 to 18 digits, as found in CDX rows and ARC headers (16 and 18 digits: Alexa crawls of 2000).

    Raises:
        TimestampError: It is something else, or year 0.

    >>> normal_timestamp("20150430132303")
    ('20150430132303', None)
    >>> normal_timestamp("201504")
    ('20150401000000', <Reason.NOTE_TIMESTAMP_PADDED: ('notes', 'timestamp had less than 14 digits')>)
    """
    if not (4 <= len(text) <= 18 and text.isascii() and text.isdigit()):
        raise TimestampError(f"not 4 to 18 digits: {text[:40]!r}")
    note = None
    if len(text) < 14:
        # An odd digit at the end is the first one of its part: 2015123 is some day from 30 December on.
        text, note = text.ljust(14, "0"), Reason.NOTE_TIMESTAMP_PADDED
    elif len(text) > 14:
        text, note = text[:14], Reason.NOTE_TIMESTAMP_CUT
    year, month, day, hour, minute, second = (int(text[start:end]) for start, end in _PARTS)
    if year == 0:
        raise TimestampError(f"there is no year 0000: {text!r}")
    if month == 0 or day == 0:
        note = note or Reason.NOTE_TIMESTAMP_PADDED
    month = min(max(month, 1), 12)
    moved = (
        month,
        min(max(day, 1), monthrange(year, month)[1]),
        min(hour, 23),
        min(minute, 59),
        min(second, 59),  # a leap second, 60, is the second before it
    )
    normal = Timestamp(f"{year:04}" + "".join(f"{part:02}" for part in moved))
    if normal != text and note is None:
        note = Reason.NOTE_TIMESTAMP_MOVED
    return normal, note


def first_of(text: str) -> Timestamp:
    """Return the first second of what a person wrote: the ``from`` of a range.

    Args:
        text: 1 to 14 digits (``2013``, ``20130211``) or ISO 8601 (``2013-02``, ``2013-02-11T10:20:30+01:00``);
            without a zone it is UTC.

    Raises:
        TimestampError: It is neither, or no date starts like this.

    >>> first_of("2013-02")
    '20130201000000'
    """
    return _end_of(text, pad_low)


def last_of(text: str) -> Timestamp:
    """Return the last second of what a person wrote: the ``to`` of a range; see `first_of`.

    Raises:
        TimestampError: It is neither, or no date starts like this.

    >>> last_of("2013-02")
    '20130228235959'
    """
    return _end_of(text, pad_high)


def pad_low(digits: str) -> Timestamp:
    """Return the first timestamp that starts with these 1 to 14 digits.

    Raises:
        TimestampError: It is something else, or no date starts like this.
    """
    return _pad(digits, lowest=True)


def pad_high(digits: str) -> Timestamp:
    """Return the last timestamp that starts with these 1 to 14 digits.

    Raises:
        TimestampError: It is something else, or no date starts like this.
    """
    return _pad(digits, lowest=False)


def _pad(digits: str, *, lowest: bool) -> Timestamp:
    if not _DIGITS.fullmatch(digits):
        raise TimestampError(f"not a timestamp of 1 to 14 digits: {digits[:40]!r}")
    parts: list[int] = []
    for (start, end), least, greatest in zip(_PARTS, _LEAST, _GREATEST, strict=True):
        if start == 6:
            greatest = monthrange(parts[0], parts[1])[1]
        given = digits[start:end]
        missing = end - start - len(given)
        low = max(least, int(given + "0" * missing))
        high = min(greatest, int(given + "9" * missing))
        if low > high:
            raise TimestampError(f"no date starts with {digits}: {digits[:end]} is none")
        parts.append(low if lowest else high)
    return Timestamp("{:04}{:02}{:02}{:02}{:02}{:02}".format(*parts))


def _end_of(text: str, pad: Callable[[str], Timestamp]) -> Timestamp:
    text = text.strip(" \t\r\n")
    if _DIGITS.fullmatch(text):
        return pad(text)
    written = _ISO.fullmatch(text)
    if written is None:
        raise TimestampError(f"not a time: {text[:40]!r}; write 1 to 14 digits (2013, 20130211) or ISO 8601 (2013-02-11T10:20:30Z)")
    time = re.split("[.,]", written["time"] or "")[0].replace(":", "")
    timestamp = pad(written["date"].replace("-", "") + time)
    zone = (written["zone"] or "Z").upper()
    if zone == "Z":
        return timestamp
    try:
        moment = datetime.strptime(timestamp + zone.replace(":", "").ljust(5, "0"), "%Y%m%d%H%M%S%z").astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise TimestampError(f"not a time zone, or past the end of the calendar: {text[:40]!r}") from error
    return Timestamp(f"{moment.year:04}{moment:%m%d%H%M%S}")
