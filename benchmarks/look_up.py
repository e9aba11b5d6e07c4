"""Measures look-ups in a store, in one process, and prints milliseconds as JSON.

    python -m benchmarks.look_up STORE URIS.TXT [--how warm|connection|disk]
    [--what both|store|hub|named|shown] [--cache KIB]

``--how`` is *warm* (the store is open), *connection* (each look-up opens it) or *disk* (before each
look-up, the file is also dropped from the page cache of the system). ``--what`` is *both* (both
directions, as the service answers them), *store* (the queries of the store for these: the mementos,
the links of the newest content, and the first 100 inlinks), *hub* (the first 100 members that link
to the URI), *named* (all inlinks by name of their content, then the pages that show them) or
*shown* (the same without names). ``--cache`` is the cache of SQLite.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from arclink.access.answers import answer_link_query
from arclink.access.queries import LinkQuery
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from arclink.store.shown_inlinks import with_pages
from arclink.store.sqlite import schema


def answer(store: GraphStore, uri: str) -> int:
    """Ask for both directions, as the service does; return how many members came."""
    answer = answer_link_query(store, LinkQuery.from_parameters([("uri", uri)]))
    return len(list(answer.outlinks)) + len(list(answer.inlinks))


def ask_store(store: GraphStore, uri: str) -> int:
    """Ask the store's own questions, of one state.

    Mementos, the newest content's outlinks, the first 100 inlinks.
    """
    surt = LinkQuery.from_parameters([("uri", uri)]).surt
    with store.snapshot():
        contents = [store.content_of(memento) for memento in store.mementos(surt)]
        newest = next((content for content in reversed(contents) if content is not None), None)
        outlinks = len(list(store.outlinks(newest))) if newest is not None else 0
        return outlinks + len(list(islice(store.inlinks(surt), 100)))


def ask_hub(store: GraphStore, uri: str) -> int:
    """Ask for the first 100 members that link to a URI."""
    return len(
        list(
            answer_link_query(
                store,
                LinkQuery.from_parameters([("uri", uri), ("direction", "in"), ("limit", "100")]),
            ).inlinks
        )
    )


def ask_named(store: GraphStore, uri: str) -> int:
    """Ask for all inlinks and, by the names of their contents, for the pages that show them."""
    surt = LinkQuery.from_parameters([("uri", uri)]).surt
    with store.snapshot():
        found = with_pages(store.inlinks(surt), store.sources)
        return sum(len(list(pages)) for _, pages in found)


def ask_shown(store: GraphStore, uri: str) -> int:
    """Ask for all inlinks together with the pages that show them."""
    surt = LinkQuery.from_parameters([("uri", uri)]).surt
    with store.snapshot():
        found = store.shown_inlinks(surt)
        return sum(len(list(inlink.pages)) for inlink in found if inlink is not None)


WHAT: dict[str, Callable[[GraphStore, str], int]] = {
    "both": answer,
    "store": ask_store,
    "hub": ask_hub,
    "named": ask_named,
    "shown": ask_shown,
}


def times(
    where: str, uris: list[str], how: str, ask: Callable[[GraphStore, str], int]
) -> tuple[list[float], list[float], int]:
    """Return wall and CPU milliseconds of each look-up, and how many links came in all."""
    wall, cpu, members = [], [], 0
    with open_store(where) as store:
        ask(store, uris[0])  # imports, and what is made once
        for uri in uris:
            if how == "disk":
                _drop(Path(where))
            started, cpu_started = time.perf_counter(), time.process_time()
            if how == "warm":
                members += ask(store, uri)
            else:
                with open_store(where) as opened:
                    members += ask(opened, uri)
            wall.append(1e3 * (time.perf_counter() - started))
            cpu.append(1e3 * (time.process_time() - cpu_started))
    return wall, cpu, members


def _drop(path: Path) -> None:
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def main() -> None:
    """Print median and 95th percentile of wall time, median of CPU time, and members."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store")
    parser.add_argument("uris", type=Path)
    parser.add_argument("--how", choices=["warm", "connection", "disk"], default="warm")
    parser.add_argument("--what", choices=[*WHAT], default="both")
    parser.add_argument("--cache", type=int)
    arguments = parser.parse_args()
    if arguments.cache:
        schema.CACHE_KIBIBYTES = arguments.cache
    uris = arguments.uris.read_text(encoding="utf-8").split()
    wall, cpu, members = times(arguments.store, uris, arguments.how, WHAT[arguments.what])
    p95 = sorted(wall)[len(wall) * 95 // 100]
    print(
        json.dumps(
            {
                "median": statistics.median(wall),
                "p95": p95,
                "cpu": statistics.median(cpu),
                "members": members,
            }
        )
    )


if __name__ == "__main__":
    main()
