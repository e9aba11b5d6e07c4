"""Answers of the service about the demo archive, compared with its true links."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from arclink.service.application import create_app
from arclink.uris.surts import surt_of
from tests.pipeline.store_contents import Link, TrueMemento, true_outlinks

Member = tuple[str, str, str, str | None, tuple[str, ...], tuple[str, ...]]
"""URI, kind, text, rel, timestamps, URIs at the other end."""


@pytest.fixture
def client(store: Path) -> Iterator[FlaskClient]:
    with create_app(str(store)).test_client() as client:
        yield client


def members(answer: dict[str, list[dict[str, object]]], direction: str, other: str) -> set[Member]:
    found = set()
    for one in answer[direction]:
        timestamps, others = one["timestamps"], one[other]
        assert isinstance(timestamps, list)
        assert isinstance(others, list)
        rel = one["rel"]
        found.add(
            (
                str(one["uri"]),
                str(one["kind"]),
                str(one["text"]),
                None if rel is None else str(rel),
                tuple(timestamps),
                tuple(sorted(others)),
            )
        )
    return found


def grouped(sightings: dict[tuple[str, Link], set[tuple[str, str]]]) -> set[Member]:
    """Return members of (URI, link) → (timestamp, URI at the other end)."""
    return {
        (
            uri,
            kind,
            text,
            rel,
            tuple(sorted({when for when, _ in seen})),
            tuple(sorted({other for _, other in seen})),
        )
        for (uri, (_, kind, text, rel)), seen in sightings.items()
    }


def test_every_page_has_its_true_outlinks(client: FlaskClient, truth: list[TrueMemento]) -> None:
    expected: dict[str, dict[tuple[str, Link], set[tuple[str, str]]]] = defaultdict(
        lambda: defaultdict(set)
    )
    captured: dict[str, set[str]] = defaultdict(set)
    for (original, timestamp), links in true_outlinks(truth).items():
        captured[surt_of(original)].add(original)
        for link in links or []:
            expected[surt_of(original)][link[0], link].add((timestamp, original))
    for surt, originals in captured.items():
        answer = client.get(
            "/LinkService/linkQuery",
            query_string={
                "uri": min(originals),
                "format": "json",
                "direction": "out",
                "limit": 10000,
            },
        )
        assert answer.status_code == 200
        assert answer.json is not None
        assert answer.json["surt"] == surt
        assert members(answer.json, "outlinks", "sources") == grouped(expected[surt])


def test_every_target_has_its_true_inlinks(client: FlaskClient, truth: list[TrueMemento]) -> None:
    expected: dict[str, dict[tuple[str, Link], set[tuple[str, str]]]] = defaultdict(
        lambda: defaultdict(set)
    )
    asked: dict[str, str] = {}
    for (original, timestamp), links in true_outlinks(truth).items():
        for link in links or []:
            target, kind, text, rel = link
            # One member per source, whichever variant of the target it names.
            expected[surt_of(target)][original, ("", kind, text, rel)].add((timestamp, target))
            asked[surt_of(target)] = target
    assert len(asked) > 300
    for surt, target in asked.items():
        answer = client.get(
            "/linkQuery",
            query_string={"uri": target, "format": "json", "direction": "in", "limit": 10000},
        )
        assert answer.status_code == 200, target
        assert answer.json is not None
        assert members(answer.json, "inlinks", "targets") == grouped(expected[surt])
