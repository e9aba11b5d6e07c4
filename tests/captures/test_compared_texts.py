"""Two texts next to each other: both can be read from the result, and its cost is bounded."""

import time
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.captures.text import (
    MOST_CHARACTERS,
    MOST_LINES,
    ComparedPiece,
    ComparedTexts,
    LineChange,
    compare_texts,
)

lines = st.lists(st.text("ab \n", max_size=9), max_size=12)


def sides(compared: ComparedTexts) -> tuple[list[str], list[str]]:
    """Return the two texts that a comparison shows."""
    before, after = (
        ["".join(piece.text for piece in side) for side in of_side if side is not None]
        for of_side in (
            [line.before for line in compared.lines],
            [line.after for line in compared.lines],
        )
    )
    return before, after


@given(lines, lines)
def test_both_texts_are_shown_whole_and_in_order(before: list[str], after: list[str]) -> None:
    compared = compare_texts(before, after)
    assert sides(compared) == (before, after)
    assert not compared.is_cut
    assert [line for _, run in compared.runs() for line in run] == list(compared.lines)


@given(lines, lines)
def test_what_is_not_marked_is_equal(before: list[str], after: list[str]) -> None:
    for line in compare_texts(before, after).lines:
        same = [
            "".join(piece.text for piece in side or () if not piece.differs)
            for side in (line.before, line.after)
        ]
        assert same[0] == same[1]
        marked = any(piece.differs for side in (line.before, line.after) for piece in side or ())
        assert marked == (line.change is not LineChange.EQUAL)


def test_lines_and_words_that_differ_are_marked() -> None:
    compared = compare_texts(
        ["Home", "Open from 9 to 5", "Old news"], ["Home", "Open from 9 to 6", "Contact us", "More"]
    )
    assert [(line.change.value, line.before, line.after) for line in compared.lines[1:]] == [
        (
            "changed",
            [ComparedPiece("Open from 9 to ", False), ComparedPiece("5", True)],
            [ComparedPiece("Open from 9 to ", False), ComparedPiece("6", True)],
        ),
        ("removed", [ComparedPiece("Old news", True)], None),
        ("added", None, [ComparedPiece("Contact us", True)]),
        ("added", None, [ComparedPiece("More", True)]),
    ]


_LONG = "word " * 100_000
_random = Random(20261126)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(lambda number: "same", id="equal lines"),
        pytest.param(lambda number: _random.choice("ab"), id="two lines"),
        pytest.param(lambda number: str(_random.randrange(100)), id="a hundred lines"),
        pytest.param(lambda number: str(_random.randrange(9_000)), id="shuffled lines"),
        pytest.param(lambda number: " ".join(_random.choices("0123456789", k=99)), id="few words"),
        pytest.param(lambda number: _LONG, id="long lines"),
    ],
)
def test_long_texts_are_compared_in_part_and_soon(line: Callable[[int], str]) -> None:
    before, after = ([line(number) for number in range(9_000)] for _ in range(2))
    after.insert(0, "first")
    since = time.process_time()
    compared = compare_texts(before, after)
    assert time.process_time() - since < 1.5
    assert compared.is_cut
    for shown in sides(compared):
        assert len(shown) <= MOST_LINES
        assert sum(map(len, shown)) <= MOST_CHARACTERS


_MANY = [f"l{number % 50}" for number in range(1_900)]
_MIXED = [line for number in range(950) for line in (_MANY[number], f"q{number}")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([",." * 99 + ","] * 50, ["," * 199] * 50, id="signs"),
        pytest.param(["a b c d " * 24] * 50, ["a c " * 49] * 50, id="words"),
        pytest.param(["x", *_MANY], ["y", *_MIXED], id="lines"),
        pytest.param(
            ["x", *(f"{number % 100}" for number in range(1_999))],
            ["y", *(f"{number * 7 % 100}" for number in range(1_999))],
            id="lines in another order",
        ),
        pytest.param(
            [",." * 99 + ","] * 50 + _MANY, ["," * 199] * 50 + _MIXED, id="signs and lines"
        ),
    ],
)
@pytest.mark.parametrize("turned", [1, -1])
def test_texts_that_repeat_themselves_are_compared_soon(
    before: list[str], after: list[str], turned: int
) -> None:
    texts = (before, after)[::turned]
    since = time.process_time()
    compared = compare_texts(*texts)
    assert time.process_time() - since < 0.5
    assert sides(compared) == texts
    assert not compared.is_cut


def test_a_rough_comparison_says_so() -> None:
    compared = compare_texts([",." * 99 + ","] * 50, ["," * 199] * 50)
    assert compared.is_rough
    assert {line.change for line in compared.lines} == {
        LineChange.CHANGED,
        LineChange.REMOVED,
        LineChange.ADDED,
    }


def test_a_few_repeated_lines_and_words_are_compared_exactly() -> None:
    before = [f"{number % 20} of {number // 2}" for number in range(300)] + ["-"] * 9
    after = [line.replace(" of 77", " of many") for line in before]
    compared = compare_texts(before, after)
    changes = [line.change for line in compared.lines if line.change is not LineChange.EQUAL]
    assert changes == [LineChange.CHANGED] * 2
    assert not compared.is_rough


def test_a_change_after_a_long_equal_beginning_is_found() -> None:
    before = [f"line {number}" for number in range(5_000)]
    compared = compare_texts(before, [*before, "new"])
    assert not compared.is_cut
    assert [line.change for line in compared.lines][-2:] == [LineChange.EQUAL, LineChange.ADDED]
