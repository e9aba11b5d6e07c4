"""A batch is loaded completely or not at all, while others read or build, and if it is killed."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

import pytest

from arclink.checksums import checksum_of_reference
from arclink.errors import StoreError, UsageError
from arclink.model import (
    ContentId,
    Inlink,
    Kind,
    Outlink,
    Payload,
    Scope,
    Surt,
    Timestamp,
    UriR,
)
from arclink.store.blocks.inlink_groups import InlinkGrouping
from arclink.store.blocks.levels import FAN_OUT
from arclink.store.blocks.relations import BlockWriter
from arclink.store.blocks.rows import Relation
from arclink.store.graph_files import write_graph_sums
from arclink.store.sqlite import runs as runs_module
from arclink.store.sqlite.load import BatchLoader
from arclink.store.sqlite.packing_process import PackingProcess
from arclink.store.sqlite.runs import Runs
from arclink.store.sqlite.store import SqliteStore
from tests.store.contract import FILES, SETTINGS, canonical
from tests.store.graphs import checksum_of, memento, write_batch
from tests.store.page_graphs import HUB, write_pages


@pytest.fixture(name="store")
def loaded_store(tmp_path: Path) -> Iterator[SqliteStore]:
    """A store with one batch of ten pages."""
    with SqliteStore(tmp_path / "links.db", create=True) as store:
        store.load(write_pages(tmp_path / "1", 0, 10), FILES[:1], SETTINGS, "{}")
        yield store


def sources(store: SqliteStore, after: Inlink | None = None) -> list[str]:
    return [inlink.content for inlink in store.inlinks(Surt("example,hub)/"), after)]


def hub_contents(first: int, last: int) -> list[str]:
    return [checksum_of(f"p{number}") for number in range(first, last)]


def test_inlinks_have_the_order_in_which_their_pages_were_loaded(
    store: SqliteStore, tmp_path: Path
) -> None:
    store.load(write_pages(tmp_path / "2", 10, 20), FILES[1:], SETTINGS, "{}")
    assert sources(store) == hub_contents(0, 20)


@pytest.mark.usefixtures("tiny_blocks")
class TestHub:
    def test_a_hub_is_read_in_chunks_and_from_any_place(self, tmp_path: Path) -> None:
        with SqliteStore(tmp_path / "links.db", create=True) as store:
            for batch in range(5):
                store.load(
                    write_pages(
                        tmp_path / str(batch), 7 * batch, 7 * batch + 7, f"text {batch % 2}"
                    ),
                    FILES,
                    SETTINGS,
                    "{}",
                )
            assert sources(store) == hub_contents(0, 35)
            inlinks = list(store.inlinks(Surt("example,hub)/")))
            assert [sources(store, inlink) for inlink in inlinks] == [
                hub_contents(index + 1, 35) for index in range(35)
            ]

    def test_inlinks_are_read_on_while_a_batch_is_loaded_and_merged(
        self, store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("arclink.store.blocks.answers.AT_ONCE", 2)
        with SqliteStore(store.path) as reader:
            inlinks = reader.inlinks(Surt("example,hub)/"))
            begun = [inlink.content for inlink in islice(inlinks, 3)]
            store.load(write_pages(tmp_path / "2", 10, 20), FILES[1:], SETTINGS, "{}")
            assert [*begun, *(inlink.content for inlink in inlinks)] == hub_contents(0, 20)


def test_links_of_one_page_with_many_texts_to_one_target_stay_in_one_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.store.blocks.relations.CHUNK", 2)
    links = [Outlink(HUB, Kind("a@href"), f"text {number}", None) for number in range(9)]
    contents = {ContentId(checksum_of(name)): (HUB, links) for name in ("p1", "p2")}
    payloads = [
        Payload(checksum_of(name), Scope.NONE, "-", "f", 0, "PAYLOAD_READ", (("LINK_KEPT", 9),))
        for name in ("p1", "p2")
    ]
    write_batch(
        tmp_path / "1",
        [memento(HUB, "20100101000000", checksum_of(name)) for name in ("p1", "p2")],
        payloads,
        contents,
    )
    with SqliteStore(tmp_path / "links.db", create=True) as store:
        store.load(tmp_path / "1", [], SETTINGS, "{}")
        inlinks = list(store.inlinks(Surt("example,hub)/")))
        assert [inlink.text for inlink in inlinks] == [f"text {number}" for number in range(9)] * 2
        for index, inlink in enumerate(inlinks):
            assert list(store.inlinks(Surt("example,hub)/"), inlink)) == inlinks[index + 1 :]
        assert list(store.verify()) == []


def test_a_block_that_two_tasks_wrote_counts_once(store: SqliteStore, tmp_path: Path) -> None:
    graph = write_pages(tmp_path / "2", 10, 14)
    for relation in ("outlinks", "inlinks"):
        (graph / relation / "part-00001").write_bytes(
            (graph / relation / "part-00000").read_bytes()
        )
    store.load(graph, FILES[1:], SETTINGS, "{}")
    assert sources(store) == hub_contents(0, 14)
    assert list(store.verify()) == []


def test_a_cursor_of_another_store_is_refused(store: SqliteStore) -> None:
    foreign = Inlink(HUB, Kind("a@href"), "Hub", None, ContentId("A" * 32))
    with pytest.raises(UsageError, match="no such content"):
        list(store.inlinks(Surt("example,hub)/"), foreign))


def test_a_reader_sees_the_old_graph_until_the_new_one_is_whole(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = canonical(store)
    seen = []
    merge = Runs.merge

    def look_and_merge(runs: Runs, relation: Relation) -> None:
        with SqliteStore(store.path) as reader:
            seen.append(canonical(reader) == before)
        merge(runs, relation)

    monkeypatch.setattr(Runs, "merge", look_and_merge)
    store.load(write_pages(tmp_path / "2", 10, 20), FILES[1:], SETTINGS, "{}")
    assert seen == [True, True, True]
    with SqliteStore(store.path) as reader:
        assert len(sources(reader)) == 20


def test_queries_in_a_snapshot_read_one_state(store: SqliteStore, tmp_path: Path) -> None:
    with SqliteStore(store.path) as reader:
        with reader.snapshot():
            before = canonical(reader)
            store.load(write_pages(tmp_path / "2", 10, 20), FILES[1:], SETTINGS, "{}")
            with reader.snapshot():
                assert (reader.last_batch(), canonical(reader)) == (1, before)
            assert sources(reader) == hub_contents(0, 10)
        assert sources(reader) == hub_contents(0, 20)
        assert reader.last_batch() == 2


def test_a_store_that_is_closed_within_a_snapshot_ends_it(store: SqliteStore) -> None:
    reader = SqliteStore(store.path)
    with reader.snapshot():
        assert reader.last_batch() == 1
        reader.close()


def log_of(store: SqliteStore) -> int:
    return store.path.with_name(f"{store.path.name}-wal").stat().st_size


def test_each_batch_truncates_the_log_unless_a_reader_has_the_old_state(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.store.sqlite.store._WAIT_FOR_READERS", 1)
    with SqliteStore(store.path) as reader:
        stream = reader.inlinks(Surt("example,hub)/"))
        next(stream)
        store.load(write_pages(tmp_path / "2", 10, 20), FILES[1:], SETTINGS, "{}")
        assert log_of(store) == 0
        with reader.snapshot():
            reader.last_batch()
            store.load(write_pages(tmp_path / "3", 20, 30), FILES[1:], SETTINGS, "{}")
            assert log_of(store) > 0
        store.load(write_pages(tmp_path / "4", 30, 40), FILES[1:], SETTINGS, "{}")
        assert log_of(store) == 0


def test_a_large_log_is_truncated_when_its_last_reader_ends(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.store.sqlite.store._WAIT_FOR_READERS", 1)
    monkeypatch.setattr("arclink.store.sqlite.store.LARGE_LOG", 1)
    with SqliteStore(store.path) as reader, reader.snapshot():
        reader.last_batch()
        letting_go = threading.Timer(0.3, reader.close)
        letting_go.start()
        store.load(write_pages(tmp_path / "2", 10, 20), FILES[1:], SETTINGS, "{}")
        letting_go.join()
        assert log_of(store) == 0


def test_a_second_builder_fails_at_once(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = write_pages(tmp_path / "2", 10, 20)
    other = SqliteStore(store.path, create=True)
    waited = []

    def try_to_load(_: Runs, relation: Relation) -> None:
        if relation is Relation.INLINKS:
            begin = time.monotonic()
            with pytest.raises(StoreError, match="another build is loading into it"):
                other.load(graph, FILES[1:], SETTINGS, "{}")
            with pytest.raises(StoreError, match="another build is loading into it"):
                SqliteStore(store.path, create=True)
            waited.append(time.monotonic() - begin)

    monkeypatch.setattr(Runs, "merge", try_to_load)
    store.load(graph, FILES[1:], SETTINGS, "{}")
    assert len(waited) == 1
    assert waited[0] < 4
    assert other.load(graph, FILES[1:], SETTINGS, "{}").number == 2
    other.close()


def test_a_store_opened_for_reading_does_not_load(store: SqliteStore, tmp_path: Path) -> None:
    with SqliteStore(store.path) as reader, pytest.raises(StoreError, match="opened for reading"):
        reader.load(tmp_path / "1", FILES, SETTINGS, "{}")


def test_a_load_with_other_settings_is_refused(store: SqliteStore, tmp_path: Path) -> None:
    before = canonical(store)
    with pytest.raises(StoreError, match="was built with extractor = 1, not 2"):
        store.load(write_pages(tmp_path / "2", 10, 20), FILES, {"new": "x", "extractor": "2"}, "{}")
    assert store.setting("new") is None
    assert canonical(store) == before


def test_a_payload_that_was_not_read_is_replaced_once_it_is_read_and_never_again(
    tmp_path: Path,
) -> None:
    checksum = checksum_of("p1")
    unread = Payload(checksum, None, "-", "a.warc.gz", 1, "PAYLOAD_DAMAGED")
    read = Payload(checksum, Scope.NONE, "utf-8", "b.warc.gz", 2, "PAYLOAD_READ")
    again = replace(read, file="c.warc.gz", charset="windows-1252")
    with SqliteStore(tmp_path / "links.db", create=True) as store:
        for number, (row, known) in enumerate(
            [(unread, unread), (read, read), (unread, read), (again, read)]
        ):
            write_batch(
                tmp_path / str(number),
                [],
                [row],
                {ContentId(checksum): (HUB, [])} if row.scope is not None else {},
            )
            store.load(tmp_path / str(number), FILES[number % 2 :], SETTINGS, "{}")
            assert store.payload(checksum) == known
        assert store.stats().payloads == 1


def test_a_revisit_that_only_says_not_modified_shows_what_it_refers_to(
    store: SqliteStore, tmp_path: Path
) -> None:
    original, first = UriR("http://pages.example/000003"), Timestamp("20100101000000")
    other = memento(original, "20120101000000", checksum_of("p4"))
    named = memento(original, "20130101000000", checksum_of_reference(original, first), "revisit")
    unnamed = memento(original, "20110101000000", checksum_of_reference(original, None), "revisit")
    unknown = memento(HUB, "20110101000000", checksum_of_reference(HUB, None), "revisit")
    write_batch(tmp_path / "2", [other, named, unnamed, unknown], [], {})
    store.load(tmp_path / "2", FILES[1:], SETTINGS, "{}")
    shown = ContentId(checksum_of("p3"))
    assert [store.content_of(one) for one in (named, unnamed, unknown)] == [shown, shown, None]
    timestamps = [sighting.timestamp for sighting in store.sightings(shown)]
    assert timestamps == [first, unnamed.timestamp, named.timestamp]
    assert list(store.verify()) == []


# What is wrong with graph files is said, and nothing of them is stored


def damage(folder: Path, relation: str, text: bytes) -> None:
    (folder / relation / "part-00000").write_bytes(text)


DAMAGES = [
    pytest.param("mementos", b"a\tb\n", "2 columns instead of 11", id="memento lacks columns"),
    pytest.param(
        "mementos",
        b"\t".join([b"a"] * 8 + [b"x", b"1", b"-"]) + b"\n",
        "cannot be read",
        id="offset is no number",
    ),
    pytest.param(
        "payloads", b"a\t9\tutf-8\tf\t0\tPAYLOAD_READ\t{}\n", "cannot be read", id="no such scope"
    ),
    pytest.param(
        "outlinks",
        b"b\tx\t[]\t[]\t[]\na\ty\t[]\t[]\t[]\n",
        "line 2: not sorted",
        id="outlinks not sorted",
    ),
    pytest.param("outlinks", b'b\tx\t["B"]\t[1]\t[[0]]\n', "not lists of links", id="no links"),
    pytest.param("outlinks", b"b\t\xff\t[]\t[]\t[]\n", "cannot be read", id="no UTF-8"),
    pytest.param(
        "inlinks",
        b'a\thttp://a/\t[["k","t",null,[["Z",[0]]]]]\n',
        "inlinks name contents .Z.",
        id="unknown content",
    ),
    pytest.param("inlinks", b"a\thttp://a/\t[1]\n", "cannot be read", id="no groups"),
    pytest.param("inlinks", b"a\thttp://a/\t[\n", "cannot be read", id="no JSON"),
    pytest.param(
        "inlinks",
        b'a\x01\thttp://a/\t[["k","t",null,[["%s",[0]]]]]\n',
        "control character",
        id="control character",
    ),
]


@pytest.mark.parametrize(("relation", "text", "message"), DAMAGES)
def test_damaged_graph_files_are_refused_and_leave_nothing_behind(
    store: SqliteStore, tmp_path: Path, relation: str, text: bytes, message: str
) -> None:
    before = canonical(store)
    graph = write_pages(tmp_path / "2", 10, 12)
    damage(
        graph,
        relation,
        text.replace(b"%s", (graph / "outlinks/part-00000").read_bytes().split(b"\t")[1]),
    )
    with pytest.raises(StoreError, match=message):
        store.load(graph, FILES[1:], SETTINGS, "{}")
    assert canonical(store) == before
    store.load(write_pages(tmp_path / "3", 10, 12), FILES[1:], SETTINGS, "{}")
    assert sources(store) == hub_contents(0, 12)
    assert list(store.verify()) == []


def test_names_of_a_load_that_failed_are_forgotten(store: SqliteStore, tmp_path: Path) -> None:
    write_batch(tmp_path / "2", [memento(HUB, "20100101000000", "-", file="lost.warc.gz")], [], {})
    damage(tmp_path / "2", "inlinks", b"a\tb\t[\n")
    with pytest.raises(StoreError):
        store.load(tmp_path / "2", FILES[1:], SETTINGS, "{}")
    write_batch(tmp_path / "3", [memento(HUB, "20100101000000", "-", file="new.warc.gz")], [], {})
    store.load(tmp_path / "3", FILES[1:], SETTINGS, "{}")
    write_batch(tmp_path / "4", [memento(HUB, "20110101000000", "-", file="lost.warc.gz")], [], {})
    store.load(tmp_path / "4", FILES[1:], SETTINGS, "{}")
    with SqliteStore(store.path) as reader:
        assert [one.file for one in reader.mementos(Surt("example,hub)/"))] == [
            "new.warc.gz",
            "lost.warc.gz",
        ]


# Death and lack of space

_LOAD = """
import sys, time
from pathlib import Path
from arclink.store.sqlite import store as sqlite
from arclink.store.sqlite.load import BatchLoader
from arclink.store.sqlite.runs import Runs
from tests.store.load_arguments import FILES, SETTINGS

