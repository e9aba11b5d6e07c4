"""One query to several archives: real services, a foreign one, and services that fail or lie."""

import http.server
import json
import socket
import threading
import urllib.request
from collections import defaultdict
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pyoxigraph
import pytest
from click.testing import CliRunner, Result
from flask.testing import FlaskClient

from arclink.access.archives import Outcome
from arclink.access.queries import LinkQuery
from arclink.cli.main import group
from arclink.errors import InstanceError, OperatorError, StoreError, UsageError
from arclink.others.federation.instances import Instance, QueryLimits, parse_instances
from arclink.others.federation.requests import Asking, HttpAnswer
from arclink.service.settings import Settings
from arclink.uris.surts import surt_of
from tests.access.rdf_listings import T1
from tests.federation.conftest import FOREIGN_TEXT, FOREIGN_TIME, Archives
from tests.federation.servers import Play, drips, handling, playing, response, sends
from tests.service.conftest import client_of, served
from tests.store.memory_store import MemoryStore, Page, link

A, B = "http://a.example/", "http://b.example/"
QUERY = LinkQuery.from_parameters([("uri", A)])
QUICK = QueryLimits(instance_seconds=5, whole_seconds=20)

Links = dict[tuple[str, str, str, str], dict[str, set[str]]]
"""Timestamps by archive, by direction, SURT of the other end, kind, text."""


def links_of(document: dict[str, list[dict[str, object]]], archive: str = "") -> Links:
    """Return the links of a JSON answer: merged, or of one ``archive``."""
    found: Links = defaultdict(lambda: defaultdict(set))
    for direction in ("outlinks", "inlinks"):
        for member in document[direction]:
            times = member["archives"] if not archive else {archive: member["timestamps"]}
            assert isinstance(times, dict)
            for name, timestamps in times.items():
                found[direction, str(member["surt"]), str(member["kind"]), str(member["text"])][
                    name
                ] |= set(timestamps)
    return found


def asked_alone(url: str, uri: str, **others: str) -> dict[str, list[dict[str, object]]]:
    asked = urlencode({"uri": uri, "format": "json", "limit": "10000", **others})
    with urllib.request.urlopen(f"{url}/linkQuery?{asked}", timeout=20) as found:
        answer: dict[str, list[dict[str, object]]] = json.load(found)
    return answer


def counted(answer: object) -> int:
    """Return how many mementos an answer says there are."""
    match answer:
        case {"mementos": {"count": int(count)}}:
            return count
        case _:
            raise AssertionError(answer)


def superseded_in(answers: Iterable[Any]) -> set[str]:
    """Return the times of mementos in force that are older than that of another archive."""
    in_force = [
        (one["uri"], one["timestamp"]) for alone in answers for one in alone.get("in_force", ())
    ]
    newest = dict(sorted(in_force))
    return {time for uri, time in in_force if time != newest[uri]} - set(newest.values())


def aggregate(*words: str) -> Result:
    return CliRunner().invoke(group, ["aggregate", *words])


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"direction": "in"},
        {"from": "2010", "to": "201002"},
        {"kind": "img@src"},
        {"at": "20100220"},
    ],
    ids=str,
)
def test_three_archives_are_merged_link_by_link(archives: Archives, others: dict[str, str]) -> None:
    options = [word for name, value in others.items() for word in (f"--{name}", value)]
    result = aggregate(
        archives.uri, *archives.options, "--format", "json", "--limit", "10000", *options
    )
    assert result.exit_code == 0, result.output
    expected: Links = defaultdict(lambda: defaultdict(set))
    count = 0
    answers = {
        name: asked_alone(url, archives.uri, **others) for name, url in archives.urls.items()
    }
    superseded = superseded_in(answers.values())
    for name, alone in answers.items():
        count += counted(alone)
        for key, times in links_of(alone, name).items():
            if shown := times[name] - (superseded if key[0] == "outlinks" else set()):
                expected[key][name] |= shown
    answer = json.loads(result.output)
    assert not superseded & {one["timestamp"] for one in answer.get("in_force", ())}
    assert links_of(answer) == expected
    assert answer["mementos"]["count"] == count
    assert [archive["outcome"] for archive in answer["archives"]] == ["answered"] * 3


