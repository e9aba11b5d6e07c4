"""Lists for crawlers: exact on a small archive, in the formats of crawlers, under an embargo."""

import json
import subprocess
import sys

import pytest

from arclink.access.declarations import ConflictError
from arclink.access.formats.rows import SEED_FORMATS, RowAnswer, seeds_of
from arclink.analysis.questions.asking import AskAnswer, ask
from arclink.analysis.questions.queries import AskQuery
from arclink.analysis.questions.rows import ASK_FORMATS, ask_as_rows, check_format
from arclink.analysis.relations.database import ShownRelations
from arclink.model import Surt
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.protocols import Scans
from tests.demos import Demos
from tests.store.memory_store import MemoryStore, Page, link

T1, T2, T3 = "20100101000000", "20110101000000", "20120101000000"
A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"
LOST, OLD, IMAGE = "http://lost.example/x", "http://old.example/", "http://img.example/i.png"

PAGES = [
    Page(A, T1, [link(LOST), link(OLD), link(B), link("mailto:x@a.example")]),
    Page(f"{A}2", T2, [link(LOST), link(OLD), link(IMAGE, kind="img@src")]),
    Page(
        B, T3, [link("https://www.lost.example/x"), link(LOST), link(A), link("http://b.example/y")]
    ),
    Page(C, T3, [link("http://b.example/y"), link(OLD)]),
    Page(OLD, T1, [link(f"{OLD}#top")]),
    Page("http://gone.example/", T1, []),
]


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(PAGES)


def answer_of(store: Scans, name: str, **given: str) -> AskAnswer:
    query = AskQuery.from_parameters({"limit": "0", **given}.items(), name=name)
    with ShownRelations("", store) as database:
        return ask(database, query)


def rows_of(store: Scans, name: str, **given: str) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in answer_of(store, name, **given).table.to_pylist()]


def names_of(store: Scans, name: str, **given: str) -> list[object]:
    return [row[0] for row in rows_of(store, name, **given)]


def test_gaps_are_linked_and_never_captured(store: MemoryStore) -> None:
    assert rows_of(store, "gaps") == [
        (LOST, 2, 3, T1, T3),
        ("http://b.example/y", 2, 2, T3, T3),
    ]
    assert names_of(store, "gaps", kinds="resources") == [IMAGE]
    assert names_of(store, "gaps", limit="1") == [LOST]


def test_rows_with_few_linking_hosts_are_left_out_and_not_counted(store: MemoryStore) -> None:
    assert rows_of(store, "gaps", **{"min-hosts": "3"}) == []
    found = answer_of(store, "most-linked", **{"min-hosts": "2", "limit": "1"})
    assert (found.table.num_rows, found.total, found.left_out) == (1, 3, 2)
    assert answer_of(store, "linkers", **{"min-hosts": "9"}).total, "it counts no hosts"


def test_gaps_since_a_time_count_its_links_only(store: MemoryStore) -> None:
    assert rows_of(store, "gaps", **{"from": "2011-06"}) == [
        ("http://b.example/y", 2, 2, T3, T3),
        (LOST, 1, 1, T3, T3),
    ]


def test_stale_pages_are_linked_after_their_last_capture(store: MemoryStore) -> None:
    since_2011 = [(OLD, 2, 2, T2, T3, T1), (A, 1, 1, T3, T3, T1)]
    assert rows_of(store, "stale", **{"from": "2011"}) == since_2011
    assert names_of(store, "stale", **{"from": "2012"}) == [A, OLD]
    assert names_of(store, "stale", **{"from": "2013"}) == []
    assert rows_of(store, "stale") == since_2011, "since the captures that link to them"
    by_host = names_of(store, "stale", level="host", **{"from": "2011"})
    assert by_host == ["old.example"], "another page of a.example was captured since"


def test_hidden_captures_link_to_nothing(store: MemoryStore) -> None:
    hidden = EmbargoedStore(store, Embargo(prefixes=(Surt("example,b)/"),)))
    assert rows_of(hidden, "gaps")[0] == (LOST, 1, 2, T1, T2)


