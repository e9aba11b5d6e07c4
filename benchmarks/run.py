"""Measures a build beside the floor and the plain way, in one run: CPU seconds and peak memory of whole processes.

    python -m benchmarks.run --captures 3000 30000 --real FILE.warc.gz

Prints a table in Markdown. Ratios are what to read: machines differ, and are noisy.
"""

import argparse
import os
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpus import write_corpus

PLAIN_PAGES = 100


@dataclass(frozen=True, slots=True)
class Figure:
    """One process: what it printed, CPU seconds with its children, wall seconds, peak memory of its largest process."""

    printed: str
    cpu: float
    wall: float
    megabytes: float


def measure(command: Sequence[str]) -> Figure:
    """Run a command to its end and return what it cost.

    Raises:
        RuntimeError: It failed.
    """
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        pid = os.posix_spawn(command[0], list(command), os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), 1)])
        _, status, usage = os.wait4(pid, 0)
        wall = time.perf_counter() - started
        output.seek(0)
        printed = output.read().decode()
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {status}")
    return Figure(printed.strip(), usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def python(*words: str) -> list[str]:
    """Return the command that runs a module of this tree with this Python."""
    return [sys.executable, "-m", *words]


def build(inputs: Sequence[str], store: Path, *more: str) -> Figure:
    """Build a store anew."""
    for path in store.parent.glob(store.name + "*"):
        path.unlink()
    return measure(python("arclink.cli.main", "build", *inputs, "--store", str(store), "--quiet", *more))


def row(name: str, figure: Figure, pages: int, links: int, floor: float) -> str:
    """Return one line of the table."""
    return (
        f"| {name} | {figure.cpu:.1f} | {figure.wall:.1f} | {1000 * figure.cpu / pages:.2f} | {1e6 * figure.cpu / max(links, 1):.1f} | "
        f"{figure.cpu / pages / floor:.1f} | {figure.megabytes:.0f} |"
    )


def compare(title: str, files: Sequence[str], cdx: Sequence[str], folder: Path) -> None:
    """Print the table of one corpus."""
    store = folder / "links.db"
    floor = measure(python("benchmarks.floor", *files))
    pages, links = map(int, floor.printed.split())
    per_page = floor.cpu / pages
    with_cdx = build([*files], store, *[word for path in cdx for word in ("--cdx", path)]) if cdx else None
    size = store.stat().st_size if with_cdx else 0
    without = build([*files], store)
    plain = measure(python("benchmarks.plain_way", str(min(pages, PLAIN_PAGES)), *files))
    plain_pages, plain_links = map(int, plain.printed.split())
    print(f"\n### {title}: {pages:,} pages read, {links:,} a@href links\n")
    print("| | CPU s | wall s | ms a page | µs an a@href link | times the floor | MB, largest process |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    print(row("floor: fastwarc + lexbor, a@href with text", floor, pages, links, per_page))
    if with_cdx:
        print(row("build with CDX", with_cdx, pages, links, per_page))
    print(row("build without CDX", without, pages, links, per_page))
    print(row(f"the plain way, {plain_pages} pages", plain, plain_pages, plain_links, per_page))
    print(f"\nStore: {size or store.stat().st_size:,} bytes.")
    print("\n```\n" + (with_cdx or without).printed + "\n```")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captures", type=int, nargs="*", default=[3_000])
    parser.add_argument("--real", nargs="*", default=[], help="real archive files, measured without CDX")
    parser.add_argument("--folder", type=Path, help="keep the corpora here, and use those that are there")
    arguments = parser.parse_args()
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        for captures in arguments.captures:
            corpus = folder / f"corpus-{captures}"
            if not (corpus / "corpus.cdx").exists():
                write_corpus(corpus, captures)
            files = [str(path) for path in sorted(corpus.glob("*.warc.gz"))]
            compare(f"{captures:,} captures", files, [str(corpus / "corpus.cdx")], Path(scratch))
        for real in arguments.real:
            compare(Path(real).name, [real], [], Path(scratch))
    print(f"\nPeak of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
