"""Forgetting in SQLite, beyond the contract: bytes in the file, open readers."""

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from arclink.checksums import checksum_of_reference
from arclink.errors import StoreError
from arclink.files.atomic import write_whole
from arclink.model import (
    Checksum,
    ContentId,
    Forgotten,
    Kind,
    Memento,
    Outlink,
    Payload,
    Scope,
    Span,
    Surt,
    Timestamp,
    UriR,
)
from arclink.store import takedown_files as takedown_lists
from arclink.store.blocks.byte_layouts import pack_checksum
from arclink.store.blocks.relations import pack_outcome
from arclink.store.blocks.removal import Removal
from arclink.store.protocols import Removed, Takedown
from arclink.store.sqlite.schema import StoredNames, connect
from arclink.store.sqlite.store import SqliteStore
from arclink.store.takedown_files import format_takedowns, read_takedowns
from tests.store.contract import FILES, SETTINGS
from tests.store.graphs import checksum_of, memento, write_batch
from tests.store.small_graph import PAGES, READ, SHARED, execute, write_graph

EXAMPLE = Takedown(Forgotten(Surt("org,example)/a")), "of the owner", "2026-11-21T20:00:00Z")
SECRET = b"zq7secret"


@pytest.fixture(name="path")
def path_of_store(tmp_path: Path) -> Path:
    with SqliteStore(tmp_path / "links.db", create=True) as store:
        store.load(write_graph(tmp_path / "1"), FILES, SETTINGS, "{}")
    return tmp_path / "links.db"


def load(
    store: SqliteStore,
    folder: Path,
    mementos: list[Memento],
    links: Mapping[Checksum, list[Outlink]],
) -> None:
    """Load a batch of pages: each payload is read from its first memento here, and its links depend
    on nothing. Its title is `SECRET` if all its mementos are on ``gone.example``.
    """
    first = {one.checksum: one for one in reversed(mementos)}
    staying = {one.checksum for one in mementos if "gone" not in one.original}
    payloads = [
        Payload(
            one.checksum,
            Scope.NONE,
            "utf-8",
            one.file,
            one.offset,
            "PAYLOAD_READ",
            (("LINK_KEPT", len(links[one.checksum])),),
            "Title" if one.checksum in staying else SECRET.decode(),
        )
        for one in first.values()
        if one.checksum in links
    ]
    contents = {
        ContentId(one.checksum): (one.original, links[one.checksum])
        for one in first.values()
        if one.checksum in links
    }
    write_batch(folder, mementos, payloads, contents)
    store.load(folder, FILES, SETTINGS, "{}")


