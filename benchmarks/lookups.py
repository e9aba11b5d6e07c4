"""Measures look-ups in one store: ordinary URIs in the library and over HTTP, and the first page of a hub.

    python -m benchmarks.lookups links.db --hub 1000000

A look-up is what ``arclink links URI --format json`` does between the words and the bytes: parse the query, ask the store in
both directions, write the members. *Cold* opens the store for each, *warm* keeps it open, *from disk* is cold with nothing of
the file in the system's memory either. No URI is asked twice.
"""

import argparse
import base64
import hashlib
import http.client
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlencode

import orjson

from arclink.access.answers import answer_link_query
from arclink.access.formats.json_document import write_json
from arclink.access.grouping import Budget
from arclink.access.queries import LinkQuery
from arclink.graph.blocks import Block
from arclink.model import Checksum, Scope, Surt, UriR
from arclink.store import ArchiveFile, GraphStore
from arclink.store.graph_files import RELATIONS
from arclink.store.opening import open_store
from arclink.uris.resolving import content_id
from arclink.uris.surts import surt_of

SAMPLE = 300
HUB = UriR("http://hub.example/")
HUB_TEXTS = ("Hub", "click here", "home", "the hub of all")
HUB_PAGES_A_BATCH = 250_000
HUB_PAGES_A_BLOCK = 1_000
GROUPED_HUB = 10_000
HUB_MEMBERS = 100
REPEATS = 20


@dataclass(frozen=True, slots=True)
class Figure:
    """Milliseconds of one look-up: the median and the 90th percentile of a sample."""

    median: float
    p90: float

    def __str__(self) -> str:
        return f"{self.median:.2f} | {self.p90:.2f}"


def measure(look_up: Callable[[UriR], object], uris: Sequence[UriR], before: Callable[[], None] = lambda: None) -> Figure:
    """Return what one look-up takes on the clock; ``before`` is called before each, and not counted."""
    taken = []
    for uri in uris:
        before()
        started = time.perf_counter()
        look_up(uri)
        taken.append(1000 * (time.perf_counter() - started))
    return Figure(median(taken), quantiles(taken, n=10)[-1])


def ordinary_uris(where: str, count: int = SAMPLE, seed: int = 1) -> list[UriR]:
    """Return originals of pages that were read, chosen by chance: each has mementos and outlinks, most have inlinks."""
    with open_store(where) as store:
        surts = list(store.surts(Surt("")))
        random.Random(seed).shuffle(surts)
        found: list[UriR] = []
        for surt in surts:
            memento = next(store.mementos(surt), None)
            if memento is not None and store.content_of(memento) is not None:
                found.append(memento.original)
            if len(found) == count:
                break
        return found


def json_answer(store: GraphStore, uri: UriR, budget: Budget | None = None, **parameters: str) -> bytes:
    """Return the answer to one link query as JSON."""
    query = LinkQuery.from_parameters([("uri", uri), *parameters.items()])
    return b"".join(write_json(answer_link_query(store, query, budget)))


def cold(where: str, uris: Sequence[UriR], before: Callable[[], None] = lambda: None) -> Figure:
    """Measure look-ups that open the store and close it."""

    def look_up(uri: UriR) -> None:
        with open_store(where) as store:
            json_answer(store, uri)

    return measure(look_up, uris, before)


