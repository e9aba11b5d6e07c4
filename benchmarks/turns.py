"""Compares the commands of two checkouts in turns: the old one, the same again, the new one.

    git worktree add ../old COMMIT && make -C ../old demo
    python -m benchmarks.turns ../old --captures 1000 --turns 7

Each checkout runs with the Python of its own ``.venv``. The least CPU time of all turns counts.
The two columns of the old checkout say how much the machine varies. Each turn is written to
``turns.jsonl``, so that the same command continues a run that was interrupted.
"""

import argparse
import json
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import ROOT, Bench, Corpus, remove_store, say
from benchmarks.corpus import World
from benchmarks.measurement import measure
from benchmarks.tables import Cell, Table, format_table

ROWS = 100_000
SIDES = ("old", "old again", "new")

Turn = dict[str, dict[str, float]]
"""CPU seconds by command and side."""


@dataclass(frozen=True, slots=True)
class Side:
    """A checkout, with a folder for what its commands write."""

    python: Path
    folder: Path

    def run(self, *words: str) -> float:
        """Run a command of ArcLink; return its CPU seconds."""
        environment = {"PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": ""}
        command = [str(self.python), "-m", "arclink.cli.main", *words]
        return measure(command, environment=environment, folder=self.folder).cpu


def commands(corpus: Corpus, rows: Path, uri: str) -> dict[str, list[str]]:
    """Return the compared commands by name; each works with the output of those before it."""
    files = list(map(str, corpus.files))
    # The earlier name of --into, which both sides know.
    work, loaded = ["--folder", "work"], ["--store", "loaded.db"]
    links = ["links", uri, *loaded, "--limit", "1000"]
    return {
        "build with CDX": ["build", *files, *corpus.cdx_options, "--store", "built.db", "--quiet"],
        "build without CDX": ["build", *files, "--store", "without.db", "--quiet"],
        f"filter, {ROWS:,} rows": ["filter", str(rows), "--folder", "rows"],
        "index": ["index", *files, *work],
        "filter": ["filter", *work],
        "extract": ["extract", *files, *work],
        "graph": ["graph", *work],
        "load": ["load", *work, *loaded],
        "version": ["--version"],  # how much of the next is the start of any command
        "links, of one page": ["links", uri, *loaded],
        "links, JSON": [*links, "--format", "json"],
        "links, RDF/XML": [*links, "--format", "rdfxml"],
        "properties": ["analyze", "properties", *loaded],
        "export, Parquet": ["export", *loaded, "--format", "parquet", "--into", "links.parquet"],
        "export, N-Quads": ["export", *loaded, "--format", "nquads", "--into", "links.nq"],
        "verify": ["verify", *loaded],
    }


def remove_output(folder: Path) -> None:
    """Empty the folder of a side, before a turn."""
    for name in ("built.db", "without.db", "loaded.db"):
        remove_store(folder / name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def take_turns(
    sides: dict[str, Side], compared: dict[str, list[str]], turns: int, record: Path
) -> None:
    """Append the CPU seconds of each turn to a file, until it has as many turns as asked."""
    for turn in range(len(list(turns_of(record))), turns):
        for side in sides.values():
            remove_output(side.folder)
        seconds: Turn = {}
        for name, words in compared.items():
            seconds[name] = {title: side.run(*words) for title, side in sides.items()}
            say(f"turn {turn + 1}, {name}: {seconds[name]}")
        with record.open("a", encoding="utf-8") as lines:
            print(json.dumps(seconds), file=lines)


def turns_of(record: Path) -> Iterator[Turn]:
    """Yield the recorded turns."""
    if record.exists():
        yield from map(json.loads, record.read_text("utf-8").splitlines())


def compare(turns: Iterable[Turn]) -> list[list[Cell]]:
    """Return a row of figures for each command.

    >>> compare([{"build": {"old": 2.0, "old again": 1.0, "new": 1.0}},
    ...          {"build": {"old": 0.5, "old again": 1.5, "new": 0.75}}])
    [['build', 0.5, 1.0, 0.75, '+100 %', '+50 %']]
    """
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for turn in turns:
        for name, seconds in turn.items():
            for side, value in seconds.items():
                figures[name][side].append(value)
    rows: list[list[Cell]] = []
    for name, of_side in figures.items():
        old, again, new = (min(of_side[side]) for side in SIDES)
        least = min(old, again)
        spread, change = max(old, again) / least - 1, new / least - 1
        shares = (f"{share * 100:+.0f} %" for share in (spread, change))
        rows.append([name, old, again, new, *shares])
    return rows


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path, help="the other checkout")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/bench")
    parser.add_argument("--captures", type=int, default=1_000)
    parser.add_argument("--turns", type=int, default=7)
    given = parser.parse_args()
    folder: Path = given.folder.resolve()
    bench = Bench(folder, [given.captures])
    corpus = bench.corpus(given.captures)
    rows = folder / f"rows-{ROWS}.cdx"
    if not rows.exists():
        words = ["benchmarks.cdx_rows", str(rows), "--rows", str(ROWS)]
        bench.generate(f"{ROWS:,} CDX rows", *words)
    pythons = (given.old.absolute() / ".venv/bin/python",) * 2 + (Path(sys.executable),)
    sides = {
        title: Side(python, folder / "turns" / title)
        for title, python in zip(SIDES, pythons, strict=True)
    }
    record = folder / "turns.jsonl"
    uri = World(given.captures, seed=1).host(0).uri(0)
    take_turns(sides, commands(corpus, rows, uri), given.turns, record)
    columns = ["command", *(f"{side}, CPU s" for side in SIDES), "old against old", "new"]
    title = f"{given.captures:,} captures, least of {given.turns} turns"
    print(format_table(Table(title, columns, compare(turns_of(record)))))


if __name__ == "__main__":
    main()
