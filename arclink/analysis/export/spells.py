"""Spells: the days on which each link of a picture exists.

*Observed*: from a memento that shows the link to the last one that does, with no memento of that
page between them that shows it was gone (`arclink.access.link_states`; a memento that was not read
shows nothing). A link that only one memento shows exists on that day. *In force*, with the meaning
of ``at``: from a memento that shows the link until the next memento of that page, whatever its
status, that does not show it; without such a memento there is no end.

A link between hosts or domains exists while a link between their pages does.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from arclink.analysis.export.cuts import Picture
from arclink.analysis.export.markup import links_of, nodes_of
from arclink.analysis.export.queries import ExportQuery
from arclink.errors import StoreError
from arclink.extras import analysis_extra
from arclink.store.protocols import Scans

Spell = tuple[int, int | None]
"""The first and last day, in the numbers of `date.toordinal`; None for no end."""

Pair = tuple[int, int]
"""Source and target of a link: their positions in the picture."""


def spells_of(
    store: Scans, query: ExportQuery, picture: Picture, path: Path, where: str = ""
) -> Mapping[Pair, Sequence[Spell]]:
    """Return the spells of each link of ``picture``, in order, without common days.

    Args:
        store: The store.
        query: The query of the picture.
        picture: The picture.
        path: A file next to which temporary files may be.
        where: The path or URL of the store: its relations are kept next to it. If it is empty, they
            are made for this use.

    Raises:
        StoreError: The store cannot be reached, or links were removed from it after the picture was
            created.
        UsageError: A package is not installed.
    """
    with analysis_extra():
        from arclink.analysis.export.scripts import spell_rows
    nodes = ((place, name) for place, name, _ in nodes_of(picture))
    links = ((source, target) for source, target, *_ in links_of(picture.links))
    with spell_rows(query, where, store, path, nodes, links) as rows:
        found = {
            pair: joined((first, last) for *_, first, last in of_pair)
            for pair, of_pair in groupby(rows, lambda row: (row[0], row[1]))
        }
    if len(found) != len(picture.links):
        raise StoreError("links were removed from the store while it was read. Start again.")
    return found


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
