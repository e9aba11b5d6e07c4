"""Whole builds, for tests of engines: an archive, builds of it, and what a store says."""

import json
from collections.abc import Sequence
from pathlib import Path

from click.testing import CliRunner

from arclink.cli.main import group
from arclink.demo import write_demo_archive
from arclink.model import Surt
from arclink.store.opening import open_store

ORIGINALS = 1_200
"""URIs of one payload: more than one pointer holds."""


def write_archive(folder: Path) -> None:
    """Write the demo archive, and a file in which one payload with relative links was captured at many URIs."""
    write_demo_archive(folder, captures=300, hosts=12, seed=2)
    body = b'<title>Page not found</title><a href="home.html">Home</a><a href="/">Start</a>'
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    with (folder / "soft-404.warc").open("wb") as file:
        for number in range(ORIGINALS):
            head = (
                "WARC/1.0\r\nWARC-Type: response\r\n"
                f"WARC-Target-URI: http://lost.example/folder-{number % 700}/page-{number}.html\r\n"
                f"WARC-Date: 2010-03-01T00:{number // 60 % 60:02}:{number % 60:02}Z\r\n"
                f"WARC-Record-ID: <urn:uuid:{number:032x}>\r\nContent-Type: application/http;msgtype=response\r\n"
                f"Content-Length: {len(http)}\r\n\r\n"
            )
            file.write(head.encode() + http + b"\r\n\r\n")


def build(archive: str | Path, store: Path, *options: str | Path) -> list[str]:
    """Build a store with ``arclink build``; return the lines it prints that every runner is to print."""
    words = ["build", archive, "--store", store, "--cores", "2", "--quiet", *options]
    done = CliRunner().invoke(group, list(map(str, words)))
    assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"
    return [line for line in done.output.splitlines() if " holds " not in line and "CPU" not in line]


def counts_of(store: Path) -> dict[str, dict[str, int]]:
    """Return the counts in the manifest of a store's only batch."""
    with open_store(str(store)) as opened:
        (batch,) = opened.batches()
        return json.loads(batch.manifest)["counts"]  # type: ignore[no-any-return]  # as docs/manifest.md has it


def answers(store: Path) -> list[object]:
    """Return all that a store says of all its SURTs: mementos, payloads, links in page order, and links to each, sorted."""
    said: list[object] = []
    with open_store(str(store)) as opened:
        assert not list(opened.verify())
        for surt in opened.surts(Surt("")):
            for memento in opened.mementos(surt):
                content = opened.content_of(memento)
                links: Sequence[object] = () if content is None else list(opened.outlinks(content))
                said.append((memento, opened.payload(memento.checksum), content, links))
            said.append((surt, sorted(map(repr, opened.inlinks(surt)))))
    return said