path, graph, marker, where = sys.argv[1:]

def stop(*_):
    Path(marker).touch()
    time.sleep(600)

if where == "commit":
    Runs.merge = stop
else:
    setattr(BatchLoader, where, stop)
store = sqlite.SqliteStore(Path(path), create=True)
store._connection.execute("PRAGMA cache_size = 1")  # so that pages are written before the end
store.load(Path(graph), FILES[1:], SETTINGS, "{}")
"""


def python(code: str, *arguments: object) -> Sequence[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


@pytest.mark.parametrize("where", ["_load_payloads", "_load_mementos", "_load_inlinks", "commit"])
def test_a_load_that_is_killed_leaves_nothing_behind(
    store: SqliteStore, tmp_path: Path, where: str
) -> None:
    before = canonical(store)
    graph = write_pages(tmp_path / "2", 10, 1500)
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        python(_LOAD, store.path, graph, tmp_path / "marker", where), cwd=root
    ) as process:
        while not (tmp_path / "marker").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert canonical(store) == before
    assert store.load(graph, FILES[1:], SETTINGS, "{}").number == 2
    assert sources(store) == hub_contents(0, 1500)
    assert list(store.verify()) == []


def test_a_full_disk_leaves_nothing_behind(store: SqliteStore, tmp_path: Path) -> None:
    before = canonical(store)
    graph = write_pages(tmp_path / "2", 10, 1500)
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages + 3}")
    with pytest.raises(StoreError, match="no space left"):
        store.load(graph, FILES[1:], SETTINGS, "{}")
    assert canonical(store) == before
    store._connection.execute("PRAGMA max_page_count = 1000000")
    store.load(graph, FILES[1:], SETTINGS, "{}")
    assert sources(store) == hub_contents(0, 1500)


_LOAD_WITH_LIMIT = """
import resource, signal, sys
from pathlib import Path
from arclink.errors import StoreError
from arclink.store.sqlite.store import SqliteStore
from tests.store.load_arguments import FILES, SETTINGS

