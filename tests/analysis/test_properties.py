"""Properties of graphs, compared with networkx and igraph, and power laws with `powerlaw`."""

import warnings
from collections import Counter
from itertools import pairwise
from pathlib import Path

import networkx
import numpy as np
import powerlaw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeWarning
from scipy.sparse import csr_matrix
from scipy.special import zeta

from arclink.analysis.matrices import properties
from arclink.analysis.matrices import slices as edges
from arclink.analysis.matrices.properties import (
    BowTie,
    Degrees,
    PowerLaw,
    bow_tie,
    fit_power_law,
    properties_of,
    strong_components,
    weak_components,
)
from arclink.analysis.matrices.slice_builder import build_slices
from arclink.analysis.matrices.slices import Nodes, SliceOptions, Windows, has_edges, rows_of
from arclink.store.location import open_store
from tests.analysis.matrices import matrices, matrix_of


def graph_of(matrix: csr_matrix) -> "networkx.DiGraph[int]":
    graph: networkx.DiGraph[int] = networkx.DiGraph()
    graph.add_nodes_from(range(matrix.shape[0]))
    found = matrix.tocoo()
    graph.add_edges_from(
        (row, column)
        for row, column in zip(found.row.tolist(), found.col.tolist(), strict=True)
        if row != column
    )
    return graph


def parts(labels: "np.ndarray[tuple[int], np.dtype[np.int32]]") -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@settings(deadline=None)
@given(matrix=matrices(), block=st.sampled_from([1, 3, 1000]))
def test_components_are_those_of_networkx(matrix: csr_matrix, block: int) -> None:
    graph = graph_of(matrix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edges, "BLOCK", block)
        weak, strong = weak_components(matrix), strong_components(matrix)
    assert parts(weak) == {frozenset(some) for some in networkx.weakly_connected_components(graph)}
    assert parts(strong) == {
        frozenset(some) for some in networkx.strongly_connected_components(graph)
    }
    assert weak.max() + 1 == len(parts(weak))
    assert strong.max() + 1 == len(parts(strong))


@settings(deadline=None)
@given(matrix=matrices(), block=st.sampled_from([2, 1000]))
def test_the_bow_tie_is_what_can_be_reached(matrix: csr_matrix, block: int) -> None:
    graph = graph_of(matrix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edges, "BLOCK", block)
        found = bow_tie(matrix, weak_components(matrix), strong_components(matrix))
    strong = [set(some) for some in networkx.strongly_connected_components(graph)]
    core = max(strong, key=lambda some: (len(some), -min(some)))
    one = min(core)
    going, coming = networkx.descendants(graph, one) - core, networkx.ancestors(graph, one) - core
    near = next(set(some) for some in networkx.weakly_connected_components(graph) if one in some)
    rest = near - core - going - coming
    behind = {node for begin in coming for node in networkx.descendants(graph, begin)}
    before = {node for end in going for node in networkx.ancestors(graph, end)}
    tubes = rest & behind & before
    expected = BowTie(
        len(core),
        len(coming),
        len(going),
        len(tubes),
        len(rest - tubes),
        matrix.shape[0] - len(near),
    )
    assert found == expected
    assert (
        found.core + found.coming + found.going + found.tubes + found.tendrils + found.apart
        == matrix.shape[0]
    )


