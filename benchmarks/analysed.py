"""Runs one analysis of a store in a process of its own, for `benchmarks.analysis`.

The program prints the result.

    python -m benchmarks.analysed slices --store links.db --cache FOLDER
"""

import argparse
from pathlib import Path

import numpy as np

from arclink.analysis.matrices.pagerank import RankOptions, rank
from arclink.analysis.matrices.properties import bow_tie, strong_components, weak_components
from arclink.analysis.matrices.slice_cache import open_slices
from arclink.analysis.matrices.slices import SliceOptions, Slices, Windows

TOLERANCE = 1e-10


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["slices", "ranks", "components", "edges"])
    parser.add_argument("--store", required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument(
        "--edges", type=Path, help="file to write the edges of the whole to, for peers"
    )
    arguments = parser.parse_args()
    slices = open_slices(arguments.store, SliceOptions(Windows.parse("month")), arguments.cache)
    print(_found(arguments.what, slices, arguments.edges))


def _found(what: str, slices: Slices, edges: Path) -> str:
    matrix = slices.whole.matrix
    if what == "slices":
        return f"{len(slices.names):,} nodes, {matrix.nnz:,} edges, {len(slices.windows)} windows"
    if what == "ranks":
        ranks = rank(matrix, RankOptions(tolerance=TOLERANCE))
        return f"{ranks.iterations} iterations, greatest rank {ranks.ranks.max():.9f}"
    if what == "components":
        weak, strong = weak_components(matrix), strong_components(matrix)
        tie = bow_tie(matrix, weak, strong)
        return f"{int(weak.max()) + 1:,} weak, {int(strong.max()) + 1:,} strong, core {tie.core:,}"
    sources = np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))
    others = sources != matrix.indices
    np.savez(edges, nodes=matrix.shape[0], sources=sources[others], targets=matrix.indices[others])
    return f"{int(others.sum()):,} edges"


if __name__ == "__main__":
    main()
