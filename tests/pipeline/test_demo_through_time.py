"""Anchors, differences, linkers, evidence and validity, compared with the demo's true links."""

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

import arclink
from arclink.access.replay import parse_replay
from arclink.service.application import create_app
from arclink.service.settings import Settings
from arclink.uris.surts import surt_of
from tests.pipeline.store_contents import Link, TrueMemento, true_outlinks

BEFORE, AFTER = "20091231235959", "20100220235959"


@pytest.fixture
def client(store: Path) -> Iterator[FlaskClient]:
    settings = Settings(replay=parse_replay("--replay", "https://w.example/web/"))
    with create_app(str(store), settings).test_client() as client:
        yield client


@pytest.fixture(scope="module")
def inlinks(truth: list[TrueMemento]) -> dict[str, list[tuple[str, str, Link]]]:
    """SURT of a target → (page, time, link) of every link to it."""
    found: dict[str, list[tuple[str, str, Link]]] = defaultdict(list)
    for (original, timestamp), links in true_outlinks(truth).items():
        for link in links or ():
            found[surt_of(link[0])].append((original, timestamp, link))
    return found


def popular(inlinks: dict[str, list[tuple[str, str, Link]]], count: int) -> list[str]:
    """Return the URIs that most links lead to."""
    return [
        inlinks[surt][0][2][0]
        for surt in sorted(inlinks, key=lambda surt: -len(inlinks[surt]))[:count]
    ]


def host(uri: str) -> str:
    return (urlsplit(uri).hostname or "").removeprefix("www.")


def test_anchors_of_popular_pages_are_the_true_ones(
    client: FlaskClient, inlinks: dict[str, list[tuple[str, str, Link]]]
) -> None:
    for target in popular(inlinks, 40):
        mementos: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        kinds: dict[tuple[str, str], set[str]] = defaultdict(set)
        for original, timestamp, (_, kind, text, _) in inlinks[surt_of(target)]:
            key = f"{timestamp[:4]}-{timestamp[4:6]}", text
            mementos[key].add((original, timestamp))
            kinds[key].add(kind)
        answer = client.get(
            "/anchors", query_string={"uri": target, "by": "month", "limit": 0, "kinds": "all"}
        ).get_json()
        counts = {
            (row["period"], row["text"]): (
                row["mementos"],
                row["hosts"],
                row["first"],
                row["last"],
                row["kinds"],
            )
            for row in answer["anchors"]
        }
        assert counts == {
            key: (
                len(seen),
                len({host(original) for original, _ in seen}),
                min(timestamp for _, timestamp in seen),
                max(timestamp for _, timestamp in seen),
                " ".join(sorted(kinds[key])),
            )
            for key, seen in mementos.items()
        }, target


def test_linkers_of_popular_pages_are_the_true_ones(
    store: Path, inlinks: dict[str, list[tuple[str, str, Link]]]
) -> None:
    graph = arclink.open(store)
    for target in popular(inlinks, 40):
        links: dict[str, set[tuple[str, str, str, str | None]]] = defaultdict(set)
        mementos: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for original, timestamp, (_, kind, text, rel) in inlinks[surt_of(target)]:
            links[host(original)].add((original, kind, text, rel))
            mementos[host(original)].add((original, timestamp))
        rows = graph.ask("linkers", target, scope="page", kinds="all").table.to_pylist()
        assert {row["name"]: (row["links"], row["mementos"]) for row in rows} == {
            name: (len(links[name]), len(mementos[name])) for name in links
        }, target


def in_force(truth: list[TrueMemento], time: str) -> dict[str, TrueMemento]:
    """Return for each original its newest capture not after ``time``."""
    times: dict[str, list[TrueMemento]] = defaultdict(list)
    for one in sorted(truth, key=lambda one: one["timestamp"]):
        times[one["original"]].append(one)
    found = {
        original: captures[: bisect_right([one["timestamp"] for one in captures], time)]
        for original, captures in times.items()
    }
    return {original: captures[-1] for original, captures in found.items() if captures}


