"""Generated sparse matrices for tests of ranks and properties."""

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csr_matrix


@st.composite
def matrices(draw: st.DrawFn) -> csr_matrix:
    nodes = draw(st.integers(1, 12))
    numbers = st.integers(0, nodes - 1)
    drawn = draw(st.dictionaries(st.tuples(numbers, numbers), st.integers(1, 9), max_size=40))
    return matrix_of(nodes, [(*pair, weight) for pair, weight in drawn.items()])


def matrix_of(nodes: int, triples: list[tuple[int, int, int]]) -> csr_matrix:
    sources, targets, weights = zip(*triples, strict=True) if triples else ((), (), ())
    return coo_matrix(
        (np.array(weights, dtype=np.int64), (sources, targets)), shape=(nodes, nodes)
    ).tocsr()
