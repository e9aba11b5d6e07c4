"""Too little memory and killed tasks cost one page, which is named and counted, never a build."""

import gzip
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from arclink.extract import extraction
from arclink.extract.feeds import links_of
from arclink.extract.html import PageLinks
from arclink.mapreduce.job import attempt_number
from arclink.model import Surt
from arclink.pipeline.settings import BuildSettings
from arclink.rows.pages import Page, format_page
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.archives.made_archives import http, warc
from tests.pipeline.small_process import measured

HTML = "Content-Type: text/html"
PAGES = 6
LINKS = 16 << 20
"""Bytes of the large page: a million links."""


def archive(path: Path, page: bytes) -> Path:
    """Write small pages with one link each, and one other page in their midst."""
    members = [
        gzip.compress(warc(f"http://h.example/{number}", http(b"<a href=/y>%d</a>" % number, HTML)))
        for number in range(PAGES)
    ]
    members.insert(PAGES // 2, gzip.compress(warc("http://h.example/large", http(page, HTML)), 1))
    path.write_bytes(b"".join(members))
    return path


@pytest.fixture(scope="module")
def million_links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = b"".join(b"<a href=/x%d>x</a>" % number for number in range(1_000_000))
    return archive(tmp_path_factory.mktemp("links") / "links.warc.gz", page[:LINKS])


def links_and_counts(store: Path) -> tuple[list[int], dict[str, dict[str, int]]]:
    """Return the number of links of each small page, and what the build counted."""
    with open_store(str(store)) as opened:
        (batch,) = opened.batches()
        links = []
        for number in range(PAGES):
            (memento,) = opened.mementos(Surt(f"example,h)/{number}"))
            content = opened.content_of(memento)
            links.append(0 if content is None else sum(1 for _ in opened.outlinks(content)))
        counts: dict[str, dict[str, int]] = orjson.loads(batch.manifest)["counts"]
    return links, counts


def build_words(path: Path, store: Path) -> list[str]:
    words = ["build", str(path), "--store", str(store), "--cores", "1", "--quiet"]
    return [sys.executable, "-m", "arclink.cli.main", *words]


@pytest.mark.parametrize("kilobytes", [800_000, 450_000, 350_000, 300_000, 250_000])
def test_a_page_that_needs_more_memory_than_there_is(
    million_links: Path, tmp_path: Path, kilobytes: int
) -> None:
    store = tmp_path / "links.db"
    limit = kilobytes << 10
    done = subprocess.run(
        build_words(million_links, store),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    if kilobytes == 800_000:
        assert done.returncode == 0, done.stderr
    if done.returncode:  # between what reading and what joining the page needs
        assert done.returncode == 1
        assert "allow more memory" in done.stderr, done.stdout + done.stderr
        return
    links, counts = links_and_counts(store)
    assert links == [1] * PAGES
    assert sum(counts["payloads"].values()) == PAGES + 1
    if kilobytes == 800_000:
        assert counts["links"]["LINK_KEPT"] == 200_000 + PAGES
    else:
        assert counts["payloads"] in (
            {"PAYLOAD_READ": PAGES + 1},
            {"PAYLOAD_READ": PAGES, "PAYLOAD_MEMORY": 1},
        )


def test_the_largest_page_takes_at_most_300_megabytes_more(
    million_links: Path, tmp_path: Path
) -> None:
    """The whole build: each process of it, the parser's tree and the join of its links included."""
    small = archive(tmp_path / "small.warc.gz", b"<a href=/y>y</a>")
    idle, _ = measured(build_words(small, tmp_path / "small.db"))
    largest, _ = measured(build_words(million_links, tmp_path / "links.db"))
    assert largest - idle < 300, (largest, idle)


def dies(when: Callable[[], bool], how: signal.Signals) -> Callable[..., PageLinks]:
    """Return a parser that ends its process at the large page."""

    def parse(html: bytes | str, *rest: object) -> PageLinks:
        if len(html) > 1_000 and when():
            os.kill(os.getpid(), how)
        return links_of(html)

    return parse


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_a_task_that_is_killed_once_loses_nothing(
    how: signal.Signals,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = archive(tmp_path / "a.warc.gz", b"<a href=/y>y</a>" * 100)
    monkeypatch.setattr(extraction, "links_of", dies(lambda: attempt_number() == 0, how))
    build_store(path, tmp_path / "links.db", BuildSettings(cores=1))
    links, counts = links_and_counts(tmp_path / "links.db")
    assert links == [1] * PAGES
    assert counts["payloads"] == {"PAYLOAD_READ": PAGES + 1}
    said = capfd.readouterr().err
    assert f"a task ended with signal {int(how)} ({how.name}:" in said
    assert "at a.warc.gz, offset " in said
    assert "it will be retried, alone" in said


def test_a_page_that_always_kills_its_task_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not the parser, which has a process of its own by then: all that is done with the page."""
    path = archive(tmp_path / "a.warc.gz", b"<a href=/y>y</a>" * 100)

    def format_or_die(page: Page) -> bytes:
        if len(page.links) > 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return format_page(page)

    monkeypatch.setattr(extraction, "format_page", format_or_die)
    build_store(path, tmp_path / "links.db", BuildSettings(cores=1))
    links, counts = links_and_counts(tmp_path / "links.db")
    assert links == [1] * PAGES
    assert counts["payloads"] == {"PAYLOAD_READ": PAGES, "PAYLOAD_CRASHED": 1}
    assert "it will be retried, without that page" in capfd.readouterr().err
