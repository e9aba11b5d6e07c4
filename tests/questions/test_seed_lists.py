"""Lists for curators: exact on a small archive, in the formats of crawlers, under an embargo."""

import json
import subprocess
import sys

import pytest

from arclink.access.declarations import BadParameterError, sort_out
from arclink.model import Surt
from arclink.questions.seed_lists import (
    GAPS_PARAMETERS,
    SEED_FORMAT,
    SEED_FORMATS,
    STALE_PARAMETERS,
    SeedKind,
    SeedList,
    SeedQuery,
    seed_list,
)
from arclink.relations.database import ShownRelations
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


def seeds_of(store: Scans, kind: SeedKind, *parameters: tuple[str, str]) -> SeedList:
    declared = GAPS_PARAMETERS if kind is SeedKind.GAPS else STALE_PARAMETERS
    query = SeedQuery.of(sort_out(parameters, declared), kind)
    with ShownRelations("", store) as database:
        return seed_list(database, query)


def listed(store: Scans, kind: SeedKind, *parameters: tuple[str, str]) -> list[tuple[object, ...]]:
    return [tuple(seed) for seed in seeds_of(store, kind, *parameters).seeds]


def test_gaps_are_linked_and_never_captured(store: MemoryStore) -> None:
    assert listed(store, SeedKind.GAPS) == [
        (LOST, 2, 3, T1, T3, ""),
        ("http://b.example/y", 2, 2, T3, T3, ""),
    ]
    assert [seed[0] for seed in listed(store, SeedKind.GAPS, ("kinds", "resources"))] == [IMAGE]
    assert [seed[0] for seed in listed(store, SeedKind.GAPS, ("limit", "1"))] == [LOST]
    assert listed(store, SeedKind.GAPS, ("min-hosts", "3")) == []


def test_gaps_since_a_time_count_its_links_only(store: MemoryStore) -> None:
    assert listed(store, SeedKind.GAPS, ("since", "2011-06")) == [
        ("http://b.example/y", 2, 2, T3, T3, ""),
        (LOST, 1, 1, T3, T3, ""),
    ]


def test_stale_pages_are_linked_after_their_last_capture(store: MemoryStore) -> None:
    assert listed(store, SeedKind.STALE, ("since", "2011")) == [
        (OLD, 2, 2, T2, T3, T1),
        (A, 1, 1, T3, T3, T1),
    ]
    assert [seed[0] for seed in listed(store, SeedKind.STALE, ("since", "2012"))] == [
        A,
        OLD,
    ]
    assert listed(store, SeedKind.STALE, ("since", "2013")) == []
    with pytest.raises(BadParameterError, match="since"):
        listed(store, SeedKind.STALE)


def test_hidden_captures_link_to_nothing(store: MemoryStore) -> None:
    hidden = EmbargoedStore(store, Embargo(prefixes=(Surt("example,b)/"),)))
    assert listed(hidden, SeedKind.GAPS)[0] == (LOST, 1, 2, T1, T2, "")


def test_an_empty_store_lacks_nothing() -> None:
    assert listed(MemoryStore(), SeedKind.GAPS) == []
    assert listed(MemoryStore(), SeedKind.STALE, ("since", "2010")) == []


def found_in(store: MemoryStore) -> SeedList:
    return seeds_of(store, SeedKind.GAPS)


def test_crawlers_read_the_lists(store: MemoryStore) -> None:
    found = found_in(store)
    assert b"".join(SEED_FORMATS["seeds"].write(found)) == f"{LOST}\n{B}y\n".encode()
    assert b"".join(SEED_FORMATS["browsertrix"].write(found)).decode() == (
        f'seeds:\n- url: "{LOST}"\n  scopeType: page\n- url: "{B}y"\n  scopeType: page\n'
    )
    rows = json.loads(b"".join(SEED_FORMATS["json"].write(found)))
    assert (rows["list"], rows["found"], rows["seeds"][0]["hosts"]) == ("gaps", 2, 2)
    for form in SEED_FORMATS:
        SEED_FORMAT.read(form)
        assert b"lost.example" in b"".join(SEED_FORMATS[form].write(found))


def test_a_uri_with_a_line_end_stays_one_line() -> None:
    store = MemoryStore([Page(A, T1, [link("http://x.example/a\u2028b")])])
    assert b"".join(SEED_FORMATS["seeds"].write(found_in(store))).count(b"\n") == 1


def test_the_commands_write_seeds(demos: Demos) -> None:
    for name, *rest in (("gaps",), ("stale", "--since", "2010-02")):
        command = [sys.executable, "-m", "arclink", name, "--store", str(demos.store()), *rest]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        assert done.stdout
        assert all(line.startswith("http") for line in done.stdout.splitlines())
        assert "were left out" not in done.stderr


def test_a_list_that_the_limit_cut_says_so(store: MemoryStore, demos: Demos) -> None:
    whole = found_in(store)
    cut = seeds_of(store, SeedKind.GAPS, ("limit", "1"))
    assert (whole.left_out, cut.left_out, cut.found) == (0, 1, 2)
    command = [sys.executable, "-m", "arclink", "gaps", "--store", str(demos.store()), "--limit"]
    done = subprocess.run([*command, "1"], capture_output=True, check=True, text=True)
    assert len(done.stdout.splitlines()) == 1
    found = int(done.stderr.split("--limit ")[1].split()[0])
    assert done.stderr == (
        f"{found - 1} more pages were left out (--limit {found} lists them all).\n"
    )
    done = subprocess.run([*command, str(found)], capture_output=True, check=True, text=True)
    assert len(done.stdout.splitlines()) == found
    assert done.stderr == ""


def test_pages_that_no_crawler_can_capture_are_not_counted() -> None:
    links = [link("ftp://x.example/a"), link("http://y.example/")]
    found = found_in(MemoryStore([Page(A, T1, links)]))
    assert (found.found, [seed.uri for seed in found.seeds]) == (1, ["http://y.example/"])
