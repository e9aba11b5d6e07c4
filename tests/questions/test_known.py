"""What is known: command line, Python, JSON, questions, rows by time and charts agree."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.access.answers import answer_link_query
from arclink.access.chronicles import answer_chronicle
from arclink.access.formats import FORMATS
from arclink.access.formats.link_rows import anchors_as_rows
from arclink.access.formats.rows import ROW_FORMATS
from arclink.access.levels import AnchorsQuery, KnownHosts, answer_anchors
from arclink.access.queries import LinkQuery
from arclink.access.reader import Reading
from arclink.access.tallies import Period
from arclink.analysis.charts.svg import Axis, beginning
from arclink.analysis.questions.asking import ask
from arclink.analysis.questions.queries import AskQuery
from arclink.analysis.questions.rows import ask_as_rows
from arclink.analysis.questions.table import QUESTIONS
from arclink.analysis.relations.database import RelationsDatabase
from arclink.captures.subsets.view import count_captures
from arclink.checksums import checksum_of_reference
from arclink.known import KnownLinks
from arclink.linkgraph import LinkGraph
from arclink.model import Kind, Memento, Outlink, Scope, Span, Surt, UriR
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from arclink.store.protocols import Scans
from arclink.timestamps import first_of, last_of
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of
from tests.relations.rows import database_of
from tests.store.contract import load_next, slowly
from tests.store.graphs import (
    ORIGINALS,
    TIMESTAMPS,
    Graph,
    PayloadTruth,
    checksum_of,
    graphs,
    memento,
)
from tests.store.memory_store import MemoryStore, Page

TIMES = ["2009", "2010-01", "20091103", "20091103011307", "20091103011308", "20100129", "2012"]


@st.composite
def odd_graphs(draw: st.DrawFn) -> Graph:
    """Draw a graph with errors, redirects, and revisits that name a capture of the same page."""
    graph: Graph = draw(graphs(max_batches=3))
    whens = [None, *TIMESTAMPS]
    changes: dict[tuple[str, ...], Memento] = {}

    def changed(one: Memento) -> Memento:
        if one.key not in changes:
            if one.record_type == "revisit" and draw(st.booleans()):
                named = checksum_of_reference(one.original, draw(st.sampled_from(whens)))
                changes[one.key] = one._replace(checksum=named)
            else:
                status = draw(st.sampled_from([one.status, one.status, "404", "301", "304"]))
                changes[one.key] = one._replace(status=status)
        found = changes[one.key]
        return one._replace(checksum=found.checksum, status=found.status)

    return replace(graph, batches=[[changed(one) for one in batch] for batch in graph.batches])


def says_nothing(store: Scans, one: Memento) -> bool:
    """Return whether a capture redirects to a variant of its own URI."""
    content = store.content_of(one)
    is_moved = one.status[0] == "3" and one.status != "304"
    if one.record_type == "revisit" and one.status in ("-", "304"):
        is_moved = content is not None and content.startswith("redirect:")
    if content is None or not is_moved:
        return False
    targets = [link.target for link in store.outlinks(content) if link.kind == "http@location"]
    return bool(targets) and surt_of(targets[0]) == one.surt


def plain(store: Scans, first: str, last: str, host: str = "") -> KnownLinks:
    """Return the expected `KnownLinks`, by a look at every capture."""
    found = [
        one
        for one in store.scan_mementos()
        if first <= one.timestamp <= last and host in ("", host_of(one.surt))
    ]
    read = [
        one.timestamp
        for one in found
        if not says_nothing(store, one)
        and (store.content_of(one) is not None or (one.status[0] in "345" and one.status != "304"))
    ]
    return KnownLinks(len(found), len(read), min(read, default=None), max(read, default=None))


def units_hatched(axis: Axis) -> set[str]:
    """Return the units of an axis that its gaps cover."""
    return {
        unit
        for unit in axis.units
        for gap in axis.unknown()
        if gap.x - 0.01 <= axis.x(beginning(unit)) < gap.x + gap.width - 0.01
    }


def check(store: Scans, uri: str, first: str, last: str) -> None:
    """Compare all doors of one store with a look at every capture."""
    span = Span(first_of(first), last_of(last))
    expected = plain(store, span.first, span.last)
    assert store.known(span) == expected
    query = LinkQuery.from_parameters(
        [("uri", uri), ("direction", "in"), ("from", first), ("to", last)]
    )
    document = json.loads(b"".join(FORMATS["json"].write(answer_link_query(store, query))))
    assert document["inlinks_known"] is (bool(document["inlinks"]) or expected.is_known)
    if not document["inlinks"]:
        assert document["inlinks_read_from"] == expected.as_fields
        table = b"".join(FORMATS["table"].write(answer_link_query(store, query))).decode()
        begins = "none (read from" if expected.is_known else "unknown: "
        assert f"INLINKS: {begins}" in table
    links = LinkGraph(store).inlinks(uri, from_=first, to=last)
    assert (links.known, links.is_known) == (expected, expected.is_known)
    chronicle = answer_chronicle(store, LinkQuery.from_parameters([("uri", uri)]))
    axis = Axis.of(chronicle)
    reading = Reading(store, query)
    assert units_hatched(axis) == {
        unit for unit in axis.units if not plain(store, *_ends(unit)).is_known
    }
    for host in {host_of(one.surt) for one in store.scan_mementos()} - {""}:
        periods = KnownHosts(reading, axis.unit).periods(host)
        assert set(periods) >= {
            unit for unit in axis.units if plain(store, *_ends(unit), host).is_known
        }
        assert all(plain(store, *_ends(unit), host).is_known for unit in periods)


def _ends(unit: str) -> tuple[str, str]:
    digits = unit.replace("-", "")
    return first_of(digits), last_of(digits)


@slowly
@given(
    graph=odd_graphs(),
    uri=st.sampled_from(ORIGINALS),
    times=st.lists(st.sampled_from(TIMES), min_size=2, max_size=2),
)
def test_every_door_knows_what_a_look_at_every_capture_knows(
    graph: Graph, uri: str, times: Sequence[str]
) -> None:
    first, last = sorted(times, key=first_of)
    with (
        TemporaryDirectory() as folder,
        open_store(str(Path(folder, "links.db")), create=True) as store,
    ):
        for number in range(len(graph.batches)):
            load_next(store, graph, number, Path(folder))
        assert list(store.verify()) == []
        check(store, uri, first, last)
        hidden = Embargo(prefixes=(Surt("org,example"),))
        check(EmbargoedStore(store, hidden), uri, first, last)
        graph_of = LinkGraph(store)
        selection = f"from:{first_of(first)} and to:{last_of(last)}"
        expected = plain(store, first_of(first), last_of(last))
        assert graph_of.subset(selection).stats().mementos == expected.captures
        given_times = [("uri", uri), ("from", first), ("to", last), ("limit", "0")]
        with database_of(store) as database:
            answer = ask(database, AskQuery.from_parameters(given_times, name="linkers"))
            assert answer.known.all == expected
            assert bool(answer.why_unknown) is not expected.is_known
            of_days = AskQuery.from_parameters([*given_times[1:], ("by", "day")], name="captures")
            for row in ask(database, of_days).table.to_pylist():
                begin, end = _ends(row["period"])
                known = plain(store, max(begin, first_of(first)), min(end, last_of(last)))
                assert (row["captures"], row["known"]) == (known.captures, known.read)
            check_rows_by_year(store, database, uri, first, last)
            by_day = AskQuery.from_parameters([*given_times, ("by", "day")], name="linkers")
            for row in ask(database, by_day).table.to_pylist():
                if row["name"] is not None:
                    begin, end = _ends(row["period"])
                    begin, end = max(begin, first_of(first)), min(end, last_of(last))
                    known = plain(store, begin, end, row["name"])
                    assert (row["read"], row["links"]) == (known.read, known.count(row["links"]))


def check_rows_by_year(
    store: Scans, database: RelationsDatabase, uri: str, first: str, last: str
) -> None:
    """Compare the rows of each year, in all formats and forms, with a look at every capture."""
    begin, end = first_of(first), last_of(last)
    expected = {
        year: plain(store, max(begin, first_of(year)), min(end, last_of(year)))
        for year in map(str, range(int(begin[:4]), int(end[:4]) + 1))
    }
    span = [("from", first), ("to", last), ("by", "year")]
    for name in ("anchors", "most-linked", "linkers"):
        answer = ask(database, AskQuery.from_parameters(span, name=name))
        assert answer.windows == expected
        rows, count = answer.table.to_pylist(), QUESTIONS[name].ranks
        for row in rows:
            known = expected[row["period"]]
            if name == "anchors":
                assert (row["captures"], row["read"]) == (known.captures, known.read)
            assert known.is_known or row["read"] == 0
            assert row[count] is None or row[count] > 0 or row["read"] > 0
        unknown = {year for year, known in expected.items() if not known.is_known}
        assert {row["period"] for row in rows} >= unknown
        assert {row["period"] for row in rows if row[count]}.isdisjoint(unknown)
        written = b"".join(ROW_FORMATS["csv"].write(ask_as_rows(answer))).decode()
        in_csv = [*csv.DictReader(io.StringIO(written))]
        assert {row["period"] for row in in_csv if row["read"] == "0"} >= unknown
        assert not any(row[count] for row in in_csv if row["period"] in unknown)
    anchors = LinkGraph(store).anchors(uri, by="year", from_=first, to=last)
    assert all(
        (row["captures"], row["read"]) == (known.captures, known.read)
        for row in anchors
        for known in [expected[str(row["period"])]]
    )
    query = AnchorsQuery.from_parameters([("uri", uri), *span, ("limit", "0")])
    answered = answer_anchors(store, query)
    seen = {row["period"] for row in anchors if row["text"] is not None}
    assert {*answered.unknown} == {year for year, known in expected.items() if not known.is_known}
    in_table = [*anchors_as_rows(answered).labelled()]
    assert {row["period"] for row in in_table if row["links"] is None} == {*answered.unknown}
    assert seen.isdisjoint(answered.unknown)
    captures = [one for one in store.scan_mementos() if begin <= one.timestamp <= end]
    groups = count_captures(captures, "year").groups
    assert groups is not None
    assert groups == {year: expected[year].captures for year in groups}
    assert sum(groups.values()) == len(captures)


@pytest.mark.parametrize(
    ("target", "status", "record_type", "is_read"),
    [
        ("https://www.example.org/", "301", "response", False),
        ("https://www.example.org/", "-", "revisit", False),
        ("https://www.example.org/", "304", "revisit", False),
        ("https://www.example.org/", "200", "response", True),
        ("http://other.example/", "301", "response", True),
        ("http://other.example/", "-", "revisit", True),
    ],
)
def test_a_redirect_of_a_page_to_itself_leaves_links_unknown_from_when_it_is_read(
    target: str, status: str, record_type: str, *, is_read: bool, tmp_path: Path
) -> None:
    """Of two batches, the first has the capture, the second its payload, at another page."""
    links = (Outlink(UriR(target), Kind("http@location"), "", None),)
    truth = PayloadTruth(checksum_of("r1"), Scope.NONE, True, links)
    first, last = (
        memento(uri, when, truth.checksum, kind)._replace(status=of)
        for uri, when, kind, of in (
            ("http://example.org/", "20091103011307", record_type, status),
            ("http://b.example/", "20120101000000", "response", "301"),
        )
    )
    graph = Graph({truth.checksum: truth}, [[first], [last]])
    if record_type == "response":
        graph = Graph({truth.checksum: truth}, [[first]])
    with open_store(str(tmp_path / "links.db"), create=True) as store:
        for number in range(len(graph.batches)):
            load_next(store, graph, number, tmp_path)
        assert store.known(Span(last=first.timestamp)).is_known is is_read
        assert list(store.verify()) == []
        check(store, "http://other.example/x", "2009", "2010")


@pytest.mark.parametrize(
    ("period", "known"), [(Period.DAY, 3), (Period.MONTH, 2), (Period.YEAR, 2)], ids=lambda one: ""
)
def test_periods_are_known_in_which_a_capture_was_read(period: Period, known: int) -> None:
    times = ("20091103011307", "20091104000000", "20101231235959")
    pages = [Page("http://a.example/", time, []) for time in times]
    store = MemoryStore([*pages, Page("http://a.example/", "20110101000000", None)])
    days = store.days()
    assert days is not None
    assert len(period.known(days)) == known


def of_large_host() -> Iterator[Page]:
    for number in range(20):
        yield Page(f"http://a.example/{number}", "20100101000000", [])


def test_a_host_with_too_many_captures_is_not_known() -> None:
    query = LinkQuery.from_parameters([("uri", "http://b.example/")])
    reading = Reading(MemoryStore(of_large_host()), query)
    few, many = (KnownHosts(reading, Period.YEAR, most=most) for most in (19, 20))
    assert (few.periods("a.example"), many.periods("a.example")) == ((), {"2010"})


def test_times_of_another_version_are_not_known(tmp_path: Path) -> None:
    path = str(tmp_path / "links.db")
    with open_store(path, create=True) as store:
        load_next(store, Graph({}, [[]]), 0, tmp_path)
        store._connection.execute("UPDATE settings SET value = 'x' WHERE name = 'times'")  # type: ignore[attr-defined]
        assert store.known().is_known is None
        assert list(store.verify()) == []
        store.upgrade()
        assert store.known().is_known is False
