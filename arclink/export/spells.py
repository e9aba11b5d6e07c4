"""Spells: the days on which each link of a picture exists.

*Observed*: from a memento that shows the link to the last one that does, with no memento of that
page between them that shows it was gone (`arclink.access.link_states`; a memento that was not read
shows nothing). A link that only one memento shows exists on that day. *In force*, with the meaning
of ``at``: from a memento that shows the link until the next memento of that page, whatever its
status, that does not show it; without such a memento there is no end.

A link between hosts or domains exists while a link between their pages does.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby
from operator import attrgetter

from arclink.access.link_states import State, state_of
from arclink.access.reader import Reading
from arclink.errors import StoreError
from arclink.export.cuts import Picture
from arclink.export.queries import ExportQuery, Spells, node_of
from arclink.model import ContentId, Memento, Timestamp
from arclink.store.protocols import Answers, Scans

Spell = tuple[int, int | None]
"""The first and last day, in the numbers of `date.toordinal`; None for no end."""

Pair = tuple[int, int]
"""Source and target of a link: their positions in the picture."""

CACHED = 10_000
"""Largest number of contents whose targets are cached."""
_MOST_SPELLS = 64
"""Largest number of spells of one link before overlapping ones are joined."""


def spells_of(store: Scans, query: ExportQuery, picture: Picture) -> Mapping[Pair, Sequence[Spell]]:
    """Return the spells of each link of ``picture``, in order, without common days.

    It reads the mementos of the store once, and the links of those whose page is in the picture.

    Raises:
        StoreError: The store cannot be reached, or links were removed from it after the picture was
            created.
    """
    looking = _Looking(store, query, picture)
    found: dict[Pair, list[Spell]] = {}
    for _, of_surt in groupby(store.scan_mementos(query.links.span), attrgetter("surt")):
        for source, targets in looking.pages(of_surt):
            for target, spell in _runs(targets, query.spells):
                spells = found.setdefault((source, target), [])
                spells.append(spell)
                if len(spells) >= _MOST_SPELLS:
                    spells[:] = joined(spells)
    if found.keys() != looking.pairs:
        raise StoreError("links were removed from the store while it was read. Start again.")
    return {pair: joined(spells) for pair, spells in found.items()}


def joined(spells: Iterable[Spell]) -> list[Spell]:
    """Return ``spells`` in order; those that have a day in common are joined.

    >>> joined([(5, 7), (1, 2), (7, None), (2, 3)])
    [(1, 3), (5, None)]
    """
    found: list[Spell] = []
    for start, end in sorted(spells, key=lambda spell: spell[0]):
        last = found[-1][1] if found else -1
        if last is not None and start > last:
            found.append((start, end))
        elif last is not None and (end is None or end > last):
            found[-1] = found[-1][0], end
    return found


class _Looking:
    """The links within the picture of its pages."""

    def __init__(self, store: Answers, query: ExportQuery, picture: Picture) -> None:
        self._store = store
        self._query = query
        self._reading = Reading(store, query.links)
        self._index_of = {
            picture.graph.node(int(number))[0]: index for index, number in enumerate(picture.nodes)
        }
        self.pairs = {
            (int(source), int(target)) for source, target in picture.links[["source", "target"]]
        }
        self._targets: dict[tuple[ContentId, int], frozenset[int]] = {}

    def pages(
        self, mementos: Iterator[Memento]
    ) -> Iterator[tuple[int, Sequence[tuple[Timestamp, frozenset[int] | None]]]]:
        """Yield for each page of one SURT its node, and its mementos, oldest first.

        Each memento comes with the nodes that it links to; None if its links are not known.
        """
        by_page: dict[str, list[tuple[Timestamp, frozenset[int] | None]]] = {}
        source: int | None = None
        for memento in mementos:
            if source is None:
                source = self._index_of.get(node_of(self._query.level, memento.original))
                if source is None:
                    return
            by_page.setdefault(memento.original, []).append(
                (memento.timestamp, self._shown(memento, source))
            )
        if source is not None:
            yield from ((source, targets) for targets in by_page.values())

    def _shown(self, memento: Memento, source: int) -> frozenset[int] | None:
        content = self._reading.content_of(memento)
        if content is None:
            return frozenset() if state_of(memento, is_known=False) is State.NO_PAGE else None
        key = content, source
        if key not in self._targets:
            if len(self._targets) >= CACHED:
                self._targets.clear()
            links = (
                link for link in self._store.outlinks(content) if self._query.links.wants(link.kind)
            )
            nodes = {self._index_of.get(node_of(self._query.level, link.target)) for link in links}
            self._targets[key] = frozenset(
                node for node in nodes if node is not None and (source, node) in self.pairs
            )
        return self._targets[key]


def _runs(
    mementos: Sequence[tuple[Timestamp, frozenset[int] | None]], meaning: Spells
) -> Iterator[tuple[int, Spell]]:
    """Yield pairs of target and spell: the spells of all targets on one page."""
    begun: dict[int, int] = {}
    day = 0
    before = 0
    for timestamp, same in groupby(mementos, lambda one: one[0]):
        shown = [targets for _, targets in same]
        known = [targets for targets in shown if targets is not None]
        if not known and meaning is Spells.OBSERVED:
            continue
        day = date(int(timestamp[:4]), int(timestamp[4:6]), int(timestamp[6:8])).toordinal()
        targets = frozenset[int]().union(*known)
        for gone in begun.keys() - targets:
            yield gone, (begun.pop(gone), before if meaning is Spells.OBSERVED else day)
        for target in targets:
            begun.setdefault(target, day)
        before = day
    for target, start in begun.items():
        yield target, (start, before if meaning is Spells.OBSERVED else None)
