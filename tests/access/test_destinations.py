"""Whether the archive has the targets of a page's links at a time."""

from arclink.access.answers import answer_link_query
from arclink.access.evidence import Held, destinations_of
from arclink.access.queries import LinkQuery
from arclink.model import Timestamp
from tests.store.memory_store import MemoryStore, Page, link

A, B, C, D = (f"http://{name}.example/" for name in "abcd")
THEN = "20100212060005"

STORE = MemoryStore(
    [
        Page(
            A,
            THEN,
            [
                link(B, "then"),
                link(f"{B}#part", "again"),
                link(C, "some days later"),
                link(D, "years later"),
                link("http://never.example/", ""),
                link("http://a.example/logo.gif", "", kind="img@src"),
                link("mailto:x@a.example"),
            ],
        ),
        Page(B, "20091231000000", [link(A)]),
        Page(B, "20100401000000", [link(A)]),
        Page(C, "20100301000000", None, status="404", reason="MEMENTO_STATUS"),
        Page(D, "20150101000000", []),
    ]
)


def test_targets_are_grouped_by_when_the_archive_captured_them() -> None:
    query = LinkQuery.from_parameters([("uri", A), ("at", THEN), ("direction", "out")])
    found = destinations_of(STORE, answer_link_query(STORE, query).outlinks, Timestamp(THEN))
    assert [
        (one.uri, one.texts, one.held, one.capture and one.capture.timestamp, one.is_resource)
        for one in found
    ] == [
        (B, ("then", "again"), Held.THEN, "20091231000000", False),
        (C, ("some days later",), Held.THEN, "20100301000000", False),
        (D, ("years later",), Held.LATER, None, False),
        ("http://never.example/", (), Held.NEVER, None, False),
        ("http://a.example/logo.gif", (), Held.NEVER, None, True),
    ]
    assert [one.first for one in found] == [
        "20091231000000",
        "20100301000000",
        "20150101000000",
        None,
        None,
    ]


def test_at_the_end_of_all_time_everything_captured_was_captured_then() -> None:
    query = LinkQuery.from_parameters([("uri", A), ("at", THEN), ("direction", "out")])
    members = list(answer_link_query(STORE, query).outlinks)
    for end in ("99991231235959", "99999999999999"):
        found = destinations_of(STORE, members, Timestamp(end))
        assert [one.held for one in found[:3]] == [Held.THEN] * 3
