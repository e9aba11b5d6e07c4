"""The contract of the jobs: their input, and how tests compare their rows, for every runner.

Rows are compared as sorted bytes. Differences that follow from how a runner splits its input are
removed first: rows in blocks, contents in blocks, and postings in portions, which invert joins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

import orjson
import pytest

from arclink.demo import write_demo_archive
from arclink.extract.reading_tasks import assign_files, format_files
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from arclink.pipeline import stages
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.rows import read_pointers, write_pointers
from arclink.pipeline.settings import BuildSettings
from arclink.pipeline.stages import Indexing
from arclink.reasons import Reason
from arclink.rows.pointers import PointerKind
from arclink.rows.relations import (
    HUB,
    MEMENTOS,
    OUTLINKS,
    POSTINGS,
    Row,
    parse_outlinks,
    split_target_key,
    tag,
)
from arclink.store.known_payloads import is_of_checksum
from arclink.store.protocols import EmptyStore, KnownFile


@dataclass(frozen=True, slots=True)
class Inputs:
    """What each job reads, and the settings of all jobs."""

    all_settings: Mapping[str, object]
    index: Sequence[Path]
    filter: Sequence[Path]
    extract: Sequence[Path]
    find: Sequence[Path]
    join: Sequence[Path]
    invert: Sequence[Path]

    def settings(self, job: str) -> Mapping[str, object]:
        """Return the settings that a job knows."""
        known = {one.name for one in JOBS[job].load().SETTINGS}
        return {name: value for name, value in self.all_settings.items() if name in known}


def make_inputs(folder: Path) -> Inputs:
    """Return the input of each job for a demo archive, made by the runner for one machine."""
    write_demo_archive(folder / "archive", captures=300, hosts=12, seed=2)
    run = JobRunner("local", 2, folder / "tasks")
    files = describe(find_archives([str(folder / "archive")]), {})
    in_ranges = Indexing(folder, JobRunner("local", 8, folder / "tasks"), least=20_000)
    assert in_ranges.index(files)[Reason.FILE_INDEXED] == len(files)
    manifests = sorted((folder / "index-manifests").iterdir())
    lines = [line for path in manifests for line in path.read_bytes().splitlines()]
    assert len(lines) > len(files), "a file is read in ranges"
    stages.filter_rows(parts_of(folder / "rows"), folder, BuildSettings(), run)
    stages.extract(folder, files, EmptyStore(), BuildSettings(cores=2), run)
    stages.join(folder, run)
    stages.invert(folder, run)
    postings = parts_of(folder / "postings")
    assert any(HUB in key.partition(HUB)[2] for key in keys_of(postings)), "a hub has several keys"
    pointers, mementos = parts_of(folder / "pointers"), parts_of(folder / "mementos")
    waits = write_waiting(pointers, folder / "waiting")
    waits.write_bytes(b"".join(part.read_bytes() for part in (waits, *pointers)))
    return Inputs(
        {**extract_settings(files, folder / "reading-tasks"), "recorded": True, "forgotten": []},
        manifests,
        parts_of(folder / "rows"),
        pointers,
        [waits, *mementos],
        parts_of(folder / "pages"),
        [*postings, *mementos],
    )


def write_waiting(pointers: Sequence[Path], path: Path) -> Path:
    """Write pointers that wait: every third payload, in turn for each reason to wait."""
    kinds = cycle([PointerKind.UNREAD, PointerKind.PASSED, PointerKind.GIVEN_UP])
    named = [pointer for pointer in read_pointers(pointers) if is_of_checksum(pointer)]
    waiting = (replace(one, kind=kind) for one, kind in zip(named[::3], kinds, strict=False))
    assert write_pointers(waiting, path) > 10
    return path


def extract_settings(files: Sequence[KnownFile], path: Path) -> Mapping[str, object]:
    """Return the settings of an extract job with four reading tasks.

    Args:
        files: The archive files to read.
        path: File for their reading tasks; it is written.
    """
    sizes = ((file.name, file.path, file.size) for file in files)
    path.write_bytes(format_files(assign_files(sizes, 4)))
    return {**BuildSettings().for_jobs(), "files": str(path), "tasks": 4, "store": None}


def keys_of(parts: Sequence[Path]) -> list[bytes]:
    return [row.partition(b"\t")[0] for row in as_they_are(parts)]


def as_they_are(parts: Sequence[Path]) -> list[bytes]:
    return sorted(line for part in parts for line in part.read_bytes().splitlines())


def in_order(parts: Sequence[Path]) -> list[bytes]:
    """Return the rows of parts, each of which has all mementos of its SURTs, in order."""
    surts: set[bytes] = set()
    for part in parts:
        tagged = (line.partition(b"\t") for line in part.read_bytes().splitlines())
        rows = [row for relation, _, row in tagged if relation == MEMENTOS]
        assert rows == sorted(rows)
        own = {row.partition(b"\t")[0] for row in rows}
        assert not own & surts
        surts |= own
    return as_they_are(parts)


def without_blocks(parts: Sequence[Path]) -> list[Row]:
    return sorted(row for line in as_they_are(parts) for row in tag(line))


def with_flat_links(parts: Sequence[Path]) -> list[tuple[object, ...]]:
    """Return the output of a join with a row for each content, and for each posting and content."""
    rows = without_blocks(parts)
    blocks = {
        block.name: block
        for relation, row in rows
        if relation == OUTLINKS
        for block in [parse_outlinks(row)]
    }
    flat: list[tuple[object, ...]] = [
        (relation, row) for relation, row in rows if relation not in (OUTLINKS, POSTINGS)
    ]
    for block in blocks.values():
        flat += [
            (OUTLINKS, content, block.links_of(position))
            for position, content in enumerate(block.contents)
        ]
    for key, _, groups in (row.partition(b"\t") for relation, row in rows if relation == POSTINGS):
        for *head, sources in orjson.loads(groups):
            flat += [
                (POSTINGS, split_target_key(key), *head, blocks[name].contents[position])
                for name, positions in sources
                for position in positions
            ]
    return sorted(flat, key=repr)


CASES = [
    pytest.param("index", as_they_are, id="index"),
    pytest.param("filter", without_blocks, id="filter"),
    pytest.param("extract", without_blocks, id="extract"),
    pytest.param("find", as_they_are, id="find"),
    pytest.param("join", with_flat_links, id="join"),
    pytest.param("invert", in_order, id="invert"),
]
"""Each job, and what makes its rows comparable."""
