"""The evidence of a link names each memento that shows it, and no other memento."""

import csv
import io
import json
from collections import defaultdict
from dataclasses import replace

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.answers import LinkAnswer, answer_link_query
from arclink.access.evidence import Gathering
from arclink.access.formats import FORMATS
from arclink.access.queries import BadParameterError, Direction, LinkQuery
from arclink.access.reader import Budget, Reading
from arclink.access.replay import NO_REPLAY, ReplayPrefix, parse_replay
from arclink.store.protocols import GraphStore
from arclink.uris.surts import surt_of
from tests.store.memory_store import MemoryStore, Page, link

A, B, C, WWW = (
    "http://a.example/",
    "http://b.example/",
    "http://c.example/x",
    "http://www.a.example/",
)
T1, T2, T3 = "20090101000000", "20100101000000", "20110101000000"
REPLAY = parse_replay("--replay", "https://w.example/web/")

Shown = dict[tuple[str, str, str, str | None], set[tuple[str, str, str]]]
"""(direction, URI at the other end, text, rel) → (original, timestamp, checksum)."""


def ask(
    store: GraphStore,
    budget: Budget | None = None,
    replay: ReplayPrefix = NO_REPLAY,
    **parameters: str,
) -> LinkAnswer:
    query = LinkQuery.from_parameters([("uri", A), ("evidence", "true"), *parameters.items()])
    return answer_link_query(store, query, budget, replay)


def written(answer: LinkAnswer, form: str) -> str:
    return b"".join(FORMATS[form].write(answer)).decode()


links = st.builds(
    link,
    st.sampled_from([A, WWW, B]),
    st.sampled_from(["", "News"]),
    rel=st.sampled_from([None, "nofollow"]),
)
pages = st.builds(
    Page,
    st.sampled_from([A, WWW, B, C]),
    st.sampled_from([T1, T2, T3]),
    st.none() | st.lists(links, max_size=3, unique=True).map(tuple),
    is_shared=st.booleans(),
)


def plainly(archive: list[Page]) -> Shown:
    shown: Shown = defaultdict(set)
    for page in archive:
        for one in page.links or ():
            proof = (page.original, page.timestamp, page.checksum)
            if surt_of(page.original) == surt_of(A):
                shown["out", one.target, one.text, one.rel].add(proof)
            if surt_of(one.target) == surt_of(A):
                shown["in", page.original, one.text, one.rel].add(proof)
    return shown


@settings(max_examples=150, deadline=None)
@given(archive=st.lists(pages, max_size=8), limit=st.sampled_from(["1000", "0"]))
def test_evidence_is_every_memento_that_shows_the_link(archive: list[Page], limit: str) -> None:
    found: Shown = defaultdict(set)
    for line in written(ask(MemoryStore(archive), limit=limit), "jsonl").splitlines():
        one = json.loads(line)
        proofs = {
            (proof["uri"], proof["timestamp"], proof["checksum"]) for proof in one["evidence"]
        }
        assert {when for _, when, _ in proofs} == set(one["timestamps"])
        found[one["direction"], one["uri"], one["text"], one["rel"]] |= proofs
    assert found == plainly(archive)


def test_evidence_names_file_offset_and_where_the_payload_was_read() -> None:
    first, again = Page(A, T1, [link(B)]), Page(A, T2, [link(B)], record_type="revisit")
    (member,) = json.loads(written(ask(MemoryStore([first, again]), replay=REPLAY), "json"))[
        "outlinks"
    ]
    revisit = member["evidence"][1]
    assert (revisit["record_type"], revisit["file"], revisit["offset"]) == (
        "revisit",
        "crawl.warc.gz",
        again.memento.offset,
    )
    assert revisit["read_from"] == {"file": "crawl.warc.gz", "offset": first.memento.offset}
    assert revisit["uri_m"] == member["uri_ms"][1] == f"https://w.example/web/{T2}/{A}"


def test_uri_ms_name_the_variant_that_was_captured_at_that_time() -> None:
    store = MemoryStore([Page(A, T1, [link(B)]), Page(WWW, T2, [link(B)]), Page(A, T2, [link(B)])])
    answer = json.loads(written(ask(store, replay=REPLAY), "json"))
    assert answer["outlinks"][0]["uri_ms"] == [
        f"https://w.example/web/{time}/{uri}" for time, uri in ((T1, A), (T2, A), (T2, WWW))
    ]
    assert "uri_ms" not in written(ask(store), "json")


def test_csv_has_columns_for_each_time() -> None:
    store = MemoryStore([Page(B, T1, [link(A)]), Page(B, T2, [link(A), link(C)])])
    rows = list(csv.DictReader(io.StringIO(written(ask(store, replay=REPLAY), "csv"))))
    assert [(row["timestamp"], row["uri_ms"], row["file"]) for row in rows] == [
        (time, f"https://w.example/web/{time}/{B}", "crawl.warc.gz") for time in (T1, T2)
    ]
    assert rows[0]["checksum"] != rows[1]["checksum"]
    assert {row["offset"] for row in rows} == {str(page.memento.offset) for page in store.pages}


def test_the_profile_links_has_the_mementos_as_nodes() -> None:
    store = MemoryStore([Page("http://b.example/a|b", T1, [link(A)])])
    answer = answer_link_query(store, LinkQuery.from_parameters([("uri", A)]), replay=REPLAY)
    twg = rdflib.Namespace("http://www.mementoweb.org/TemporalWebGraph/")
    for form, name in (("turtle", "turtle"), ("rdfxml", "xml"), ("ntriples", "nt")):
        graph = rdflib.Graph()
        graph.parse(data=b"".join(FORMATS[form].in_profile("links").write(answer)), format=name)
        (node,) = graph.objects(None, twg.memento)
        assert node == rdflib.URIRef(f"https://w.example/web/{T1}/http://b.example/a%7Cb")
        assert list(graph.objects(node, twg.timestamp)) == [rdflib.Literal(T1)]
        assert list(graph.objects(node, twg.original)) == [
            rdflib.Literal(f"https://w.example/web/{T1}/http://b.example/a|b")
        ]


def test_evidence_beyond_the_budget_is_left_out_and_not_empty() -> None:
    store = MemoryStore(
        [Page(f"http://h{number}.example/", T1, [link(A, str(number))]) for number in range(9)]
    )
    answer = ask(store, direction="in")
    gathering = Gathering(Reading(store, answer.query), rows=5)
    plain = [member._replace(evidence=None) for member in answer.inlinks]
    found = replace(
        answer, inlinks=tuple(gathering.with_evidence(member, Direction.IN) for member in plain)
    )
    assert [
        member["evidence"] is None for member in json.loads(written(found, "json"))["inlinks"]
    ] == [False] * 5 + [True] * 4
    (row, *_) = list(csv.DictReader(io.StringIO(written(found, "csv"))))[5:]
    assert (row["file"], row["offset"], row["checksum"]) == ("", "", "")


@pytest.mark.parametrize("form", ["rdfxml", "turtle", "table"])
def test_a_format_without_a_place_for_evidence_refuses_it(form: str) -> None:
    with pytest.raises(
        BadParameterError,
        match="only json, jsonl, csv, spreadsheet, parquet, csvw, and RDF with profile=links",
    ):
        FORMATS[form].check(LinkQuery.from_parameters([("uri", A), ("evidence", "true")]))
