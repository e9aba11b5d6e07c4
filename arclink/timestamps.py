"""Timestamps: 14 digits, UTC, ``YYYYMMDDhhmmss``; always a date that exists.

Strategy. An imprecise date from an archive is never rejected, because a capture without a time is
lost. Less than 14 digits are padded to the earliest time, more are cut, another way to write a date
is translated, and a part that does not exist in the calendar moves to the nearest one that does.
Each change is counted. A time from a *person* is taken literally: a date that does not exist is an
error, because the answer would be to another question.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta

from arclink.model import Timestamp
from arclink.reasons import Reason

_PARTS = ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14))
"""Start and end positions of year, month, day, hour, minute and second."""

_LEAST = (1, 1, 1, 0, 0, 0)
_GREATEST = (9999, 12, 31, 23, 59, 59)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_DIGITS = re.compile(r"[0-9]{1,14}")
_DIGITS_ALONE = re.compile(r"[0-9]{1,18}")
_ISO = re.compile(
    r"(?P<date>[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?)"
    r"(?:(?<=-[0-9]{2}-[0-9]{2})[Tt "
    r"](?P<time>[0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2}(?:[.,][0-9]+)?)?)?)"
    r"(?P<zone>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)


_WRITTEN = re.compile(
    r"(?P<year>[0-9]{4})(?:"
    r"-(?P<ordinal>[0-9]{3})|(?P<basic_ordinal>[0-9]{3})(?=[Tt])"
    r"|-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,3}))?"
    r"|(?P<basic_month>[0-9]{2})(?P<basic_day>[0-9]{2})(?=[Tt ])"
    r")(?:[Tt ] ?(?:"
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{1,2})(?::(?P<second>[0-9]{1,2})(?P<fraction>[.,][0-9]+)?)?)?"
    r"|(?P<basic_hour>[0-9]{2})(?P<basic_minute>[0-9]{2})"
    r"(?:(?P<basic_second>[0-9]{2})(?P<basic_fraction>[.,][0-9]+)?)?"
    r") ?(?P<zone>[Zz]|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
"""A date with separators, or with a time and a zone: ISO 8601 and its common variants."""

_YEAR_PAST_9999 = re.compile(r"[0-9]{5,}-[0-9]{1,2}-[0-9]{1,2}")


def now_in_iso() -> str:
    """Return the current time in UTC as files and records have it: ``2026-11-21T20:00:00Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _patterns() -> tuple[str, str]:
    """Return two regular expressions: of all times, and of times of 14 digits.

    The first one is of all texts that `first_of` and `last_of` can read.
    """
    year = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
    leap = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
    month, not_february = "(?:0[1-9]|1[0-2])", "(?:0[13-9]|1[0-2])"

    def date(dash: str) -> str:
        days = "|".join(
            f"{months}{dash}(?:{of_month})"
            for months, of_month in (
                ("(?:0[13578]|1[02])", "0[1-9]|[12][0-9]|3[01]"),
                ("(?:0[469]|11)", "0[1-9]|[12][0-9]|30"),
                ("02", "0[1-9]|1[0-9]|2[0-8]"),
            )
        )
        return f"(?:{year}{dash}(?:{days})|{leap}{dash}02{dash}29)"

    hour, sixtieth = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
    beginning = f"[0-9]{{1,3}}|{year}(?:[01]|{month}[0-2]?|{not_february}3)?"
    of_day = f"(?:[0-2]|{hour}(?:[0-5]|{sixtieth}(?:[0-5]|{sixtieth})?)?)?"
    time = f"{hour}(?::?{sixtieth}(?::?{sixtieth}(?:[.,][0-9]+)?)?)?"
    zone = f"(?:[Zz]|[+-]{hour}(?::?{sixtieth})?)?"
    iso = f"{year}-{month}|{date('-')}(?:[Tt ]{time}{zone})?"
    all_times = f"[ \\t\\r\\n]*(?:{beginning}|{date('')}{of_day}|{iso})[ \\t\\r\\n]*"
    return all_times, f"{date('')}{hour}{sixtieth}{sixtieth}"


