"""Archives, builds and the data of stores, for tests of engines."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.demo import write_demo_archive
from arclink.mapreduce.runs import JOBS, Job, JobRunner
from arclink.model import Surt
from arclink.store.location import open_store
from arclink.store.protocols import Cluster
from tests.engines.slow_extract import POISON, SlowExtract

ORIGINALS = 1_200
"""URIs of one payload: more than one pointer holds."""

SECONDS = 300.0
"""How long a fault waits for its moment."""


def write_archive(folder: Path) -> None:
    """Write the demo archive, and a file in which one payload with relative links was captured at
    many URIs.
    """
    write_demo_archive(folder, captures=300, hosts=12, seed=2)
    body = b'<title>Page not found</title><a href="home.html">Home</a><a href="/">Start</a>'
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )
    with (folder / "soft-404.warc").open("wb") as file:
        for number in range(ORIGINALS):
            head = (
                "WARC/1.0\r\nWARC-Type: response\r\n"
                f"WARC-Target-URI: http://lost.example/folder-{number % 700}/page-{number}.html\r\n"
                f"WARC-Date: 2010-03-01T00:{number // 60 % 60:02}:{number % 60:02}Z\r\n"
                f"WARC-Record-ID: <urn:uuid:{number:032x}>\r\nContent-Type: "
                "application/http;msgtype=response\r\n"
                f"Content-Length: {len(http)}\r\n\r\n"
            )
            file.write(head.encode() + http + b"\r\n\r\n")


def write_poisoned_archive(folder: Path) -> None:
    """Write the demo archive, and a file with a page that takes the parser of
    `tests.engines.slow_extract` down.
    """
    write_demo_archive(folder, captures=300, hosts=12, seed=2)
    body = f'<p>{POISON}</p><a href="/never">never seen</a>'.encode()
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )
    (folder / "poisoned.warc").write_bytes(
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://poison.example/\r\n"
        b"WARC-Date: 2010-03-01T00:00:00Z\r\n"
        b"WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http;msgtype=response\r\n"
        b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (len(http), http)
    )


def crashed(rows: Iterable[object]) -> int:
    """Return the number of payloads that crashed their parser."""
    return sum("PAYLOAD_CRASHED" in repr(row) for row in rows)


@contextmanager
def extracting_slowly() -> Iterator[None]:
    """Have the job called ``extract`` be `tests.engines.slow_extract.SlowExtract`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(JOBS, "extract", Job("extract", lambda: SlowExtract))
        yield


def when(condition: Callable[[], bool], action: Callable[[], None], begun: threading.Event) -> None:
    """Wait until a condition holds, report it, and act: a busy machine may react slowly."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if condition():
            begun.set()
            action()
            return
        time.sleep(0.2)


def build(archive: str | Path, store: str | Path, *options: str | Path) -> list[str]:
    """Build a store with ``arclink build``; return the lines it prints that every runner is to
    print.
    """
    words = ["build", archive, "--store", store, "--cores", "2", "--quiet", *options]
    done = CliRunner().invoke(group, list(map(str, words)))
    assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"
    # Times differ; the table of the rules has its own in the row of all of them.
    times = re.compile(r" holds |CPU|^ +all ")
    return [line for line in done.output.splitlines() if not times.search(line)]


def build_small(archive: str, store: Path, conf: Path) -> None:
    """Build a store on Hadoop without a number of cores: the archive is small.

    Args:
        archive: Address in HDFS.
        store: Path of the new store, whose name is that of the folder in HDFS, too.
        conf: mrjob's settings for the tests.
    """
    own = store.with_suffix(".conf")
    jobs = f"cmdenv: {{PYTHONPATH: {Path(__file__).resolve().parents[2]}}}"
    own.write_text(f"include: {conf}\nrunners: {{hadoop: {{{jobs}}}}}\n")
    words = ["build", archive, "--store", store, "--quiet", "--runner", "hadoop"]
    words += ["--engine-conf", own, "--engine-folder", f"hdfs:///small/{store.stem}"]
    done = CliRunner().invoke(group, list(map(str, words)))
    assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"


def begin_stores(archive: Path, *stores: Path) -> None:
    """Write the demo archive; build each store from its first two files, one after the other."""
    write_demo_archive(archive, captures=60, hosts=4, seed=2)
    for store in stores:
        for file in sorted(archive.glob("*.warc*"))[:2]:
            build(file, store)


def counts_of(store: Path) -> dict[str, dict[str, int]]:
    """Return the counts in the manifest of a store's only batch."""
    with open_store(str(store)) as opened:
        (batch,) = opened.batches()
        return json.loads(batch.manifest)["counts"]  # type: ignore[no-any-return]  # as docs/reference/manifest.md has it


def answers(store: str | Path) -> list[object]:
    """Return all answers of a store about all its SURTs: mementos, payloads, links in page order,
    and links to each, sorted.
    """
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


@dataclass(frozen=True, slots=True)
class Here:
    """A build on this machine, which one on an engine is compared with.

    Attributes:
        archive: Folder with what was built.
        store: Its store.
        said: What the build printed.
        answers: What the store answers.
    """

    archive: Path
    store: Path
    said: list[str]
    answers: list[object]


def cluster_of(run: Callable[[Sequence[Path], Mapping[str, object]], None]) -> Cluster:
    """Return an engine that stores its files on this machine."""
    here = JobRunner("local", 2, Path("tasks"))
    return Cluster(str, run, here.sizes, here.checksum)


def build_here(folder: Path) -> Here:
    """Write an archive, and build its store."""
    archive, store = folder / "archive", folder / "local.db"
    write_archive(archive)
    said = build(archive, store)
    found = Here(archive, store, said, answers(store))
    assert len(found.answers) > ORIGINALS
    return found
