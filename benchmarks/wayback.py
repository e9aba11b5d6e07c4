"""Cost of links from archive files, compared with links from a Wayback Machine (paper, Table 3).

Both are on one machine: WARC files and a real pywb.

    make test-wayback                                   # once: installs pywb
    python -m benchmarks.wayback --captures 3000 --tasks 2 5

The same payloads, those that filter chooses, are extracted in four ways. They are read from the
archive files or requested from pywb on loopback, without pauses between requests (do not use this
with an archive on the network). In both cases, they are either *partitioned* (each file's payloads
in one task, in the order of the file: paper, 3.2.4) or distributed as filter wrote them. A task
that requests captures from pywb writes them to WARC files, as `arclink fetch` does, and extracts
from these. *Map* is the sum of the times of the tasks, *reduce* the time of join and invert; both
in wall seconds, as in the paper. The table also has the CPU seconds of the tasks and of pywb.
"""

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path

import orjson

from arclink.counts import Counts
from arclink.extract.extraction import PAGES, extract_pointers
from arclink.extract.reading_tasks import ReadingTasks, assign_files
from arclink.extract.settings import ExtractSettings
from arclink.mapreduce.runs import JobRunner, parts_of
from arclink.others.wayback.client import Client, Manners, origin_of
from arclink.others.wayback.records import WarcFiles
from arclink.others.wayback.replay import Replay
from arclink.pipeline import stages
from arclink.pipeline.rows import read_pointers
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows.cdx import Capture
from arclink.rows.pointers import Pointer, PointerKind, format_pointer
from benchmarks import corpus
from benchmarks.peers.pywb_server import serving_pywb

HOSTS_PER_FILE = 16
"""Smaller files than usual, so that there are some for each task."""

Share = Sequence[tuple[str, Pointer]]
"""What one task reads: path of the archive file, and pointer."""


@dataclass(frozen=True, slots=True)
class Done:
    """What one task did: wall and CPU seconds, payloads read, and files opened."""

    wall: float
    cpu: float
    read: int
    opened: int


def extract_files(output: Path, numbered: tuple[int, Share]) -> Done:
    """Extract a share from the archive files."""
    number, share = numbered
    started, cpu = time.perf_counter(), time.process_time()
    counts = _extract(output, number, share)
    return Done(
        time.perf_counter() - started,
        time.process_time() - cpu,
        counts[Reason.PAYLOAD_READ],
        counts[Reason.FILE_OPENED],
    )


def extract_interface(output: Path, base: str, numbered: tuple[int, Share]) -> Done:
    """Fetch a share from a Wayback Machine, and extract what came."""
    number, share = numbered
    started, cpu = time.perf_counter(), time.process_time()
    folder = output / f"fetched-{number}"
    folder.mkdir()
    files = WarcFiles(folder, base, 1 << 30)
    fetched: list[tuple[str, Pointer]] = []
    with Client(frozenset({origin_of(base)}), Manners(delay=0)) as client:
        replay = Replay(client, base, 16 << 20, ("id_",))
        for _, pointer in share:
            capture = Capture(
                "",
                pointer.timestamp,
                pointer.original,
                "text/html",
                "200",
                pointer.checksum,
                pointer.length,
                pointer.offset,
                pointer.file,
                "response",
            )
            address = files.write_capture(capture, replay.fetch(capture))
            fetched.append(
                (
                    str(folder / address.file),
                    replace(
                        pointer, file=address.file, offset=address.offset, length=address.length
                    ),
                )
            )
    files.close()
    counts = _extract(output, number, fetched)
    return Done(
        time.perf_counter() - started, time.process_time() - cpu, counts[Reason.PAYLOAD_READ], 0
    )


def _extract(output: Path, number: int, share: Share) -> Counts:
    counts: Counts = Counts()
    lines = (orjson.dumps(path) + b"\t" + format_pointer(pointer) for path, pointer in share)
    (output / "pages").mkdir(parents=True, exist_ok=True)
    with (output / f"pages/part-{number:05}").open("wb") as pages:
        for relation, row in extract_pointers(lines, ExtractSettings(), counts):
            if relation == PAGES:
                pages.write(row + b"\n")
    return counts