PATTERN, PATTERN_OF_SECONDS = _patterns()
"""Match exactly the texts that `first_of` and `last_of` read, and those of 14 digits among them.

In Python and in ECMAScript.
"""


def month_of(timestamp: str) -> str:
    """Return the month of a timestamp.

    >>> month_of("20100217101229")
    '2010-02'
    """
    return day_of(timestamp)[:7]


def day_of(timestamp: str) -> str:
    """Return the day of a timestamp.

    >>> day_of("20100217101229")
    '2010-02-17'
    """
    return f"{timestamp[:4]}-{timestamp[4:6]}-{timestamp[6:8]}"


class TimestampError(ValueError):
    """A text is not a point in time; the message says what is wrong with it and what is allowed."""


class NotATimeError(TimestampError):
    """A text has neither of the forms of a time."""


def normal_timestamp(text: str) -> tuple[Timestamp, Reason | None]:
    """Return the timestamp that an archive's digits mean, and the note to count if they changed.

    The note is the first of these that applies: translated, padded, cut, moved. A month or day of
    ``00`` means "unknown" and is padded. Day 67 of March is the 67th day of the year (ClueWeb09),
    and 24:00:00 is the first second of the next day (ISO 8601:2004, 4.2.3): both are translated
    exactly. Any other part that does not exist (month 13, 31 February, second 60) moves to the
    nearest one that does.

    Args:
        text: 4 to 18 digits, from CDX rows and ARC headers (16 and 18 digits: Alexa crawls of
            2000).

    Raises:
        TimestampError: The text is something else, or the year is 0.

    >>> normal_timestamp("20150430132303")
    ('20150430132303', None)
    >>> timestamp, note = normal_timestamp("201504")
    >>> timestamp, note.name
    ('20150401000000', 'NOTE_TIMESTAMP_PADDED')
    """
    if not (4 <= len(text) <= 18 and text.isascii() and text.isdigit()):
        raise TimestampError(f"not 4 to 18 digits: {text[:40]!r}")
    note = None
    if len(text) < 14:
        # An odd digit at the end is the first one of its part: 2015123 is 30 December or later.
        text, note = text.ljust(14, "0"), Reason.NOTE_TIMESTAMP_PADDED
    elif len(text) > 14:
        text, note = text[:14], Reason.NOTE_TIMESTAMP_CUT
    year, month, day, *time = (int(text[start:end]) for start, end in _PARTS)
    moment, changed = _moment(*_day(year, month, day), time)
    return _format(moment), _first_note(changed, note)


def archive_timestamp(text: str) -> tuple[Timestamp, Reason | None]:
    """Return the timestamp that an archive record's date means, and the note to count if changed.

    Digits alone are read by `normal_timestamp`. In addition, the date may have separators, a time
    zone, or the day of the year (``2009-066``, ISO 8601:2004, 4.1.3). A time zone that does not
    exist is ignored and counted as moved.

    Args:
        text: A WARC-Date (ISO 28500, 5.4: any number of parts from the year on) or an ARC date;
            letters after the digits are ignored.

    Raises:
        TimestampError: The text does not start with a date.

    >>> archive_timestamp("2009-03-67T15:35:34-0700")[0], archive_timestamp("2009-066")[0]
    ('20090308223534', '20090307000000')
    """
    text = text.strip(" \t\r\n")
    written = _WRITTEN.fullmatch(text)
    if written is None:
        if _YEAR_PAST_9999.match(text):
            raise TimestampError(f"a year after 9999: {text[:40]!r}")
        digits = _DIGITS_ALONE.match(re.sub("[-:. TtZz]", "", text))
        return normal_timestamp(digits[0] if digits else text)
    part = {
        name.removeprefix("basic_"): value for name, value in written.groupdict().items() if value
    }
    time = [int(part.get(name, 0)) for name in ("hour", "minute", "second")]
    day: tuple[date, Reason | None]
    if "ordinal" in part:
        day = _ordinal_day(int(part["year"]), int(part["ordinal"]))
    else:
        day = _day(int(part["year"]), int(part.get("month", 0)), int(part.get("day", 0)))
    moment, changed = _moment(*day, time)
    moment, moved = _to_utc(moment, part.get("zone", "Z"))
    given = None
    if "second" not in part:
        given = Reason.NOTE_TIMESTAMP_PADDED
    elif "fraction" in part:
        given = Reason.NOTE_TIMESTAMP_CUT
    return _format(moment), _first_note(changed or moved, given)