def test_archives_of_parts_answer_like_the_archive_of_the_whole(archives: Archives) -> None:
    whole = client_of(str(archives.stores["whole"]))
    at_two = 0
    for uri in (archives.uri, "http://www.kalvik2010.example/", "http://aurora-daily.example/"):
        merged = links_of(
            json.loads(
                aggregate(uri, *archives.options, "--format", "json", "--limit", "10000").output
            )
        )
        expected = links_of(
            whole.get(
                "/linkQuery", query_string={"uri": uri, "format": "json", "limit": 10000}
            ).get_json(),
            "whole",
        )
        united = {key: set().union(*times.values()) for key, times in merged.items()}
        assert {
            key for key, times in united.items() if not times <= expected[key]["whole"]
        } == set()
        at_two += sum(len(times) > 1 for times in merged.values())
        # A revisit whose payload only another part has shows no links there: the whole may know
        # more times, never another link.
        assert united.keys() == expected.keys()
    assert at_two > 10


def test_a_foreign_archive_is_merged_with_ours(archives: Archives, foreign: str) -> None:
    uri = "http://www.kalvik2010.example/ceremony/opening.html"
    result = aggregate(
        uri,
        *archives.options,
        "--instance",
        f"paper={foreign}",
        "--format",
        "json",
        "--limit",
        "10000",
    )
    assert result.exit_code == 0, result.output
    answer = json.loads(result.output)
    found = links_of(answer)
    assert found["outlinks", "example,kalvik2010)/skiing", "a@href", FOREIGN_TEXT] == {
        "paper": {FOREIGN_TIME, "20100227081100"}
    }
    assert found["inlinks", "example,blog)/?tag=x", "a@href", "opening"] == {
        "paper": {FOREIGN_TIME}
    }
    both = found["outlinks", "example,kalvik2010)/", "a@href", "Kalvik 2010"]
    assert both["paper"] == {FOREIGN_TIME}
    assert set(both) > {"paper"}
    paper = answer["archives"][3]
    assert (paper["name"], paper["outcome"], paper["links"], paper["passed_over"]) == (
        "paper",
        "answered",
        3,
        0,
    )


def test_the_foreign_archive_answers_for_a_range_but_not_for_a_time(foreign: str) -> None:
    words = ["a.example", "--instance", f"paper={foreign}", "--format", "json"]
    narrowed = json.loads(aggregate(*words, "--from", "20100220", "--direction", "out").output)
    assert [(member["text"], member["timestamps"]) for member in narrowed["outlinks"]] == [
        (FOREIGN_TEXT, ["20100227081100"])
    ]
    failed = aggregate(*words, "--at", "2010")
    assert isinstance(failed.exception, OperatorError)
    assert "paper: failed" in str(failed.exception)
    assert "what was in force at that time" in str(failed.exception)


def test_the_command_says_who_failed_and_exits_with_3(archives: Archives) -> None:
    with playing(sends(response(b"<html>", "text/html"))) as lost:
        words = [archives.uri, *archives.options, "--instance", f"lost={lost}"]
        table = aggregate(*words)
        assert table.exit_code == 3
        assert "lost: failed (0" in table.stdout
        assert "autumn: answered" in table.stdout
        csv = aggregate(*words, "--format", "csv")
        assert csv.exit_code == 3
        assert csv.stdout.startswith(
            "direction,uri,surt,kind,text,rel,timestamp,sources,targets,archives\n"
        )  # the runner folds line ends
        assert "arclink: lost: failed" in csv.stderr
        assert "neither JSON nor RDF/XML" in csv.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--instance", "x"],
        ["--instance", "http://h", "--limit", "0"],
        ["--instance", "a=http://h", "--instance", "a=http://i"],
    ],
)
def test_a_wrong_call_is_a_usage_error(words: list[str]) -> None:
    assert isinstance(aggregate(A, *words).exception, UsageError)


def member(text: str) -> dict[str, object]:
    return {"uri": B, "kind": "a@href", "text": text, "timestamps": [T1]}


def json_answer(*texts: str, cursor: str | None = None) -> bytes:
    return json.dumps(
        {"uri": A, "outlinks": [member(text) for text in texts], "inlinks": [], "next": cursor}
    ).encode()


def rdf(text: str, doctype: str = "") -> bytes:
    return f"""<?xml version="1.0"?>{doctype}<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns:twg="http://www.mementoweb.org/TemporalWebGraph/">
    <rdf:Description rdf:about="a.example">{text}</rdf:Description></rdf:RDF>""".encode()


