import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arclink.reasons import Reason
from arclink.timestamps import (
    PATTERN,
    TimestampError,
    first_of,
    last_of,
    normal_timestamp,
    pad_high,
    pad_low,
)


@pytest.mark.parametrize(
    ("text", "timestamp", "note"),
    [
        pytest.param("20150430132303", "20150430132303", None, id="14 digits"),
        pytest.param(
            "2016020900", "20160209000000", Reason.NOTE_TIMESTAMP_PADDED, id="10 digits: the hour"
        ),
        pytest.param(
            "1999", "19990101000000", Reason.NOTE_TIMESTAMP_PADDED, id="4 digits: the year"
        ),
        pytest.param(
            "199907", "19990701000000", Reason.NOTE_TIMESTAMP_PADDED, id="6 digits: the month"
        ),
        pytest.param(
            "2015123",
            "20151230000000",
            Reason.NOTE_TIMESTAMP_PADDED,
            id="7 digits: half of the day",
        ),
        pytest.param(
            "20151200000000", "20151201000000", Reason.NOTE_TIMESTAMP_PADDED, id="day 00 is unknown"
        ),
        pytest.param(
            "20150000000000",
            "20150101000000",
            Reason.NOTE_TIMESTAMP_PADDED,
            id="month 00 is unknown",
        ),
        pytest.param(
            "2000082305410012", "20000823054100", Reason.NOTE_TIMESTAMP_CUT, id="16 digits"
        ),
        pytest.param(
            "200009180023001234", "20000918002300", Reason.NOTE_TIMESTAMP_CUT, id="18 digits"
        ),
        pytest.param(
            "20130231101112", "20130228101112", Reason.NOTE_TIMESTAMP_MOVED, id="31 February"
        ),
        pytest.param(
            "20120231101112",
            "20120229101112",
            Reason.NOTE_TIMESTAMP_MOVED,
            id="31 February of a leap year",
        ),
        pytest.param(
            "20131301000000", "20131201000000", Reason.NOTE_TIMESTAMP_MOVED, id="month 13"
        ),
        pytest.param(
            "20161231235960", "20161231235959", Reason.NOTE_TIMESTAMP_MOVED, id="leap second"
        ),
        pytest.param(
            "20090367153534",
            "20090308153534",
            Reason.NOTE_TIMESTAMP_TRANSLATED,
            id="day of the year in the place of the day",
        ),
        pytest.param(
            "20130432101112",
            "20130430101112",
            Reason.NOTE_TIMESTAMP_MOVED,
            id="32 April, which is no day of the year in April",
        ),
        pytest.param(
            "20150430240000",
            "20150501000000",
            Reason.NOTE_TIMESTAMP_TRANSLATED,
            id="end of the day",
        ),
        pytest.param(
            "20130101256199", "20130101235959", Reason.NOTE_TIMESTAMP_MOVED, id="25:61:99"
        ),
    ],
)
def test_digits_of_an_archive_become_a_date_that_exists(
    text: str, timestamp: str, note: Reason | None
) -> None:
    assert normal_timestamp(text) == (timestamp, note)


@pytest.mark.parametrize(
    "text",
    ["", "-", "201", "1" * 19, "2013021x", "\uff12\uff10\uff11\uff13", "+2013", "00000101000000"],
)
def test_an_invalid_timestamp_is_refused(text: str) -> None:
    with pytest.raises(TimestampError):
        normal_timestamp(text)


