"""Evaluation: generated selections select what DuckDB selects."""

from itertools import groupby
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import example, given, settings

from arclink.captures.subsets.evaluation import Evaluation
from arclink.captures.subsets.fields import sample_number
from arclink.captures.subsets.language import Condition, Selection, parse_selection
from arclink.model import Span, Surt, Timestamp, UriR
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of
from tests.subsets.selections import VALUES, CaptureTable, selections

WEBBASE = UriR("http://www.kalvik2010.example/ceremony/opening.html")
CORNELL = "domain:example and mime:text/* and from:200912 and to:20100115"


def check(path: Path, table: CaptureTable, selection: Selection) -> None:
    """Compare scans and look-ups of a selection with SQL."""
    expected = table.selected(selection)
    with open_store(str(path)) as store:
        evaluation = Evaluation(store, selection)
        assert list(evaluation.scan()) == expected
        span = Span(Timestamp("20091201000000"), Timestamp("20100131235959"))
        prefix = Surt("example,kalvik2010)")
        assert list(evaluation.scan(span, prefix)) == [
            memento
            for memento in expected
            if memento.timestamp in span and memento.surt.startswith(prefix)
        ]
        by_surt = {surt: list(same) for surt, same in groupby(expected, attrgetter("surt"))}
        for surt in list(store.captured_surts(Surt("")))[::7]:
            assert list(evaluation.mementos(surt)) == by_surt.get(surt, [])


@settings(max_examples=40)
@given(selection=selections)
@example(selection=parse_selection(CORNELL))
@example(selection=parse_selection("not (links-to:http://www.kalvik2010.example/ and pick:latest)"))
def test_a_selection_selects_the_captures_that_sql_selects(
    demo_path: Path, capture_table: CaptureTable, selection: Selection
) -> None:
    check(demo_path, capture_table, selection)


@pytest.mark.long
@settings(max_examples=200)
@given(selection=selections)
def test_200_selections_select_the_captures_that_sql_selects(
    demo_path: Path, capture_table: CaptureTable, selection: Selection
) -> None:
    check(demo_path, capture_table, selection)


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in VALUES.items() for value in values]
)
def test_each_condition_selects_what_sql_selects(
    demo_store: GraphStore, capture_table: CaptureTable, name: str, value: str
) -> None:
    condition = Condition(name, value)
    assert list(Evaluation(demo_store, condition).scan()) == capture_table.selected(condition)


def test_the_example_of_cornell_selects_text_pages_of_a_domain_and_time(
    demo_store: GraphStore,
) -> None:
    captures = list(Evaluation(demo_store, parse_selection(CORNELL)).scan())
    assert captures
    assert {memento.mime for memento in captures} <= {"text/html", "text/css"}
    assert all("20091201000000" <= memento.timestamp <= "20100115235959" for memento in captures)


def test_the_example_of_webbase_selects_pages_that_point_to_a_uri(
    demo_store: GraphStore, capture_table: CaptureTable
) -> None:
    """The other part of the example, a word in the title, is in ``test_words.py``."""
    text = f"links-to:{WEBBASE} and (mime:text/html or mime:warc/revisit)"
    captures = list(Evaluation(demo_store, parse_selection(text)).scan())
    linking = capture_table.rows(
        f"SELECT DISTINCT source, time FROM links WHERE target_surt = '{surt_of(WEBBASE)}'"
    )
    assert captures
    assert {(one.original, one.timestamp) for one in captures} == {
        (source, time) for source, time in linking
    }


def test_only_the_ranges_of_a_selection_are_read(demo_store: GraphStore) -> None:
    texts = {
        "host:a.example and mime:text/*": ("example,a)", "example,a:"),
        "domain:a.example or uri:b.example/x": (
            "example,a)",
            "example,a,",
            "example,a:",
            "example,b)/x\0",
            "example,b)/x ",  # answers to other methods
            "example,b)/x#",
        ),
        "domain:example and *.a.example and host:b.example": (),
        "not host:a.example": ("",),
        "host:*.blog.example": ("example,blog)", "example,blog,", "example,blog:"),
    }
    for text, stems in texts.items():
        assert Evaluation(demo_store, parse_selection(text)).ranges.stems == stems


def test_a_sample_is_the_same_on_every_machine() -> None:
    assert sample_number(Surt("org,example)/"), "") == 6499035930078481837
    assert sample_number(Surt("org,example)/"), "7") == 14121417028872662508


def test_another_seed_selects_other_uris(demo_store: GraphStore) -> None:
    def surts(text: str) -> set[Surt]:
        return {one.surt for one in Evaluation(demo_store, parse_selection(text)).scan()}

    assert surts("sample:30%") != surts("sample:30% seed:2")
    assert surts("sample:10%") <= surts("sample:30%")