def partitioned(pointers: Sequence[Pointer], paths: dict[str, str], tasks: int) -> list[Share]:
    """Return the shares that a build gives to its tasks: whole files, in their order."""
    sizes = ((name, path, Path(path).stat().st_size) for name, path in paths.items())
    reading = ReadingTasks(assign_files(sizes, tasks), tasks)
    by_task: list[list[tuple[bytes, Pointer]]] = [[] for _ in range(tasks)]
    for pointer in pointers:
        task, order, _ = reading.assign(pointer)
        by_task[task].append((order, pointer))
    return [
        [(paths[pointer.file], pointer) for _, pointer in sorted(share, key=itemgetter(0))]
        for share in by_task
    ]


def dealt_out(pointers: Sequence[Pointer], paths: dict[str, str], tasks: int) -> list[Share]:
    """Return the pointers dealt out one by one, as they come out of filter: by checksum."""
    return [
        [(paths[pointer.file], pointer) for pointer in pointers[first::tasks]]
        for first in range(tasks)
    ]


def reduce_seconds(output: Path, tasks: int) -> float:
    """Join and invert the pages of all tasks; return the wall seconds."""
    started = time.perf_counter()
    run = JobRunner("local", tasks, output / "tasks")
    stages.join(output, run)
    stages.invert(output, run)
    return time.perf_counter() - started


def cpu_of(process: int) -> float:
    """Return the CPU seconds of a process so far (proc(5))."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(shares: Sequence[Share], output: Path, base: str, process: int) -> str:
    """Take the shares through map and reduce; return one line of the table.

    Args:
        shares: One per task.
        output: Folder for the output; it is made.
        base: Base address of the Wayback Machine; empty to read the files.
        process: Of the Wayback Machine.

    Raises:
        RuntimeError: Not every payload was read.
    """
    output.mkdir()
    before = cpu_of(process)
    with get_context("fork").Pool(len(shares)) as pool:
        work = partial(extract_interface, output, base) if base else partial(extract_files, output)
        done = pool.map(work, list(enumerate(shares)), chunksize=1)
    pywb = f"{cpu_of(process) - before:.1f}" if base else ""
    wanted, read = sum(map(len, shares)), sum(one.read for one in done)
    if read != wanted:
        raise RuntimeError(f"{read} of {wanted} payloads were read")
    mapped, reduced = sum(one.wall for one in done), reduce_seconds(output, len(shares))
    cpu, opened = sum(one.cpu for one in done), sum(one.opened for one in done)
    return (
        f"{mapped:.1f} | {reduced:.1f} | {mapped + reduced:.1f} | {cpu:.1f} | {pywb} | "
        f"{opened or ''}"
    )


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--captures", type=int, default=3_000)
    parser.add_argument("--tasks", type=int, nargs="+", default=[2, 5])
    arguments = parser.parse_args()
    corpus.HOSTS_PER_FILE = HOSTS_PER_FILE
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        corpus.write_corpus(folder / "corpus", arguments.captures)
        files = sorted((folder / "corpus").glob("*.warc.gz"))
        stages.filter_rows(
            [folder / "corpus/corpus.cdx"],
            folder,
            BuildSettings(cores=2),
            JobRunner("local", 2, folder / "tasks"),
        )
        pointers = [
            pointer
            for pointer in read_pointers(parts_of(folder / "pointers"))
            if pointer.kind is PointerKind.PAYLOAD
        ]
        paths = {path.name: str(path) for path in files}
        print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores")
        print(
            f"{arguments.captures:,} captures, {len(pointers):,} payloads in {len(files)} files\n"
        )
        print(
            "| tasks | source | map s | reduce s | total s | CPU s of tasks | CPU s of pywb "
            "| files opened |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        with serving_pywb(folder / "pywb", {"corpus": files}) as (address, process):
            for tasks in arguments.tasks:
                for way, shares in {
                    "not partitioned": dealt_out(pointers, paths, tasks),
                    "partitioned": partitioned(pointers, paths, tasks),
                }.items():
                    for source, base in {
                        "WARC": "",
                        "Wayback Machine": f"{address}/corpus",
                    }.items():
                        line = measure(
                            shares,
                            folder / f"{tasks}-{way}-{source}".replace(" ", "-"),
                            base,
                            process,
                        )
                        print(f"| {tasks}, {way} | {source} | {line} |", flush=True)


if __name__ == "__main__":
    main()
