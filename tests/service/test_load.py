"""Queries while a store is loaded: each answer has whole batches, and clients do not wait long.

Afterwards, the write-ahead log is truncated.
"""

import csv
import http.client
import io
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.model import ALL_TIME, ContentId, Inlink, Memento, Source, Span, Surt
from arclink.store.location import open_store
from arclink.store.sqlite.store import SqliteStore
from tests.access.sqlite_pages import load_pages, write_graph_files
from tests.service.conftest import client_of
from tests.service.running import serving_store
from tests.store.memory_store import Page, link

HUB = "http://hub.example/"
BATCHES = 10
"""More than are merged into one, so that runs are merged while they are read."""
PAGES = 25
"""Of a batch; each links to the hub."""
ASKING = 3
MOST_SECONDS = 60
"""That one side waits for the other before it gives up; a second is usual."""


def batch(number: int) -> list[Page]:
    """Return a capture of the hub with one more link, and new pages that link to it: the number
    determines the expected answer.
    """
    month = f"2010{number:02d}"
    hub = Page(
        HUB, f"{month}01000000", [link(f"http://to{one}.example/") for one in range(1, number + 1)]
    )
    others = [
        link(f"http://www.other{one}.example/{number}", f"text {one * number}") for one in range(15)
    ]
    return [
        hub,
        *(
            Page(
                f"http://s{number}-{page}.example/",
                f"{month}02000000",
                [link(HUB, "Hub"), link(f"http://own.example/{number}/{page}"), *others],
            )
            for page in range(PAGES)
        ),
    ]


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """Return a store of the first batch, with the graph files of the others next to it."""
    load_pages(tmp_path / "links.db", tmp_path / "graph", [batch(1)])
    for number in range(2, BATCHES + 1):
        write_graph_files(tmp_path / f"batch-{number}", batch(number))
    return tmp_path / "links.db"


def log_of(where: Path) -> int:
    """Return the bytes of the store's write-ahead log."""
    log = where.with_name(f"{where.name}-wal")
    return log.stat().st_size if log.exists() else 0


# The queries: each returns the numbers of the batches in its answer, which must be one number.


def of_json(body: bytes) -> set[float]:
    document = json.loads(body)
    return {
        document["mementos"]["count"],
        len(document["outlinks"]),
        len(document["inlinks"]) / PAGES,
    }


def of_anchors(body: bytes) -> set[float]:
    document = json.loads(body)
    (anchor,) = document["anchors"]
    return {document["mementos"]["count"], anchor["mementos"] / PAGES, anchor["hosts"] / PAGES}


def of_csv(body: bytes) -> set[float]:
    rows = list(csv.DictReader(io.StringIO(body.decode(), newline="")))
    inlinks = [row["uri"] for row in rows if row["direction"] == "in"]
    return {len({row["uri"] for row in rows} - set(inlinks)), len(inlinks) / PAGES}


def of_explanations(body: bytes) -> set[float]:
    mementos = json.loads(body)["mementos"]
    return {len(mementos), max(one["links"].get("LINK_KEPT", 0) for one in mementos)}


def of_stream(body: bytes) -> set[float]:
    """Return the number of batches that are in it as a whole: it may have some links of those that
    came while it was read.
    """
    inlinks = body.split()[1:]
    assert len(set(inlinks)) == len(inlinks)
    return {len(inlinks) // PAGES}


QUESTIONS: dict[str, Callable[[bytes], set[float]]] = {
    f"/linkQuery?uri={quote(HUB)}&format=json": of_json,
    f"/anchors?uri={quote(HUB)}&format=json": of_anchors,
    f"/linkQuery?uri={quote(HUB)}&format=csv": of_csv,
    f"/aggregate?uri={quote(HUB)}&format=json": of_json,
    f"/explain?uri={quote(HUB)}": of_explanations,
    f"/linkQuery?uri={quote(HUB)}&format=csv&direction=in&limit=0&fields=uri": of_stream,
}


class Asking(threading.Thread):
    """Sends one query after the other until it is stopped, or an answer is wrong.

    Attributes:
        states: How many batches each answer told of.
        wrong: What was wrong, if anything was.
    """

    def __init__(self, port: int, first: int) -> None:
        super().__init__(daemon=True)
        self._port = port
        self._first = first
        self.is_over = threading.Event()
        self.states: list[float] = []
        self.wrong = ""

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=MOST_SECONDS)
        paths = list(QUESTIONS)
        while not self.is_over.is_set() and not self.wrong:
            path = paths[(self._first + len(self.states)) % len(paths)]
            try:
                connection.request("GET", path)
                response = connection.getresponse()
                body = response.read()
                assert response.status == 200, body[:200]
                batches = QUESTIONS[path](body)
                assert len(batches) == 1, f"one answer of {sorted(batches)} batches"
                assert min(batches) >= max(self.states, default=1), (
                    f"{min(batches)} batches after {max(self.states)}"
                )
                self.states += batches
            except Exception as error:  # the edge of a thread
                self.wrong = f"{path}: {error!r}"
        connection.close()


