"""Pointers to the captures of a stream, and the job that applies a function to their pages."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from arclink.captures.pointers import function_named, map_pages, write_pointers
from arclink.captures.read import CapturedPage
from arclink.captures.stream import CaptureStream
from arclink.errors import UsageError
from arclink.extract.extraction import PAGES, extract_pointers
from arclink.extract.settings import ExtractSettings
from arclink.reasons import Reason
from tests.captures.reading import bytes_of, lines_of, opened, query_of
from tests.demos import Demos

ROOT = Path(__file__).parents[2]


def pointers_of(store: Path, folder: Path, at_once: int = 70) -> list[Path]:
    with opened(store) as (graph, reader):
        counts = list(
            write_pointers(CaptureStream(graph, reader, query_of("file")), folder, at_once)
        )
    assert sum(counts) == 300
    return sorted(folder.glob("part-*"))


def size_of(page: CapturedPage) -> object:
    return [page.status, sum(map(len, page.decoded()))]


def test_a_function_gets_each_page_of_the_stream(demos: Demos, tmp_path: Path) -> None:
    counts: Counter[Reason] = Counter()
    found: list[dict[str, object]] = []
    for path in pointers_of(demos.store(), tmp_path):
        found += map(orjson.loads, map_pages(path.read_bytes().splitlines(), size_of, counts))
    captures, _ = lines_of(bytes_of(demos.store(), query_of("file")))
    read = {(one["uri"], one["timestamp"]) for one in captures if "body" in one}
    assert {(one["uri"], one["timestamp"]) for one in found} <= read
    assert len(found) == counts[Reason.PAYLOAD_READ]
    assert counts.total() == 300
    assert len(found) > 280


def test_a_function_may_give_several_values_or_none(demos: Demos, tmp_path: Path) -> None:
    def words(page: CapturedPage) -> Iterator[object]:
        yield from page.status

    (path, *_) = pointers_of(demos.store(), tmp_path)
    lines = path.read_bytes().splitlines()[:1]
    values = [json.loads(one)["value"] for one in map_pages(lines, words, Counter())]
    assert values == list("200")
    assert list(map_pages(lines, lambda page: None, Counter())) == []


def test_extraction_reads_the_pointers(demos: Demos, tmp_path: Path) -> None:
    (path, *_) = pointers_of(demos.store(), tmp_path, 300)
    counts: Counter[Reason] = Counter()
    rows = extract_pointers(path.read_bytes().splitlines(), ExtractSettings(), counts)
    assert sum(relation == PAGES for relation, _ in rows) > 150
    assert counts[Reason.FILE_OPENED] >= 8


@pytest.mark.parametrize("name", ["json", "json:no", "no_such_module:x", ":", "json:__name__"])
def test_a_function_that_does_not_exist_is_named(name: str) -> None:
    with pytest.raises(UsageError, match="--function"):
        function_named(name)


def mapped(folder: Path, pointers: list[Path], *options: str) -> list[str]:
    """Return the titles of all pages, sorted, as the job writes them."""
    command = [sys.executable, str(ROOT / "jobs/map_pages.py"), *options]
    asked = ["--function", "arclink.captures.text:read_text", *map(str, pointers)]
    output = folder / "out"
    shutil.rmtree(output, ignore_errors=True)
    subprocess.run([*command, *asked, "--output-dir", str(output)], check=True, cwd=ROOT)
    lines = [line for path in output.rglob("part-*") for line in path.read_text().splitlines()]
    return sorted(json.loads(line)["value"]["title"] for line in lines)


def test_the_job_runs_on_one_machine(demos: Demos, tmp_path: Path) -> None:
    pointers = pointers_of(demos.store(), tmp_path / "pointers", 200)
    titles = mapped(tmp_path, pointers, "-r", "inline")
    assert len(titles) > 250
    assert any(titles)
