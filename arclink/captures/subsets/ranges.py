"""Ranges of SURTs: where in a store the captures of a selection can be.

A range is given by its *stem*: the SURTs that start with it. A stem that ends in NUL means one SURT
exactly, because every SURT is compared with a NUL after its end and no SURT contains one. So two
ranges are either disjoint or one contains the other, and sets of ranges are united and intersected
in one pass.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import merge

from arclink.model import Surt

END = "\0"
"""Ends a stem that means one SURT."""


@dataclass(frozen=True, slots=True)
class SurtRanges:
    """A set of ranges of SURTs.

    Attributes:
        stems: Sorted; none of them starts with another.
    """

    stems: tuple[str, ...]

    @classmethod
    def of(cls, stems: Iterable[str]) -> "SurtRanges":
        """Return the ranges with these stems, which may be in any order and overlap.

        >>> SurtRanges.of(["gov,nasa)/", "gov,", "org)"])
        SurtRanges(stems=('gov,', 'org)'))
        """
        outer_stems: list[str] = []
        for stem in sorted(stems):
            if not outer_stems or not stem.startswith(outer_stems[-1]):
                outer_stems.append(stem)
        return cls(tuple(outer_stems))

    @classmethod
    def of_surts(cls, surts: Iterable[Surt]) -> "SurtRanges":
        """Return the ranges that hold exactly these SURTs."""
        return cls.of(surt + END for surt in surts)

    def __or__(self, other: "SurtRanges") -> "SurtRanges":
        return SurtRanges.of((*self.stems, *other.stems))

    def __and__(self, other: "SurtRanges") -> "SurtRanges":
        """Return the ranges in both.

        >>> SurtRanges.of(["gov,nasa)", "org,"]) & SurtRanges.of(["gov,", "org,a)/", "org,b)/"])
        SurtRanges(stems=('gov,nasa)', 'org,a)/', 'org,b)/'))
        """
        found: list[str] = []
        outer = ""
        is_inside = False
        for stem in merge(self.stems, other.stems):
            if is_inside and stem.startswith(outer):
                found.append(stem)
            else:
                outer, is_inside = stem, True
        return SurtRanges(tuple(found))

    def has(self, surt: str) -> bool:
        """Return whether a SURT is in one of the ranges."""
        key = surt + END
        index = bisect_right(self.stems, key)
        return index > 0 and key.startswith(self.stems[index - 1])

    def test(self) -> Callable[[str], bool]:
        """Return `has`, as fast as possible for few ranges."""
        if len(self.stems) > _FEW:
            return self.has
        exact = frozenset(stem[:-1] for stem in self.stems if stem.endswith(END))
        starts = tuple(stem for stem in self.stems if not stem.endswith(END))
        if not starts:
            return exact.__contains__
        if not exact:
            return lambda surt: surt.startswith(starts)
        return lambda surt: surt.startswith(starts) or surt in exact


EVERYWHERE = SurtRanges(("",))
"""The range of all SURTs."""

NOWHERE = SurtRanges(())
"""No range."""

_FEW = 16