@contextmanager
def serving(where: Path) -> Iterator[int]:
    """Run ``arclink serve`` until the block ends; yield its port. It must log no error."""
    errors = where.with_name("errors")
    with serving_store(where, errors, "--workers", "2") as service:
        yield service.port
    said = [
        line
        for line in errors.read_text().splitlines()
        if "waitress.queue: Task queue depth" not in line
    ]  # a busy machine
    assert (service.process.returncode, said) == (0, [])


def test_a_store_is_loaded_while_many_clients_send_queries(where: Path) -> None:
    """Answers are of whole batches, the loader comes to its end, and the log is cut although
    clients read at all times.
    """
    logs, seconds = [], []
    with serving(where) as port, open_store(str(where)) as reader:
        stream = reader.inlinks(Surt("example,hub)/"))
        begun = next(stream)  # and is not read on before the end: who streams holds nothing up
        asking = [Asking(port, first) for first in range(ASKING)]
        for one in asking:
            one.start()
        with open_store(str(where), create=True) as store:
            for number in range(2, BATCHES + 1):
                asked = [len(one.states) for one in asking]
                since = time.monotonic()
                store.load(where.with_name(f"batch-{number}"), (), {}, "{}")
                seconds.append(time.monotonic() - since)
                logs.append(log_of(where))
                while any(
                    one.is_alive() and len(one.states) < before + 2
                    for one, before in zip(asking, asked, strict=True)
                ):
                    assert time.monotonic() < since + MOST_SECONDS
                    time.sleep(0.005)
        for one in asking:
            one.is_over.set()
            one.join(MOST_SECONDS)
        assert [one.wrong for one in asking] == [""] * ASKING
        assert all(one.states[-1] == BATCHES for one in asking)
        streamed = [begun.content, *(inlink.content for inlink in stream)]
        assert len(streamed) == len(set(streamed)) >= PAGES
    assert max(seconds) < MOST_SECONDS / 4
    assert min(logs[-3:]) == 0


def overtaken(where: Path, monkeypatch: pytest.MonkeyPatch) -> SqliteStore:
    """Return a store in which each question about the graph is followed by a batch, as long as
    there are any: the worst that can happen.
    """
    monkeypatch.setattr(
        "arclink.store.sqlite.store._WAIT_FOR_READERS", 1
    )  # the reader waits for the loader here, so the loader should not for it
    batches = iter(range(2, BATCHES + 1))

    def load_one() -> None:
        for number in islice(batches, 1):
            with open_store(str(where), create=True) as loader:
                loader.load(where.with_name(f"batch-{number}"), (), {}, "{}")

    class Overtaken(SqliteStore):
        def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
            yield from super().mementos(surt, span)
            load_one()

        def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
            load_one()
            return super().inlinks(target, after)

        def sources(
            self, contents: Iterable[ContentId], span: Span = ALL_TIME
        ) -> Iterator[Iterator[Source]]:
            load_one()
            return super().sources(contents, span)

    return Overtaken(where)


def test_a_batch_that_lands_while_an_answer_is_read_is_in_all_of_it_or_in_nothing(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = overtaken(where, monkeypatch)
    client = client_of(lambda: store)
    batches = []
    while next_batch(where) <= BATCHES:
        for path, count in QUESTIONS.items():
            batches.append(count(client.get(path).data))
    assert {len(one) for one in batches} == {1}
    assert len({min(one) for one in batches}) > 2


COMMANDS: dict[str, tuple[tuple[str, ...], Callable[[bytes], set[float]]]] = {
    "links": (("--format", "json"), of_json),
    "anchors": (("--format", "json"), of_anchors),
    "explain": (
        ("--format", "jsonl"),
        lambda body: of_explanations(b'{"mementos":[%s]}' % b",".join(body.splitlines())),
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_reads_one_state_of_the_store_too(
    command: str, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, count = COMMANDS[command]
    store = overtaken(where, monkeypatch)
    monkeypatch.setattr("arclink.cli.options.open_store", lambda _: store)
    printed = CliRunner().invoke(
        group, [command, HUB, "--store", str(where), *options], catch_exceptions=False
    )
    assert len(count(printed.stdout_bytes)) == 1
    assert next_batch(where) > 2


def next_batch(where: Path) -> int:
    with open_store(str(where)) as store:
        return store.last_batch() + 1
