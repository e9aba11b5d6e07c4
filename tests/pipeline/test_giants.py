"""Records that are very large or decompress to very much: builds end in bounded memory.

Whatever is cut is counted.
"""

import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from arclink.extract.bounds import MOST_BYTES
from arclink.model import Surt
from arclink.store.location import open_store
from tests.archives.made_archives import http, warc
from tests.pipeline.small_process import measured

MEGABYTE = 1 << 20
LINKS_IN_A_TREE = MOST_BYTES // 700
"""Links of ``LINKS`` that are parsed, at 700 estimated bytes each."""
HTML = "Content-Type: text/html"
LINKS = b"<a href=/x>x</a>" * (MEGABYTE // 16)


def deflated(pieces: Iterator[bytes]) -> bytes:
    """Return a gzip member of pieces that are never in memory together."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return b"".join([*map(packer.compress, pieces), packer.flush()])


def giant(uri: str, start: bytes, megabytes: int, piece: bytes) -> bytes:
    """Return a member with a response whose body is a piece of a megabyte, again and again."""
    record = warc(uri, http(start, HTML))
    head, _, rest = record.partition(b"\r\n\r\n")
    length = len(rest) - 4 + megabytes * MEGABYTE
    head = head.rpartition(b"\r\n")[0] + f"\r\nContent-Length: {length}\r\n\r\n".encode()
    return deflated(iter([head + rest[:-4], *[piece] * megabytes, b"\r\n\r\n"]))


def test_giants_and_bombs_are_cut_and_counted_in_bounded_memory(tmp_path: Path) -> None:
    bomb = deflated(iter([LINKS] * 40))
    members = [
        giant("http://h.example/links", b"", 20, LINKS),
        giant("http://h.example/text", b"<a href=/y>y</a>", 100, bytes(MEGABYTE)),
        giant("http://h.example/deep", b"<a href=/y>y</a>", 8, b"<div>" * (MEGABYTE // 5) + b" "),
        deflated(iter([warc("http://h.example/bomb", http(bomb, HTML, "Content-Encoding: gzip"))])),
        deflated(
            iter(
                [
                    warc(
                        "http://h.example/head",
                        http(b"x", HTML),
                        "X-Long: " + "x" * (10 * MEGABYTE),
                    )
                ]
            )
        ),
        deflated(
            iter(
                [
                    warc(
                        "http://h.example/http",
                        http(b"<a href=/y>y</a>", HTML, "X-Long: " + "x" * (10 * MEGABYTE)),
                    )
                ]
            )
        ),
        deflated(
            iter(
                [
                    warc(
                        "http://h.example/many",
                        http(b"<a href=/y>y</a>", HTML, *["X-A: b"] * 200_000),
                    )
                ]
            )
        ),
        deflated(
            iter(
                [
                    warc(
                        "http://h.example/uri",
                        http(b"<a href='" + b"u" * 100_000 + b"'>y</a><a href=/y>y</a>", HTML),
                    )
                ]
            )
        ),
    ]
    (tmp_path / "giants.warc.gz").write_bytes(b"".join(members))
    store = tmp_path / "l.db"
    words = [
        "build",
        str(tmp_path / "giants.warc.gz"),
        "--store",
        str(store),
        "--cores",
        "1",
        "--quiet",
    ]
    largest, cpu = measured([sys.executable, "-m", "arclink.cli.main", *words])
    assert (
        largest < 600
    )  # a page of 16 MiB that is nothing but links takes 33 % of that above the idle process
    assert cpu < 120
    with open_store(str(store)) as opened:
        (batch,) = opened.batches()
        counts = json.loads(batch.manifest)["counts"]
        found = {}
        for name in ("text", "deep", "http", "many", "uri"):
            (memento,) = opened.mementos(Surt(f"example,h)/{name}"))
            content = opened.content_of(memento)
            assert content is not None, name
            found[name] = [link.target for link in opened.outlinks(content)]
    assert list(found.values()) == [["http://h.example/y"]] * 5
    assert counts["records"] == {"RECORD_INDEXED": 7, "RECORD_DAMAGED": 1}
    assert counts["payloads"] == {"PAYLOAD_READ": 7}
    assert counts["notes"] == {"NOTE_PAYLOAD_CUT": 3, "NOTE_NESTING_CUT": 1, "NOTE_TREE_CUT": 3}
    assert counts["links"]["LINK_KEPT"] == 2 * 200_000 + 5
    assert counts["links"]["LINK_TOO_MANY"] == 2 * (LINKS_IN_A_TREE - 200_000)
    assert counts["links"]["LINK_TOO_LONG"] == 1
