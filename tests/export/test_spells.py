"""Spells of links, compared with the answer of a link query at each day."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.access.texts import printable_uri
from arclink.analysis.export.exports import picture_of
from arclink.analysis.export.graphs import Spell, joined, nodes_of, spells_of
from arclink.analysis.export.link_scan import links_shown
from arclink.analysis.export.queries import ExportQuery
from arclink.analysis.matrices.slices import Level
from arclink.model import Timestamp, UriR
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of
from tests.store.memory_store import MemoryStore, Page, link

HERE, THERE = "http://a.example/", "http://b.example/"


def page(day: str, *, has: bool = True, status: str = "200", is_read: bool = True) -> Page:
    links = (link(THERE) if has else link("http://c.example/"),) if is_read else None
    return Page(HERE, f"{day}120000", links, status=status)


def node_of(level: Level, uri: UriR) -> str:
    return printable_uri(level.name_of(surt_of(uri)))


def spells_at_uris(
    store: GraphStore, folder: Path, **parameters: str
) -> dict[tuple[str, str], list[tuple[str, ...]]]:
    """Return the spells by the labels of both ends, as days; an end that is open is empty."""
    query = ExportQuery.from_parameters([("format", "gexf"), ("level", "uri"), *parameters.items()])
    with picture_of(store, query) as picture:
        labels = [label for _, _, label in nodes_of(picture)]
        found = spells_of(store, query, picture, folder / "spells")
    return {
        (labels[source], labels[target]): [tuple(map(shown, spell)) for spell in spells]
        for (source, target), spells in found.items()
    }


def shown(day: int | None) -> str:
    return "" if day is None else str(date.fromordinal(day))


@pytest.mark.parametrize(
    ("pages", "observed", "in_force"),
    [
        pytest.param(
            [page("20100101")],
            [("2010-01-01", "2010-01-01")],
            [("2010-01-01", "")],
            id="one memento",
        ),
        pytest.param(
            [page("20100101"), page("20100201"), page("20100301", has=False)],
            [("2010-01-01", "2010-02-01")],
            [("2010-01-01", "2010-03-01")],
            id="it goes",
        ),
        pytest.param(
            [page("20100101"), page("20100201", has=False), page("20100301")],
            [("2010-01-01", "2010-01-01"), ("2010-03-01", "2010-03-01")],
            [("2010-01-01", "2010-02-01"), ("2010-03-01", "")],
            id="it comes back",
        ),
        pytest.param(
            [page("20100101"), page("20100201", status="404", is_read=False), page("20100301")],
            [("2010-01-01", "2010-01-01"), ("2010-03-01", "2010-03-01")],
            [("2010-01-01", "2010-02-01"), ("2010-03-01", "")],
            id="the page was away",
        ),
        pytest.param(
            [page("20100101"), page("20100201", is_read=False), page("20100301")],
            [("2010-01-01", "2010-03-01")],
            [("2010-01-01", "2010-02-01"), ("2010-03-01", "")],
            id="not read tells nothing, but is in force",
        ),
    ],
)
def test_spells_of_links_follow_the_captures_of_a_page(
    pages: Sequence[Page],
    observed: list[tuple[str, str]],
    in_force: list[tuple[str, str]],
    tmp_path: Path,
) -> None:
    store = MemoryStore(pages)
    assert spells_at_uris(store, tmp_path)[HERE, THERE] == observed
    assert spells_at_uris(store, tmp_path, spells="in-force")[HERE, THERE] == in_force


def test_spells_of_a_window_use_only_its_captures(tmp_path: Path) -> None:
    store = MemoryStore(
        [page("20100101"), page("20100201"), page("20100301"), page("20100401", has=False)]
    )
    found = spells_at_uris(store, tmp_path, **{"from": "201002", "to": "201003"})
    assert found == {(HERE, THERE): [("2010-02-01", "2010-03-01")]}


def test_spells_in_force_agree_with_queries_at_each_day(store: Path, tmp_path: Path) -> None:
    with open_store(str(store)) as opened:
        query = ExportQuery.from_parameters(
            [("format", "gexf"), ("level", "uri"), ("spells", "in-force")]
        )
        with picture_of(opened, query) as picture:
            names = [name for _, name, _ in nodes_of(picture)]
            spells = spells_of(opened, query, picture, tmp_path / "spells")
        for day in (
            date(2009, 10, 31),
            *(date(2009, 11, 1) + timedelta(days=days) for days in range(0, 160, 9)),
        ):
            at = ExportQuery.from_parameters([("format", "gexf"), ("at", day.isoformat())]).links
            pairs = {
                (one.page, link.target) for one in links_shown(opened, at) for link in one.links
            }
            expected = {
                pair
                for source, target in pairs
                if all(pair := (node_of(Level.URI, source), node_of(Level.URI, target)))
            }
            then = day.toordinal()
            assert {
                (names[source], names[target])
                for (source, target), of_link in spells.items()
                if any(start <= then and (end is None or then < end) for start, end in of_link)
            } == expected


def test_observed_spells_hold_the_day_of_every_memento_that_shows_the_link(
    store: Path, tmp_path: Path
) -> None:
    with open_store(str(store)) as opened:
        query = ExportQuery.from_parameters([("format", "gexf"), ("level", "domain")])
        with picture_of(opened, query) as picture:
            index_of = {name: index for index, name, _ in nodes_of(picture)}
            spells = spells_of(opened, query, picture, tmp_path / "spells")
        days: dict[tuple[int, int], set[int]] = {}
        for one in links_shown(opened, query.links):
            source = node_of(query.level, one.page)
            for target in {node_of(query.level, link.target) for link in one.links}:
                if source and target:
                    pair = index_of[source], index_of[target]
                    days.setdefault(pair, set()).update(map(_day, one.timestamps))
    assert spells.keys() == days.keys()
    for pair, of_link in spells.items():
        assert {
            day
            for day in days[pair]
            if not any(start <= day <= (end or 0) for start, end in of_link)
        } == set()
        assert {end for span in of_link for end in span} <= days[pair]


def _day(timestamp: Timestamp) -> int:
    return date(int(timestamp[:4]), int(timestamp[4:6]), int(timestamp[6:8])).toordinal()


some_spells = st.builds(
    lambda start, days: (start, None if days is None else start + days),
    st.integers(1, 40),
    st.integers(0, 6) | st.none(),
)


@given(st.lists(some_spells))
def test_joined_spells_have_the_same_days_and_none_twice(spells: list[Spell]) -> None:
    def days(some: Sequence[Spell]) -> list[int]:
        return [day for start, end in some for day in range(start, 60 if end is None else end + 1)]

    found = joined(spells)
    assert days(found) == sorted(set(days(spells)))
