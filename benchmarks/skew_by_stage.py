"""Records and bytes per task of each stage, where the data are skewed.

    python -m benchmarks.skew_by_stage --sizes 10000 100000
    python -m benchmarks.skew_by_stage --sizes --index 100

Each archive has ordinary pages and one skewed item: a target with very many inlinks, a payload
captured at very many URIs, a host with 33 % of the pages, or an archive file of 50 MB at the
second size. The stages run on this machine. The table has what each of `TASKS` tasks of an engine
would get: lines of the shuffle by the hash of their key, records to read by `ReadingTasks`.
``--only TEXT`` takes the cases with this text in their names. ``--index`` is the size in MB of one
file without CDX: its bytes per task of *index*, and the CPU time of reading it in ranges and whole.
"""

import argparse
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, BinaryIO, NamedTuple
from zlib import crc32

from arclink.extract.reading_tasks import ReadingTasks, assign_files
from arclink.filter.index import index_archive, index_range
from arclink.mapreduce.runs import JOBS, JobRunner
from arclink.pipeline import stages
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.rows import read_pointers
from arclink.pipeline.settings import BuildSettings
from arclink.rows.file_ranges import FileRange, Finding, RangeReport, ranges_of
from arclink.store.protocols import EmptyStore
from benchmarks.skew import PAGE, payload_at_many_uris, record, row, target_of_many_pages

TASKS = 16
FILES = 32
HOSTS = 1_000
Captures = Iterable[tuple[str, bytes | None]]


class Load(NamedTuple):
    """What the tasks of a stage get: number of records, and bytes."""

    records: Counter[int]
    sizes: Counter[int]


def page(number: int, links: int = 3) -> bytes:
    """Return a page with links to other pages."""
    targets = (f"http://h{(number * 7 + one) % HOSTS}.example/{one}" for one in range(links))
    return b"<p>%d</p>" % number + b"".join(b"<a href='%b'>x</a>" % uri.encode() for uri in targets)


def ordinary(count: int) -> Iterator[tuple[str, bytes | None]]:
    """Yield pages of many hosts."""
    for number in range(count):
        yield f"http://h{number % HOSTS}.example/page/{number}", page(number)


def one_host(count: int) -> Iterator[tuple[str, bytes | None]]:
    """Yield pages of one host."""
    for number in range(count):
        yield f"http://large.example/page/{number}", page(-1 - number)