path, graph = sys.argv[1:]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = SqliteStore(Path(path), create=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    store.load(Path(graph), FILES[1:], SETTINGS, "{}")
except StoreError as error:
    print(error)
"""


def test_a_write_that_fails_leaves_nothing_behind(store: SqliteStore, tmp_path: Path) -> None:
    before = canonical(store)
    graph = write_pages(tmp_path / "2", 10, 3000)
    done = subprocess.run(
        python(_LOAD_WITH_LIMIT, store.path, graph),
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "space" in done.stdout
    assert canonical(store) == before
    assert list(store.verify()) == []


def test_memory_does_not_grow_with_the_store(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a loader keeps between two batches are its caches, and these are bounded."""
    for batch in range(3):
        first = 10 + 50 * batch
        store.load(
            write_pages(tmp_path / f"more {batch}", first, first + 50),
            FILES[1:],
            {},
            f'{{"batch": {batch}}}',
        )
    list(store.surts(Surt("")))
    assert len(store._runs._cache) <= runs_module.CACHED_BLOCKS
    assert not any(isinstance(value, BatchLoader) for value in vars(store).values())
    assert os.path.getsize(store.path) < 400_000


def test_trimming_removes_the_free_space_that_merging_left(tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    with SqliteStore(path, create=True) as store:
        for number in range(FAN_OUT):
            store.load(
                write_pages(tmp_path / str(number), 400 * number, 400 * (number + 1)),
                FILES[:1],
                SETTINGS,
                f'{{"batch": {number}}}',
            )
        before, answers = path.stat().st_size, canonical(store)
        store.trim()
        after = path.stat().st_size
        assert after < 0.9 * before
        assert canonical(store) == answers
        assert list(store.verify()) == []
        store.trim()
        assert path.stat().st_size == after
    assert not path.with_name("links.db-wal").exists()


def test_a_reader_does_not_hold_up_trimming_nor_lose_its_place(tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    with SqliteStore(path, create=True) as store:
        for number in range(FAN_OUT):
            store.load(
                write_pages(tmp_path / str(number), 400 * number, 400 * (number + 1)),
                FILES[:1],
                SETTINGS,
                f'{{"batch": {number}}}',
            )
        with SqliteStore(path) as reader, reader.snapshot():
            inlinks = reader.inlinks(Surt("example,hub)/"))
            found = [inlink.content for inlink in islice(inlinks, 100)]
            store.trim()
            found += [inlink.content for inlink in inlinks]
        assert found == hub_contents(0, 400 * FAN_OUT)


# With a process next to the one that loads


def test_a_second_process_for_packing_changes_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.store.sqlite.load.WORTH_A_PROCESS", 0)
    started: list[int] = []

    def counted(write: Callable[[BlockWriter], None]) -> PackingProcess:
        started.append(1)
        return PackingProcess(write)

    monkeypatch.setattr("arclink.store.sqlite.load.PackingProcess", counted)
    paths = [tmp_path / f"{cores}.db" for cores in (1, 2)]
    for cores, path in enumerate(paths, start=1):
        with SqliteStore(path, create=True) as store:
            store.load(write_pages(tmp_path / "a", 0, 300), FILES[:1], SETTINGS, "{}", cores)
            store.load(
                write_pages(tmp_path / "b", 200, 500), FILES[1:2], SETTINGS, "{}", cores
            )  # a third is known
            assert list(store.verify()) == []
    assert len(started) == 2
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert not active_children()


def test_an_error_of_the_packing_process_is_that_of_one_process(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.store.sqlite.load.WORTH_A_PROCESS", 0)
    before = canonical(store)
    graph = write_pages(tmp_path / "2", 10, 20)
    inlinks = next((graph / "inlinks").glob("part-*"))
    inlinks.write_bytes(
        inlinks.read_bytes().replace(b'[[["', b'[[["x', 1).replace(b'"a@href"', b'"a@href', 1)
    )
    said = []
    for cores in (1, 2):
        with pytest.raises(StoreError) as refused:
            store.load(graph, FILES[1:2], SETTINGS, "{}", cores)
        said.append(str(refused.value))
    assert said[0] == said[1]
    assert canonical(store) == before
    assert not active_children()


def test_rows_of_a_packing_process_that_was_killed_are_packed_again(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.store.sqlite.load.WORTH_A_PROCESS", 0)
    graph = write_pages(tmp_path / "2", 10, 20)
    here, write, killed = os.getpid(), InlinkGrouping.write, []

    def die(*arguments: Any) -> None:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        killed.append(1)
        write(*arguments)

    monkeypatch.setattr(InlinkGrouping, "write", die)
    store.load(graph, FILES[1:2], SETTINGS, "{}", 2)
    assert killed == [1]
    assert sources(store) == hub_contents(0, 20)
    assert list(store.verify()) == []
    assert not active_children()


def test_a_load_that_fails_leaves_no_process_behind(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.store.sqlite.load.WORTH_A_PROCESS", 0)
    graph = write_pages(tmp_path / "2", 10, 20)
    next((graph / "mementos").glob("part-*")).write_text("no memento\n")
    with monkeypatch.context() as patch:
        patch.setattr(InlinkGrouping, "write", lambda *_: time.sleep(600))
        with pytest.raises(StoreError, match="columns"):
            store.load(graph, FILES[1:2], SETTINGS, "{}", 2)
    assert not active_children()


def test_a_load_that_cannot_fork_packs_in_its_own_process(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.store.sqlite.load.WORTH_A_PROCESS", 0)
    graph = write_pages(tmp_path / "2", 10, 20)

    def refuse() -> int:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fork", refuse)
        store.load(graph, FILES[1:2], SETTINGS, "{}", 2)
    assert sources(store) == hub_contents(0, 20)


def test_the_error_of_a_packing_process_without_space_names_the_folder(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.store.sqlite.load.WORTH_A_PROCESS", 0)
    before = canonical(store)
    graph = write_pages(tmp_path / "2", 10, 20)
    with Path("/dev/full").open("r+b", buffering=0) as full, monkeypatch.context() as patch:
        patch.setattr("arclink.store.sqlite.packing_process.TemporaryFile", lambda: full)
        with pytest.raises(StoreError, match=r"No space left.*TMPDIR"):
            store.load(graph, FILES[1:2], SETTINGS, "{}", 2)
    assert canonical(store) == before


PACK_AND_DIE = """
import os, signal, time
from arclink.store.sqlite.packing_process import PackingProcess

have_begun, begin = os.pipe()

def write(blocks):
    print("begun", flush=True)
    os.write(begin, b"x")
    while True:
        blocks.add_block([b"key"], [])
        time.sleep(0.01)

with PackingProcess(write):
    os.read(have_begun, 1)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_packing_process_ends_when_the_loading_one_is_killed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PACK_AND_DIE], capture_output=True, timeout=60, check=False
    )  # until both have ended
    assert done.returncode == -signal.SIGKILL
    assert done.stdout == b"begun\n"
    assert b"the process that loads the batch died" in done.stderr


def test_a_daemon_process_loads_without_a_second_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arclink.store.sqlite.load.WORTH_A_PROCESS", 0)
    graph = write_pages(tmp_path / "1", 0, 10)

    def load() -> None:
        with SqliteStore(tmp_path / "links.db", create=True) as store:
            store.load(graph, FILES[:1], SETTINGS, "{}", 2)

    worker = get_context("fork").Process(target=load, daemon=True)
    worker.start()
    worker.join()
    assert worker.exitcode == 0
    with SqliteStore(tmp_path / "links.db") as store:
        assert sources(store) == hub_contents(0, 10)


def test_damaged_graph_files_are_not_loaded(store: SqliteStore, tmp_path: Path) -> None:
    uri = UriR("http://example.org/")
    links = [Outlink(UriR("http://target.example/"), Kind("a@href"), "text", None)]
    payload = Payload(checksum_of("p1"), Scope.NONE, "utf-8", "a.warc.gz", 1, "PAYLOAD_READ")
    contents = {ContentId(checksum_of("p1")): (uri, links)}
    graph = tmp_path / "graph"
    write_batch(graph, [memento(uri, "20100101000000", checksum_of("p1"))], [payload], contents)
    write_graph_sums(graph)
    before = store.last_batch()
    for part in sorted(graph.rglob("part-*")):
        whole = part.read_bytes()
        for index in range(0, len(whole), 7):
            part.write_bytes(whole[:index] + bytes([whole[index] ^ 1]) + whole[index + 1 :])
            with pytest.raises(StoreError, match=rf"{part} is damaged: .* Write the graph files"):
                store.load(graph, FILES, SETTINGS, "{}")
        part.unlink()
        with pytest.raises(StoreError, match=rf"{part} is missing"):
            store.load(graph, FILES, SETTINGS, "{}")
        part.write_bytes(whole)
    assert store.last_batch() == before
    store.load(graph, FILES, SETTINGS, "{}")
    assert store.last_batch() == before + 1