BOMB = (
    "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'>"
    + "".join(
        f"<!ENTITY {two} '{10 * f'&{one};'}'>"
        for one, two in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]>"
)
BAD: dict[str, tuple[Play, str]] = {
    "slow": (drips(b"HTTP/1.1 200 OK\r\n\r\n"), "no complete answer within 5 s"),
    "slow to say anything": (drips(b"H", b""), "no complete answer within 5 s"),
    "redirects": (
        sends(response(b"", "x/y", "301 Moved", "Location: http://127.0.0.1:1/")),
        "a redirect (301), which is not followed",
    ),
    "broken": (sends(response(b"", "x/y", "500 Oops")), "answers with status 500"),
    "gone": (
        sends(response(b"{}", "application/problem+json", "404 Not Found")),
        "answers with status 404",
    ),
    "another type": (
        sends(response(json_answer("x"), "text/html")),
        "'text/html', which is neither JSON nor RDF/XML",
    ),
    "no type": (sends(b"HTTP/1.1 200 OK\r\n\r\nx"), "'', which is neither"),
    "no JSON": (sends(response(b"<html>")), "not JSON"),
    "about another URI": (
        sends(response(json_answer("x").replace(b"a.example", b"z.example"))),
        "answers about http://z.example/",
    ),
    "entities": (
        sends(response(rdf("<twg:text>&i;</twg:text>", BOMB), "application/rdf+xml")),
        "DOCTYPE",
    ),
    "oversized": (sends(response(b"[" + b"0," * 300_000 + b"0]")), "more than 500,000"),
    "oversized without end": (
        drips(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", b" " * 400_000),
        "more than 500,000",
    ),
    "deep": (sends(response(rdf("<x>" * 1000), "application/rdf+xml")), "nests deeper"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_instance_costs_its_own_part_only(name: str) -> None:
    play, says = BAD[name]
    with playing(play) as bad, playing(sends(response(json_answer("News")))) as good:
        asking = Asking(
            (Instance("bad", bad), Instance("good", good)), replace(QUICK, page_bytes=500_000)
        )
        (nothing, failed), (found, answered) = asking.ask(QUERY)
    assert (failed.outcome, nothing.links) == (Outcome.FAILED, {})
    assert says in failed.detail
    assert (answered.outcome, len(found.links)) == (Outcome.ANSWERED, 1)


def test_all_instances_are_asked_at_once() -> None:
    """Each answers when all were asked."""
    asked = threading.Barrier(5, timeout=60)

    def play(connection: socket.socket, _: threading.Event) -> None:
        asked.wait()
        connection.sendall(response(json_answer("News")))

    with ExitStack() as stack:
        urls = [stack.enter_context(playing(play)) for _ in range(5)]
        limits = QueryLimits(instance_seconds=60, whole_seconds=60)
        asking = Asking([Instance(str(number), url) for number, url in enumerate(urls)], limits)
        assert {report.outcome for _, report in asking.ask(QUERY)} == {Outcome.ANSWERED}


class Pages(http.server.BaseHTTPRequestHandler):
    """Every page has a next one; from a given one on they hang."""

    pages = 0
    hangs_from = 1000
    is_over = threading.Event()

    def do_GET(self) -> None:
        type(self).pages += 1
        if self.pages >= self.hangs_from:
            self.is_over.wait(60)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json_answer(f"link {self.pages}", cursor=f"page {self.pages}"))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        return


def test_pages_without_end_are_cut_and_the_answer_is_partial() -> None:
    class Endless(Pages):
        pass

    with handling(Endless) as url:
        ((found, report),) = Asking(
            (Instance("x", url),), replace(QUICK, pages=5, whole_seconds=10)
        ).ask(QUERY)
    assert (report.outcome, len(found.links), Endless.pages) == (Outcome.PARTIAL, 5, 5)
    assert "more than the 5 links of 5 pages" in report.detail


def test_answers_before_the_deadline_are_kept() -> None:
    class Stuck(Pages):
        hangs_from = 3

    with handling(Stuck) as url:
        ((found, report),) = Asking(
            (Instance("x", url),), QueryLimits(instance_seconds=30, whole_seconds=5)
        ).ask(QUERY)
        assert not Stuck.is_over.is_set()
        Stuck.is_over.set()
    assert (report.outcome, len(found.links)) == (Outcome.PARTIAL, 2)
    assert "no complete answer within" in report.detail


def test_an_instance_that_hangs_is_not_asked_by_ever_more_threads() -> None:
    with playing(drips(b"HTTP/1.1 200 OK\r\n\r\n")) as url:
        asking = Asking((Instance("x", url),), replace(QUICK, at_once=1))
        asking._free[asking.instances[0]].acquire()
        ((_, report),) = asking.ask(QUERY)
    assert "busy with 1 requests" in report.detail


def test_a_query_does_not_wait_for_a_thread_that_cannot_be_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a name service that does not answer."""
    is_over = threading.Event()
    ended: list[int] = []

    def hangs(*_: object) -> HttpAnswer:
        is_over.wait(60)
        ended.append(1)
        raise InstanceError("too late")

    monkeypatch.setattr("arclink.others.federation.requests.fetch", hangs)
    ((found, report),) = Asking(
        (Instance("x", "http://127.0.0.1:9"),), QueryLimits(whole_seconds=0.2)
    ).ask(QUERY)
    assert not ended
    is_over.set()
    assert (report.outcome, report.detail, found.links) == (
        Outcome.FAILED,
        "no answer within 0.2 s",
        {},
    )


class Counting(http.server.BaseHTTPRequestHandler):
    """Knows its validators."""

    statuses: list[int]

    def do_GET(self) -> None:
        status = 304 if self.headers.get("If-None-Match") == '"1"' else 200
        self.statuses.append(status)
        self.send_response(status)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        if status == 200:
            self.wfile.write(json_answer("News"))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        return


@pytest.mark.parametrize(
    ("age", "statuses"), [(300.0, [200]), (0.0, [200, 304])], ids=["fresh", "validated"]
)
def test_an_answer_is_asked_for_once_while_it_is_fresh_and_validated_then(
    age: float, statuses: list[int]
) -> None:
    class Handler(Counting):
        pass

    Handler.statuses = []
    with handling(Handler) as url:
        asking = Asking((Instance("x", url),), replace(QUICK, cache_seconds=age))
        (first, received), (second, again) = asking.ask(QUERY)[0], asking.ask(QUERY)[0]
    assert first == second
    assert (received.is_cached, again.is_cached) == (False, True)
    assert Handler.statuses == statuses


# The service


@pytest.fixture
def client(foreign: str) -> FlaskClient:
    """Return a client of a service with a small store, a foreign neighbour and one that is dead."""
    store = MemoryStore(
        [Page(A, T1, [link(B, "News"), link("http://a.example/skiing/", FOREIGN_TEXT)])]
    )
    with playing(sends(b"")) as dead:
        pass
    settings = Settings(
        archive="mine", instances=parse_instances([f"paper={foreign}", f"dead={dead}"])
    )
    return client_of(lambda: store, settings)


def test_the_service_merges_its_own_store_with_its_neighbours(client: FlaskClient) -> None:
    response = client.get(f"/aggregate?uri={A}&format=json")
    answer = response.get_json()
    assert response.status_code == 200
    assert response.headers["ArcLink-Archives"] == "mine=answered, paper=answered, dead=failed"
    assert response.headers["Cache-Control"] == "no-store"
    assert links_of(answer)["outlinks", "example,a)/skiing", "a@href", FOREIGN_TEXT] == {
        "mine": {T1},
        "paper": {FOREIGN_TIME, "20100227081100"},
    }
    assert [(archive["name"], archive["outcome"]) for archive in answer["archives"]] == [
        ("mine", "answered"),
        ("paper", "answered"),
        ("dead", "failed"),
    ]
    assert "connection refused" in answer["archives"][2]["detail"]


@pytest.mark.parametrize("profile", ["listing", "links"])
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("rdfxml", pyoxigraph.RdfFormat.RDF_XML),
        ("turtle", pyoxigraph.RdfFormat.TURTLE),
        ("ntriples", pyoxigraph.RdfFormat.N_TRIPLES),
        ("nquads", pyoxigraph.RdfFormat.N_QUADS),
        ("jsonld", pyoxigraph.RdfFormat.JSON_LD),
    ],
)
def test_a_merged_answer_is_written_in_every_format_of_rdf(
    client: FlaskClient, name: str, form: pyoxigraph.RdfFormat, profile: str
) -> None:
    document = client.get(f"/aggregate?uri={A}&format={name}&profile={profile}").data
    found = {
        (triple.predicate.value.rpartition("/")[2], getattr(triple.object, "value", ""))
        for triple in pyoxigraph.parse(document, form)
    }
    assert {
        ("archive", "mine"),
        ("archive", "paper"),
        ("askedArchive", "paper"),
        ("text", FOREIGN_TEXT),
    } <= found
    assert next(value for name, value in found if name == "missing").startswith(
        "dead: nothing answers"
    )


@pytest.mark.parametrize("name", ["jsonl", "csv"])
def test_a_merged_answer_is_written_as_lines(client: FlaskClient, name: str) -> None:
    response = client.get(f"/aggregate?uri={A}&format={name}&direction=in")
    assert response.status_code == 200
    assert b"paper" in response.data
    assert b"http://blog.example/?tag=x" in response.data


def test_pages_of_a_merged_answer_lead_on(client: FlaskClient) -> None:
    texts: list[str] = []
    url = f"/aggregate?uri={A}&format=json&limit=1&direction=out"
    for _ in range(6):
        response = client.get(url)
        texts += [member["text"] for member in response.get_json()["outlinks"]]
        if "Link" not in response.headers:
            break
        url = "/aggregate" + response.headers["Link"].removeprefix("<").partition(">")[0]
    assert sorted(texts) == sorted(["News", "Kalvik 2010", FOREIGN_TEXT])


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("", "uri"),
        (f"uri={A}&limit=0", "limit"),
        (f"uri={A}&instance=http://x", "instance"),
        (f"uri={A}&cursor=x", "cursor"),
        (f"uri={A}&format=table", "format"),
    ],
)
def test_a_wrong_parameter_is_a_problem(client: FlaskClient, query: str, parameter: str) -> None:
    response = client.get(f"/aggregate?{query}")
    assert (response.status_code, json.loads(response.data)["parameter"]) == (400, parameter)


def test_a_502_says_why_no_instance_answered() -> None:
    def away() -> MemoryStore:
        raise StoreError("gone")

    with playing(sends(b"")) as dead:
        pass
    response = client_of(
        away, Settings(instances=parse_instances([f"dead={dead}"]), limits=QUICK)
    ).get(f"/aggregate?uri={A}")
    assert (response.status_code, response.content_type) == (502, "application/problem+json")
    assert [archive["name"] for archive in json.loads(response.data)["archives"]] == [
        "here",
        "dead",
    ]
    assert "gone" not in response.text


def test_a_store_that_is_away_does_not_hide_the_others(foreign: str) -> None:
    def away() -> MemoryStore:
        raise StoreError("gone")

    response = client_of(away, Settings(instances=parse_instances([f"paper={foreign}"]))).get(
        f"/aggregate?uri={A}&format=json"
    )
    assert response.status_code == 200
    assert response.headers["ArcLink-Archives"] == "here=failed, paper=answered"
    assert len(response.get_json()["inlinks"]) == 1
    assert surt_of(A) == response.get_json()["surt"]


def test_a_browser_gets_a_page() -> None:
    client = client_of(lambda: MemoryStore([Page(A, T1, [link(B, "<b>News")])]))
    browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    for accept in ("text/html", browser):
        page = client.get(f"/aggregate?uri={A}", headers={"Accept": accept})
        assert (page.status_code, page.mimetype) == (200, "text/html")
        assert "&lt;b&gt;News" in page.text
        assert "Links on it" in page.text
        assert "Content-Security-Policy" in page.headers
    named = client.get(f"/aggregate?uri={A}&format=json", headers={"Accept": browser})
    assert named.get_json()["outlinks"][0]["text"] == "<b>News"
    assert client.get(f"/aggregate?uri={A}").mimetype == "application/rdf+xml"
    one = client.get(f"/aggregate?uri={A}&direction=in", headers={"Accept": browser})
    assert "Links on it" not in one.text


def test_a_capture_that_two_archives_have_counts_once() -> None:
    both = [Page(A, T1, [link(B, "News")]), Page(A, "20110101000000", [])]
    more = [*both, Page(A, "20120101000000", []), Page("https://a.example/", T1, [])]
    with served(lambda: MemoryStore(both)) as one, served(lambda: MemoryStore(more)) as other:
        instances = parse_instances([f"x=http://127.0.0.1:{one}", f"y=http://127.0.0.1:{other}"])
        client = client_of(lambda: MemoryStore(both), Settings(instances=instances))
        answer = client.get(f"/aggregate?uri={A}&format=json").get_json()["mementos"]
        assert (answer["count"], answer["links_known"]) == (4, 4)
        asked = client.get(f"/aggregate?uri={A}&format=json&from=2011").get_json()["mementos"]
        assert asked["count"] == 4
        page = client.get(f"/aggregate?uri={A}", headers={"Accept": "text/html"})
        assert "4 captures in the archives together" in page.text
