"""Ranks equal those of networkx and igraph; lists and comparisons of ranks are correct."""

import warnings
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import igraph
import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from arclink.analysis.matrices import slices as edges
from arclink.analysis.matrices.pagerank import RankOptions, agreement, first_ranked, place_of, rank
from arclink.analysis.matrices.slices import WHOLE, Slice
from arclink.errors import UsageError
from tests.analysis.matrices import matrices, matrix_of


def edges_of(matrix: csr_matrix, options: RankOptions) -> list[tuple[int, int, int]]:
    found = matrix.tocoo()
    triples = zip(found.row.tolist(), found.col.tolist(), found.data.tolist(), strict=True)
    return [triple for triple in triples if options.has_self_links or triple[0] != triple[1]]


def by_networkx(matrix: csr_matrix, options: RankOptions) -> list[float]:
    graph: Any = networkx.DiGraph()
    graph.add_nodes_from(range(matrix.shape[0]))
    graph.add_weighted_edges_from(edges_of(matrix, options))
    weight = "weight" if options.is_weighted else None
    ranks = networkx.pagerank(
        graph, alpha=options.damping, tol=1e-15, max_iter=10_000, weight=weight
    )
    return [ranks[node] for node in range(matrix.shape[0])]


def by_igraph(matrix: csr_matrix, options: RankOptions) -> list[float]:
    triples = edges_of(matrix, options)
    graph = igraph.Graph(n=matrix.shape[0], edges=[triple[:2] for triple in triples], directed=True)
    weights = [triple[2] for triple in triples] if options.is_weighted else None
    found: list[float] = graph.pagerank(damping=options.damping, weights=weights)
    return found


options = st.builds(
    RankOptions,
    st.sampled_from([0.5, 0.85, 0.95]),
    st.just(1e-13),
    st.just(5000),
    st.booleans(),
    st.booleans(),
)


@settings(deadline=None)
@given(matrix=matrices(), chosen=options, block=st.sampled_from([1, 3, 1000]))
def test_ranks_are_those_of_networkx_and_igraph(
    matrix: csr_matrix, chosen: RankOptions, block: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(edges, "BLOCK", block)
        found = rank(matrix, chosen)
    assert found.is_converged
    assert found.residual < 1e-13
    assert found.ranks.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(found.ranks, by_networkx(matrix, chosen), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.ranks, by_igraph(matrix, chosen), rtol=0, atol=1e-9)


def test_a_link_of_a_node_to_itself_makes_no_difference_unless_asked() -> None:
    with_own = matrix_of(3, [(0, 0, 5), (0, 1, 1), (1, 2, 1), (2, 2, 1)])
    without = matrix_of(3, [(0, 1, 1), (1, 2, 1)])
    np.testing.assert_allclose(rank(with_own).ranks, rank(without).ranks, atol=1e-12)
    assert rank(with_own, RankOptions(has_self_links=True)).ranks[2] > rank(without).ranks[2] + 0.1


def test_ranks_say_whether_they_converged() -> None:
    found = rank(matrix_of(3, [(0, 1, 1), (1, 0, 1), (2, 0, 1)]), RankOptions(most_iterations=2))
    assert (found.iterations, found.is_converged) == (2, False)
    assert found.residual > 1e-12


def test_an_empty_graph_has_no_ranks() -> None:
    assert rank(matrix_of(0, [])).ranks.tolist() == []


@pytest.mark.parametrize(
    "wrong", [{"damping": 1.0}, {"damping": 0.0}, {"damping": float("nan")}, {"tolerance": 0.0}]
)
def test_meaningless_options_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=r"between 0 and 1|above 0"):
        RankOptions(**wrong)  # type: ignore[arg-type]


def slice_of(folder: Path, nodes: list[int]) -> Slice:
    np.save(folder / "nodes.npy", np.array(nodes, dtype=np.int32))
    np.save(folder / "captured.npy", np.array([node % 2 == 0 for node in nodes]))
    return Slice(WHOLE, folder)


@pytest.mark.parametrize("count", [1, 3, 4, 5, 10])
def test_the_top_is_sorted_by_rank_and_then_by_name(tmp_path: Path, count: int) -> None:
    one = slice_of(tmp_path, [10, 13, 14, 17, 18])
    ranks = np.array([0.1, 0.3, 0.2, 0.3 + 1e-15, 0.1])
    first = first_ranked(one, ranks, count)
    ranked = [(found.node, found.place, found.is_captured) for found in first.nodes]
    assert (
        ranked
        == [(13, 1, False), (17, 1, False), (14, 3, True), (10, 4, True), (18, 4, True)][:count]
    )
    assert first.tied == {1: 1, 4: 1}.get(count, 0)


@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_the_captured_nodes_of_the_top_keep_their_places(tmp_path: Path, count: int) -> None:
    one = slice_of(tmp_path, [10, 13, 14, 17, 18])
    ranks = np.array([0.1, 0.3, 0.2, 0.3, 0.1])
    first = first_ranked(one, ranks, count, only_captured=True)
    assert [(found.node, found.place) for found in first.nodes] == [(14, 3), (10, 4), (18, 4)][
        :count
    ]
    assert first.tied == (1 if count == 2 else 0)
    none = slice_of(tmp_path, [13, 17])
    assert first_ranked(none, np.array([0.5, 0.5]), count, only_captured=True) == ([], 0)


def test_a_node_has_its_place_and_rank_if_the_graph_has_it(tmp_path: Path) -> None:
    one = slice_of(tmp_path, [10, 13, 14])
    found = place_of(one, np.array([0.1, 0.7, 0.2]), 14)
    assert found is not None
    assert (found.place, found.rank, found.is_captured) == (2, 0.2, True)
    assert place_of(one, np.array([0.1, 0.7, 0.2]), 12) is None


lists = st.dictionaries(st.integers(0, 15), st.integers(1, 6), max_size=12)


@given(one=lists, other=lists)
def test_agreement_is_kendalls_tau_of_the_shared_entries(
    one: dict[int, int], other: dict[int, int]
) -> None:
    """By the definition: equal places are in no order, which takes from what can agree (Kendall
    1945, equation 3).
    """
    shared = sorted(one.keys() & other.keys())
    steps = [
        [np.sign(some[first] - some[second]) for first, second in combinations(shared, 2)]
        for some in (one, other)
    ]
    agreed = sum(before * after for before, after in zip(*steps, strict=True))
    ordered = [sum(step != 0 for step in of_list) for of_list in steps]
    found = agreement(one, other)
    assert found.overlap == len(shared)
    assert found.tau == (
        pytest.approx(agreed / sqrt(ordered[0] * ordered[1])) if all(ordered) else None
    )


def test_nodes_that_rank_alike_agree_in_nothing_by_their_names() -> None:
    assert agreement(dict.fromkeys(range(50), 1), dict.fromkeys(range(50), 1)) == (50, None)