@pytest.mark.costly
@pytest.mark.parametrize("step", [1, -1], ids=["in the order of names", "against it"])
def test_a_long_chain_is_followed_link_by_link(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A calendar has a page for each day, which leads to the next: no edge is read again for each
    step.
    """
    read = []

    def counted(ends: Nodes, columns: Nodes, rows: Nodes) -> Nodes:
        found = rows_of(ends, columns, rows)
        read.append(len(found))
        return found

    monkeypatch.setattr(properties, "rows_of", counted)
    chain = list(range(3000))[::step]
    middle = len(chain) // 2
    matrix = matrix_of(
        len(chain),
        [
            *((one, other, 1) for one, other in pairwise(chain)),
            (chain[middle + 1], chain[middle], 1),
        ],
    )
    found = bow_tie(matrix, weak_components(matrix), strong_components(matrix))
    assert found == BowTie(2, middle, len(chain) - middle - 2, 0, 0, 0)
    assert sum(read) <= 4 * matrix.nnz


@settings(deadline=None)
@given(matrix=matrices())
def test_an_edge_is_found_where_there_is_one(matrix: csr_matrix) -> None:
    nodes = matrix.shape[0]
    sources, targets = (
        nodes_of_pairs.ravel()
        for nodes_of_pairs in np.meshgrid(np.arange(nodes), np.arange(nodes), indexing="ij")
    )
    assert has_edges(matrix, sources, targets).tolist() == (matrix.toarray().ravel() != 0).tolist()


def drawn(exponent: float, least: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return values that follow a power law from ``least`` on, and others below."""
    dice = np.random.default_rng(7)
    values = np.arange(least, 100_000)
    chances = zeta(exponent, values) - zeta(exponent, values + 1)
    return np.concatenate(
        [dice.choice(values, 3_000, p=chances / chances.sum()), dice.integers(1, least + 1, 600)]
    )


@pytest.mark.parametrize(("exponent", "least"), [(2.1, 1), (2.5, 6), (2.8, 4)])
def test_a_power_law_is_the_one_that_the_powerlaw_package_fits(exponent: float, least: int) -> None:
    values = drawn(exponent, least)
    found = fit_power_law(*np.unique(values, return_counts=True))
    assert found is not None
    assert found.exponent == pytest.approx(exponent, abs=4 * found.error)
    assert found.tail == (values >= found.least).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the package's, of itself
        warnings.simplefilter(
            "ignore", OptimizeWarning
        )  # it begins outside of the range that it looks in: up to 3
        fitted = powerlaw.Fit(
            values, discrete=True, estimate_discrete=False, xmin=found.least, verbose=False
        ).power_law
    assert found.exponent == pytest.approx(fitted.alpha, abs=1e-4)  # its own search ends there
    tail = values[values >= found.least]
    likelihoods = [
        -exponent * np.log(tail).sum() - len(tail) * np.log(zeta(exponent, found.least))
        for exponent in (found.exponent, fitted.alpha)
    ]
    assert likelihoods[0] >= likelihoods[1]


@pytest.mark.parametrize(("exponent", "least"), [(2.1, 1), (2.5, 6), (2.8, 4)])
def test_the_least_value_is_the_one_with_the_smallest_distance(exponent: float, least: int) -> None:
    """By the definition, over all whole numbers (the powerlaw package looks right before the values
    that occur only).
    """
    values = drawn(exponent, least)
    found = fit_power_law(*np.unique(values, return_counts=True))
    assert found is not None

    def distance(law: PowerLaw) -> float:
        tail = np.sort(values[values >= law.least])
        numbers = np.arange(law.least, tail[-1] + 1)
        there = np.searchsorted(tail, numbers, "right") / len(tail)
        return float(
            np.abs(
                there - (1 - zeta(law.exponent, numbers + 1) / zeta(law.exponent, law.least))
            ).max()
        )

    assert found.distance == pytest.approx(distance(found), abs=1e-12)
    for other in range(1, 30):
        tail = values[values >= other]
        law = fit_power_law(*np.unique(tail, return_counts=True)) if len(tail) >= 50 else None
        assert law is None or law.distance >= found.distance


def test_no_law_is_fitted_to_a_handful() -> None:
    assert fit_power_law(np.array([1, 2, 3]), np.array([20, 20, 9])) is None
    assert fit_power_law(np.array([4]), np.array([1000])) is None


def counted(degrees: Degrees) -> dict[int, int]:
    return dict(zip(degrees.values.tolist(), degrees.counts.tolist(), strict=True))


@pytest.mark.costly
def test_the_properties_of_the_whole_are_those_of_networkx(demo_store: str, tmp_path: Path) -> None:
    with open_store(demo_store) as store:
        slices = build_slices("", store, SliceOptions(Windows.parse("month")), tmp_path / "slices")
        captured = {memento.surt for memento in store.scan_mementos()}
    for number, one in enumerate(slices):
        found = properties_of(slices, number)
        graph = graph_of(one.matrix)
        names = [slices.names[node] for node in one.nodes.tolist()]
        targets = {node for node, degree in graph.in_degree() if degree}
        assert (found.window, found.nodes, found.edges) == (
            one.window.name,
            len(graph),
            graph.number_of_edges(),
        )
        assert found.targets == len(targets)
        assert found.never_captured == sum(names[node] not in captured for node in targets)
        assert (
            found.not_captured
            == sum(not one.captured[node] for node in targets)
            >= found.never_captured
        )
        assert found.reciprocal == round(
            networkx.overall_reciprocity(graph) * graph.number_of_edges()
        )
        assert counted(found.inward) == Counter(degree for _, degree in graph.in_degree())
        assert counted(found.outward) == Counter(degree for _, degree in graph.out_degree())
        assert found.weak == networkx.number_weakly_connected_components(graph)
        assert found.largest_weak == max(map(len, networkx.weakly_connected_components(graph)))
        assert found.strong == networkx.number_strongly_connected_components(graph)
    assert found.window == "2010-03"