def large_file(count: int) -> Iterator[tuple[str, bytes | None]]:
    """Yield pages of 5 KB when compressed, for a file of their own."""
    for number in range(count // 10):
        noise = random.Random(number).randbytes(4_500).hex().encode()
        yield f"http://h{number % HOSTS}.example/long/{number}", page(number) + noise


CASES: dict[str, tuple[Callable[[int], Captures], bool]] = {
    "inlinks of one target": (target_of_many_pages, False),
    "captures of one payload": (payload_at_many_uris, False),
    "pages of one host": (one_host, False),
    "records in one file": (large_file, True),
}
"""The skewed captures by name, and whether they are in a file of their own."""


def write(folder: Path, size: int, skewed: Captures, *, is_apart: bool) -> None:
    """Write archive files with a CDX: twice as many ordinary pages as skewed captures."""
    with (folder / "skew.cdx").open("w") as rows:
        files: list[tuple[str, BinaryIO]] = []
        for number in range(FILES + is_apart):
            name = f"file-{number:03d}.warc.gz"
            files.append((name, (folder / name).open("wb")))
        for number, (uri, body) in enumerate(chain(ordinary(2 * size), skewed)):
            name, archive = files[-1 if is_apart and number >= 2 * size else number % FILES]
            if body is None:
                line = row(uri, "warc/revisit", PAGE, 0, 100)
            else:
                member = record(uri, body)
                line = row(uri, "text/html", body, archive.tell(), len(member))
                archive.write(member)
            rows.write(line.replace("skew.warc.gz", name))
        for _, archive in files:
            archive.close()


def lines_of(parts: Iterable[Path]) -> Iterator[bytes]:
    """Yield the lines of parts."""
    for part in parts:
        with part.open("rb") as lines:
            yield from map(bytes.rstrip, lines)


def shuffled(name: str, parts: Iterable[Path], settings: object = ()) -> Load:
    """Return the load of the reduce tasks of a job."""
    job_class: Any = JOBS[name].load()  # Any: mrjob has no types
    job = job_class(["--no-conf", "--settings", json.dumps(settings or {})])
    job.counts = Counter()
    load = Load(Counter(dict.fromkeys(range(TASKS), 0)), Counter(dict.fromkeys(range(TASKS), 0)))
    for key, value in job.map_lines(lines_of(parts)):
        task = crc32(key) % TASKS
        load.records[task] += 1
        load.sizes[task] += len(key) + len(value) + 2
    return load


def loads(folder: Path) -> Iterator[tuple[str, Load]]:
    """Yield the load of each stage of a build."""
    run = JobRunner("local", 2, folder / "tasks")
    settings = BuildSettings(cores=2)
    cdx, work = folder / "skew.cdx", folder / "work"
    files = describe(find_archives([str(folder)]), {})
    yield "filter", shuffled("filter", [cdx], settings.for_jobs())
    stages.filter_rows([cdx], work, settings, run)
    tasks = ReadingTasks(
        assign_files(((one.name, one.path, one.size) for one in files), TASKS), TASKS
    )
    read = Load(Counter(), Counter())
    for pointer in read_pointers(run.parts(work / "pointers")):
        task, _, _ = tasks.assign(pointer)
        read.records[task] += 1
        read.sizes[task] += max(pointer.length, 0)
    yield "extract", read
    stages.extract(work, files, EmptyStore(), settings, run)
    yield "join", shuffled("join", run.parts(work / "pages"))
    stages.join(work, run)
    mementos = run.parts(work / "mementos")
    yield "invert", shuffled("invert", [*run.parts(work / "postings"), *mementos])


def index_in_ranges(path: Path, tasks: int) -> Iterator[tuple[int, float, int]]:
    """Yield the bytes, the CPU seconds and the number of rows of each task."""
    ranges = ranges_of(FileRange(path.name, str(path)), path.stat().st_size, tasks)
    for number, part in enumerate(ranges):
        report = RangeReport(number, Finding(path.name, "index"))
        before = process_time()
        rows = sum(1 for _ in index_range(part, report))
        assert report.first is not None
        assert report.following is not None
        yield report.following - report.first, process_time() - before, rows


def show_index(megabytes: int) -> None:
    """Print what the tasks of *index* read of one file, and the CPU time compared with one task."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "large.warc.gz")
        with path.open("wb") as archive:
            for number in count():
                if archive.tell() >= megabytes << 20:
                    break
                body = page(number) + random.Random(number).randbytes(20_000)
                archive.write(record(f"http://h{number % HOSTS}.example/{number}", body))
        print("| MB | rows | bytes: median | slowest | ratio | CPU s: whole | ranges | ratio |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for _ in range(3):
            before = process_time()
            rows = sum(1 for _ in index_archive(str(path), path.name, Counter()))
            whole = process_time() - before
            sizes, seconds, counts = zip(*index_in_ranges(path, TASKS), strict=True)
            assert sum(counts) == rows
            middle = median(sizes)
            print(
                f"| {megabytes} | {rows:,} | {middle:,.0f} | {max(sizes):,} | "
                f"{max(sizes) / middle:.2f} | {whole:.2f} | {sum(seconds):.2f} | "
                f"{sum(seconds) / whole:.2f} |",
                flush=True,
            )


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--only", default="", help="part of the names of the cases")
    parser.add_argument("--index", type=int, help="MB of a file for the stage index")
    given = parser.parse_args()
    if given.index:
        show_index(given.index)
    if not given.sizes:
        return
    print("| skew | stage | records: median | slowest | ratio | bytes: median | slowest | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for size in given.sizes:
        for name, (skewed, is_apart) in CASES.items():
            if given.only not in name:
                continue
            with tempfile.TemporaryDirectory() as folder:
                write(Path(folder), size, skewed(size), is_apart=is_apart)
                for stage, load in loads(Path(folder)):
                    cells = [f"{size:,} {name}", stage]
                    for some in load:
                        middle, most = median(some.values()), max(some.values())
                        cells += [f"{middle:,.0f}", f"{most:,}", f"{most / max(middle, 1):.1f}"]
                    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