@given(st.text(alphabet="0123456789", min_size=4, max_size=18))
def test_a_normal_timestamp_is_a_fixed_point(text: str) -> None:
    if text.startswith("0000"):
        return
    timestamp, note = normal_timestamp(text)
    assert normal_timestamp(timestamp) == (timestamp, None)
    assert (note is None) == (text == timestamp)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        pytest.param("2", "20000101000000", "29991231235959", id="1 digit"),
        pytest.param("2013", "20130101000000", "20131231235959", id="year"),
        pytest.param("20131", "20131001000000", "20131231235959", id="half of a month"),
        pytest.param("20130", "20130101000000", "20130930235959", id="the other half"),
        pytest.param("201202", "20120201000000", "20120229235959", id="February of a leap year"),
        pytest.param("2013022", "20130220000000", "20130228235959", id="the twenties of February"),
        pytest.param("2013021109", "20130211090000", "20130211095959", id="hour"),
        pytest.param("2013021123", "20130211230000", "20130211235959", id="last hour"),
        pytest.param("201302112", "20130211200000", "20130211235959", id="evening"),
        pytest.param("20130211101112", "20130211101112", "20130211101112", id="second"),
        pytest.param("2013-02", "20130201000000", "20130228235959", id="ISO month"),
        pytest.param("2013-02-11", "20130211000000", "20130211235959", id="ISO day"),
        pytest.param("2013-02-11T10:20", "20130211102000", "20130211102059", id="ISO minute"),
        pytest.param("2013-02-11T10:20:30Z", "20130211102030", "20130211102030", id="ISO second"),
        pytest.param(
            "2013-02-11 10:20:30.5",
            "20130211102030",
            "20130211102030",
            id="ISO with a blank and a fraction",
        ),
        pytest.param("2013-01-01T00:20+01:00", "20121231232000", "20121231232059", id="zone east"),
        pytest.param(
            "2012-12-31T23:20:00-0130", "20130101005000", "20130101005000", id="zone west"
        ),
        pytest.param(" 2013 ", "20130101000000", "20131231235959", id="blanks around"),
    ],
)
def test_what_a_person_writes_has_a_first_and_a_last_second(
    text: str, first: str, last: str
) -> None:
    assert (first_of(text), last_of(text)) == (first, last)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "20130231", "no date starts with 20130231: 20130231 does not exist", id="31 February"
        ),
        pytest.param("201313", "no date starts with 201313", id="month 13"),
        pytest.param("0000", "no date starts with 0000", id="year 0"),
        pytest.param("2013-02-31", "no date starts with 20130231", id="31 February in ISO 8601"),
        pytest.param("2013021110203040", "not a time.*write 1 to 14 digits", id="16 digits"),
        pytest.param("yesterday", "not a time.*ISO 8601", id="a word"),
        pytest.param("", "not a time", id="nothing"),
        pytest.param(
            "2010\x1f", "not a time", id="a control character, which is a space to Python alone"
        ),
        pytest.param("2013-02-11T10:20+99:00", "time zone", id="zone that does not exist"),
    ],
)
def test_a_date_that_does_not_exist_is_an_error_that_says_so(text: str, message: str) -> None:
    for end_of in (first_of, last_of):
        with pytest.raises(TimestampError, match=message):
            end_of(text)


@given(st.text(alphabet="0123456789", min_size=1, max_size=14))
def test_every_timestamp_between_the_ends_starts_with_what_was_asked(digits: str) -> None:
    try:
        low = pad_low(digits)
    except TimestampError:
        with pytest.raises(TimestampError):
            pad_high(digits)
        return
    high = pad_high(digits)
    assert low <= high
    assert low.startswith(digits)
    assert high.startswith(digits)
    assert normal_timestamp(low) == (low, None)
    assert normal_timestamp(high) == (high, None)


@given(st.text(max_size=30))
def test_no_other_error_comes_out_of_any_text(text: str) -> None:
    for parse in (first_of, last_of, normal_timestamp):
        try:
            parse(text)
        except TimestampError:
            continue


NEAR_TIMES = st.text("0123456789-T: Z+.,t\n", max_size=20) | st.builds(
    "{:04}{}{:02}{}{:02}{}{}".format,
    st.sampled_from([0, 1, 4, 100, 400, 1900, 2000, 2011, 2012, 9999]),
    st.sampled_from(["", "-"]),
    st.integers(0, 13),
    st.sampled_from(["", "-"]),
    st.integers(0, 32),
    st.sampled_from(["", "T", " "]),
    st.sampled_from(
        ["", "1", "2", "3", "23", "24", "10:59", "10:60", "1059", "105960", "10:20:30Z"]
    )
    | st.sampled_from(
        ["00:00+01:00", "23:59-01", "10+24:00", "10+23:60", "10:20:30.5+0100", "10Z"]
    ),
)


def is_read(text: str) -> bool:
    try:
        first_of(text)
        last_of(text)
    except TimestampError:
        return False
    return True


@settings(max_examples=500)
@given(NEAR_TIMES)
@example("2010T10")
@example("2010-02T10")
@example("20120230")
@example("2012023")
@example("19000229")
@example("20000229")
@example("0000")
@example("000")
@example("0001-01-01T00:00+23:59")
@example("9999-12-31T23:59-23:59")
@example("2010\n")
@example("\x0b2010")
def test_the_pattern_is_of_the_texts_that_are_read(text: str) -> None:
    """Of these and no others; the description of the service has it."""
    assert (re.fullmatch(PATTERN, text) is not None) == is_read(text)


@given(st.from_regex(PATTERN, fullmatch=True))
def test_what_fits_the_pattern_is_read(text: str) -> None:
    assert first_of(text) <= last_of(text)


def test_a_zone_leads_to_the_end_of_the_calendar_at_most() -> None:
    assert first_of("0001-01-01T00:00+01:00") == "00010101000000"
    assert last_of("9999-12-31T23:59-01:00") == "99991231235959"
