"""A small graph for a store that tests damage."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from arclink.model import ContentId, Kind, Outlink, Payload, Scope, UriR
from arclink.store.sqlite.schema import Connection, connect
from arclink.uris.resolution import content_id
from tests.store.graphs import checksum_of, memento, write_batch

PAGES = [
    UriR("http://example.org/a/1"),
    UriR("http://www.example.org/a/2"),
    UriR("http://example.org/b/1"),
    UriR("http://example.org/c"),
]


READ, SHARED, UNREAD = checksum_of("p1"), checksum_of("p2"), checksum_of("p3")


def write_graph(folder: Path) -> Path:
    """Write a batch: a payload seen at one page, one seen in two folders, and one that was not
    read.
    """
    links = [
        Outlink(PAGES[2], Kind("a@href"), "two", None),
        Outlink(PAGES[2], Kind("a@href"), "two", None),
    ]
    links.append(Outlink(UriR("http://target.example/"), Kind("a@href"), "three", "next"))
    payloads = [
        Payload(READ, Scope.NONE, "utf-8", "a.warc.gz", 1, "PAYLOAD_READ", (("LINK_KEPT", 3),)),
        Payload(
            SHARED, Scope.DIRECTORY, "utf-8", "a.warc.gz", 2, "PAYLOAD_READ", (("LINK_KEPT", 1),)
        ),
        Payload(UNREAD, None, "-", "a.warc.gz", 3, "PAYLOAD_DAMAGED"),
    ]
    contents = {
        ContentId(READ): (PAGES[0], links),
        content_id(SHARED, PAGES[1], Scope.DIRECTORY): (PAGES[1], links[2:]),
        content_id(SHARED, PAGES[2], Scope.DIRECTORY): (PAGES[2], links[2:]),
    }
    mementos = [
        memento(PAGES[0], "20100101000000", READ),
        memento(PAGES[1], "20100101000000", SHARED),
        memento(PAGES[2], "20100101000000", SHARED, "revisit"),
        memento(PAGES[3], "20100101000000", UNREAD),
        memento(PAGES[3], "20110101000000", READ, reason="MEMENTO_STATUS"),
        memento(PAGES[3], "20120101000000", "-"),
    ]
    write_batch(folder, mementos, payloads, contents)
    return folder


@contextmanager
def opened(path: Path) -> Iterator[Connection]:
    with closing(connect(path)) as connection:
        yield connection


def execute(*statements: str, parameters: Sequence[object] = ()) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with opened(path) as connection:
            for statement in statements:
                connection.execute(statement, parameters)
                assert connection.changes() or statement.startswith(("PRAGMA", "DROP"))

    return change
