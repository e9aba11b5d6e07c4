"""Questions to several services: real ones, and some that fail, lie, or are older."""

import http.server
import json
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import validator_for

import arclink
from arclink.access.archives import ArchiveReport, Outcome
from arclink.access.declarations import BadParameterError, Given
from arclink.access.formats.rows import ROW_FORMATS
from arclink.analysis.questions.archive_answers import accepted_answer
from arclink.analysis.questions.merged import (
    MergedQuestion,
    ask_instances,
    merge_rows,
    merged_as_rows,
)
from arclink.analysis.questions.rows import ASK_FORMATS
from arclink.analysis.questions.table import QUESTIONS
from arclink.cli.main import group
from arclink.errors import InstanceError, Limit, LimitError, StoreError, UsageError
from arclink.others.federation.instances import Instance, QueryLimits
from arclink.others.federation.requests import Asking
from arclink.service.schemas import SCHEMAS
from arclink.service.settings import Settings
from arclink.service.tables import NotReadyError, ServiceTables
from arclink.store.location import open_store
from tests.access.sqlite_pages import load_pages
from tests.demos import Demos
from tests.federation.servers import drips, handling, playing, response, sends
from tests.questions.archive import PAGES
from tests.questions.page_texts import add_page_texts, words_of
from tests.service.conftest import client_of, served
from tests.store.memory_store import MemoryStore, Page

SITE = "*.example.org"
HALVES = {"egypt": PAGES[::2], "iraq": PAGES[1::2]}


