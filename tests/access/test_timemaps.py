"""TimeMaps in link format, read by a simple reader, have exactly the mementos of the store."""

import json
import re
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.access.formats.timemaps import ascii_uri, write_json_timemap, write_link_timemap
from arclink.access.queries import BadParameterError
from arclink.access.replay import NO_REPLAY, ReplayPrefix, parse_replay, uri_ms_in
from arclink.access.timemaps import TimeMap, read_timemap
from arclink.errors import UsageError
from arclink.model import Timestamp
from tests.store.memory_store import MemoryStore, Page

A, WWW = "http://a.example/", "https://www.a.example/"
TIMES = ["20090101000000", "20100101000000", "20110101000000", "20120101000000"]
REPLAY = parse_replay("--replay", "https://w.example/web")

_LINK = re.compile(r'<([^<>\s]*)>((?:; [a-z]+="[^"]*")*)')


def link_format(found: TimeMap, base_url: str = "") -> list[tuple[str, dict[str, str]]]:
    """Return (URI, attributes) of each link of a TimeMap, as RFC 6690 has them."""
    links = []
    for line in (
        b"".join(write_link_timemap(found, uri_ms_in(REPLAY), base_url))
        .decode("ascii")
        .removesuffix("\n")
        .split(",\n")
    ):
        match = _LINK.fullmatch(line)
        assert match, line
        links.append((match[1], dict(re.findall(r'; ([a-z]+)="([^"]*)"', match[2]))))
    return links


@settings(max_examples=60, deadline=None)
@given(
    captures=st.lists(st.tuples(st.sampled_from([A, WWW]), st.sampled_from(TIMES)), max_size=8),
    most=st.integers(1, 9),
)
def test_parts_follow_each_other_through_all_mementos(
    captures: list[tuple[str, str]], most: int
) -> None:
    store = MemoryStore([Page(original, timestamp) for original, timestamp in captures])
    found = [read_timemap(store, A, most=most)]
    while (start := found[-1].following) is not None:
        found.append(read_timemap(store, A, start, most))
    mementos = [
        (one, attributes["rel"])
        for part in found
        for one, attributes in link_format(part)
        if "memento" in attributes["rel"]
    ]
    expected = sorted({(timestamp, original) for original, timestamp in captures})
    assert [address for address, _ in mementos] == [
        f"https://w.example/web/{timestamp}/{original}" for timestamp, original in expected
    ]
    relations = [relation for _, relation in mementos]
    assert [number for number, relation in enumerate(relations) if "first" in relation] == (
        [0] if expected else []
    )
    assert [number for number, relation in enumerate(relations) if "last" in relation] == (
        [len(expected) - 1] if expected else []
    )


def test_a_timemap_names_itself_its_original_its_range_and_the_next_one() -> None:
    store = MemoryStore([Page(A, timestamp) for timestamp in TIMES])
    found = read_timemap(store, "a.example", Timestamp(TIMES[1]), most=2)
    original, own, following = link_format(found, "http://s.example/olympics/")[:3]
    assert original == (A, {"rel": "original"})
    assert own[0] == f"http://s.example/olympics/timemap/link/{TIMES[1]}/{A}"
    assert (own[1]["rel"], own[1]["type"]) == ("self", "application/link-format")
    assert [parsedate_to_datetime(own[1][name]).year for name in ("from", "until")] == [2010, 2011]
    assert (following[0], following[1]["rel"]) == (
        f"http://s.example/olympics/timemap/link/{TIMES[3]}/{A}",
        "timemap",
    )


def test_json_has_times_but_no_address_without_a_replay_prefix() -> None:
    found = read_timemap(MemoryStore([Page(A, TIMES[0]), Page(WWW, TIMES[1])]), A)
    without, having = (
        json.loads(b"".join(write_json_timemap(found, uri_ms_in(replay))))
        for replay in (NO_REPLAY, REPLAY)
    )
    assert [one["datetime"] for one in without["mementos"]["list"]] == [
        "2009-01-01T00:00:00Z",
        "2010-01-01T00:00:00Z",
    ]
    assert all("uri" not in one for one in without["mementos"]["list"])
    assert having["mementos"]["last"]["uri"] == f"https://w.example/web/{TIMES[1]}/{WWW}"
    assert having["mementos"]["first"]["file"] == "crawl.warc.gz"


def test_never_captured_is_a_timemap_without_mementos() -> None:
    found = read_timemap(MemoryStore(), A)
    assert (found.mementos, found.following) == ((), None)
    assert link_format(found) == [(A, {"rel": "original"})]


@given(st.text(max_size=40))
def test_a_uri_in_link_format_is_ascii_and_cannot_end_the_link(text: str) -> None:
    assert re.fullmatch(r"[!-~]*", ascii_uri(f"http://a.example/{text}"))
    assert not set('<>"') & set(ascii_uri(f"http://a.example/{text}"))


def test_an_invalid_uri_is_refused() -> None:
    with pytest.raises(BadParameterError):
        read_timemap(MemoryStore(), "http://a\n/")


@pytest.mark.parametrize(
    "text",
    [
        "web.archive.org/web/",
        "javascript:x",
        "https://w.example/\n",
        "https://w.example/?a=",
        "https://é.example/",
        "http://[",
        "http://a.example:x/",
        "http:///a",
    ],
)
def test_an_invalid_replay_prefix_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--replay"):
        parse_replay("--replay", text)


def test_a_replay_prefix_ends_with_a_slash() -> None:
    assert (
        parse_replay("--replay", "http://w.example/a")
        == parse_replay("--replay", "http://w.example/a/")
        == "http://w.example/a/"
    )
    assert parse_replay("--replay", "") == ReplayPrefix("")
