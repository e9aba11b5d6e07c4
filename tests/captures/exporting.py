"""Exports of captures, and graphs built from them, for tests."""

import gzip
from collections.abc import Sequence
from pathlib import Path

from fastwarc.warc import ArchiveIterator

from arclink.captures.export import Source
from arclink.captures.queries import TakeAwayQuery
from arclink.captures.write import TakenAway, take_away
from arclink.model import Memento
from arclink.pipeline.settings import BuildSettings
from arclink.rows.cdx import Capture, parse_row
from arclink.rows.cdx_files import find_cdx
from arclink.store.location import open_store
from arclink.store.protocols import Scans
from benchmarks.built_stores import build_store

Facts = set[tuple[Memento, str | None, tuple[object, ...] | None]]


def exported(store: Path | Scans, path: Path, form: str = "warc", **more: str) -> TakenAway:
    """Export captures of a store; further parameters have ``_`` for ``-``."""
    given = [(name.rstrip("_").replace("_", "-"), value) for name, value in more.items()]
    query = TakeAwayQuery.from_parameters([("format", form), *given])
    if not isinstance(store, Path):
        return take_away(Source(store), query, path)
    with open_store(str(store)) as opened:
        return take_away(Source(opened), query, path)


def rows_in(path: Path) -> list[Capture]:
    return [parse_row(line) for line in path.read_bytes().splitlines()]


def built(folder: Path, files: Sequence[Path], cdx: Path | None = None) -> Path:
    """Return the store of archive files, which is in ``folder``."""
    store = folder / "built.db"
    rows = find_cdx([str(cdx)]) if cdx else []
    settings = BuildSettings(runner="inline", cores=1)
    build_store(folder, store, settings, [str(file) for file in files], rows)
    return store


def facts_of(store: Path) -> Facts:
    """Return the captures of a graph with their links, without the addresses of their records."""
    with open_store(str(store)) as opened:
        found: Facts = set()
        for memento in opened.scan_mementos():
            content = opened.content_of(memento)
            links = None if content is None else tuple(opened.outlinks(content))
            found.add((memento._replace(file="", offset=0, length=0), content, links))
        return found


def members_of(path: Path) -> list[bytes]:
    """Return the records of a gzip WARC file, decompressed, as its index lists them."""
    data = path.read_bytes()
    rows = rows_in(path.with_name(path.name.replace(".warc.gz", ".cdxj")))
    return [gzip.decompress(data[row.offset : row.offset + row.length]) for row in rows]


def read_by_fastwarc(path: Path) -> list[tuple[str, str, bytes, bool]]:
    """Return type, URI, payload and whether the digest is right, of each record of a WARC file."""
    found = []
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, parse_http=False):
            record.freeze()
            is_right = "WARC-Payload-Digest" not in record.headers or (
                record.headers["WARC-Type"] == "revisit" or record.verify_payload_digest()
            )
            uri = record.headers.get("WARC-Target-URI") or ""
            found.append((record.headers["WARC-Type"], uri, record.reader.read(), is_right))
    return found