def store_of(pages: list[Page]) -> Callable[[], MemoryStore]:
    store = MemoryStore(pages)
    return lambda: store


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The stores of the halves, with texts."""
    paths = {name: tmp_path_factory.mktemp(name) / "links.db" for name in HALVES}
    for name, path in paths.items():
        load_pages(path, path.with_name("graph"), [HALVES[name]])
        with open_store(str(path)) as store:
            add_page_texts(path, store)
    return {name: str(path) for name, path in paths.items()}


@pytest.fixture(scope="module")
def urls(paths: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    with ExitStack() as stack:
        yield {
            name: f"http://127.0.0.1:{stack.enter_context(served(path))}"
            for name, path in paths.items()
        }


def ask(*words: str, **instances: str) -> Result:
    named = (f"--instance={name}={url}" for name, url in instances.items())
    return CliRunner().invoke(group, ["ask", *words, *named])


def answer_of(*words: str, **instances: str) -> dict[str, Any]:
    result = ask(*words, "--format", "json", **instances)
    assert result.exit_code in (0, 3), result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def good(**others: object) -> dict[str, object]:
    """Return the answer of a service to ``linkers`` of the site, with one row."""
    return {
        "question": "linkers",
        "asks": "Who linked to it?",
        "asked": [SITE],
        "scope": "domain",
        "level": "host",
        "by": "all",
        "kinds": ["navigation"],
        "from": None,
        "to": None,
        "total": 1,
        "captures": {
            "count": 2,
            "links_known": 1,
            "first": "20090101000000",
            "last": "20100101000000",
            "by_period": {},
        },
        "rows": [row()],
        **others,
    }


def row(**others: object) -> dict[str, object]:
    return {
        "name": "far.example",
        "links": 3,
        "pages": 2,
        "mementos": 2,
        "first": "20090101000000",
        "last": "20100101000000",
        **others,
    }


@contextmanager
def saying(document: object, *headers: str) -> Iterator[str]:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    with playing(sends(response(body, "application/json", "200 OK", *headers))) as url:
        yield url


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_command_and_the_service_merge_the_answers_of_services_alike(
    name: str, paths: Mapping[str, str], urls: Mapping[str, str]
) -> None:
    words = [text for key, value in words_of(name) for text in (f"--{key}", value)]
    asked = {"uri": SITE, "limit": "0", **dict(words_of(name))}
    by_command = answer_of(name, SITE, "--limit", "0", *words, **urls)
    instances = (Instance("iraq", urls["iraq"]),)
    client = client_of(paths["egypt"], Settings(archive="egypt", instances=instances))
    found = client.get(f"/aggregate/ask/{name}", query_string={**asked, "format": "json"})
    by_service = found.get_json()
    names = ("seconds", "cached")
    for document in (by_command, by_service):
        validator_for(
            {"$ref": "#/components/schemas/MergedAnswer", "components": {"schemas": SCHEMAS}}
        ).validate(document)
        for archive in document["archives"]:
            assert [archive.pop(one) is not None for one in names] == [True, True]
    assert by_service == by_command
    assert found.headers["ArcLink-Archives"] == "egypt=answered, iraq=answered"
    assert found.headers["ArcLink-Found"] == str(by_command["total"])
    if by_command["total"]:
        csv = ask(name, SITE, "--limit", "0", "--format", "csv", *words, **urls).stdout
        assert len(csv.splitlines()) == 1 + len(by_command["rows"])


def test_hosts_that_link_are_those_that_pandas_unites(urls: Mapping[str, str]) -> None:
    frames = []
    for name, pages in HALVES.items():
        alone = client_of(store_of(pages)).get(f"/ask/linkers?uri={SITE}&limit=0&format=json")
        frames.append(pd.DataFrame(alone.get_json()["rows"]).assign(archive=name))
    united = (
        pd.concat(frames)
        .groupby("name")
        .agg(archives=("archive", list), first=("first", "min"), last=("last", "max"))
    )
    rows = answer_of("linkers", SITE, "--limit", "0", **urls)["rows"]
    first_rows = pd.DataFrame(rows).drop_duplicates("name").set_index("name")
    assert (united["archives"].str.len() > 1).any()
    for column in united:
        assert first_rows[column].to_dict() == united[column].to_dict()


def test_limit_counts_names_and_min_hosts_those_of_one_archive(urls: Mapping[str, str]) -> None:
    whole = answer_of("most-linked", "--level", "host", "--limit", "0", **urls)
    names = list(dict.fromkeys(one["name"] for one in whole["rows"]))
    some = answer_of("most-linked", "--level", "host", "--limit", "2", **urls)
    assert list(dict.fromkeys(one["name"] for one in some["rows"])) == names[:2]
    assert some["total"] == whole["total"] == len(names)
    table = ask("most-linked", "--level", "host", "--limit", "2", **urls).stdout
    assert f"2 of {len(names)} names; --limit 0 shows all" in table
    note = ask("most-linked", "--level", "host", "--limit", "2", "--format", "csv", **urls)
    assert f"{len(names) - 2} more rows left out" in note.stderr
    most = dict.fromkeys(names, 0)
    for one in whole["rows"]:
        most[one["name"]] = max(most[one["name"]], one["hosts"] or 0)
    least = str(max(most.values()))
    many = answer_of("most-linked", "--level", "host", "--limit", "0", "--min-hosts", least, **urls)
    expected = {name for name, hosts in most.items() if hosts >= int(least)}
    assert {one["name"] for one in many["rows"]} == expected
    assert 0 < many["total"] < whole["total"]


def test_a_store_is_one_of_the_archives(urls: Mapping[str, str], tmp_path: Any) -> None:
    store = tmp_path / "links.db"
    load_pages(store, tmp_path / "graph", [HALVES["egypt"]])
    of_store = answer_of("hosts", SITE, "--store", str(store), iraq=urls["iraq"])
    of_services = answer_of("hosts", SITE, here=urls["egypt"], iraq=urls["iraq"])
    assert of_store["rows"] == of_services["rows"]
    assert [one["name"] for one in of_store["archives"]] == ["here", "iraq"]
    same = ask("hosts", SITE, "--store", str(store), here=urls["iraq"])
    assert isinstance(same.exception, UsageError)
    assert "--instance here=" in str(same.exception)


@pytest.mark.parametrize(
    ("words", "keywords"),
    [
        (("linkers", SITE), {}),
        (("linkers", SITE, "--by", "year", "--level", "host"), {"by": "year", "level": "host"}),
        (("hosts",), {"from_": "2011", "limit": 2}),
        (("broken", SITE, "--kinds", "all"), {"kinds": "all"}),
        (("captures", SITE, "--by", "month", "--to", "2010"), {"by": "month", "to": "2010"}),
        (("linkers", "*.never.example"), {}),
    ],
)
def test_python_asks_several_archives_as_the_command_does(
    words: tuple[str, ...], keywords: dict[str, Any], urls: Mapping[str, str], tmp_path: Any
) -> None:
    more = ["--from", "2011", "--limit", "2"] if "limit" in keywords else ["--limit", "0"]
    expected = answer_of(*words, *more, **urls)
    uris = [one for one in words[1:2] if not one.startswith("--")]
    load_pages(tmp_path / "links.db", tmp_path / "graph", [HALVES["egypt"]])
    with arclink.open(tmp_path / "links.db") as graph:
        of_services = arclink.ask(words[0], *uris, archives=urls, **keywords)
        mixed = arclink.ask(words[0], *uris, archives={**urls, "egypt": graph}, **keywords)
    for answer in (of_services, mixed):
        assert [*answer] == expected["rows"]
        said = [*answer.about.pop("archives")]  # type: ignore[attr-defined]
        for one, other in zip(said, expected["archives"], strict=True):
            for archive in (one, other):  # a store has the name of its file, a service no title
                archive["provenance"] = {**archive["provenance"], "archive": "", "cite": ""}
            assert {**one, "seconds": 0} == {**other, "seconds": 0}
        about = {name: expected[name] for name in answer.about}
        assert json.loads(json.dumps(answer.about)) == about
        assert all(name in repr(answer) for name in urls)
        assert len(answer.to_pandas()) == len(answer)
        assert bool(answer) is bool(expected["total"])


def test_python_says_which_archive_does_not_answer(
    urls: Mapping[str, str], tmp_path: Any, demos: Demos
) -> None:
    saved = tmp_path / "answer.rdf"
    saved.write_text("<rdf")
    archives: dict[str, str | bytes] = {
        "gone": "http://127.0.0.1:9",
        "saved": str(saved),
        "bytes": b"<rdf",
    }
    with pytest.raises(InstanceError, match=r"gone: failed.*saved: failed.*links only.*bytes:"):
        arclink.ask("linkers", SITE, archives=archives)
    answer = arclink.ask("linkers", SITE, archives={**archives, **urls})
    outcomes = [one["outcome"] for one in answer.about["archives"]]  # type: ignore[attr-defined]
    assert outcomes == ["failed"] * 3 + ["answered"] * 2
    with pytest.raises(InstanceError, match="none was named"):
        arclink.ask("linkers", SITE, archives={})
    for wrong in ({"a b": urls["iraq"]}, {"one": "nowhere.rdf"}, dict.fromkeys("ab", urls["iraq"])):
        with pytest.raises(UsageError, match=r"^archives "):
            arclink.ask("linkers", SITE, archives=wrong)
    with pytest.raises(BadParameterError, match=r"^question: 'linker' is not allowed"):
        arclink.ask("linker", SITE, archives=urls)
    with pytest.raises(TypeError, match="archives"):
        arclink.ask("linkers", SITE)  # type: ignore[call-arg]
    with (
        arclink.open(demos.store()) as graph,
        pytest.raises(UsageError, match="all times"),
    ):
        arclink.ask("linkers", SITE, archives={"now": graph.at("2010")})
    with arclink.open(demos.store()) as graph, pytest.raises(UsageError, match="not the name"):
        arclink.ask("linkers", SITE, archives={"bad name!": graph})


def test_the_environment_sends_no_question_to_services(
    urls: Mapping[str, str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question about a store may be confidential."""
    monkeypatch.setenv("ARCLINK_INSTANCES", f"iraq={urls['iraq']}")
    result = ask("hosts", SITE)
    assert isinstance(result.exception, UsageError)
    assert "--store or --instance is missing" in str(result.exception)