def test_differences_are_the_true_ones(client: FlaskClient, truth: list[TrueMemento]) -> None:
    """Of every page captured at both times, with its links known: what came, what went, what
    stayed.
    """
    before, after = in_force(truth, BEFORE), in_force(truth, AFTER)
    variants = Counter(surt_of(original) for original in {one["original"] for one in truth})
    alone = [original for original in before if variants[surt_of(original)] == 1]
    compared = 0
    for original in alone:
        old, new = before[original]["links"], after[original]["links"]
        if old is None or new is None:
            continue
        compared += 1
        answer = client.get(
            "/diff",
            query_string={
                "uri": original,
                "from": BEFORE,
                "to": AFTER,
                "direction": "out",
                "limit": 0,
                "kinds": "all",
            },
        ).get_json()
        first, last = (
            {(target, kind, text, rel) for target, kind, text, rel in links} for links in (old, new)
        )
        for change, expected in (
            ("added", last - first),
            ("removed", first - last),
            ("kept", first & last),
            ("unknown", set()),
        ):
            assert {
                (row["uri"], row["kind"], row["text"], row["rel"]) for row in answer[change]
            } == expected, (original, change)
    assert compared > 20


def test_pages_that_were_not_captured_by_then_are_unknown(
    client: FlaskClient, truth: list[TrueMemento]
) -> None:
    before, after = in_force(truth, BEFORE), in_force(truth, AFTER)
    known = {surt_of(original) for original in before}
    new = [
        original
        for original, one in after.items()
        if surt_of(original) not in known and one["links"]
    ]
    assert len(new) > 5
    for original in new:
        answer = client.get(
            "/diff",
            query_string={
                "uri": original,
                "from": BEFORE,
                "to": AFTER,
                "direction": "out",
                "limit": 0,
                "kinds": "all",
            },
        ).get_json()
        assert answer["in_force"]["from"] == []
        assert (answer["added"], answer["removed"], answer["kept"]) == ([], [], [])
        assert {row["other_time"] for row in answer["unknown"]} == {"not captured"}


def test_evidence_is_where_the_record_is(
    client: FlaskClient, demo: Path, inlinks: dict[str, list[tuple[str, str, Link]]]
) -> None:
    """File and offset lead to a record of that URI and time; the URI-M names both."""
    checked = 0
    for target in popular(inlinks, 10):
        lines = client.get(
            "/linkQuery",
            query_string={"uri": target, "direction": "in", "evidence": "true", "format": "jsonl"},
        ).text
        for one in map(json.loads, lines.splitlines()):
            assert [proof["uri_m"] for proof in one["evidence"]] == one["uri_ms"]
            for proof in one["evidence"][:2]:
                with (demo / proof["file"]).open("rb") as stream:
                    stream.seek(proof["offset"])
                    record = next(iter(ArchiveIterator(stream)))
                    when = "".join(filter(str.isdigit, record.rec_headers.get_header("WARC-Date")))[
                        :14
                    ]
                    assert (record.rec_headers.get_header("WARC-Target-URI"), when) == (
                        proof["uri"],
                        proof["timestamp"],
                    )
                    assert record.rec_type == proof["record_type"]
                assert proof["uri_m"] == f"https://w.example/web/{proof['timestamp']}/{one['uri']}"
                checked += 1
    assert checked > 20


def _leads_to_itself(page: TrueMemento) -> bool:
    """Return whether a capture is a redirect to a variant of its page, which says nothing of it."""
    targets = {surt_of(target) for target, *_ in page["links"] or ()}
    return page["status"].startswith("3") and targets == {surt_of(page["original"])}


def test_links_came_and_went_between_the_true_mementos(
    client: FlaskClient, truth: list[TrueMemento], inlinks: dict[str, list[tuple[str, str, Link]]]
) -> None:
    captures: dict[str, list[TrueMemento]] = defaultdict(list)
    for one in sorted(truth, key=lambda one: one["timestamp"]):
        captures[one["original"]].append(one)
    checked = 0
    for target in popular(inlinks, 15):
        shown: dict[tuple[str, str, str, str | None], set[str]] = defaultdict(set)
        for original, timestamp, (_, kind, text, rel) in inlinks[surt_of(target)]:
            shown[original, kind, text, rel].add(timestamp)
        answer = client.get(
            "/linkQuery",
            query_string={"uri": target, "direction": "in", "validity": "true", "format": "json"},
        ).get_json()
        for one in answer["inlinks"]:
            times = shown[one["uri"], one["kind"], one["text"], one["rel"]]
            lacking = [
                page["timestamp"]
                for page in captures[one["uri"]]
                if page["timestamp"] not in times
                and (page["links"] is not None or page["status"][0] in "45")
                and not _leads_to_itself(page)
            ]
            assert one["validity"] == {
                "last_without": max((when for when in lacking if when < min(times)), default=None),
                "first_with": min(times),
                "last_with": max(times),
                "first_without": min((when for when in lacking if when > max(times)), default=None),
            }
            checked += 1
    assert checked > 50
