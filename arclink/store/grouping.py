"""Inlinks of graph files, which name contents by block and position, as groups that name them by the numbers of a store."""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, groupby, islice
from operator import ge, itemgetter

import numpy as np
import orjson

from arclink.errors import StoreError
from arclink.native import native
from arclink.store.packing import Numbers, uri_form
from arclink.store.relations import Groups, InlinksWriter, pack_head

Numbered = range | list[int]
"""Numbers of the contents of a block, by position; a range where they are consecutive."""

_Contents = Sequence[tuple[str, Sequence[int]]]
"""Blocks, with positions in each."""

OLD = -1
"""Number of a content that need not be loaded: the store or an earlier block has it, with the same links."""


class InlinkGrouping:
    """Groups the inlinks of one target.

    Args:
        blocks: By name of a block, the numbers of its contents by position; `OLD` for those that need not be loaded.
        where: What the graph files are called in errors.
        has_repeats: Whether some contents are `OLD`, or stand in two blocks of one name.
    """

    def __init__(self, blocks: dict[str, Numbered], where: str, *, has_repeats: bool) -> None:
        self._blocks = blocks
        self._where = where
        self._has_repeats = has_repeats

    def write(self, rows: Iterable[Sequence[bytes]], writer: InlinksWriter) -> None:
        """Write the rows of ``inlinks``, sorted by SURT, to a writer, and end it."""
        for surt, group in groupby(rows, itemgetter(0)):
            of_surt = [(target.decode(), links) for _, target, links in group]
            if len(of_surt) == 1:
                by_target = [(of_surt[0][0], [of_surt[0][1]])]
            else:  # sorted by URI; the store keeps them by how they differ from the SURT
                forms: dict[str, list[bytes]] = {}
                for target, links in of_surt:
                    forms.setdefault(target, []).append(links)
                name = surt.decode()
                by_target = sorted(forms.items(), key=lambda item: uri_form(name, item[0]))
            for target, of_target in by_target:
                groups = self._groups(of_target)
                if groups.heads:
                    writer.add(surt, target, groups)
        writer.close()

    def _groups(self, rows: Sequence[bytes]) -> Groups:
        """Return the links to a target; contents that the store had before are left out."""
        if len(rows) == 1:
            groups = self._groups_of(rows[0])
        else:
            heads: list[str] = []
            counts: list[int] = []
            numbers: list[Numbers] = []
            for row in rows:  # of a hub: a row at a time becomes numbers
                some = self._groups_of(row)
                heads += some.heads
                counts += some.counts
                numbers.append(np.array(some.numbers, np.int64))
            groups = Groups(heads, counts, np.concatenate(numbers))
        if len(groups.heads) > 1 and any(map(ge, groups.heads, islice(groups.heads, 1, None))):
            return _united(groups)
        return groups

    def _groups_of(self, row: bytes) -> Groups:
        """Return the links of one row."""
        # A control character in JSON is written with a backslash; there is none by the rules of graph files.
        packed_head = pack_head if b"\\" in row else None
        try:
            return Groups(*_groups_of(orjson.loads(row), self._blocks, self._has_repeats, packed_head))
        except LookupError as error:
            raise StoreError(
                f"{self._where}: the graph files do not belong together: inlinks name contents ({error}) which outlinks lack"
                f" ({error.__cause__})."
            ) from error


@native
def _groups_of(
    links: Sequence[tuple[str, str, str | None, _Contents]],
    blocks: dict[str, Numbered],
    has_repeats: bool,
    packed_head: Callable[[str, str, str | None], str] | None,
) -> tuple[list[str], list[int], list[int]]:
    """Return the links to a target, as `Groups` has them, without `OLD` contents and heads that have no others.

    Args:
        links: Of one row of graph files.
        blocks: As `InlinkGrouping` has them.
        has_repeats: Likewise.
        packed_head: What makes a head; None where that is kind, text and rel as they stand there.

    Raises:
        LookupError: There is no such block or position; it names the blocks of that head.
    """
    heads: list[str] = []
    counts: list[int] = []
    numbers: list[int] = []
    for kind, text, rel, sources in links:
        try:
            if any(min(positions, default=0) < 0 for _, positions in sources):
                raise IndexError("a position is negative")
            of_head = [blocks[name][position] for name, positions in sources for position in positions]
        except (KeyError, IndexError) as error:
            raise LookupError(", ".join(name for name, _ in sources)[:200]) from error
        if has_repeats:
            of_head = sorted(set(of_head).difference((OLD,)))
        if of_head:
            plain = f"{kind}\t{text}" if rel is None else f"{kind}\t{text}\t{rel}"
            heads.append(packed_head(kind, text, rel) if packed_head is not None else plain)
            counts.append(len(of_head))
            numbers += of_head
    return heads, counts, numbers


def _united(groups: Groups) -> Groups:
    """Return groups with sorted heads, each once, and the distinct contents of each."""
    by_head: dict[str, list[Numbers]] = {}
    of_each = np.split(np.asarray(groups.numbers, np.int64), list(accumulate(groups.counts))[:-1])
    for head, of_head in zip(groups.heads, of_each, strict=True):
        by_head.setdefault(head, []).append(of_head)
    heads = sorted(by_head)
    contents = [by_head[head][0] if len(by_head[head]) == 1 else np.unique(np.concatenate(by_head[head])) for head in heads]
    return Groups(heads, list(map(len, contents)), np.concatenate(contents))
