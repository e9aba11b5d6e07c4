"""Edges of a power-law graph by recursive descent (R-MAT).

Source:
    Chakrabarti, Zhan, Faloutsos: *R-MAT: A Recursive Model for Graph Mining*, SDM 2004. The
    probabilities are those that Graph500 uses.
"""

from collections.abc import Iterator

from arclink.demo.dice import Dice

A, B, C = 0.57, 0.19, 0.19


def rmat_edges(nodes: int, edges: int, dice: Dice) -> Iterator[tuple[int, int]]:
    """Yield ``edges`` pairs (source, target) over nodes 0 to ``nodes`` - 1.

    Low numbers are the hubs.

    Pairs may repeat, but no pair has equal ends. With fewer than two nodes there are no pairs.
    """
    if nodes < 2:
        return
    levels = (nodes - 1).bit_length()
    made = 0
    while made < edges:
        source = target = 0
        for _ in range(levels):
            roll = dice.roll()
            source = source * 2 + (roll >= A + B)
            target = target * 2 + (A <= roll < A + B or roll >= A + B + C)
        if source != target and source < nodes and target < nodes:
            made += 1
            yield source, target
