"""Under an embargo, every resource answers as if the hidden captures were not in the store."""

import os
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from arclink.access.cursors import DONE, Cursor, InlinkPosition, encode_cursor
from arclink.access.queries import LinkQuery
from arclink.access.replay import parse_replay
from arclink.model import (
    ALL_SURTS,
    ALL_TIME,
    Checksum,
    Forgotten,
    Inlink,
    Memento,
    Outlink,
    Span,
    Surt,
    UriR,
)
from arclink.service.server import example_uri
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from arclink.store.protocols import Scans, StoreStats, StoreSums, Takedown
from arclink.uris.surts import surt_of
from tests.access.sqlite_pages import load_pages
from tests.service.conftest import T1, T2, A, B, client_of
from tests.store.memory_store import MemoryStore, Page, link

NOW = datetime.now(UTC)
HIDDEN = Surt("example,secret)/")


def days_ago(days: float) -> str:
    return f"{NOW - timedelta(days=days):%Y%m%d%H%M%S}"


def pages_of(seed: int) -> Sequence[Page]:
    """Return captures of a few pages of three hosts, some of them hidden, with contents that
    several share.
    """
    dice = random.Random(seed)
    uris = [
        f"http://{host}.example/{path}"
        for host in ("a", "b", "secret")
        for path in ("", "x", "y?z=1")
    ]
    found = {}
    for _ in range(40):
        links = tuple(
            link(dice.choice(uris), dice.choice(["News", "Home"])) for _ in range(dice.randrange(4))
        )
        uri, when = (
            dice.choice(uris),
            days_ago(dice.choice([1, 5, 29, 33, 60, 400, 1000]) + dice.random()),
        )
        kind = dice.randrange(8)
        missing = Page(uri, when, None, status="404", reason="MEMENTO_STATUS")
        found[uri, when] = Page(uri, when, links, is_shared=kind < 6) if kind else missing
    return sorted(found.values(), key=lambda page: (page.timestamp, page.original))


EMBARGO = Embargo(30, (HIDDEN,))


def is_shown(page: Page) -> bool:
    return page.timestamp <= EMBARGO.last_shown(NOW) and not EMBARGO.hides(page.memento.surt)


URIS = [
    f"http://{host}.example/{path}" for host in ("a", "b", "secret") for path in ("", "x", "y?z=1")
]
ASKED = [
    "/linkQuery?uri={}&format=json&evidence=true&validity=true",
    "/linkQuery?uri={}&format=jsonl&limit=0",
    "/linkQuery?uri={}&format=json&limit=1",
    *(
        f"/linkQuery?uri={{}}&format=jsonl&limit=0&matchType={match_type}&direction={direction}"
        for match_type in ("prefix", "host", "domain")
        for direction in ("out", "in")
    ),
    "/linkQuery?uri={}&format=json&at=" + days_ago(10)[:8],
    "/linkQuery?uri={}&profile=links",
    "/anchors?uri={}&by=day,host",
    "/diff?uri={}&from=" + days_ago(500)[:8] + "&to=" + days_ago(0)[:8],
    "/explain?uri={}",
    "/timemap/json/{}",
    "/timemap/link/{}",
    "/aggregate?uri={}&format=ntriples&profile=links",
    "/?uri={}",
]


