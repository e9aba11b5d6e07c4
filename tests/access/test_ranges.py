"""Links of many pages: of a host, of a domain, or of all URIs with a common beginning."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pytest
import rdflib
from click.testing import CliRunner
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib.collection import Collection

from arclink.access.answers import Budget, LinkAnswer, Member, answer_link_query
from arclink.access.cursors import DONE, FIRST_OUTLINK, Cursor, InRange, encode_cursor
from arclink.access.formats import FORMATS
from arclink.access.formats.statements import iri
from arclink.access.levels import LevelQuery
from arclink.access.queries import BadParameterError, Direction, LinkQuery
from arclink.cli.main import group
from arclink.model import ALL_TIME, Memento, Span, Surt
from arclink.others.federation.merge import MergedQuery
from arclink.store.protocols import GraphStore, StoreState
from arclink.uris.surts import surt_of
from tests.access.example_answers import stream_members
from tests.access.rdf_readers import READERS, read_by_oxigraph, read_by_rdflib, written
from tests.access.sqlite_pages import load_pages, store_of_pages
from tests.service.conftest import client_of
from tests.store.memory_store import MemoryStore, Page, link

A = "http://a.example/x"
STATE = StoreState.of([1], [])
T1, T2, T3 = "20090101000000", "20100101000000", "20110101000000"
TWG = rdflib.Namespace("http://www.mementoweb.org/TemporalWebGraph/")

WEB = [
    "http://a.example/",
    A,
    "http://a.example/xy",
    "https://www.a.example/x",
    "http://a.example:8080/x",
    "http://sub.a.example/x",
    "http://sub.a.example:81/",
    "http://b.sub.a.example/",
    "http://a-b.example/x",
    "http://ab.example/x",
    "http://example/x",
    "mailto:x@a.example",
]
MATCH_TYPES = ["prefix", "host", "domain"]


def is_asked(uri: str, match_type: str) -> bool:
    """Return whether the link query for `A` is about ``uri``: the oracle, which knows nothing of
    SURTs.
    """
    parts = urlsplit(uri)
    host = (parts.hostname or "").removeprefix("www.")
    if match_type == "domain":
        return host == "a.example" or host.endswith(".a.example")
    return (
        host == "a.example"
        and parts.port is None
        and (match_type == "host" or parts.path.startswith("/x"))
    )


Link = tuple[Direction, str, str, str, str, str]
"""Direction, page asked about, other end, kind, text, timestamp."""


def links_of(pages: Iterable[Page], match_type: str, asked: Mapping[str, str]) -> set[Link]:
    """Return the result of a plain loop over all pages: the oracle."""
    pages = list(pages)
    found: set[Link] = set()
    for page in pages:
        newest = max(
            (
                one.timestamp
                for one in pages
                if one.original == page.original and one.timestamp <= asked.get("at", "9")
            ),
            default="",
        )
        if (
            page.timestamp != newest
            if "at" in asked
            else not asked.get("from", "") <= page.timestamp <= asked.get("to", "9")
        ):
            continue
        for one in page.links or ():
            is_redirect = one.kind == "http@location"
            if asked.get("kind", one.kind) != one.kind or is_redirect is {
                "no": True,
                "only": False,
            }.get(asked.get("redirects", "")):
                continue
            if "filter" in asked and asked["filter"] != f"=text:{one.text}":
                continue
            if is_asked(page.original, match_type):
                found.add(
                    (Direction.OUT, page.original, one.target, one.kind, one.text, page.timestamp)
                )
            if is_asked(one.target, match_type):
                found.add(
                    (Direction.IN, one.target, page.original, one.kind, one.text, page.timestamp)
                )
    return found


def links_in(members: Iterable[tuple[Direction, Member]]) -> set[Link]:
    """Return the links of an answer in which each member has one page."""
    found: set[Link] = set()
    for direction, member in members:
        (page,) = member.variants
        found |= {
            (direction, page, member.uri, member.kind, member.text, time)
            for time in member.timestamps
        }
    return found


def query_of(match_type: str, uri: str = A, **parameters: str) -> LinkQuery:
    given = [(name.rstrip("_"), value) for name, value in parameters.items()]
    return LinkQuery.from_parameters([("uri", uri), ("matchType", match_type), *given])


def answers(
    store: GraphStore, match_type: str, budget: Budget | None = None, **parameters: str
) -> Iterator[LinkAnswer]:
    """Yield the answers of one page after the other."""
    answer = answer_link_query(store, query_of(match_type, **parameters), budget)
    yield answer
    while answer.next is not None:
        answer = answer_link_query(
            store, query_of(match_type, **parameters, cursor=answer.next), budget
        )
        yield answer


def members_of(parts: Sequence[LinkAnswer]) -> list[tuple[Direction, Member]]:
    """Return the members of all parts, outlinks first."""
    outlinks = [(Direction.OUT, member) for part in parts for member in part.outlinks]
    return outlinks + [(Direction.IN, member) for part in parts for member in part.inlinks]


uris = st.sampled_from(WEB)
links = st.builds(
    link, uris, st.sampled_from(["", "t"]), st.sampled_from(["a@href", "img@src", "http@location"])
)
pages = st.lists(
    st.builds(
        Page,
        uris.filter(lambda uri: uri.startswith("http")),
        st.sampled_from([T1, T2, T3]),
        st.none() | st.lists(links, max_size=4).map(tuple),
    ),
    max_size=8,
)
asked = st.sampled_from(
    [
        {},
        {"at": T2},
        {"from": T2},
        {"to": T2},
        {"kind": "a@href"},
        {"filter": "=text:t"},
        {"redirects": "no"},
        {"redirects": "only"},
    ]
)
budgets = st.sampled_from([Budget(), Budget(rows=1, look_ups=1), Budget(rows=30, look_ups=3)])


@settings(max_examples=60, deadline=None)
@given(pages, st.sampled_from(MATCH_TYPES), asked, st.integers(1, 4), budgets)
def test_pages_and_stream_have_the_links_of_the_captures(
    captured: list[Page], match_type: str, asked: dict[str, str], limit: int, budget: Budget
) -> None:
    store = MemoryStore(captured)
    streamed = list(stream_members(store, query_of(match_type, **asked)))
    assert links_in(streamed) == links_of(captured, match_type, asked)
    parts = list(answers(store, match_type, budget, limit=str(limit), **asked))
    assert members_of(parts) == streamed
    assert all(
        len(tuple(members)) <= limit for part in parts for members in (part.outlinks, part.inlinks)
    )
    assert (
        members_of([answer_link_query(store, query_of(match_type, limit="0", **asked))]) == streamed
    )


@settings(max_examples=15, deadline=None)
@given(pages, st.sampled_from(MATCH_TYPES), asked, budgets)
def test_the_sqlite_store_gives_the_same_answers(
    captured: list[Page], match_type: str, asked: dict[str, str], budget: Budget
) -> None:
    captured = list({(page.original, page.timestamp): page for page in captured}.values())
    with (
        TemporaryDirectory() as folder,
        store_of_pages(Path(folder), captured[:4], captured[4:]) as store,
    ):
        parts = list(answers(store, match_type, budget, limit="2", **asked))
        assert members_of(parts) == list(stream_members(store, query_of(match_type, **asked)))
    assert links_in(members_of(parts)) == links_of(captured, match_type, asked)


@settings(max_examples=40, deadline=None)
@given(pages, st.sampled_from(MATCH_TYPES))
def test_an_answer_about_a_range_is_the_answers_about_its_uris_in_order(
    captured: list[Page], match_type: str
) -> None:
    store = MemoryStore(captured)
    surts = sorted({surt_of(uri) for uri in WEB if is_asked(uri, match_type)})
    by_surt = {surt_of(uri): uri for uri in WEB}
    for direction in ("out", "in"):
        exact = [
            member
            for surt in surts
            for member in stream_members(
                store, LinkQuery.from_parameters([("uri", by_surt[surt]), ("direction", direction)])
            )
        ]
        assert list(stream_members(store, query_of(match_type, direction=direction))) == exact


SITE = MemoryStore(
    [
        Page(
            "http://a.example/",
            T1,
            [link("http://b.example/", "News"), link("http://c.example/{x}", "C")],
        ),
        Page("https://www.a.example/", T2, [link("http://b.example/", "News")]),
        Page(
            "http://sub.a.example/|",
            T1,
            [link("http://b.example/", "Sub"), link("http://a.example/", "Home", rel="up")],
        ),
        Page(
            "http://b.example/",
            T1,
            [link("http://a.example/deep", "Deep"), link("http://ab.example/", "Other")],
        ),
    ]
)


@pytest.mark.parametrize("grown_after", [1, 2, 3])
def test_no_member_is_lost_when_the_store_grows_between_pages(grown_after: int) -> None:
    store = MemoryStore(SITE.pages)
    before = list(stream_members(store, query_of("domain")))
    got: list[LinkAnswer] = []
    for answer in answers(store, "domain", limit="1"):
        got.append(answer)
        if len(got) == grown_after:
            store.add(
                [
                    Page(f"http://a.example/{name}", T1, [link("http://a.example/", "new")])
                    for name in "az"
                ]
            )
    after = Counter(members_of(got))
    assert all(after[member] == 1 for member in before)


def test_work_of_one_request_is_bounded_and_an_empty_page_goes_on() -> None:
    store = MemoryStore(
        [
            Page(f"http://a.example/{number:02}", T1, [link("http://b.example/", "t")])
            for number in range(20)
        ]
    )
    few = Budget(rows=100, empty_pages=0)
    first = next(answers(store, "host", few, kind="img@src"))
    assert (first.outlinks, first.next is None) == ((), False)
    # Four pages of 100 rows have all 20 pages of the host: there is nothing more.
    assert next(answers(store, "host", Budget(rows=100), kind="img@src")).next is None
    parts = list(answers(store, "host", Budget(rows=100), direction="out"))
    counts = [len(tuple(part.outlinks)) for part in parts]
    assert (sum(counts), max(counts)) == (
        20,
        5,
    )  # a page costs 20 rows, its capture and its link one each


def test_a_stream_reads_from_the_store_only_what_is_taken_from_it() -> None:
    class Counting(MemoryStore):
        asked = 0

        def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
            Counting.asked += 1
            return super().mementos(surt, span)

    store = Counting(
        [
            Page(f"http://a.example/{number}", T1, [link("http://b.example/")])
            for number in range(50)
        ]
    )
    assert len(list(islice(stream_members(store, query_of("host")), 3))) == 3
    assert Counting.asked <= 8


@pytest.mark.parametrize(
    "position",
    [
        pytest.param(InRange(Surt("example,b)/"), DONE), id="outside of the range"),
        pytest.param(InRange(Surt(""), FIRST_OUTLINK), id="of no page"),
        pytest.param(FIRST_OUTLINK, id="of one page"),
    ],
)
def test_a_cursor_outside_the_range_is_refused(position: InRange) -> None:
    cursor = encode_cursor(Cursor(STATE, position, DONE), query_of("host").fingerprint)
    with pytest.raises(BadParameterError, match="an answer to the same query"):
        query_of("host", cursor=cursor)


def test_a_query_about_one_page_refuses_a_cursor_of_a_range() -> None:
    exact = LinkQuery.from_parameters([("uri", A)])
    cursor = encode_cursor(Cursor(STATE, InRange(exact.surt, DONE), DONE), exact.fingerprint)
    with pytest.raises(BadParameterError, match="an answer to the same query"):
        LinkQuery.from_parameters([("uri", A), ("cursor", cursor)])
    assert query_of("host").fingerprint != query_of("domain").fingerprint != exact.fingerprint


@pytest.mark.parametrize("match_type", ["host", "domain"])
def test_a_uri_without_a_host_has_no_range_by_host_or_domain(match_type: str) -> None:
    with pytest.raises(BadParameterError, match="this URI has no host"):
        query_of(match_type, "mailto:x@a.example")
    assert query_of("prefix", "mailto:x@a.example").stems == ("mailto:x@a.example",)


@pytest.mark.parametrize("name", ["evidence", "validity", "follow"])
def test_parameters_about_one_page_are_refused_for_a_range(name: str) -> None:
    with pytest.raises(
        BadParameterError, match=f"{name} cannot be used with matchType=host: query one page"
    ):
        query_of("host", **{name: "true"})


def test_counts_and_merged_answers_take_no_range() -> None:
    with pytest.raises(BadParameterError, match="matchType must be exact: this answer is"):
        LevelQuery.from_parameters([("uri", A), ("level", "host"), ("matchType", "host")])
    with pytest.raises(BadParameterError, match="matchType must be exact for merged links"):
        MergedQuery.from_parameters([("uri", A), ("matchType", "host")])
    assert MergedQuery.from_parameters([("uri", A), ("matchType", "exact")]).query.surt == surt_of(
        A
    )


def links_with_text(answer: LinkAnswer) -> set[tuple[str, str, str, str]]:
    """Return direction, page, other end and text of the members, as RDF writes URIs."""
    return {
        (direction.value, iri(member.variants[0]), iri(member.uri), member.text)
        for direction, member in members_of([answer])
    }


@pytest.mark.parametrize("limit", ["0", "100"])
@pytest.mark.parametrize("name", READERS)
def test_every_page_is_a_subject_of_a_listing(name: str, limit: str) -> None:
    document = written(name, "listing", answer_link_query(SITE, query_of("domain", limit=limit)))
    expected = links_with_text(answer_link_query(SITE, query_of("domain")))
    for graph in (read_by_rdflib(name, document), read_by_oxigraph(name, document)):
        found = set()
        for direction, predicate in (("out", TWG.hasOutlinks), ("in", TWG.hasInlinks)):
            for page, cell in graph.subject_objects(predicate):
                assert graph.value(page, TWG.surt) is not None
                found |= {(direction, str(page), str(uri)) for uri in Collection(graph, cell)}
        assert found == {one[:3] for one in expected}
        assert graph.value(predicate=TWG.mementoCount) is None


@pytest.mark.parametrize("name", READERS)
def test_every_link_has_both_its_ends_in_the_profile_links(name: str) -> None:
    document = written(name, "links", answer_link_query(SITE, query_of("domain")))
    expected = {
        (page, other, text) if direction == "out" else (other, page, text)
        for direction, page, other, text in links_with_text(
            answer_link_query(SITE, query_of("domain"))
        )
    }
    for graph in (read_by_rdflib(name, document), read_by_oxigraph(name, document)):
        found = {
            (str(source), str(target), str(graph.value(node, TWG.text)))
            for node in graph.subjects(rdflib.RDF.type, TWG.Link)
            for source in graph.objects(node, TWG.source)
            for target in graph.objects(node, TWG.target)
        }
        assert found == expected
        assert {
            str(one) for one in graph.objects(rdflib.URIRef("http://sub.a.example/%7C"), TWG.surt)
        } == {"example,a,sub)/|"}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("profile", ["listing", "links"])
def test_no_links_are_an_answer(name: str, profile: str) -> None:
    document = written(
        name, profile, answer_link_query(SITE, query_of("host", "http://nobody.example/"))
    )
    assert list(read_by_rdflib(name, document)) == [
        (rdflib.URIRef("http://nobody.example/"), TWG.surt, rdflib.Literal("example,nobody)/"))
    ]


def test_json_and_csv_name_the_page_of_each_member() -> None:
    document = json.loads(
        b"".join(FORMATS["json"].write(answer_link_query(SITE, query_of("host"))))
    )
    assert (document["match_type"], "mementos" in document) == ("host", False)
    assert document["order"] == {"outlinks": "store", "inlinks": "store"}
    assert Counter(page for member in document["outlinks"] for page in member["sources"]) == {
        "http://a.example/": 2,
        "https://www.a.example/": 1,
    }
    rows = list(
        csv.DictReader(
            b"".join(FORMATS["csv"].write(answer_link_query(SITE, query_of("host", limit="0"))))
            .decode()
            .splitlines()
        )
    )
    assert sorted((row["uri"], row["targets"]) for row in rows if row["direction"] == "in") == [
        ("http://b.example/", "http://a.example/deep"),
        ("http://sub.a.example/|", "http://a.example/"),
    ]


@pytest.fixture
def client() -> FlaskClient:
    return client_of(lambda: SITE)


def test_the_service_answers_page_by_page_and_as_a_stream(client: FlaskClient) -> None:
    address, texts = "/linkQuery?uri=a.example&matchType=domain&format=jsonl&limit=1", []
    while address:
        response = client.get(address)
        texts += [json.loads(line)["text"] for line in response.text.splitlines()]
        link_header = response.headers.get("Link", "")
        address = f"/linkQuery{link_header[1 : link_header.index('>')]}" if link_header else ""
    whole = client.get("/linkQuery?uri=a.example&matchType=domain&format=jsonl&limit=0").text
    assert Counter(texts) == Counter(json.loads(line)["text"] for line in whole.splitlines())
    assert Counter(texts) == {"News": 2, "C": 1, "Sub": 1, "Home": 2, "Deep": 1}


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        pytest.param("matchType=all", "matchType", id="unknown"),
        pytest.param("matchType=host&evidence=true&format=json", "evidence", id="evidence"),
    ],
)
def test_the_service_names_a_wrong_parameter_of_a_range(
    client: FlaskClient, query: str, parameter: str
) -> None:
    response = client.get(f"/linkQuery?uri=a.example&{query}")
    assert (response.status_code, response.get_json()["parameter"]) == (400, parameter)


def test_the_page_for_people_shows_one_page_only(client: FlaskClient) -> None:
    response = client.get(
        "/?uri=a.example&view=links&matchType=host", headers={"Accept": "text/html"}
    )
    assert response.status_code == 400
    assert "use /linkQuery for the others" in response.text


def test_the_command_line_answers_the_same(tmp_path: Path) -> None:
    load_pages(tmp_path / "links.db", tmp_path / "graph", [SITE.pages])
    asked = ["links", "a.example", "--store", str(tmp_path / "links.db"), "--match-type", "domain"]
    lines = (
        CliRunner()
        .invoke(group, [*asked, "--limit", "0", "--format", "jsonl"], catch_exceptions=False)
        .stdout.splitlines()
    )
    assert Counter(json.loads(line)["text"] for line in lines) == {
        "News": 2,
        "C": 1,
        "Sub": 1,
        "Home": 2,
        "Deep": 1,
    }
    table = CliRunner().invoke(group, asked, catch_exceptions=False).stdout
    assert "All pages whose SURT begins with example,a) or example,a, or example,a:" in table
    assert "http://sub.a.example/| → http://a.example/" in table
    assert "http://b.example/ → http://a.example/deep" in table
