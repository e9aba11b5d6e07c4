"""Ways to read a stream in tests: as bytes, in pieces, and as lines."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arclink.captures.queries import CaptureFormat, Order, StreamPart, StreamQuery
from arclink.captures.ranks import RankTables
from arclink.captures.read import PageReader
from arclink.captures.stream import CaptureStream
from arclink.captures.write import write_stream
from arclink.store.archive_paths import ArchivePaths
from arclink.store.location import open_store
from arclink.store.protocols import Scans


@contextmanager
def opened(store: Path | Scans) -> Iterator[tuple[Scans, PageReader]]:
    """Open a store, and a reader of its captures."""
    graph = open_store(str(store)) if isinstance(store, Path) else store
    reader = PageReader(graph, ArchivePaths())
    try:
        yield graph, reader
    finally:
        reader.close()
        if isinstance(store, Path):
            graph.close()


def query_of(order: str = "surt", after: str = "", **rest: Any) -> StreamQuery:
    """Return a query; parameters as in a query string."""
    form = CaptureFormat(rest.pop("form", "jsonl"))
    part = StreamPart.parse(rest.pop("part", "1/1"))
    return StreamQuery(Order(order), part, after, rest.pop("limit", 0), form, **rest)


def bytes_of(store: Path | Scans, query: StreamQuery, tables: Path | None = None) -> bytes:
    """Return a whole stream."""
    with opened(store) as (graph, reader):
        stream = CaptureStream(graph, reader, query, RankTables(tables))
        return b"".join(write_stream(stream, query.form))


def lines_of(data: bytes) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the captures of JSON lines, and the facts of the last line."""
    *captures, end = map(json.loads, data.splitlines())
    return captures, end["end"]


def identity(capture: dict[str, Any]) -> tuple[str, ...]:
    """Return the facts that distinguish a capture from all others."""
    return (capture["surt"], capture["timestamp"], capture["uri"], capture["digest"])


def identities_in(store: Path) -> list[tuple[str, ...]]:
    """Return these facts of all captures of a store, in its order."""
    with open_store(str(store)) as graph:
        return [
            (one.surt, one.timestamp, one.original, one.checksum) for one in graph.scan_mementos()
        ]
