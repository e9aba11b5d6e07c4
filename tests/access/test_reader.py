"""The reads of one query: cached results equal those of the store."""

from pathlib import Path

from arclink.access.queries import LinkQuery
from arclink.access.reader import Reading
from arclink.checksums import checksum_of_reference
from arclink.model import ContentId, Kind, Outlink, Payload, Scope, UriR
from arclink.store.sqlite.store import SqliteStore
from tests.store.contract import FILES
from tests.store.graphs import checksum_of, memento, write_batch

PAGE = UriR("http://page.example/")


def test_a_revisit_that_names_no_capture_shows_the_one_before_it(tmp_path: Path) -> None:
    old, new, unnamed = checksum_of("p1"), checksum_of("p2"), checksum_of_reference(PAGE, None)
    captures = [
        ("20100101000000", old),
        ("20100201000000", unnamed),
        ("20100301000000", new),
        ("20100401000000", unnamed),
    ]
    payloads = [
        Payload(one, Scope.NONE, "utf-8", "a.warc.gz", 7, "PAYLOAD_READ", (("LINK_KEPT", 1),))
        for one in (old, new)
    ]
    contents = {
        ContentId(one): (PAGE, [Outlink(UriR("http://b.example/"), Kind("a@href"), one, None)])
        for one in (old, new)
    }
    write_batch(
        tmp_path / "graph",
        [memento(PAGE, when, checksum) for when, checksum in captures],
        payloads,
        contents,
    )
    with SqliteStore(tmp_path / "links.db", create=True) as store:
        store.load(tmp_path / "graph", FILES[:1], {}, "{}")
        reading = Reading(store, LinkQuery.from_parameters([("uri", PAGE)]))
        assert [str(content) for (content, _), _ in reading.vertices()] == [old, old, new, new]