def _first_note(changed: Reason | None, given: Reason | None) -> Reason | None:
    """Return the note to count, from the change that was needed and the number of parts given."""
    return changed if changed is Reason.NOTE_TIMESTAMP_TRANSLATED else given or changed


def _days_of_month(year: int, month: int) -> int:
    """Return the number of days of a month (the module `calendar` takes 2 ms to import)."""
    is_leap = month == 2 and (year % 400 == 0 if year % 100 == 0 else year % 4 == 0)
    return 29 if is_leap else _DAYS[month - 1]


def _day(year: int, month: int, day: int) -> tuple[date, Reason | None]:
    """Return the day for three numbers, and the note to count if they had to be changed.

    Raises:
        TimestampError: The year is 0.
    """
    if year == 0:
        raise TimestampError("the year 0000 does not exist")
    if 1 <= month <= 12 and day > _days_of_month(year, month):
        by_ordinal, note = _ordinal_day(year, day)
        if by_ordinal.month == month and note is Reason.NOTE_TIMESTAMP_TRANSLATED:
            return by_ordinal, note
    is_padded = month == 0 or day == 0
    real_month = min(max(month, 1), 12)
    real_day = min(max(day, 1), _days_of_month(year, real_month))
    if is_padded:
        return date(year, real_month, real_day), Reason.NOTE_TIMESTAMP_PADDED
    is_real = (real_month, real_day) == (month, day)
    return date(year, real_month, real_day), None if is_real else Reason.NOTE_TIMESTAMP_MOVED


def _ordinal_day(year: int, ordinal: int) -> tuple[date, Reason]:
    """Return a day by its number in the year, or the nearest day if the year has no such day.

    Raises:
        TimestampError: The year is 0.
    """
    if year == 0:
        raise TimestampError("the year 0000 does not exist")
    real = min(max(ordinal, 1), 337 + _days_of_month(year, 2))
    note = Reason.NOTE_TIMESTAMP_TRANSLATED if real == ordinal else Reason.NOTE_TIMESTAMP_MOVED
    return date(year, 1, 1) + timedelta(days=real - 1), note


def _moment(day: date, note: Reason | None, time: Sequence[int]) -> tuple[datetime, Reason | None]:
    """Return a day with hour, minute and second, and the note of the first change, if any."""
    hour, minute, second = time
    if (hour, minute, second) == (24, 0, 0) and day < date.max:
        midnight = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
        return midnight, note or Reason.NOTE_TIMESTAMP_TRANSLATED
    real = min(hour, 23), min(minute, 59), min(second, 59)  # a leap second becomes second 59
    if real != (hour, minute, second):
        note = note or Reason.NOTE_TIMESTAMP_MOVED
    return datetime(day.year, day.month, day.day, *real, tzinfo=UTC), note


