"""Filters and fields of link queries, and redirects that a query follows."""

import json
import time
from pathlib import Path

import pytest
import rdflib

from arclink.access.answers import LinkAnswer, answer_link_query
from arclink.access.differences import DiffQuery, answer_diff
from arclink.access.formats import FORMATS
from arclink.access.levels import LevelQuery, answer_level
from arclink.access.queries import BadParameterError, Direction, LinkQuery
from arclink.access.replay import parse_replay
from tests.access.sqlite_pages import store_of_pages
from tests.store.memory_store import MemoryStore, Page, link

A, B, C = "http://a.example/", "http://news.example/b", "http://c.example/x"
T1, T2 = "20091103011307", "20100130003005"

STORE = MemoryStore(
    [
        Page(
            A,
            T1,
            [link(B, "Latest News"), link(C, "Home", rel="nofollow"), link(C, "", kind="img@src")],
        ),
        Page(B, T1, [link(A, "News")]),
        Page(C, T2, [link(A, "news \U0001f6f7"), link(A, "Home")]),
    ]
)


def ask(
    *filters: str, limit: str = "10", store: MemoryStore = STORE, **parameters: str
) -> LinkAnswer:
    query = LinkQuery.from_parameters(
        [("uri", A), ("limit", limit), *parameters.items(), *(("filter", one) for one in filters)]
    )
    return answer_link_query(store, query)


CASES = [
    pytest.param(["text:News"], ["Latest News", "News"], id="contains"),
    pytest.param(["=text:News"], ["News"], id="is"),
    pytest.param(["~text:(?i)news"], ["News", "news \U0001f6f7"], id="matches from the beginning"),
    pytest.param(["!text:e"], [""], id="does not contain"),
    pytest.param(["!~text:.*News"], ["", "Home", "Home", "news \U0001f6f7"], id="does not match"),
    pytest.param(["kind:img"], [""], id="kind"),
    pytest.param(["=rel:nofollow"], ["Home"], id="rel"),
    pytest.param(["=rel:", "text:Home"], ["Home"], id="no rel, and another"),
    pytest.param(["=host:news.example"], ["Latest News", "News"], id="host"),
    pytest.param(["uri:/x"], ["", "Home", "Home", "news \U0001f6f7"], id="URI"),
    pytest.param(["~surt:example,c\\)/"], ["", "Home", "Home", "news \U0001f6f7"], id="SURT"),
]


@pytest.mark.parametrize(("filters", "texts"), CASES)
@pytest.mark.parametrize("limit", ["10", "0"], ids=["grouped", "in store order"])
def test_an_answer_has_only_links_that_pass_its_filters(
    filters: list[str], texts: list[str], limit: str
) -> None:
    answer = ask(*filters, limit=limit)
    assert sorted(member.text for member in (*answer.outlinks, *answer.inlinks)) == texts


TIMES = (("from", "2008"), ("to", "2011"))


@pytest.mark.parametrize(("filters", "texts"), CASES)
def test_counts_and_changes_are_of_links_that_pass(filters: list[str], texts: list[str]) -> None:
    asked = [("uri", A), *(("filter", one) for one in filters)]
    level = answer_level(STORE, LevelQuery.from_parameters([*asked, ("level", "host")]))
    assert sum(one.counts.links for found in level.counted.values() for one in found) == len(texts)
    diff = answer_diff(STORE, DiffQuery.from_parameters([*asked, ("kinds", "all"), *TIMES]))
    assert sorted(one.key[2] for found in diff.links.values() for one in found) == texts


@pytest.mark.parametrize(
    "text",
    [
        "text",
        "nothing:x",
        "~text:(",
        "~text:(?=a)",
        "text:" + "a" * 1001,
        "~text:((a{100}){100}){100}",
        "=!text:a",
        "",
    ],
)
def test_an_invalid_filter_is_refused(text: str) -> None:
    if not text:
        assert ask("").query.filters == ()
        return
    with pytest.raises(BadParameterError) as raised:
        ask(text)
    assert raised.value.name == "filter"


def test_filters_are_limited_in_number() -> None:
    with pytest.raises(BadParameterError, match="at most 20"):
        ask(*["text:a"] * 21)


def test_an_expression_that_backtracks_without_end_elsewhere_is_quick() -> None:
    store = MemoryStore([Page(B, T1, [link(A, "a" * 1000) for _ in range(50)])])
    began = time.process_time()
    assert list(ask("~text:(a*)*(a*)*(a|aa)+$b", store=store).inlinks) == []
    assert time.process_time() - began < 5


def test_a_cursor_belongs_to_its_filters() -> None:
    cursor = ask("text:e", limit="1").next
    assert cursor is not None
    assert [member.text for member in ask("text:e", limit="1", cursor=cursor).outlinks] == ["Home"]
    with pytest.raises(BadParameterError, match="same query"):
        ask("text:x", cursor=cursor)


