"""Large archive files for the stage index, and the comparison of ranges with whole files."""

import gzip
from collections import Counter
from pathlib import Path

from arclink.mapreduce.runs import JobRunner, parts_of
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.records_read import damage_in
from arclink.pipeline.stages import Indexing
from arclink.reasons import Reason
from arclink.rows.file_ranges import parse_range
from arclink.store.protocols import KnownFile
from tests.archives.made_archives import gzipped
from tests.archives.odd_members import MEMBERS, NESTED, PAGES, digested

Outcome = tuple[list[bytes], Counter[Reason], list[str]]

HOLDER = gzip.compress(digested(99, NESTED * 12), 0, mtime=0)
STORED = gzipped(PAGES[:1]) + HOLDER + gzipped(PAGES[1:9])


def write_files(folder: Path) -> list[KnownFile]:
    """Write a large damaged file, a large file with an archive file in a record, small files."""
    folder.mkdir()
    damaged = MEMBERS["damaged"](7)
    (folder / "damaged.warc.gz").write_bytes(
        gzipped(PAGES[:19]) + damaged + gzipped(PAGES[19:])[:-50]
    )
    (folder / "nested.warc.gz").write_bytes(STORED)
    for number in range(3):
        (folder / f"small-{number}.warc.gz").write_bytes(gzipped(PAGES[number : number + 1]))
    return describe(find_archives([str(folder)]), {})


def indexed(files: list[KnownFile], run: JobRunner, folder: Path, least: int) -> Outcome:
    """Return rows, counts and damage, with ranges of at least some bytes."""
    counts = Indexing(folder, run, least).index(files)
    run.fetch(folder / "rows")
    run.fetch(folder / "findings")
    rows = [row for part in parts_of(folder / "rows") for row in part.read_bytes().splitlines()]
    return sorted(rows), counts, [str(damage) for damage in damage_in(folder, files)]


def check(files: list[KnownFile], run: JobRunner, folder: Path) -> None:
    """Assert that ranges give on a runner what whole files give here."""
    here = JobRunner("local", 2, folder / "here/tasks")
    rows, counts, damage = indexed(files, here, folder / "here", 1 << 30)
    in_ranges = indexed(files, run, folder / "work/ranges", 2_000)
    assert in_ranges[0] == rows
    assert in_ranges[1] - counts == Counter({Reason.NOTE_RANGES_REREAD: 1})
    assert counts - in_ranges[1] == Counter()
    assert in_ranges[2] == damage
    assert counts[Reason.FILE_INDEXED] == len(files)
    assert len(damage) == 1
    manifests = (folder / "work/ranges/index-manifests").iterdir()
    lines = [line for path in manifests for line in path.read_bytes().splitlines()]
    divided = {part.name for part in map(parse_range, lines) if part.number is not None}
    assert divided == {"damaged.warc.gz", "nested.warc.gz"}
