"""The contract of the jobs: every job on every runner of one machine writes the same rows and counts the same.

Rows are compared sorted, as bytes. What follows from how a runner splits its input is undone first: rows travel in blocks,
contents are written in blocks, and postings are flushed in portions, which inverting puts together.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from arclink.demo import write_demo_archive
from arclink.graph.relations import OUTLINKS, POSTINGS, Row, parse_outlinks, tag
from arclink.pipeline import stages
from arclink.pipeline.counts import Counts
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.planning import archive_paths, plan, read_pointers
from arclink.pipeline.running import JobRunner, parts_of, split_relations
from arclink.pipeline.settings import BuildSettings
from arclink.store.nothing import EmptyStore


@dataclass(frozen=True, slots=True)
class Inputs:
    """What each job reads."""

    index: Sequence[Path]
    filter: Sequence[Path]
    extract: Sequence[Path]
    join: Sequence[Path]
    invert: Sequence[Path]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    folder = tmp_path_factory.mktemp("jobs")
    write_demo_archive(folder / "archive", captures=300, hosts=12, seed=2)
    run = JobRunner("local", 2, folder / "tasks")
    files = describe(find_archives([str(folder / "archive")]), {})
    stages.index(files, folder, run)
    stages.filter_rows(parts_of(folder / "rows"), folder, BuildSettings(), run)
    planned = plan(read_pointers(parts_of(folder / "pointers")), EmptyStore(), archive_paths(files), folder / "manifests", 4)
    stages.extract(folder, files, EmptyStore(), BuildSettings(cores=2), run)
    stages.join(folder, run)
    stages.invert(folder, run)
    return Inputs(
        sorted((folder / "index-manifests").iterdir()),
        parts_of(folder / "rows"),
        planned.manifests,
        parts_of(folder / "pages"),
        parts_of(folder / "postings"),
    )


def as_they_are(parts: Sequence[Path]) -> list[bytes]:
    return sorted(line for part in parts for line in part.read_bytes().splitlines())


def without_blocks(parts: Sequence[Path]) -> list[Row]:
    return sorted(row for line in as_they_are(parts) for row in tag(line))


def with_flat_links(parts: Sequence[Path]) -> list[tuple[object, ...]]:
    """Return what a join wrote with a row for each content, and for each posting and content."""
    rows = without_blocks(parts)
    blocks = {block.name: block for relation, row in rows if relation == OUTLINKS for block in [parse_outlinks(row)]}
    flat: list[tuple[object, ...]] = [(relation, row) for relation, row in rows if relation not in (OUTLINKS, POSTINGS)]
    for block in blocks.values():
        flat += [(OUTLINKS, content, block.links_of(position)) for position, content in enumerate(block.contents)]
    for key, _, groups in (row.partition(b"\t") for relation, row in rows if relation == POSTINGS):
        for *head, sources in orjson.loads(groups):
            flat += [(POSTINGS, key, *head, blocks[name].contents[position]) for name, positions in sources for position in positions]
    return sorted(flat, key=repr)


@pytest.mark.parametrize(
    ("job", "rows_of"),
    [
        pytest.param("index", as_they_are, id="index"),
        pytest.param("filter", without_blocks, id="filter"),
        pytest.param("extract", without_blocks, id="extract"),
        pytest.param("join", with_flat_links, id="join"),
        pytest.param("invert", as_they_are, id="invert"),
    ],
)
def test_a_job_gives_the_same_on_every_runner(
    job: str, rows_of: Callable[[Sequence[Path]], list[object]], inputs: Inputs, tmp_path: Path
) -> None:
    rows, counts = {}, {}
    for runner, cores in (("inline", 1), ("local", 1), ("local", 3)):
        name = f"{runner}-{cores}"
        run = JobRunner(runner, cores, tmp_path / "tasks")
        counts[name] = run.run(job, getattr(inputs, job), tmp_path / name, BuildSettings().for_jobs())
        rows[name] = rows_of(parts_of(tmp_path / name))
    assert rows["inline-1"]
    assert rows["inline-1"] == rows["local-1"] == rows["local-3"]
    assert counts["inline-1"] == counts["local-1"] == counts["local-3"]


def test_what_split_relations_writes_is_what_the_job_wrote(inputs: Inputs, tmp_path: Path) -> None:
    run = JobRunner("inline", 1, tmp_path / "tasks")
    counts: Counts = run.run("filter", inputs.filter, tmp_path / "out", BuildSettings().for_jobs())
    rows = Counter(relation for relation, _ in without_blocks(parts_of(tmp_path / "out")))
    split_relations(tmp_path / "out", {b"mementos": tmp_path / "m", b"pointers": tmp_path / "p"}, "x")
    written = {b"mementos": len(as_they_are(parts_of(tmp_path / "m"))), b"pointers": len(as_they_are(parts_of(tmp_path / "p")))}
    assert written == rows
    assert sum(counts.values()) > rows[b"mementos"]