def texts_of(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a store and its log, and what can be decompressed of them wherever a frame
    begins.
    """
    for file in (path, Path(f"{path}-wal")):
        if file.exists():
            raw = file.read_bytes()
            yield raw
            for match in re.finditer(re.escape(zstandard.FRAME_HEADER), raw):
                with (
                    suppress(zstandard.ZstdError),
                    zstandard.ZstdDecompressor().stream_reader(
                        io.BytesIO(raw[match.start() :])
                    ) as reader,
                ):
                    while some := reader.read(50):
                        yield some
    with closing(connect(path)) as connection:
        for table in ("blocks", "outlinks"):
            for (data,) in connection.execute(f"SELECT data FROM {table}"):
                yield zstandard.ZstdDecompressor().decompress(data)


def holds_secret(path: Path) -> bool:
    return SECRET in b"".join(texts_of(path))


@pytest.mark.usefixtures("tiny_blocks")
def test_no_byte_of_what_was_forgotten_is_left_in_the_file(tmp_path: Path) -> None:
    path, secret = tmp_path / "links.db", SECRET.decode()
    with SqliteStore(path, create=True) as store:
        for number in range(
            5
        ):  # runs are merged on the way, and leave what they held in pages that are free
            shared, own = checksum_of(f"p{number}"), checksum_of(f"q{number}")
            mementos = [
                memento(f"http://{address}{number}", f"2010010100000{number}", shared)
                for address in (
                    *(f"gone.example/{secret}/{page}" for page in range(4)),
                    "stays.example/a",
                    "stays.example/b",
                )
            ]
            mementos.append(memento(f"http://gone.example/{secret}/only", "20100101000000", own))
            links = {
                shared: [Outlink(UriR("http://target.example/"), Kind("a@href"), "", None)],
                own: [
                    Outlink(
                        UriR(f"http://target.example/{secret}"),
                        Kind("a@href"),
                        f"words of {secret}",
                        None,
                    )
                ],
            }
            load(store, tmp_path / str(number), mementos, links)
        assert holds_secret(path)
        assert store.forget(Takedown(Forgotten(Surt("example,gone)/")), "", "")) == Removed(
            25, 5, 5, 5
        )
        store.clean()
        assert not holds_secret(path)
        assert store.stats().mementos == 10
        assert list(store.verify()) == []
    assert not holds_secret(path)


def test_an_open_reader_answers_without_what_was_forgotten(path: Path) -> None:
    with SqliteStore(path) as reader, SqliteStore(path, create=True) as store:
        first, second = (
            next(reader.mementos(Surt(surt))) for surt in ("org,example)/a/1", "org,example)/a/2")
        )
        contents = [content for one in (first, second) if (content := reader.content_of(one))]
        assert [len(list(reader.outlinks(content))) for content in contents] == [3, 1]
        inlinks = list(reader.inlinks(Surt("example,target)/")))
        assert {inlink.content for inlink in inlinks} > {*contents}
        answers = reader.inlinks(Surt("example,target)/"))
        store.forget(EXAMPLE)
        assert [list(reader.outlinks(content)) for content in contents] == [[], []]
        assert list(reader.mementos(Surt("org,example)/a/1"))) == []
        left = list(reader.inlinks(Surt("example,target)/")))
        assert (
            left
            == list(answers)
            == [inlink for inlink in inlinks if inlink.content not in contents]
        )
        assert [list(pages) for pages in reader.sources(contents)] == [[], []]


def test_a_reader_may_not_make_a_store_forget(path: Path) -> None:
    with SqliteStore(path) as store, pytest.raises(StoreError, match="opened for reading"):
        store.forget(EXAMPLE)


def test_a_payload_is_at_the_place_of_a_capture_that_is_left(tmp_path: Path) -> None:
    gone = memento("http://example.org/a", "20100101000000", READ, file="a.warc.gz", offset=7)
    revisit = memento(
        "http://b.example/", "20100101000001", READ, "revisit", file="b.warc.gz", offset=8
    )
    copy = memento("http://c.example/", "20100101000002", READ, file="b.warc.gz", offset=9)
    with SqliteStore(tmp_path / "links.db", create=True) as store:
        load(store, tmp_path / "1", [gone, revisit, copy], {READ: []})
        before = store.payload(READ)
        store.forget(EXAMPLE)
        assert before
        assert store.payload(READ) == replace(before, file="b.warc.gz", offset=9)


def test_a_revisit_does_not_bring_back_the_capture_it_refers_to(tmp_path: Path) -> None:
    page, then = UriR("http://example.org/a"), Timestamp("20100101000000")
    shown = memento(page, then, READ)
    revisit = memento(page, "20110101000000", checksum_of_reference(page, then), "revisit")
    with SqliteStore(tmp_path / "links.db", create=True) as store:
        load(
            store,
            tmp_path / "1",
            [shown, revisit],
            {READ: [Outlink(PAGES[2], Kind("a@href"), "two", None)]},
        )
        assert store.content_of(revisit) == ContentId(READ)
        what = replace(EXAMPLE.what, span=Span(last=then))
        assert store.forget(Takedown(what, "", "")) == Removed(1, 1, 1, 1)
        assert list(store.mementos(revisit.surt)) == [revisit]
        assert store.content_of(revisit) is None
        assert list(store.surts(Surt(""))) == [revisit.surt]
        # The revisit goes with the rest of the page, and the text that stands for its checksum,
        # too.
        assert store.forget(EXAMPLE) == Removed(1, 0, 0, 0)
        assert store.payload(revisit.checksum) is None
        assert store.stats().mementos == 0
        assert list(store.verify()) == []


def test_counts_of_a_payload_are_those_of_its_remaining_content(path: Path) -> None:
    with closing(
        connect(path)
    ) as connection:  # as if it had been read for the content that goes, which had a link more
        read = Payload(
            SHARED, Scope.DIRECTORY, "utf-8", "a.warc.gz", 2, "PAYLOAD_READ", (("LINK_KEPT", 2),)
        )
        outcome = pack_outcome(read, StoredNames(connection))
        connection.execute(
            "UPDATE payloads SET fate = ? WHERE checksum = ?", (outcome, pack_checksum(SHARED))
        )
    with SqliteStore(path, create=True) as store:
        assert list(store.verify()) == []
        store.forget(Takedown(Forgotten(Surt("org,example)/b")), "", ""))
        payload = store.payload(SHARED)
        assert payload
        assert dict(payload.counts) == {"LINK_KEPT": 1}
        store.forget(Takedown(Forgotten(Surt("example,target)/"), has_targets=True), "", ""))
        payload = store.payload(SHARED)
        assert payload
        assert dict(payload.counts) == {"LINK_FORGOTTEN": 1}
        assert list(store.verify()) == []


def test_verify_names_forgotten_captures_that_are_stored_again(path: Path) -> None:
    values = (
        "'org,example)/b', '00000000000000', '99999999999999', 1, '', '', 0, 0, 0, 0, 0, 0, 0, 0"
    )
    execute(f"INSERT INTO forgotten VALUES (1, {values})")(path)
    with SqliteStore(path) as store:
        found = [
            violation.detail
            for violation in store.verify()
            if violation.invariant == "what was forgotten is not stored"
        ]
    assert found == [
        "20100101000000 http://example.org/b/1: a memento under org,example)/b",
        "org,example)/b/1: a target under org,example)/b",
    ]


def test_takedowns_come_back_from_their_file(tmp_path: Path) -> None:
    some = [
        EXAMPLE,
        Takedown(
            Forgotten(
                Surt("org"), Span(Timestamp("2010" + "0" * 10), Timestamp("2010" + "9" * 10))
            ),
            "",
            "now",
        ),
    ]
    some.append(Takedown(Forgotten(Surt("org"), has_targets=True), "", "now"))
    (tmp_path / "list").write_bytes(format_takedowns(some[:1] + some[2:]))
    assert read_takedowns(tmp_path / "list") == some[:1] + some[2:]


def test_a_list_of_takedowns_is_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list next to the store is written once; nothing is removed that is not there."""
    written: list[int] = []

    def counted(path: Path, data: bytes) -> None:
        written.append(len(data))
        write_whole(path, data)

    monkeypatch.setattr(takedown_lists, "write_whole", counted)
    monkeypatch.setattr(Removal, "run", lambda _: pytest.fail("there is nothing to remove"))
    takedowns = [
        Takedown(Forgotten(Surt(f"org,site-{number})/"), has_targets=number % 2 == 0), "", "now")
        for number in range(3_000)
    ]
    with SqliteStore(tmp_path / "links.db", create=True) as store:
        assert set(store.forget_each(takedowns)) == {Removed()}
        assert [takedown for takedown, _ in store.forgotten()] == takedowns
        assert store.forget_each([]) == []
    assert len(written) == 1
    assert takedown_lists.listed(tmp_path / "links.db") == takedowns