def _to_utc(moment: datetime, zone: str) -> tuple[datetime, Reason | None]:
    """Return a time in a zone (``Z``, ``+01``, ``-0730``) as UTC.

    If the zone cannot be applied, the time is unchanged and the second value is the note to count.
    """
    if zone in ("Z", "z", "UTC", "GMT"):
        return moment, None
    hours, minutes = int(zone[1:3]), int(zone[3:].lstrip(":") or 0)
    if hours > 23 or minutes > 59:
        return moment, Reason.NOTE_TIMESTAMP_MOVED
    offset = timedelta(hours=hours, minutes=minutes)
    try:
        return moment + offset if zone[0] == "-" else moment - offset, None
    except OverflowError:
        return moment, Reason.NOTE_TIMESTAMP_MOVED


def _format(moment: datetime) -> Timestamp:
    return Timestamp(f"{moment.year:04}{moment:%m%d%H%M%S}")


def first_of(text: str) -> Timestamp:
    """Return the first second of a time that a person wrote: the ``from`` of a range.

    Args:
        text: 1 to 14 digits (``2013``, ``20130211``) or ISO 8601 (``2013-02``,
            ``2013-02-11T10:20:30+01:00``); without a zone it is UTC.

    Raises:
        TimestampError: The text is neither, or no date starts like this.

    >>> first_of("2013-02")
    '20130201000000'
    """
    return _end_of(text, pad_low)


def last_of(text: str) -> Timestamp:
    """Return the last second of a time that a person wrote: the ``to`` of a range; see `first_of`.

    Raises:
        TimestampError: The text is neither, or no date starts like this.

    >>> last_of("2013-02")
    '20130228235959'
    """
    return _end_of(text, pad_high)


def pad_low(digits: str) -> Timestamp:
    """Return the first timestamp that starts with these 1 to 14 digits.

    Raises:
        TimestampError: The text is something else, or no date starts like this.
    """
    return _pad(digits, lowest=True)


def pad_high(digits: str) -> Timestamp:
    """Return the last timestamp that starts with these 1 to 14 digits.

    Raises:
        TimestampError: The text is something else, or no date starts like this.
    """
    return _pad(digits, lowest=False)


def _pad(digits: str, *, lowest: bool) -> Timestamp:
    if not _DIGITS.fullmatch(digits):
        raise TimestampError(f"not a timestamp of 1 to 14 digits: {digits[:40]!r}")
    parts: list[int] = []
    for (start, end), least, greatest in zip(_PARTS, _LEAST, _GREATEST, strict=True):
        if start == 6:
            greatest = _days_of_month(parts[0], parts[1])
        given = digits[start:end]
        missing = end - start - len(given)
        low = max(least, int(given + "0" * missing))
        high = min(greatest, int(given + "9" * missing))
        if low > high:
            raise TimestampError(f"no date starts with {digits}: {digits[:end]} does not exist")
        parts.append(low if lowest else high)
    return Timestamp("{:04}{:02}{:02}{:02}{:02}{:02}".format(*parts))


def _end_of(text: str, pad: Callable[[str], Timestamp]) -> Timestamp:
    text = text.strip(" \t\r\n")
    if _DIGITS.fullmatch(text):
        return pad(text)
    written = _ISO.fullmatch(text)
    if written is None:
        raise NotATimeError(
            f"not a time: {text[:40]!r}; write 1 to 14 digits (2013, 20130211) or ISO 8601 "
            "(2013-02-11T10:20:30Z)"
        )
    time = re.split("[.,]", written["time"] or "")[0].replace(":", "")
    timestamp = pad(written["date"].replace("-", "") + time)
    zone = (written["zone"] or "Z").upper()
    if zone == "Z":
        return timestamp
    try:
        moment = datetime.strptime(
            timestamp + zone.replace(":", "").ljust(5, "0"), "%Y%m%d%H%M%S%z"
        ).astimezone(UTC)
    except ValueError as error:
        raise TimestampError(f"not a time zone: {text[:40]!r}") from error
    except OverflowError:  # out of the calendar: use its first or last second
        return Timestamp("00010101000000" if timestamp < "5" else "99991231235959")
    return _format(moment)
