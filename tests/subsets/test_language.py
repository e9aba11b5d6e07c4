"""The language: canonical texts, JSON, and errors with their position."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.captures.subsets.fields import FIELDS
from arclink.captures.subsets.language import (
    ALL,
    DEEPEST,
    LONGEST,
    AllOf,
    AnyOf,
    Condition,
    Except,
    Selection,
    SelectionError,
    all_of,
    any_of,
    json_of,
    outside,
    parse_selection,
    text_of,
)
from tests.subsets.selections import selections


def read_json(value: Any) -> Selection:
    """Return the selection that is written as JSON."""
    match value:
        case {"and": parts}:
            picks = [part["pick"] for part in parts if "pick" in part]
            return all_of([read_json(part) for part in parts if "pick" not in part], *picks)
        case {"or": parts}:
            return any_of([read_json(part) for part in parts])
        case {"not": part}:
            return outside(read_json(part))
        case _:
            (field, text), *qualifiers = value.items()
            return Condition(field, text, tuple(qualifiers))


@pytest.mark.filterwarnings("ignore:prefix:FutureWarning")
@given(selections)
def test_text_and_json_describe_the_same_selection(selection: Selection) -> None:
    canonical = parse_selection(text_of(selection))
    assert parse_selection(text_of(read_json(json_of(selection)))) == canonical
    assert parse_selection(text_of(canonical)) == canonical
    assert read_json(json_of(canonical)) == canonical


def error_in(text: str) -> SelectionError | None:
    """Return the error in a selection; None if it is right."""
    try:
        parse_selection(text)
    except SelectionError as error:
        return error
    return None


@given(st.text(st.sampled_from('ab :()"\\*and%1'), max_size=30))
def test_any_text_is_a_selection_or_an_error_with_a_position(text: str) -> None:
    error = error_in(text)
    if error is None:
        assert error_in(text_of(parse_selection(text))) is None
    else:
        assert 0 <= error.position <= len(text)
        assert error.expected


@given(st.text(min_size=1))
def test_every_value_can_be_written_in_quotes(value: str) -> None:
    condition = Condition("file", value)
    assert parse_selection(text_of(condition)) == condition


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ('host:"A.example"  AND  status:200', "host:a.example and status:200"),
        (
            "(host:a.example and (status:200 and to:2010))",
            "host:a.example and status:200 and to:2010",
        ),
        (
            "host:a.example or host:b.example and to:2010",
            "host:a.example or (host:b.example and to:2010)",
        ),
        ("not not host:a.example", "host:a.example"),
        ("NOT (status:4* or status:5*)", "not (status:4* or status:5*)"),
        ("from:2001-01-01T00:00:00 and to:20011231", "from:2001 and to:2001"),
        ("sample:01.50% seed:x", "sample:1.5% seed:x"),
        ("pick:latest", "uri:* and pick:latest"),
        ("pick:first and host:a.example", "host:a.example and pick:first"),
        (
            "status:200 and (host:a.example and pick:first)",
            "status:200 and (host:a.example and pick:first)",
        ),
        (
            "within:2 at:2010 of:a.example direction:in",
            "within:2 of:a.example direction:in at:2010",
        ),
        ("http://a.org/*", "uri:http://a.org/*"),
        ("not *.a.org AND HTTPS://b.org/x", "not uri:*.a.org and uri:HTTPS://b.org/x"),
    ],
)
def test_spellings_of_one_selection_have_one_text(text: str, canonical: str) -> None:
    assert text_of(parse_selection(text)) == canonical


def test_a_pick_applies_to_its_own_group_only() -> None:
    host, status = Condition("host", "a.example"), Condition("status", "200")
    assert parse_selection("host:a.example and status:200 and pick:first") == AllOf(
        (host, status), "first"
    )
    assert parse_selection("(host:a.example and pick:first) and status:200") == AllOf(
        (AllOf((host,), "first"), status)
    )
    assert parse_selection("not pick:first or status:200") == AnyOf(
        (Except(AllOf((ALL,), "first")), status)
    )


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("", 0, "a condition"),
        ("host:a.example and", 18, "a condition"),
        ("host:a.example status:200", 15, "'and', 'or' or the end"),
        ("(host:a.example", 15, "and, or, or )"),
        ("colour:red", 0, "a field (uri, host"),
        ("domain:gov and from:20x1", 20, "a time"),
        ("status:2000", 7, "a status"),
        ("host:", 5, "a host"),
        ('file:"abc', 9, 'a closing "'),
        ("*.nasa.gov)/x", 10, "'and', 'or' or the end; a value with brackets"),
        ("file:a(b)", 6, "a space; a value with brackets"),
        ("within:2 and host:a.example", 9, "of:"),
        ("within:2 of:a.example of:b.example", 22, "of once"),
        ("sample:1% of:a.example", 10, "and, or, or one of seed for sample"),
        ("pick:first and pick:latest", 15, "one pick"),
        ("pick:newest", 5, "latest, first or nearest@TIME"),
        ("never-captured", 0, "a condition on captures"),
        ("host:a.example and never-captured", 19, "a condition on captures"),
        ("(" * (DEEPEST + 1) + "host:a.example", DEEPEST, f"at most {DEEPEST}"),
        ("not " * (DEEPEST + 1) + "host:a.example", 4 * DEEPEST, f"at most {DEEPEST}"),
        ("host:" + "a" * LONGEST, LONGEST, "the end"),
    ],
)
def test_an_error_has_its_place_and_what_was_expected(
    text: str, position: int, expected: str
) -> None:
    with pytest.raises(SelectionError) as caught:
        parse_selection(text)
    assert caught.value.position == position
    assert caught.value.expected.startswith(expected)


def test_the_message_points_to_the_place() -> None:
    with pytest.raises(SelectionError) as caught:
        parse_selection("domain:gov and from:20x1")
    assert str(caught.value).splitlines()[1:] == [
        "  domain:gov and from:20x1",
        "                      ^",
    ]


def test_every_field_is_described() -> None:
    for field in FIELDS.values():
        assert field.about.endswith(".")
        assert field.expected