@pytest.fixture(scope="module")
def clients(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[FlaskClient, FlaskClient, Scans, Scans]:
    """A service under an embargo, and one whose store never had what is hidden; and both stores."""
    folder = tmp_path_factory.mktemp("embargo")
    pages = pages_of(7)
    load_pages(folder / "all.db", folder / "graph of all", [pages])
    load_pages(
        folder / "shown.db", folder / "graph of shown", [[page for page in pages if is_shown(page)]]
    )
    settings = Settings(replay=parse_replay("--replay", "http://w.example/web/"))
    hiding = EmbargoedStore(open_store(str(folder / "all.db")), EMBARGO)
    return (
        client_of(str(folder / "all.db"), replace(settings, embargo=EMBARGO)),
        client_of(str(folder / "shown.db"), settings),
        hiding,
        open_store(str(folder / "shown.db")),
    )


@pytest.mark.parametrize("path", ASKED)
def test_a_resource_answers_as_if_hidden_captures_had_never_been(
    clients: tuple[FlaskClient, FlaskClient, Scans, Scans], path: str
) -> None:
    hiding, never, *_ = clients
    answers = 0
    for uri in URIS:
        address = path.format(uri if "timemap" in path else quote(uri, safe=":/"))
        expected = never.get(address)
        found = hiding.get(address)
        if "limit=0" in path:  # in store order, which follows from what was loaded first
            assert sorted(found.data.splitlines()) == sorted(expected.data.splitlines()), uri
        elif "limit=1" in path:  # a cursor names the state of its own store
            ours, theirs = found.get_json(), expected.get_json()
            assert (ours.pop("next") is None) == (theirs.pop("next") is None)
            assert ours == theirs, uri
        else:
            assert found.data == expected.data, uri
        assert found.status_code == expected.status_code
        assert expected.status_code == 200 or ("timemap" in path and expected.status_code == 404)
        answers += 1
    assert answers == len(URIS)


@pytest.mark.parametrize(
    "asked",
    [URIS[0], "a.example&matchType=prefix", "b.example&matchType=host", "example&matchType=domain"],
)
def test_a_cursor_passes_over_what_is_hidden(
    clients: tuple[FlaskClient, FlaskClient, Scans, Scans], asked: str
) -> None:
    hiding, never, *_ = clients
    answers = []
    for client in (hiding, never):
        texts, cursor = [], ""
        while True:
            page = client.get(
                f"/linkQuery?uri={asked}&format=json&limit=1&cursor={cursor}"
            ).get_json()
            texts += [
                (one["uri"], one["text"], one["timestamps"])
                for one in page["outlinks"] + page["inlinks"]
            ]
            if page["next"] is None:
                break
            cursor = page["next"]
        answers.append(
            sorted(texts) if "matchType" in asked else texts
        )  # in store order, which follows from what was loaded first
    assert answers[0] == answers[1] != []


@pytest.mark.parametrize("prefix", ["example,secret)/", "example,secret"])
def test_a_hidden_part_of_the_web_is_passed_over_in_one_step(prefix: str) -> None:
    class Asked(MemoryStore):
        questions = 0

        def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
            Asked.questions += 1
            return super().captured_surts(prefix, after)

        def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
            Asked.questions += 1
            return super().inlinks(target, after)

    pages = [Page(f"http://secret.example/{number:03}", T1, [link(A)]) for number in range(300)]
    shown = [Page("http://a.example/", T1, [link(B)]), Page("http://z.example/", T1, [link(B)])]
    hiding = client_of(
        lambda: Asked([*pages, *shown]), Settings(embargo=Embargo(prefixes=(Surt(prefix),)))
    )
    answer = hiding.get(
        "/linkQuery?uri=example&matchType=domain&direction=out&format=json"
    ).get_json()
    assert [one["sources"] for one in answer["outlinks"]] == [
        ["http://a.example/"],
        ["http://z.example/"],
    ]
    assert Asked.questions <= 10


def test_a_cursor_does_not_show_whether_a_hidden_content_exists(
    clients: tuple[FlaskClient, FlaskClient, Scans, Scans],
) -> None:
    hiding, never, hidden_store, shown_store = clients
    target = Surt("example,a)/")
    shown = set(hidden_store.inlinks(target))
    hidden = next(one for one in MemoryStore(pages_of(7)).inlinks(target) if one not in shown)
    query = LinkQuery.from_parameters([("uri", "http://a.example/")])
    answers = []
    for client, store in ((hiding, hidden_store), (never, shown_store)):
        cursor = encode_cursor(
            Cursor(store.state(), DONE, InlinkPosition(hidden, "", UriR(""))), query.fingerprint
        )
        answers.append(
            client.get("/linkQuery", query_string={"uri": "http://a.example/", "cursor": cursor})
        )
    assert [answer.status_code for answer in answers] == [400, 400]
    assert answers[0].data == answers[1].data


def test_counts_are_those_of_what_is_shown(
    clients: tuple[FlaskClient, FlaskClient, Scans, Scans],
) -> None:
    hiding, never, hidden_store, shown_store = clients
    assert hiding.get("/health").data == never.get("/health").data
    for counts in ("stats", "sums"):
        ours, theirs = getattr(hidden_store, counts)(), getattr(shown_store, counts)()
        # Of files `load_pages` tells a store nothing, and bytes are those on disk.
        assert replace(ours, files=0, bytes=0) == replace(theirs, files=0, bytes=0)
    assert list(hidden_store.scan_mementos()) == list(shown_store.scan_mementos())
    assert all_contents(hidden_store) == all_contents(shown_store) != {}
    assert list(hidden_store.surts(Surt(""))) == list(shown_store.surts(Surt("")))
    assert 0 < shown_store.stats().mementos < 40


def all_contents(store: Scans) -> dict[str, list[Outlink]]:
    return {
        content: [block.links[number] for number in numbers]
        for block in store.scan_contents()
        for content, numbers in zip(block.contents, block.lists, strict=True)
    }


def test_a_revisit_of_a_hidden_payload_has_no_links() -> None:
    secret = Page("http://secret.example/", T1, [link(B, "told in secret")])
    revisit = replace(secret, original=A, timestamp=T2, record_type="revisit")
    store = EmbargoedStore(MemoryStore([secret, revisit]), Embargo(prefixes=(HIDDEN,)))
    (memento,) = store.mementos(Surt("example,a)/"))
    assert (
        memento.record_type,
        store.content_of(memento),
        list(store.inlinks(Surt("example,b)/"))),
    ) == ("revisit", None, [])
    assert list(store.surts(Surt(""))) == ["example,a)/"]
    answer = client_of(
        lambda: MemoryStore([secret, revisit]), Settings(embargo=Embargo(prefixes=(HIDDEN,)))
    ).get(f"/linkQuery?uri={B}")
    assert b"told in secret" not in answer.data


def test_a_revisit_of_a_hidden_payload_has_nothing_of_it_in_any_question() -> None:
    secret = Page("http://secret.example/", T1, [link(B, "told in secret")], title="A secret")
    revisit = replace(secret, original=A, timestamp=T2, record_type="revisit")
    store = MemoryStore([secret, revisit])
    asked = [("anchors", ""), ("find", "secret"), ("pages", ""), ("led-to", ""), ("captures", "")]

    def answers(settings: Settings) -> list[dict[str, Any]]:
        client = client_of(lambda: store, settings)
        return [client.get(f"/ask/{name}?words={words}").get_json() for name, words in asked]

    shown = answers(Settings())
    assert "told in secret" in str(shown)
    assert "A secret" in str(shown)
    hidden = answers(Settings(embargo=Embargo(prefixes=(HIDDEN,))))
    assert "secret" not in str([answer["rows"] for answer in hidden])
    assert [answer["captures"]["links_known"] for answer in hidden] == [0] * len(asked)
    assert [row["title"] for row in hidden[2]["rows"]] == [None]


def test_a_revisit_of_a_hidden_payload_does_not_show_how_that_was_read() -> None:
    secret = Page("http://secret.example/", T1, None, reason="PAYLOAD_DAMAGED")
    revisit = replace(secret, original=A, timestamp=T2, record_type="revisit")
    hiding = client_of(
        lambda: MemoryStore([secret, revisit]), Settings(embargo=Embargo(prefixes=(HIDDEN,)))
    )
    (answer,) = hiding.get(f"/explain?uri={A}").get_json()["mementos"]
    assert (answer["reason"], answer["read_from"]) == ("PAYLOAD_NOT_AT_HAND", None)


class Counting(MemoryStore):
    """Counts how often all SURTs or all mementos are read."""

    looks = 0

    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        self.looks += not prefix
        return super().surts(prefix, after)

    def scan_mementos(self, span: Span = ALL_TIME, prefix: Surt = ALL_SURTS) -> Iterator[Memento]:
        self.looks += not prefix
        return super().scan_mementos(span, prefix)


def test_kept_counts_survive_a_full_cache_and_end_with_a_takedown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arclink.store.filtered._KEPT", 1)
    kept = Counting(
        [Page(A, T1, [link(B)]), Page(B, T1, [link(A)]), Page(B, T2, [link(A, "again")])]
    )
    store = EmbargoedStore(kept, Embargo(prefixes=(HIDDEN,)))
    counted: list[StoreStats] = [store.stats()]
    assert list(store.inlinks(Surt("example,a)/")))
    counted.append(store.stats())
    assert (counted[0].mementos, kept.looks) == (3, 1)
    assert counted[0] is counted[1]
    kept.forget(Takedown(Forgotten(Surt("example,a)/")), "", "2026-11-21T20:00:00Z"))
    assert store.stats().mementos == 2


def test_an_etag_does_not_need_a_scan_of_the_store() -> None:
    class Whole(Counting):
        def sums(self) -> StoreSums:
            return replace(super().sums(), links=42)

    store = Whole([Page(A, T1, [link(B)])])
    hiding = client_of(lambda: store, Settings(embargo=Embargo(prefixes=(HIDDEN,))))
    first = hiding.get(f"/linkQuery?uri={A}&direction=out")
    assert (first.status_code, store.looks) == (200, 0)
    assert (
        hiding.get(
            f"/linkQuery?uri={A}&direction=out", headers={"If-None-Match": first.headers["ETag"]}
        ).status_code
        == 304
    )


def test_the_example_that_is_announced_is_not_hidden() -> None:
    store = MemoryStore(
        [Page("http://secret.example/", T1, [link(B)]), Page("http://z.example/", T1)]
    )
    assert example_uri(store, Embargo(prefixes=(HIDDEN,))) == "http://z.example/"


def test_a_304_by_date_does_not_hide_captures_whose_embargo_ended(tmp_path: Path) -> None:
    load_pages(tmp_path / "links.db", tmp_path / "graph", [[Page(A, T1, [link(B)])]])
    hiding = client_of(str(tmp_path / "links.db"), Settings(embargo=Embargo(days=30)))
    path = f"/linkQuery?uri={A}"
    assert hiding.get(path).status_code == 200  # which opens the store
    for file in tmp_path.glob("links.db*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    yesterday = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() - 86_400))
    assert hiding.get(path, headers={"If-Modified-Since": yesterday}).status_code == 200
    dated = hiding.get(path).headers["Last-Modified"]
    assert dated.endswith(" 00:00:00 GMT")
    assert hiding.get(path, headers={"If-Modified-Since": dated}).status_code == 304


def test_a_capture_is_shown_when_it_is_old_enough() -> None:
    clock = [datetime(2010, 1, 31, 12, tzinfo=UTC)]
    store = EmbargoedStore(
        MemoryStore([Page(A, T2, [link(B)])]), Embargo(days=10), lambda: clock[0]
    )
    assert list(store.inlinks(Surt("example,b)/"))) == []
    clock[0] = datetime(2010, 2, 9, 0, 30, 4, tzinfo=UTC)  # a second before ten days are over
    assert list(store.mementos(Surt("example,a)/"))) == []
    clock[0] = datetime(2010, 2, 10, tzinfo=UTC)
    assert (
        len(list(store.inlinks(Surt("example,b)/"))))
        == len(list(store.mementos(Surt("example,a)/"))))
        == 1
    )


@given(days=st.integers(1, 5_000_000), now=st.datetimes(timezones=st.just(UTC)))
def test_nothing_younger_is_ever_shown(days: int, now: datetime) -> None:
    last = Embargo(days).last_shown(now)
    assert last == "0" * 14 or now - datetime.strptime(last, "%Y%m%d%H%M%S").replace(
        tzinfo=UTC
    ) > timedelta(days=days)


def test_a_store_under_an_embargo_is_for_reading() -> None:
    store = EmbargoedStore(MemoryStore(), EMBARGO)
    assert not {"load", "trim", "forget", "clean"} & set(dir(store))
    assert store.payload(Checksum("A" * 32)) is None


@pytest.mark.parametrize("view", ["glance", "links", "captures", "places", "changes"])
def test_a_page_says_what_it_can_show_not_what_was_captured(view: str) -> None:
    store = MemoryStore([Page(A, T1, [link(B)]), Page(B, T1, [link(A)]), Page(B, T2, [link(A)])])
    hiding = client_of(lambda: store, Settings(embargo=Embargo(prefixes=(surt_of(UriR(B)),))))
    shown = hiding.get("/", query_string={"uri": B, "view": view}).text
    assert "no captures to show" in shown.lower()
    for claim in ("not captured<", "not captured.", "was captured", "no memento"):
        assert claim not in shown.lower().replace("</strong>", "").partition("<footer")[0], claim