def test_an_empty_store_lacks_nothing() -> None:
    assert rows_of(MemoryStore(), "gaps") == []
    assert rows_of(MemoryStore(), "stale", **{"from": "2010"}) == []


def seeds(store: Scans, name: str, **given: str) -> RowAnswer:
    return ask_as_rows(answer_of(store, name, **given))


def test_crawlers_read_the_lists(store: MemoryStore) -> None:
    found = seeds(store, "gaps")
    assert b"".join(SEED_FORMATS["seeds"].write(found)) == f"{LOST}\n{B}y\n".encode()
    assert b"".join(SEED_FORMATS["browsertrix"].write(found)).decode() == (
        f'seeds:\n- url: "{LOST}"\n  scopeType: page\n- url: "{B}y"\n  scopeType: page\n'
    )
    rows = json.loads(b"".join(ASK_FORMATS["json"].write(found)))
    assert (rows["question"], rows["total"], rows["rows"][0]["hosts"]) == ("gaps", 2, 2)


@pytest.mark.parametrize("name", ["broken", "vanished", "rising", "pages", "stale", "most-linked"])
def test_any_rows_that_are_pages_are_seeds_once_each(store: MemoryStore, name: str) -> None:
    found = seeds(store, name, by="year")
    expected = dict.fromkeys(str(row["name"]) for row in found.labelled())
    assert seeds_of(found) == ([*expected], 0)
    assert len(expected) > 0 or name in ("vanished", "rising")


@pytest.mark.parametrize(
    ("name", "given"),
    [("anchors", {}), ("tlds", {}), ("gaps", {"level": "host"}), ("host-links", {"level": "uri"})],
)
def test_rows_that_are_no_pages_are_no_seeds(name: str, given: dict[str, str]) -> None:
    query = AskQuery.from_parameters(given.items(), name=name)
    for form in ASK_FORMATS.values():
        if form.name not in SEED_FORMATS:
            check_format(query, form)
            continue
        with pytest.raises(ConflictError, match="needs rows that are pages"):
            check_format(query, form)


def test_a_uri_with_a_line_end_stays_one_line() -> None:
    store = MemoryStore([Page(A, T1, [link("http://x.example/a\u2028b")])])
    assert b"".join(SEED_FORMATS["seeds"].write(seeds(store, "gaps"))).count(b"\n") == 1


def command(demos: Demos, *arguments: str) -> "subprocess.CompletedProcess[str]":
    whole = [sys.executable, "-m", "arclink", "ask", *arguments, "--store", str(demos.store())]
    return subprocess.run(whole, capture_output=True, check=False, text=True)


def test_the_command_writes_seeds(demos: Demos) -> None:
    for name, *rest in (("gaps",), ("stale", "--from", "2010-02")):
        done = command(demos, name, *rest, "--format", "seeds", "--limit", "0")
        assert done.stdout
        assert all(line.startswith("http") for line in done.stdout.splitlines())
        assert done.stderr == ""
    done = command(demos, "anchors", "--format", "seeds")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_list_that_the_limit_cut_says_so(demos: Demos) -> None:
    whole = command(demos, "gaps", "--format", "seeds", "--limit", "0").stdout.splitlines()
    for form in ("seeds", "csv"):
        done = command(demos, "gaps", "--format", form, "--limit", "1")
        assert whole[0] in done.stdout
        assert done.stderr == f"{len(whole) - 1} more rows left out; --limit 0 writes all.\n"


def test_a_list_without_captures_is_unknown(demos: Demos) -> None:
    for form in ("seeds", "browsertrix", "csv", "jsonl"):
        done = command(demos, "gaps", "--format", form, "--from", "2050")
        assert done.stderr == "Unknown: there are no captures to show from then.\n"
    assert command(demos, "gaps", "--format", "csv", "--min-hosts", "9999").stderr == ""


def test_pages_that_no_crawler_can_capture_are_no_gaps_and_no_seeds() -> None:
    links = [link("ftp://x.example/a"), link("http://y.example/")]
    store = MemoryStore([Page(A, T1, links)])
    assert rows_of(store, "gaps") == [("http://y.example/", 1, 1, T1, T1)]
    assert seeds_of(seeds(store, "broken")) == (["http://y.example/"], 1)
