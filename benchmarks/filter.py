"""Cost of filtering a million CDX rows, compared with DuckDB and Apache Pig with the same rules.

The counts of both must equal those of ArcLink.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from re import sub

from arclink.filter.rules import DEFAULT_RULES
from arclink.model import EMPTY_PAYLOAD
from arclink.reasons import Reason
from benchmarks.bench import PEERS, Bench, NotHereError, arclink
from benchmarks.measurement import Figure
from benchmarks.tables import Cell, Table, Target

ROWS = 1_000_000
COUNTED = [reason for reason in Reason if reason.group == "mementos"]


def measure(bench: Bench) -> Iterator[Table]:
    """Yield rows per CPU second.

    Raises:
        RuntimeError: A peer does not come to our counts: then it does not do the same.
    """
    cdx = bench.folder / f"rows-{ROWS}.cdx"
    if not cdx.exists():
        bench.generate(f"{ROWS:,} CDX rows", "benchmarks.cdx_rows", str(cdx), "--rows", str(ROWS))
    compared = {
        "ArcLink, all cores": partial(_arclink, bench, cdx),
        "ArcLink, 1 worker": partial(_arclink, bench, cdx, "--cores", "1"),
    }
    counts: dict[str, Mapping[str, int]] = {}
    notes = []
    peers = {
        "DuckDB, the same rules in SQL": (_duckdb, bench.peer),
        "Apache Pig, local mode, the same rules": (_pig, bench.java),
    }
    for name, (peer, command) in peers.items():
        try:
            command("")
            compared[name] = partial(peer, bench, cdx)
        except NotHereError as error:
            notes.append(f"{name}: not measured: {error}.")

    def counted(name: str) -> Figure:
        figure, counts[name] = compared[name]()
        return figure

    figures = dict(
        zip(compared, bench.rounds(*[partial(counted, name) for name in compared]), strict=True)
    )
    ours = figures["ArcLink, all cores"]
    expected = counts["ArcLink, all cores"]
    for name, found in counts.items():
        if found != expected:
            raise RuntimeError(f"{name} counts otherwise: {found}, ArcLink {expected}")
        if name in peers:
            notes.append(f"{name}: each of the {len(expected)} counts is ours.")
    rows: list[list[Cell]] = [
        [name, one.cpu, one.wall, ROWS / one.cpu, one.megabytes, one.largest]
        for name, one in figures.items()
    ]
    notes.append(
        "Rows by their outcome: "
        + ", ".join(f"{name} {count:,}" for name, count in sorted(expected.items()))
        + "."
    )
    notes.append("The peers take the SURT from the row and name one capture to read.")
    notes.append("ArcLink computes the SURT itself, and names two more captures to fall back on.")
    target = Target(
        "rows per CPU second through all steps", ROWS / ours.cpu, 200_000, at_most=False
    )
    columns = ["", "CPU s", "wall s", "rows per CPU s", "MB, all processes", "MB, largest"]
    yield Table(f"Filter: {ROWS:,} CDX rows", columns, rows, [target], notes)


def _arclink(bench: Bench, cdx: Path, *options: str) -> tuple[Figure, Mapping[str, int]]:
    rules = bench.scratch("filter-rules") / "rules.json"
    rules.write_text(json.dumps({"mime_before_extension": False}), encoding="utf-8")  # as the peers
    options = ("--rules", str(rules), *options)
    figure = bench.run(
        arclink("filter", str(cdx), *options, "--into", str(bench.scratch("filter-arclink"))),
        repeat=1,
    )
    return figure, counts_of_summary(figure.printed)


def counts_of_summary(printed: str) -> dict[str, int]:
    r"""Return the counts of mementos that `arclink filter` printed, by name of the reason.

    >>> counts_of_summary("mementos: 12\n   12  payload to be read")
    {'MEMENTO_WITH_PAYLOAD': 12}
    """
    of_text = {reason.text: reason.name for reason in COUNTED}
    lines = (line.strip().partition("  ") for line in printed.splitlines())
    return {
        of_text[text]: int(count.replace(",", "")) for count, _, text in lines if text in of_text
    }


def _duckdb(bench: Bench, cdx: Path) -> tuple[Figure, Mapping[str, int]]:
    rules = {**json.loads(DEFAULT_RULES.to_json()), "empty": [EMPTY_PAYLOAD]}
    command = bench.peer(
        "benchmarks.peers.filter_duckdb",
        str(cdx),
        json.dumps(rules),
        str(bench.scratch("filter-duckdb")),
    )
    figure = bench.run(command, repeat=1)
    return figure, json.loads(figure.printed)


def _pig(bench: Bench, cdx: Path) -> tuple[Figure, Mapping[str, int]]:
    scratch = bench.scratch("filter-pig")
    output = scratch / "output"
    parameters = {
        "CDX": str(cdx),
        "FOLDER": str(output),
        "STATUSES": _any_of(DEFAULT_RULES.statuses),
        "MIMES": _any_of(DEFAULT_RULES.mimes),
        "EXTENSIONS": _any_of(DEFAULT_RULES.extensions_excluded),
        "EMPTY": EMPTY_PAYLOAD,
    }
    words = [word for name, value in parameters.items() for word in ("-param", f"{name}={value}")]
    java = bench.java(
        f"-Dpig.temp.dir={scratch}",
        f"-Dhadoop.tmp.dir={scratch}",
        "org.apache.pig.Main",
        "-x",
        "local",
        *words,
    )
    return bench.run([*java, str(PEERS / "filter.pig")], repeat=1), _counts_of_pig(output)


def _any_of(values: Sequence[str]) -> str:
    """Return a regular expression for any of some words, without backslashes.

    Pig takes two turns at those.

    >>> _any_of(["-", "application/xhtml+xml"])
    '-|application/xhtml[+]xml'
    """
    return "|".join(sub("[.+*?]", r"[\g<0>]", value) for value in values)


def _counts_of_pig(output: Path) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    for relation in ("mementos", "unsaid"):
        for path in (output / relation).glob("part-*"):
            with path.open(encoding="utf-8") as lines:
                counts.update(line.rstrip("\n").rpartition("\t")[2] for line in lines)
    del counts["candidate"]
    counts["MEMENTO_DUPLICATE"] = counts.pop("not modified", 0)
    counts["MEMENTO_WITH_PAYLOAD"] = counts.pop("redirect", 0) + counts.pop("undigested", 0)
    for path in (output / "pointers").glob("part-*"):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                _, captures, payloads, _ = line.split("\t", 3)
                has_payload = payloads != "0"
                counts["MEMENTO_WITH_PAYLOAD"] += has_payload
                counts["MEMENTO_DUPLICATE"] += int(captures) - has_payload
    return dict(counts)