class Older(http.server.BaseHTTPRequestHandler):
    """An ArcLink of before there were questions: a 404 with a problem document."""

    def do_GET(self) -> None:
        body = b'{"status": 404, "detail": "There is no such resource."}'
        self.send_response(404)
        self.send_header("Content-Type", "application/problem+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        return


def test_an_archive_that_does_not_answer_makes_none_unknown(urls: Mapping[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        dead = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with (
        handling(Older) as older,
        playing(drips(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{")) as slow,
    ):
        instances = {**urls, "dead": dead, "older": older, "slow": slow}
        words = ("linkers", "http://nowhere.example/", "--timeout", "2", "--whole", "3")
        answer = answer_of(*words, **instances)
        table = ask(*words, **instances)
        csv = ask(*words, "--format", "csv", **instances)
        some = ask("linkers", SITE, "--timeout", "2", "--whole", "3", **instances)
    assert (answer["total"], answer["rows"]) == (0, [])
    reasons = dict(part.split(": ", 1) for part in answer["unknown"].split("; ") if ": " in part)
    assert reasons["dead"].startswith("nothing answers at its address")
    assert "an ArcLink without questions" in answer["unknown"]
    assert "There is no such resource." in answer["unknown"]
    assert reasons["slow"] == "no complete answer within 2 s"
    assert not {*urls} & {*reasons}
    outcomes = {one["name"]: one["outcome"] for one in answer["archives"]}
    assert outcomes == {
        **dict.fromkeys(urls, "answered"),
        **dict.fromkeys(("dead", "older", "slow"), "failed"),
    }
    for one in answer["archives"]:
        assert (one["captures"] is None) == (one["outcome"] == "failed")
    assert table.exit_code == csv.exit_code == some.exit_code == 3
    assert "Unknown: dead: nothing answers" in table.stdout
    assert "Unknown: dead: nothing answers" in csv.stderr
    assert "Unknown" not in some.stdout
    assert "egypt: answered" in some.stdout


def test_none_is_none_if_all_archives_know_it(urls: Mapping[str, str]) -> None:
    answer = answer_of("linkers", "http://nowhere.example/", **urls)
    assert "unknown" not in answer
    assert ask("linkers", "http://nowhere.example/", **urls).stdout.endswith("None\n")
    early = answer_of("linkers", SITE, "--to", "2001", **urls)
    assert "egypt: there are no captures to show from then" in early["unknown"]
    assert "iraq: there are no captures to show from then" in early["unknown"]


def test_no_archive_is_an_error() -> None:
    with saying(b"<html>") as url:
        result = ask("linkers", SITE, lost=url)
        assert isinstance(result.exception, InstanceError)
        assert "lost: failed" in str(result.exception)
        settings = Settings(instances=(Instance("lost", url),))

        def away() -> MemoryStore:
            raise StoreError("away")

        found = client_of(away, settings).get(f"/aggregate/ask/linkers?uri={SITE}")
    assert found.status_code == 502
    assert [one["name"] for one in found.get_json()["archives"]] == ["here", "lost"]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (NotReadyError("the tables are being made"), "the tables are being made"),
        (LimitError(Limit.TIME, "too long"), "takes longer than this service allows"),
        (StoreError("disk /dev/sda3 is away"), "its store cannot be read at the moment"),
    ],
)
def test_others_answer_if_the_own_store_cannot(
    error: Exception, why: str, urls: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(ServiceTables, "answer", fail)
    body = json.dumps(good()).encode()
    with playing(sends(response(body))) as far:
        settings = Settings(instances=(Instance("far", far),))
        client = client_of(store_of(PAGES), settings)
        found = client.get(f"/aggregate/ask/linkers?uri={SITE}&format=json")
    assert found.status_code == 200
    here, there = found.get_json()["archives"]
    assert (here["outcome"], there["outcome"]) == ("failed", "answered")
    assert why in here["detail"]
    assert [one["archives"] for one in found.get_json()["rows"]] == [["far"]]
    assert found.headers["Cache-Control"] == "no-store"


DEEP = b'{"question": "linkers", "captures": {}, "rows": ' + b"[" * 100_000

FAILURES: Mapping[str, tuple[object, str]] = {
    "no JSON": (b"<html>", "not JSON"),
    "a list": ([], "not the answer to a question"),
    "nesting": (DEEP, "not JSON"),
    "no number": (b'{"question": NaN}', "not JSON"),
    "another question": (good(question="anchors"), "its question is anchors, not linkers"),
    "another level": (good(level="uri"), "its level is uri, not host"),
    "other kinds": (good(kinds=["all"]), "its kinds is"),
    "another time": (good(**{"from": "20100101000000"}), "its from is 20100101000000"),
    "another address": (good(asked=["*.example.com"]), "its asked is"),
    "another window": (good(by="year"), "its by is year, not all"),
    "rows no list": (good(rows={}), "not the answer to a question"),
    "captures a text": (good(captures="many"), "not the answer to a question"),
    "captures less than known": (
        good(captures={"count": 1, "links_known": 2, "first": "2009", "last": "2010"}),
        "how many captures",
    ),
    "captures true": (good(captures={"count": True, "links_known": 0}), "how many captures"),
    "captures without time": (
        good(captures={"count": 1, "links_known": 0}),
        "the times of its captures",
    ),
    "captures back in time": (
        good(
            captures={
                "count": 1,
                "links_known": 0,
                "first": "20100101000000",
                "last": "20090101000000",
            }
        ),
        "the times of its captures",
    ),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_wrong_answer_fails_and_says_why(case: str, urls: Mapping[str, str]) -> None:
    document, why = FAILURES[case]
    with saying(document) as url:
        answer = answer_of("linkers", SITE, egypt=urls["egypt"], liar=url)
    liar = answer["archives"][1]
    assert (liar["outcome"], liar["rows"]) == ("failed", 0)
    assert why in liar["detail"]
    assert {tuple(one["archives"]) for one in answer["rows"]} == {("egypt",)}


ROWS_REFUSED: Mapping[str, object] = {
    "a text": "x",
    "a list": [row()],
    "null": None,
    "no name": {"links": 3},
    "a number as name": row(name=3),
    "an object as name": row(name={"a": 1}),
    "links a text": row(links="3"),
    "links true": row(links=True),
    "links negative": row(links=-1),
    "links huge": row(links=10**15),
    "links beyond 64 bits": row(links=1e300),
    "links a list": row(links=[3]),
    "first a number": row(first=20090101000000),
    "first of no day": row(first="20090231000000"),
    "first short": row(first="2009"),
    "first after last": row(first="20110101000000"),
}


@pytest.mark.parametrize("case", ROWS_REFUSED)
def test_a_wrong_row_is_refused_and_counted(case: str) -> None:
    with saying(good(rows=[row(), ROWS_REFUSED[case], row(name="other.example")], total=3)) as url:
        answer = answer_of("linkers", SITE, liar=url)
    (liar,) = answer["archives"]
    assert (liar["outcome"], liar["rows"], liar["passed_over"]) == ("answered", 2, 1)
    assert liar["refused"] == {"malformed row": 1}
    assert [one["name"] for one in answer["rows"]] == ["far.example", "other.example"]


def test_a_row_that_comes_twice_is_refused_once() -> None:
    with saying(good(rows=[row(), row(links=9)], total=2)) as url:
        answer = answer_of("linkers", SITE, liar=url)
    assert answer["archives"][0]["refused"] == {"row that came before": 1}
    assert [one["links"] for one in answer["rows"]] == [3]


def test_rows_about_other_windows_are_refused() -> None:
    by_period = {"2009": 1, "2010": 1, "evil": -1, "worse": "x"}
    known = {**good()["captures"], "by_period": by_period}  # type: ignore[dict-item]
    rows = [row(period=year, captures=1, read=1) for year in ("2009", "2011", None, 2009, "evil")]
    with saying(good(by="year", rows=rows, captures=known, total=5)) as url:
        answer = answer_of("linkers", SITE, "--by", "year", liar=url)
    (liar,) = answer["archives"]
    assert liar["refused"] == {"malformed row": 1, "row about another address or time": 3}
    assert liar["captures"]["by_period"] == {"2009": 1, "2010": 1}
    assert [one["period"] for one in answer["rows"]] == ["2009"]


def test_texts_are_printable_and_short() -> None:
    nasty = "\x1b[2J\u0000 a\ud800b"
    rows = [{**row(), "text": text, "hosts": 1} for text in (nasty, "x" * 5_000)]
    document = json.dumps(
        good(question="anchors", level=None, rows=rows, total=2, unknown=nasty * 1_000)
    ).replace("\\ud800", "")
    with saying(document.encode()) as url:
        result = ask("anchors", SITE, liar=url)
        answer = answer_of("anchors", SITE, liar=url)
    assert "\x1b" not in result.output
    assert "\x00" not in result.output
    assert answer["archives"][0]["refused"] == {"text that was cut": 1}
    assert [len(one["text"]) for one in answer["rows"]] == [len(nasty) - 1, 1_000]
    assert len(answer["archives"][0]["unknown"]) <= 300


def test_an_archive_with_more_rows_than_it_gives_is_partial() -> None:
    with saying(good(total=70_000)) as url:
        answer = answer_of("linkers", SITE, big=url)
        assert ask("linkers", SITE, big=url).exit_code == 3
    (big,) = answer["archives"]
    assert (big["outcome"], big["detail"]) == (
        "partial",
        "it has more rows than the 1 of 70,000 that were read",
    )


def test_an_archive_whose_rows_lack_a_column_is_partial() -> None:
    """It may be an ArcLink of before the column: what it has counts."""
    older = {name: value for name, value in row().items() if name != "mementos"}
    with saying(good(rows=[older])) as url:
        answer = answer_of("linkers", SITE, older=url)
    (one,) = answer["archives"]
    assert one["outcome"] == "partial"
    assert "no mementos: it is another version of ArcLink" in one["detail"]
    assert (answer["rows"][0]["links"], answer["rows"][0]["mementos"]) == (3, None)


@pytest.mark.parametrize(
    ("captures", "links_known", "unknown"),
    [(0, 0, "there are no captures"), (5, 0, "none of the 5 captures"), (5, 1, None)],
)
def test_no_row_is_unknown_without_known_links_also_if_the_archive_does_not_say_so(
    captures: int, links_known: int, unknown: str | None
) -> None:
    times = {"first": "20090101000000", "last": "20100101000000"} if captures else {}
    known = {"count": captures, "links_known": links_known, **times}
    with saying(good(captures=known, rows=[], total=0)) as url:
        answer = answer_of("linkers", SITE, older=url)
    assert ("unknown" in answer) == (unknown is not None)
    assert unknown is None or unknown in answer["unknown"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["20090101000000", "2009", SITE, "linkers", "http://a.example/"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = [*good(), "unknown"]
COLUMNS_OF_ROW = [*row(), "period", "captures", "read"]


@settings(deadline=None, max_examples=300)
@given(
    changed=st.dictionaries(st.sampled_from(MEMBERS), JSON, max_size=1),
    rows=st.lists(
        st.dictionaries(st.sampled_from(COLUMNS_OF_ROW), JSON, max_size=3)
        | st.fixed_dictionaries({"name": st.text(max_size=9).map("http:".__add__)}),
        max_size=3,
    ),
    by=st.sampled_from(["all", "year"]),
    level=st.sampled_from(["host", "uri"]),
)
def test_whatever_an_archive_answers_is_an_answer_or_one_error(
    changed: dict[str, Any], rows: list[dict[str, Any]], by: str, level: str
) -> None:
    question = MergedQuestion.of(Given({"uri": [SITE], "by": [by], "level": [level]}), "linkers")
    known = {**good()["captures"], "by_period": {"2009": 1}}  # type: ignore[dict-item]
    asked = good(by=by, level=level, captures=known)
    members = [
        row(**{"name": f"http://{number}.example/", "period": "2009", **one})
        for number, one in enumerate(rows)
    ]
    document = {**asked, "rows": members, "total": len(members), **changed}
    honest_row = row(name="http://far.example/", period="2009", captures=1, read=1)
    honest = {**asked, "rows": [honest_row]}
    try:
        found, refused, _ = accepted_answer(document, question.query)
    except InstanceError:
        assert changed, "rows alone make no answer wrong"
        return
    listed = document["rows"]
    assert isinstance(listed, list)
    passed_over = sum(number for reason, number in refused.items() if reason.is_of_member)
    assert len(found.rows) + len(found.unread) + passed_over == len(listed)
    liar = found, ArchiveReport("liar", Outcome.ANSWERED, refused=refused, noun="row")
    of_honest_archive = ArchiveReport("honest", Outcome.ANSWERED, noun="row")
    honest_rows = accepted_answer(honest, question.query)[0], of_honest_archive
    merged = merge_rows(question, [liar, honest_rows])
    of_honest = [one for one in merged.rows if one["archives"] == ["honest"]]
    assert [one["links"] for one in of_honest] == [3]
    answer = merged_as_rows(merged)
    for form in ASK_FORMATS.values() if level == "uri" else ROW_FORMATS.values():
        written = b"".join(form.write(answer))
        assert form.name not in ("csv", "jsonl", "json") or b"honest" in written


def test_an_answer_has_limits_of_bytes_and_rows() -> None:
    question = MergedQuestion.of(Given({"uri": [SITE]}), "linkers")
    rows = [row(name=f"{number}.example") for number in range(500)]
    with saying(good(rows=rows, total=500)) as url:
        for limits, outcome, number in (
            (QueryLimits(page_bytes=1_000), "failed", 0),
            (QueryLimits(links=7), "partial", 7),
            (QueryLimits(), "answered", 500),
        ):
            ((found, report),) = ask_instances(Asking((Instance("x", url),), limits), question)
            assert (report.outcome.value, report.members, len(found.rows)) == (
                outcome,
                number,
                number,
            )


@pytest.mark.parametrize(
    ("status", "header", "said"),
    [
        ("503 Service Unavailable", "Retry-After: 10", "status 503; ask again in 10 s"),
        ("503 Service Unavailable", "Retry-After: \x1b[2J", "status 503"),
        ("302 Found", "Location: http://127.0.0.1:1/", "redirect (302), which is not followed"),
    ],
)
def test_a_service_that_cannot_answer_now_says_when(status: str, header: str, said: str) -> None:
    with playing(sends(response(b"{}", "application/json", status, header))) as url:
        result = ask("linkers", SITE, later=url)
    assert said in str(result.exception)
    assert "\x1b" not in result.output


def test_a_question_that_an_instance_refuses_is_named() -> None:
    problem = json.dumps({"detail": "question: 'survival' is not allowed"}).encode()
    with playing(sends(response(problem, "application/problem+json", "400 Bad Request"))) as url:
        result = ask("survival", SITE, older=url)
    assert "it answers with status 400: question: 'survival' is not allowed" in str(
        result.exception
    )


def test_archives_with_captures_of_one_time_do_not_add_them() -> None:
    """Two services over one store have the same captures, and none twice as many."""
    store = store_of(PAGES)
    with served(store) as one, served(store) as other:
        urls = {"one": f"http://127.0.0.1:{one}", "other": f"http://127.0.0.1:{other}"}
        rows = answer_of("hosts", SITE, **urls)["rows"]
    together = [one for one in rows if len(one["archives"]) == 2]
    assert together
    assert {one["captures"] for one in together} == {None}
