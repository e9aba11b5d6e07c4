"""The filter benchmark compares counts of rows by outcome."""

from arclink.reasons import Reason
from benchmarks.filter import _any_of, counts_of_summary


def test_counts_are_read_from_what_filter_prints() -> None:
    printed = (
        "rows: 3\n  3  kept\n\nmementos: 1,203\n           1,200  payload to be read\n         "
        "      3  status is not 200\n"
    )
    assert counts_of_summary(printed) == {
        Reason.MEMENTO_WITH_PAYLOAD.name: 1_200,
        Reason.MEMENTO_STATUS.name: 3,
    }


def test_words_become_an_expression_without_backslashes() -> None:
    assert _any_of(["-", "application/xhtml+xml", "text/*"]) == "-|application/xhtml[+]xml|text/[*]"