def test_fields_choose_columns() -> None:
    answer = ask("text:News", direction="in")
    lines = b"".join(FORMATS["jsonl"].with_fields(["uri", "timestamps"]).write(answer)).splitlines()
    assert [json.loads(line) for line in lines] == [{"uri": B, "timestamps": [T1]}]
    assert (
        b"".join(FORMATS["csv"].with_fields(["timestamps", "uri"]).write(answer)).decode()
        == f"uri,timestamp\r\n{B},{T1}\r\n"
    )
    with pytest.raises(
        BadParameterError, match="only jsonl, csv, spreadsheet, parquet, csvw have columns"
    ):
        FORMATS["json"].with_fields(["uri"])


MOVED = MemoryStore(
    [
        Page(
            "http://old.example/",
            T1,
            [link("http://www.old.example/", kind="http@location")],
            status="301",
        ),
        Page("http://www.old.example/", T1, [link(B, "before the move")]),
        Page(
            "http://old.example/",
            T2,
            [link("http://new.example/", kind="http@location")],
            status="301",
        ),
        Page(
            "http://new.example/",
            T2,
            [link("http://newer.example/", kind="http@location")],
            status="302",
        ),
        Page("http://newer.example/", T2, [link(B, "after it")]),
        Page(
            "http://circle.example/",
            T1,
            [link("http://other.example/", kind="http@location")],
            status="302",
        ),
        Page(
            "http://other.example/",
            T1,
            [link("http://circle.example/", kind="http@location")],
            status="302",
        ),
    ]
)


@pytest.mark.parametrize(
    ("parameters", "uri", "texts"),
    [
        pytest.param(
            {"uri": "http://old.example/"}, "http://newer.example/", ["after it"], id="newest"
        ),
        pytest.param(
            {"uri": "http://old.example/", "at": "2009"},
            "http://old.example/",
            ["before the move"],
            id="at a time",
        ),
        pytest.param(
            {"uri": "http://old.example/", "to": "2009"},
            "http://old.example/",
            ["before the move"],
            id="in a range",
        ),
        pytest.param(
            {"uri": "http://circle.example/"}, "http://other.example/", [""], id="in a circle"
        ),
        pytest.param({"uri": A}, A, [], id="not captured"),
    ],
)
def test_redirects_are_followed_at_the_time_of_the_query(
    parameters: dict[str, str], uri: str, texts: list[str]
) -> None:
    query = LinkQuery.from_parameters(
        [*parameters.items(), ("follow", "true"), ("direction", "out")]
    )
    answer = answer_link_query(MOVED, query)
    assert answer.query.uri == uri
    assert [
        member.text
        for member in answer.outlinks
        if member.kind == "a@href" or uri == "http://other.example/"
    ] == texts
    assert [hop.target for hop in answer.followed[-1:]] == (
        [] if uri == parameters["uri"] else [uri]
    )


def test_rdf_has_evidence_and_validity(tmp_path: Path) -> None:
    store = store_of_pages(tmp_path, [Page(A, T1, [link(B, "b")]), Page(A, T2, [])])
    query = LinkQuery.from_parameters(
        [("uri", A), ("direction", "out"), ("evidence", "true"), ("validity", "true")]
    )
    with pytest.raises(BadParameterError, match="profile=links"):
        FORMATS["turtle"].check(query)
    graphs = []
    for name in ("turtle", "rdfxml"):
        form = FORMATS[name].in_profile("links")
        form.check(query)
        answer = answer_link_query(
            store, query, replay=parse_replay("--replay", "http://w.example/")
        )
        graphs.append(
            rdflib.Graph().parse(
                data=b"".join(form.write(answer)), format={"rdfxml": "xml"}.get(name, name)
            )
        )
    twg = rdflib.Namespace("http://www.mementoweb.org/TemporalWebGraph/")
    assert set(graphs[0]) == set(graphs[1])
    (record,) = graphs[0].objects(None, twg.evidence)
    (validity,) = graphs[0].objects(None, twg.validity)
    about = [pair for node in (record, validity) for pair in graphs[0].predicate_objects(node)]
    properties = {str(predicate).rpartition("/")[2]: str(value) for predicate, value in about}
    assert (properties["file"], properties["timestamp"], properties["memento"]) == (
        "crawl.warc.gz",
        T1,
        f"http://w.example/{T1}/{A}",
    )
    assert (
        properties["firstWith"],
        properties["lastWith"],
        properties["firstWithout"],
        properties["of"],
    ) == (
        T1,
        T1,
        T2,
        B,
    )
    assert query.direction is Direction.OUT
