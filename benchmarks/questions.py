"""Questions about one host, asked of graphs with one and ten million generated links.

Questions about the links *of* a host are also asked of the links in one order, by target: what the
second order gains is a ratio of one run (``docs/decisions/20261126-links-in-two-orders.md``).
"""

import time
from collections.abc import Iterator

from arclink.access.declarations import sort_out
from arclink.analysis.questions.asking import ask
from arclink.analysis.questions.queries import ASK_PARAMETERS, AskQuery
from arclink.analysis.questions.table import QUESTIONS
from arclink.analysis.relations.database import ShownRelations, SqlLimits
from arclink.store.location import open_store
from benchmarks.bench import Bench
from benchmarks.synthetic_load import synthetic_store
from benchmarks.tables import TIMES, Cell, Table, Target

SIZES = (1_000_000, 10_000_000)
MEGABYTES = 600
"""Of the memory of a service for questions."""

ROUNDS = 3
OF_THE_HOST = ("led-to", "host-links", "linked-with")
"""Questions that read the links by page."""

LEAST_GAIN = 1.5
IN_ONE_ORDER = (
    "CREATE OR REPLACE VIEW links_by_page AS SELECT *, 0::INTEGER AS row_group FROM links"
)


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table for each size."""
    for links in bench.links or SIZES:
        store = str(synthetic_store(bench, links))
        with open_store(store) as opened:
            host = next(iter(opened.scan_mementos())).original
            limits = SqlLimits(MEGABYTES)
            with ShownRelations(store, opened, limits, bench.scratch("asking")) as relations:
                seconds = {name: _seconds(relations, name, host) for name in QUESTIONS}
                relations.run(IN_ONE_ORDER)
                before = {name: _seconds(relations, name, host) for name in OF_THE_HOST}
        rows: list[list[Cell]] = [
            [name, cpu, before.get(name), before[name] / cpu if name in before else None]
            for name, cpu in seconds.items()
        ]
        gain = before["led-to"] / seconds["led-to"]
        target = Target("gain of the second order for led-to", gain, LEAST_GAIN, False, TIMES)
        yield Table(
            f"Questions about a host in {links:,} generated links",
            ["question", "CPU s", "CPU s, links in one order", "ratio"],
            rows,
            [target] if links > SIZES[0] else [],  # of a small graph, most row groups are read
            [f"The host of {host}; {MEGABYTES} MB; the least of {ROUNDS} rounds."],
        )


def _seconds(relations: ShownRelations, name: str, host: str) -> float:
    """Return the CPU time of an answer."""
    given = [("uri", host), ("scope", "host"), *([("words", "a")] if name == "find" else [])]
    query = AskQuery.of(sort_out(given, ASK_PARAMETERS), name=name)
    times = []
    for _ in range(ROUNDS):
        with relations.apart() as database:
            begin = time.process_time()
            ask(database, query)
            times.append(time.process_time() - begin)
    return min(times)
