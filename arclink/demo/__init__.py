"""A generated archive with known links: WARC files, and the answers that the graph must give.

`write_demo_archive` writes both. ``docs/explanation/demo-archive.md`` describes the archive and the
format of its list of true links.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arclink.demo.captures import Crawler, DemoCapture, Dice, in_order
from arclink.demo.evolution import Evolution, SiteGraph
from arclink.demo.pages import sites
from arclink.demo.scenes import scenes
from arclink.demo.warcs import write_warcs
from arclink.errors import OperatorError, UsageError

__all__ = ["DemoSummary", "write_demo_archive"]

_TRUTH = "truth.jsonl"

_PAGES_A_CAPTURE = 0.25


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """The contents of a demo archive.

    Attributes:
        files: WARC files, in order of time.
        truth: File with the list of true links.
        captures: Number of mementos.
        originals: Number of distinct URIs captured.
        links: Number of links of all mementos together, as listed in the truth.
        bytes: Bytes of all WARC files.
        example_uri: A URI with a rich history: its links change their words.
    """

    files: tuple[Path, ...]
    truth: Path
    captures: int
    originals: int
    links: int
    bytes: int
    example_uri: str


def write_demo_archive(folder: Path, captures: int, hosts: int, seed: int) -> DemoSummary:
    """Write a demo archive into ``folder``, in place of an earlier one.

    The same arguments give the same captures and the same truth everywhere, and the same bytes
    wherever zlib compresses in the same way.

    Args:
        folder: Created if it does not exist. Files with other names in it are not changed.
        captures: Exact number of mementos in the archive; at least 1. With 300 or more, all scenes
            are included.
        hosts: Number of sites in the site graph, at least 2; scenes use a few more, and variants
            with ``www.``.
        seed: Any number.

    Raises:
        UsageError: ``captures`` or ``hosts`` is too small.
        OperatorError: The folder cannot be written to.
    """
    if captures < 1:
        raise UsageError(f"captures: {captures} is too few, at least 1 is needed")
    if hosts < 2:
        raise UsageError(f"hosts: {hosts} is too few, at least 2 are needed")
    made = in_order(_captures(captures, hosts, seed))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _clear(folder)
        files = write_warcs(folder, made, seed)
        links = _write_truth(folder / _TRUTH, made)
        size = sum(path.stat().st_size for path in files)
    except OSError as error:
        raise OperatorError(
            f"the demo archive cannot be written to {folder}: {error.strerror}; choose "
            "another folder"
        ) from error
    originals = {capture.original for capture in made}
    example = "http://www.kalvik2010.example/ceremony/opening.html"
    if example not in originals:
        example = made[0].original
    return DemoSummary(
        tuple(files), folder / _TRUTH, len(made), len(originals), links, size, example
    )


def _captures(count: int, hosts: int, seed: int) -> list[DemoCapture]:
    """Return the scenes that fit into ``count`` captures, and ordinary crawls for the rest."""
    crawler = Crawler(Dice(seed))
    stage = sites(hosts)
    made: list[DemoCapture] = []
    for scene in scenes(stage, crawler):
        if len(made) + len(scene) <= count:
            made += scene
    ordinary = count - len(made)
    graph = SiteGraph(stage, int(ordinary * _PAGES_A_CAPTURE), crawler.dice)
    made += Evolution(graph, crawler).captures(ordinary)
    return made


def _clear(folder: Path) -> None:
    """Remove the files of an earlier demo archive, which may have had more files."""
    for path in folder.iterdir():
        if re.fullmatch(r"demo-\d{5,}\.warc\.gz", path.name) or path.name == _TRUTH:
            path.unlink()


def _write_truth(path: Path, captures: Sequence[DemoCapture]) -> int:
    """Write one line of JSON per capture, in the order of their records.

    Return the number of links.
    """
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for capture in captures:
            links = capture.links()
            count += len(links or ())
            row = {
                "original": capture.original,
                "timestamp": capture.timestamp,
                "status": "-" if capture.status is None else str(capture.status),
                "record_type": capture.record_type,
                "links": links,
            }
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return count