def from_disk(where: str, uris: Sequence[UriR]) -> Figure:
    """Measure cold look-ups that find nothing of the file in the system's memory, as in a store much larger than that."""

    def forget() -> None:
        with open(where, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    return cold(where, uris, forget)


def warm(where: str, uris: Sequence[UriR]) -> Figure:
    """Measure look-ups in one open store."""
    with open_store(where) as store:
        return measure(lambda uri: json_answer(store, uri), uris)


def over_http(where: str, uris: Sequence[UriR]) -> Figure:
    """Measure requests to ``arclink serve`` over one connection on the loopback."""
    with _serving(where) as place:
        connection = http.client.HTTPConnection(place)

        def look_up(uri: UriR) -> None:
            connection.request("GET", "/linkQuery?" + urlencode({"uri": uri, "format": "json"}))
            response = connection.getresponse()
            body = response.read()
            if response.status != HTTPStatus.OK:
                raise RuntimeError(f"{uri}: {response.status} {body[:200]!r}")

        try:
            return measure(look_up, uris)
        finally:
            connection.close()


@contextmanager
def _serving(where: str) -> Iterator[str]:
    """Serve the store in a process of its own; yield its host and port."""
    command = [sys.executable, "-m", "arclink.cli.main", "serve", "--store", where, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield re.findall(r"http://([^/]+)/", server.stdout.readline())[0]
        finally:
            server.terminate()


# A hub


def load_hub(where: str, inlinks: int) -> None:
    """Load so many pages that link to `HUB` and once to a neighbour; 100 a site, each captured once."""
    with open_store(where, create=True) as store:
        for first in range(0, inlinks, HUB_PAGES_A_BATCH):
            with tempfile.TemporaryDirectory() as folder:
                name = f"hub-{first}.warc.gz"
                _write_hub_batch(Path(folder), range(first, min(first + HUB_PAGES_A_BATCH, inlinks)), name)
                store.load(Path(folder), [ArchiveFile(name, f"/{name}", 1, name)], {}, "{}")


def _write_hub_batch(folder: Path, pages: Sequence[int], file: str) -> None:
    """Write graph files (``docs/graph-files.md``)."""
    relations = {relation: folder / relation / "part-00000" for relation in RELATIONS}
    for path in relations.values():
        path.parent.mkdir()
    by_text: dict[str, list[tuple[str, list[int]]]] = {text: [] for text in HUB_TEXTS}
    neighbours = []
    with (
        relations["mementos"].open("w") as mementos,
        relations["payloads"].open("w") as payloads,
        relations["outlinks"].open("wb") as outlinks,
    ):
        for some in batched(pages, HUB_PAGES_A_BLOCK):
            block = Block()
            numbers = {text: block.number_of.setdefault(_json(HUB, text, None), len(block.number_of)) for text in HUB_TEXTS}
            positions: dict[str, list[int]] = {text: [] for text in HUB_TEXTS}
            targets = []
            for position, page in enumerate(some):
                original = UriR(f"http://site{page // 100:05d}.example/pages/{page % 100:02d}.html")
                targets.append(f"http://site{page // 100:05d}.example/pages/{page % 100:02d}-next.html")
                surt, checksum, text = surt_of(original), _checksum(page), HUB_TEXTS[page % len(HUB_TEXTS)]
                neighbour = block.number_of.setdefault(_json(targets[-1], "next", "next"), len(block.number_of))
                block.add(content_id(checksum, original, Scope.DIRECTORY), [numbers[text], neighbour])
                positions[text].append(position)
                mementos.write(f"{surt}\t20100101000000\t{original}\t{checksum}\t200\ttext/html\tresponse\t{file}\t{page}\t900\t-\n")
                payloads.write(f'{checksum}\t{Scope.DIRECTORY:d}\tutf-8\t{file}\t{page}\tPAYLOAD_READ\t{{"LINK_KEPT":2}}\n')
            outlinks.write(block.row(surt_of(f"http://site{some[0] // 100:05d}.example/pages/{some[0] % 100:02d}.html")) + b"\n")
            for text, of_text in positions.items():
                by_text[text].append((block.name, of_text))
            for position, target in enumerate(targets):
                links = orjson.dumps([["a@href", "next", "next", [(block.name, [position])]]]).decode()
                neighbours.append(f"{surt_of(target)}\t{target}\t{links}\n")
    hub = [["a@href", text, None, sources] for text, sources in sorted(by_text.items()) if sources]
    row = f"{surt_of(HUB)}\t{HUB}\t{orjson.dumps(hub).decode()}\n"
    relations["inlinks"].write_text("".join(sorted([row, *neighbours])))


def _json(target: str, text: str, rel: str | None) -> bytes:
    return orjson.dumps([target, "a@href", text, rel])


def batched(items: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Yield the items in groups of ``size``, the last one smaller."""
    return (items[begin : begin + size] for begin in range(0, len(items), size))


def _checksum(page: int) -> Checksum:
    return Checksum(base64.b32encode(hashlib.sha1(b"%d" % page, usedforsecurity=False).digest()).decode())


def hub_in_store_order(where: str) -> Figure:
    """Measure the first `HUB_MEMBERS` inlinks of the hub as it answers: too many to be grouped; cold."""
    return _hub(where, Budget())


def hub_behind_a_cursor(where: str) -> Figure:
    """Measure the second page of the hub's inlinks, cold."""
    with open_store(where) as store:
        first = orjson.loads(json_answer(store, HUB, direction="in", limit=str(HUB_MEMBERS)))
    return _hub(where, Budget(), cursor=first["next"])


def hub_grouped(where: str, inlinks: int) -> Figure:
    """Measure the first `HUB_MEMBERS` inlinks of a smaller hub, all of them grouped, cold."""
    return _hub(where, Budget(members=inlinks, look_ups=inlinks))


def _hub(where: str, budget: Budget, **parameters: str) -> Figure:
    def look_up(uri: UriR) -> None:
        with open_store(where) as store:
            members = orjson.loads(json_answer(store, uri, budget, direction="in", limit=str(HUB_MEMBERS), **parameters))["inlinks"]
        if len(members) != HUB_MEMBERS:
            raise RuntimeError(f"{len(members)} members of the hub")

    return measure(look_up, [HUB] * REPEATS)


# All of it


def main() -> None:
    """Measure the store that the command line names, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", help="with ordinary pages")
    parser.add_argument("--hub", type=int, metavar="INLINKS", help="measure a hub with so many, too")
    arguments = parser.parse_args()
    uris = ordinary_uris(arguments.store)
    rows = {
        "library, cold": cold(arguments.store, uris),
        "library, warm": warm(arguments.store, uris),
        "library, from disk": from_disk(arguments.store, uris),
        "HTTP": over_http(arguments.store, uris),
    }
    if arguments.hub:
        with tempfile.TemporaryDirectory() as folder:
            large, small = f"{folder}/large.db", f"{folder}/small.db"
            load_hub(large, arguments.hub)
            load_hub(small, GROUPED_HUB)
            rows |= {
                f"hub of {arguments.hub:,}, first {HUB_MEMBERS}": hub_in_store_order(large),
                f"hub of {arguments.hub:,}, next {HUB_MEMBERS}": hub_behind_a_cursor(large),
                f"hub of {GROUPED_HUB:,}, grouped, first {HUB_MEMBERS}": hub_grouped(small, GROUPED_HUB),
            }
    print(f"\n| look-ups of {len(uris)} URIs, both directions, as JSON | median ms | p90 ms |\n| --- | --- | --- |")
    for name, figure in rows.items():
        print(f"| {name} | {figure} |")


if __name__ == "__main__":
    main()
