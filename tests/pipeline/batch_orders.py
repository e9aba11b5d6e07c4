"""Small captures and their rows, built in one batch and in many."""

import base64
import hashlib
import random
from dataclasses import replace
from itertools import permutations
from pathlib import Path

from arclink.model import Surt
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from benchmarks.built_stores import build_store
from tests.archives.made_archives import http, warc
from tests.pipeline.store_contents import graph_of, outlinks_of

ALONE = BuildSettings(runner="inline", cores=1)
BODY = b'<a href="next.html">Next</a>'


def digest_of(body: bytes) -> str:
    """Return the digest of a payload, as records have it."""
    return "sha1:" + base64.b32encode(hashlib.sha1(body).digest()).decode()


DIGEST = digest_of(BODY)
HTML = "Content-Type: text/html"
DIGESTED = f"WARC-Payload-Digest: {DIGEST}"


def page(uri: str, second: int, *fields: str, body: bytes = BODY, mime: str = "text/html") -> bytes:
    return warc(
        uri, http(body, f"Content-Type: {mime}"), *fields, date=f"2020-01-01T00:00:{second:02}Z"
    )


def revisit(
    uri: str, second: int, *fields: str, status: str = "200 OK", headers: tuple[str, ...] = ()
) -> bytes:
    block = http(b"", *headers, status=status)
    return warc(uri, block, *fields, record_type="revisit", date=f"2020-01-01T00:00:{second:02}Z")


def damaged(record: bytes) -> bytes:
    """Return a record whose block ends too early, as at the end of a truncated file."""
    return record[:-20]


def row(
    uri: str,
    second: int,
    file: str,
    offset: int,
    checksum: str = DIGEST[5:],
    mime: str = "text/html",
) -> str:
    return f"- 202001010000{second:02} {uri} {mime} 200 {checksum} - - 400 {offset} {file}\n"


def links_of(store: GraphStore, *surts: str) -> dict[tuple[str, str], list[str] | None]:
    """Return the targets of each memento by original and second; None where they are not known."""
    found = outlinks_of(store, {Surt(surt) for surt in surts})
    return {
        (uri, time[-2:]): None if links is None else [link[0] for link in links]
        for (uri, time), links in found.items()
    }


def same_in_all_batches(
    folder: Path, tmp_path: Path, settings: BuildSettings, cdx: list[Path]
) -> Path:
    """Build files in one batch, and one by one in every order; return the first store.

    In the last builds, tasks do what they do on an engine: one with a batch per file, and one for
    each file, in the opposite order.
    """
    one = tmp_path / "one.db"
    build_store(folder, one, settings, cdx=cdx)
    files = sorted(map(str, folder.iterdir()))
    with open_store(str(one)) as opened:
        assert list(opened.verify()) == []
        expected = graph_of(opened)
    orders = (
        list(permutations(files))
        if len(files) < 4
        else [files, files[::-1], random.Random(1).sample(files, len(files))]
    )
    for number, order in enumerate(orders):
        path = tmp_path / f"many-{number}.db"
        for file in order:
            build_store(folder, path, settings, inputs=[file], cdx=cdx)
        with open_store(str(path)) as opened:
            assert graph_of(opened) == expected, order
            assert list(opened.verify()) == [], order
    (conf := tmp_path / "mrjob.conf").write_text("runners: {}\n")
    by_tasks = tmp_path / "by-tasks.db"
    build_store(folder, by_tasks, replace(settings, batch_bytes=1, cores=2), cdx=cdx, conf=conf)
    with open_store(str(by_tasks)) as opened:
        assert graph_of(opened) == expected
    backwards = tmp_path / "by-tasks-backwards.db"
    for file in reversed(files):
        build_store(folder, backwards, settings, inputs=[file], cdx=cdx, conf=conf)
    with open_store(str(backwards)) as opened:
        assert graph_of(opened) == expected
    return one
