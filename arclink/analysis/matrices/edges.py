"""The edges of a slice, read in blocks, so that memory is limited by the number of nodes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BLOCK = 4_000_000
"""Approximate number of edges read at a time."""

Nodes = npt.NDArray[np.int64]
"""Positions of nodes in a slice."""


def row_blocks(matrix: "csr_matrix") -> Iterator[tuple[int, int]]:
    """Yield ranges of rows with about `BLOCK` edges together, at least one row each."""
    begin = 0
    while begin < matrix.shape[0]:
        end = max(
            begin + 1,
            int(np.searchsorted(matrix.indptr, int(matrix.indptr[begin]) + BLOCK, "right")) - 1,
        )
        yield begin, end
        begin = end


def edge_blocks(matrix: "csr_matrix") -> Iterator[tuple[Nodes, Nodes]]:
    """Yield (sources, targets) in sorted blocks, without edges from a node to itself."""
    for begin, end in row_blocks(matrix):
        sources = np.repeat(np.arange(begin, end), np.diff(matrix.indptr[begin : end + 1]))
        targets = matrix.indices[int(matrix.indptr[begin]) : int(matrix.indptr[end])].astype(
            np.int64
        )
        others = sources != targets
        yield sources[others], targets[others]


def rows_of(ends: npt.NDArray[Any], columns: npt.NDArray[Any], rows: Nodes) -> npt.NDArray[Any]:
    """Return the columns of some rows of a sparse matrix, one row after the other.

    Args:
        ends: The boundaries of rows: row i is from ``ends[i]`` to ``ends[i + 1]`` (``indptr``).
        columns: The columns of all rows (``indices``).
        rows: The rows, in any order.
    """
    begins, counts = ends[rows], ends[rows + 1] - ends[rows]
    indexes = np.arange(int(counts.sum())) + np.repeat(begins - np.cumsum(counts) + counts, counts)
    found: npt.NDArray[Any] = columns[indexes]
    return found


def has_edges(matrix: "csr_matrix", sources: Nodes, targets: Nodes) -> npt.NDArray[np.bool_]:
    """Return for each pair whether the matrix has that edge.

    This is a binary search in each row, for all rows at once.
    """
    low, high = matrix.indptr[sources].astype(np.int64), matrix.indptr[sources + 1].astype(np.int64)
    ends = high.copy()
    while (low < high).any():
        middle = (low + high) // 2
        is_less = (low < high) & (matrix.indices[np.minimum(middle, matrix.nnz - 1)] < targets)
        low, high = (
            np.where(is_less, middle + 1, low),
            np.where(is_less, high, np.minimum(high, middle)),
        )
    is_there: npt.NDArray[np.bool_] = low < ends
    if matrix.nnz:
        is_there &= matrix.indices[np.minimum(low, matrix.nnz - 1)] == targets
    return is_there
