"""Cost of CDX and CDXJ rows: sharing them out to batches, reading them, and whole builds."""

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from arclink.errors import CdxError
from arclink.filter.sharing import SharedFile
from arclink.pipeline.rows import share_rows
from arclink.rows.cdx import format_row, parse_row, read_row_lists
from benchmarks.bench import Bench, Built, Corpus, arclink, python
from benchmarks.measurement import Figure
from benchmarks.tables import Cell, Table, Target

ROWS = 100_000
FILES = {
    f"crawl-{crawl}-{number:05d}.warc.gz": crawl % 2 for crawl in range(3) for number in range(6)
}
"""Batch by archive file that the generated rows name."""

SHARED_FILES = [SharedFile(name, batch, f"/archive/{name}") for name, batch in FILES.items()]


def measure(bench: Bench) -> Iterator[Table]:
    """Yield rows per CPU second, and the CPU seconds of builds from CDX and from CDXJ."""
    bench.folder.mkdir(parents=True, exist_ok=True)
    yield _rows(bench)
    yield _builds(bench)


def _rows(bench: Bench) -> Table:
    cdx = bench.folder / f"rows-{ROWS}.cdx"
    if not cdx.exists():
        bench.generate(f"{ROWS:,} CDX rows", "benchmarks.cdx_rows", str(cdx), "--rows", str(ROWS))
    cdxj = cdx.with_suffix(".cdxj")
    if not cdxj.exists():
        _write_cdxj(cdx, cdxj)
    least: dict[Path, list[float]] = {}
    for _ in range(bench.repeat):
        for path in (cdx, cdxj):
            printed = bench.run(python("benchmarks.sharing", str(path)), repeat=1).printed
            seconds = json.loads(printed)
            least[path] = list(map(min, least.get(path, seconds), seconds))
    rows: list[list[Cell]] = [
        [path.suffix[1:].upper(), *(1e6 * part / ROWS for part in parts), ROWS / sum(parts)]
        for path, parts in least.items()
    ]
    target = Target(
        "CDXJ rows shared out and read per CPU second",
        ROWS / sum(least[cdxj]),
        400_000,
        at_most=False,
    )
    columns = ["", "sharing out, µs a row", "reading, µs a row", "rows per CPU s, both"]
    return Table(f"{ROWS:,} rows: sharing out and reading", columns, rows, [target], [])


def _write_cdxj(cdx: Path, cdxj: Path) -> None:
    with cdx.open("rb") as lines, cdxj.open("wb") as output:
        for line in lines:
            try:
                output.write(format_row(parse_row(line)) + b"\n")
            except CdxError:  # the header
                continue


def _builds(bench: Bench) -> Table:
    corpus = bench.corpus(bench.sizes[0])
    cdxj = bench.folder / f"{corpus.name}.cdxj"
    if not cdxj.exists():
        folder = bench.scratch("index")
        files = map(str, corpus.files)
        bench.run(arclink("index", *files, "--into", str(folder)), repeat=1)
        parts = (path.read_bytes() for path in (folder / "rows").glob("part-*"))
        cdxj.write_bytes(b"".join(sorted(b"".join(parts).splitlines(keepends=True))))
    forms = {
        "CDX": corpus,
        "CDXJ": Corpus(f"{corpus.name}-cdxj", corpus.files, cdxj, corpus.captures),
    }
    built: dict[str, list[Built]] = {name: [] for name in forms}

    def build(name: str) -> Figure:
        built[name].append(bench.build_again(forms[name], cores=1))
        return built[name][-1].figure

    figures = bench.rounds(*[partial(build, name) for name in forms])
    steps = list(built["CDX"][0].seconds)
    least = {
        name: [min(one.seconds[step] for one in of_form) for step in steps]
        for name, of_form in built.items()
    }
    rows: list[list[Cell]] = [
        [name, figure.cpu, *least[name]] for name, figure in zip(forms, figures, strict=True)
    ]
    rows.append(
        [
            "CDXJ / CDX",
            figures[1].cpu / figures[0].cpu,
            *(
                round(cdxj_step / cdx_step, 3) if cdx_step else 1.0
                for cdx_step, cdxj_step in zip(least["CDX"], least["CDXJ"], strict=True)
            ),
        ]
    )
    target = Target("all steps, CDXJ / CDX", figures[1].cpu / figures[0].cpu, 1.10, at_most=True)
    title = f"`build --cdx` of {corpus.captures:,} captures: CPU seconds"
    return Table(title, ["rows", "all", *steps], rows, [target], [])


def share_and_read(path: Path) -> tuple[float, float]:
    """Return the CPU seconds for sharing out the rows of a file, and for reading them."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        shared = share_rows([path], SHARED_FILES, Path(folder) / "rows")
        middle = time.process_time()
        for (part,) in shared.by_batch.values():
            with part.open("rb") as lines:
                for _ in read_row_lists(lines, Counter()):
                    pass
        return middle - start, time.process_time() - middle


if __name__ == "__main__":
    print(json.dumps(share_and_read(Path(sys.argv[1]))))
