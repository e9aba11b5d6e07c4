"""The history of a page on one time axis (`arclink.access.chronicles`)."""

import pytest

from arclink.access.chronicles import Chronicle, answer_chronicle, unit_for, units_between
from arclink.access.queries import LinkQuery
from arclink.access.reader import Budget, State
from arclink.access.tallies import Period
from arclink.model import Outlink, Timestamp
from tests.store.memory_store import MemoryStore, Page, link

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"


def chronicle(pages: list[Page], budget: Budget | None = None, uri: str = A) -> Chronicle:
    return answer_chronicle(MemoryStore(pages), LinkQuery.from_parameters([("uri", uri)]), budget)


def test_each_capture_has_its_state_and_units_without_captures_are_left_out() -> None:
    found = chronicle(
        [
            Page(A, "20100101000000", [link(B, "x"), link(B, "x"), link(C)]),
            Page(A, "20100101120000", [link(B, "x")]),
            Page(A, "20100103000000", []),
            Page(A, "20100104000000", None, status="404", reason="MEMENTO_STATUS"),
            Page(A, "20100105000000", None, reason="PAYLOAD_NOT_AT_HAND"),
        ]
    )
    assert [(one.state, one.links) for one in found.captures] == [
        (State.READ, 2),
        (State.READ, 1),
        (State.READ, 0),
        (State.NO_PAGE, None),
        (State.NOT_READ, None),
    ]
    assert found.outlinks == {"2010-01-01": 2, "2010-01-03": 0}
    assert (found.first, found.last, found.unit) == ("20100101000000", "20100105000000", Period.DAY)
    assert found.mementos.links_known == 3


def test_a_link_counts_once_in_each_unit_that_shows_it() -> None:
    pages = [
        Page(B, time, [link(A, "x"), link("http://www.a.example/", "x")])
        for time in ("20100101000000", "20100101120000", "20100301000000")
    ]
    found = chronicle([*pages, Page(C, "20100315000000", [link(A, "x"), link(A, "y")])])
    assert found.unit is Period.MONTH
    assert found.inlinks == {"2010-01": 1, "2010-03": 3}
    assert found.total == 3
    assert found.captures == ()
    assert (found.first, found.last) == ("20100101000000", "20100315000000")
    assert len(list(found.units())) == 3


def test_a_page_without_captures_has_an_empty_chronicle() -> None:
    found = chronicle([Page(B, "20100101000000", [link(C)])])
    assert (found.first, found.last, found.total, list(found.units())) == (None, None, 0, [])


def test_what_is_read_is_bounded() -> None:
    pages = [
        Page(f"http://p{number}.example/", "20100101000000", [link(A, str(number))])
        for number in range(20)
    ]
    pages += [
        Page(
            A,
            f"201001{day:02}000000",
            [link(f"http://t{day}-{number}.example/") for number in range(4)],
        )
        for day in range(1, 8)
    ]
    found = chronicle(pages, Budget(members=5, rows=10, look_ups=5, counted=5))
    assert (found.total, found.extent.links, found.extent.is_complete) == (5, 5, False)
    assert [one.links for one in found.captures] == [4, 4, None, None, None, None, None]
    assert {one.state for one in found.captures} == {State.READ}


@pytest.mark.parametrize(
    ("first", "last", "unit", "count"),
    [
        ("20100101000000", "20100719235959", Period.DAY, 200),
        ("20100101000000", "20100720000000", Period.MONTH, 7),
        ("19800131000000", "20130430000000", Period.MONTH, 400),
        ("19800131000000", "20130501000000", Period.YEAR, 34),
        ("00010101000000", "99991231235959", Period.YEAR, 9999),
        ("20100101000000", "20100101000000", Period.DAY, 1),
    ],
)
def test_the_unit_of_time_is_chosen_so_that_the_axis_is_short(
    first: str, last: str, unit: Period, count: int
) -> None:
    assert unit_for(Timestamp(first), Timestamp(last), None) is unit
    units = list(units_between(Timestamp(first), Timestamp(last), unit))
    assert len(units) == len(set(units)) == count
    assert units == sorted(units)
    assert (units[0], units[-1]) == (unit.of(Timestamp(first)), unit.of(Timestamp(last)))


@pytest.mark.parametrize(
    ("days", "unit"),
    [
        pytest.param(["2010-01-01", "2010-01-03"], Period.DAY, id="two of three days"),
        pytest.param(["2010-01-01", "2010-01-31"], Period.DAY, id="a month would be all"),
        pytest.param(["2010-01-31", "2010-02-01"], Period.DAY, id="days of two months"),
        pytest.param(["2010-01-30", "2010-02-02"], Period.DAY, id="half"),
        pytest.param(["2010-01-30", "2010-02-03"], Period.MONTH, id="less than half"),
        pytest.param(["2010-01-01", "2010-12-31"], Period.MONTH, id="a year would be all"),
        pytest.param(["2009-12-01", "2010-06-30"], Period.YEAR, id="few months"),
        pytest.param(["2001-05-05", "2015-06-06"], Period.YEAR, id="few years"),
        pytest.param(["2010-01-01", "2012-12-31", "2015-01-01"], Period.YEAR, id="few of all"),
        pytest.param(["0001-01-01", "9999-12-31"], Period.YEAR, id="wrong dates"),
    ],
)
def test_cells_of_an_axis_are_no_finer_than_the_captures_make_useful(
    days: list[str], unit: Period
) -> None:
    first, last = (Timestamp(day.replace("-", "") + "120000") for day in (days[0], days[-1]))
    assert unit_for(first, last, days) is unit
    if first > "1999":  # days before the axis say nothing about it
        assert (
            unit_for(first, last, [*days, *(f"1998-01-{day:02}" for day in range(1, 32))]) is unit
        )


@pytest.mark.parametrize(("content", "unit"), [([], Period.MONTH), (None, Period.YEAR)])
def test_cells_are_useful_that_have_a_capture_with_known_links(
    content: list[Outlink] | None, unit: Period
) -> None:
    pages = [Page(A, "20091201000000", []), Page(B, "20100101000000", content)]
    assert chronicle([*pages, Page(A, "20100301000000", None)]).unit is unit
