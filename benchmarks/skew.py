"""Cost of skew: one payload captured at very many URIs, and one target with very many inlinks.

    python -m benchmarks.skew --uris 20000 200000 --inlinks 20000 100000

Each stage runs in a process of its own. The program prints its peak memory and CPU seconds. A stage
whose memory grows with the numbers is not bounded.
"""

import argparse
import base64
import gzip
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.measurement import Figure, measure

PAGE = b'<a href="next.html">Next</a><a href="/">Home</a><a href="http://hub.example/">Hub</a>'


def record(uri: str, body: bytes) -> bytes:
    """Return a response as a gzip member."""
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    fields = (
        "WARC-Type: response",
        f"WARC-Target-URI: {uri}",
        "WARC-Date: 2020-01-01T00:00:00Z",
        f"Content-Length: {len(block)}",
    )
    head = "\r\n".join(["WARC/1.0", *fields, "", ""])
    return gzip.compress(head.encode() + block + b"\r\n\r\n", 1, mtime=0)


def row(uri: str, mime: str, body: bytes, offset: int, length: int) -> str:
    """Return a CDX row of 11 columns."""
    digest = base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()
    return f"- 20200101000000 {uri} {mime} 200 {digest} - - {length} {offset} skew.warc.gz\n"


def payload_at_many_uris(count: int) -> Iterator[tuple[str, bytes | None]]:
    """Yield (URI, page or None for a revisit) of one payload, each in a directory of its own."""
    for number in range(count):
        yield f"http://h{number % 1000}.example/{number}/page.html", PAGE if number == 0 else None


def target_of_many_pages(count: int) -> Iterator[tuple[str, bytes | None]]:
    """Yield (URI, page) of pages that differ and all link to one target."""
    for number in range(count):
        yield (
            f"http://h{number % 1000}.example/{number}",
            b"<p>%d</p><a href='http://hub.example/'>Hub</a>" % number,
        )


def write(folder: Path, captures: Iterable[tuple[str, bytes | None]]) -> None:
    """Write ``skew.warc.gz`` and ``skew.cdx``.

    Revisits have a row and no record, since no stage reads it.
    """
    with (folder / "skew.warc.gz").open("wb") as archive, (folder / "skew.cdx").open("w") as rows:
        for uri, body in captures:
            if body is None:
                rows.write(row(uri, "warc/revisit", PAGE, 0, 100))
                continue
            member = record(uri, body)
            rows.write(row(uri, "text/html", body, archive.tell(), len(member)))
            archive.write(member)


def write_apart(folder: Path, captures: Iterable[tuple[str, bytes | None]]) -> None:
    """Write in a child process: what is measured counts from the memory that this one has."""
    pid = os.fork()
    if not pid:
        write(folder, captures)
        os._exit(0)
    os.waitpid(pid, 0)


def stages(folder: Path) -> Iterator[tuple[str, Figure]]:
    """Yield what each stage costs, and the question for all inlinks of the hub."""
    batch = str(folder / "batch")
    words = {
        "filter": ["filter", str(folder / "skew.cdx"), "--into", batch],
        "extract": ["extract", str(folder / "skew.warc.gz"), "--into", batch],
        "graph": ["graph", "--into", batch],
        "load": ["load", "--folder", batch, "--store", str(folder / "links.db")],
    }
    words["links"] = ["links", "http://hub.example/", "--store", str(folder / "links.db")]
    words["links"] += ["--direction", "in", "--limit", "0", "--format", "jsonl"]
    for stage, call in words.items():
        yield stage, measure([sys.executable, "-m", "arclink.cli.main", *call])


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--uris", type=int, nargs="*", default=[20_000, 200_000], help="URIs of one payload"
    )
    parser.add_argument(
        "--inlinks",
        type=int,
        nargs="*",
        default=[20_000, 100_000],
        help="pages that link to one target",
    )
    asked = parser.parse_args()
    print("| what | stage | MB | CPU s |\n| --- | --- | --- | --- |")
    for name, numbers, captures in (
        ("URIs", asked.uris, payload_at_many_uris),
        ("inlinks", asked.inlinks, target_of_many_pages),
    ):
        for number in numbers:
            with tempfile.TemporaryDirectory() as folder:
                write_apart(Path(folder), captures(number))
                for stage, figure in stages(Path(folder)):
                    print(
                        f"| {number:,} {name} | {stage} | {figure.largest:.0f} | "
                        f"{figure.cpu:.1f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
