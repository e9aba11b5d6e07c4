"""Ranks of a small graph, computed by jobs and by a plain loop."""

from collections.abc import Iterable
from pathlib import Path

from arclink.analysis.matrices.pagerank import RankOptions, rank
from arclink.analysis.matrices.slice_builder import build_slices
from arclink.analysis.matrices.slices import Level, SliceOptions, Windows
from arclink.model import Kind, Memento, Outlink, Scope, UriR
from arclink.store.location import open_store
from tests.store.contract import load_next
from tests.store.graphs import Graph, PayloadTruth, checksum_of, memento

PAGES = [
    f"http://{host}/{name}"
    for host in ("a.example", "www.b.example", "c.a.example")
    for name in ("", "one", "two", "three")
]


KIND = Kind("a@href")


TIMES = ["20091103011307", "20091104000000", "20100130003005", "20100212000000"]


def some_graph() -> Graph:
    """Return pages that link to each other and elsewhere, in two batches, some seen twice and some
    not modified.
    """
    truths = {}
    captures: list[Memento] = []
    for number, page in enumerate(PAGES):
        name = "p" + str(number % 8)
        targets = [PAGES[(number % 8 * factor) % 12] for factor in range(1, 5)]
        links = [
            Outlink(UriR(uri), KIND, "", None)
            for uri in (*targets, page, "mailto:x@a.example", f"http://gone.example/{number % 5}")
        ]
        truths[checksum_of(name)] = PayloadTruth(
            checksum_of(name), list(Scope)[number % 4], True, tuple(links)
        )
        captures += [
            memento(page, TIMES[(number + again) % 4], checksum_of(name))
            for again in range(1 + number % 2)
        ]
        captures.append(
            memento(page, "20100301000000", f"not-modified:{TIMES[number % 4]} {page}", "revisit")
        )
    captures.append(memento(PAGES[0], "20100302000000", f"not-modified: {PAGES[0]}", "revisit"))
    captures.append(memento("http://only.example/", TIMES[0], "-"))
    return Graph(truths, [captures[:15], captures[15:]])


DAMPING, ITERATIONS = 0.3, 20


Ranks = dict[tuple[str, str], float]


def ranked(
    level: Level, by: str, folder: Path, damping: float = DAMPING
) -> tuple[list[str], Ranks]:
    """Return the parts of graph files in a folder, and the result of the analysis for their store:
    rank by window and node.
    """
    graph = some_graph()
    with open_store(str(folder / "links.db"), create=True) as store:
        for number in range(len(graph.batches)):
            load_next(store, graph, number, folder / "graph")
        slices = build_slices("", store, SliceOptions(Windows.parse(by), level), folder / "slices")
    expected = {}
    for one in slices:
        ranks = rank(one.matrix, RankOptions(damping, 1e-14)).ranks
        expected.update(
            {
                (one.window.name, slices.names[node]): value
                for node, value in zip(one.nodes.tolist(), ranks.tolist(), strict=True)
            }
        )
    return sorted(map(str, (folder / "graph").glob("*/*/part-*"))), expected


def options_of(
    level: Level, by: str, damping: float = DAMPING, iterations: int = ITERATIONS
) -> list[str]:
    largest_error = 2 * damping ** (iterations + 1) / (1 - damping)  # the sum over all nodes
    assert largest_error < 1e-9
    return [
        "--level",
        level.value,
        "--by",
        by,
        "--damping",
        str(damping),
        "--iterations",
        str(iterations),
    ]


def ranks_in(lines: Iterable[bytes]) -> Ranks:
    """Return the output of the job."""
    rows = (line.decode().rstrip("\n").split("\t") for line in lines)
    return {(window, node): float(value) for window, node, value in rows}


def assert_near(found: Ranks, expected: Ranks) -> None:
    assert found.keys() == expected.keys()
    assert max(abs(found[key] - expected[key]) for key in expected) < 1e-9
    assert len({window for window, _ in found}) > 2
