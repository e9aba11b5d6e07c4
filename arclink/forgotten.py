"""Takedowns by the SURTs that they have: a look-up does not grow with the number of takedowns."""

from collections import defaultdict
from collections.abc import Iterable

from arclink.model import Forgotten


class ForgottenParts:
    """The parts of the web that takedowns name.

    Args:
        parts: In any order; the same part may come with several spans.
    """

    def __init__(self, parts: Iterable[Forgotten]) -> None:
        self._by_prefix: defaultdict[str, list[Forgotten]] = defaultdict(list)
        for what in parts:
            self._by_prefix[what.prefix].append(what)
        self._lengths = sorted({len(prefix) for prefix in self._by_prefix})

    def __bool__(self) -> bool:
        """Return whether there is any takedown."""
        return bool(self._by_prefix)

    def of(self, surt: str) -> list[Forgotten]:
        """Return the takedowns that have a SURT, those with the shortest prefix first.

        >>> parts = ForgottenParts(map(Forgotten, ["org,a", "org,b)/", "org,a)/x"]))
        >>> [what.prefix for what in parts.of("org,a)/x/y")], parts.of("org,ab)/")
        (['org,a', 'org,a)/x'], [])
        """
        return [
            what
            for length in self._lengths
            if length <= len(surt)
            for what in self._by_prefix.get(surt[:length], ())
            if what.has(surt)
        ]
