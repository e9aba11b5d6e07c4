"""Converts inlinks of graph files to groups for a store.

Graph files name the content of an inlink by block and position; a store names it by its number.
This module looks the numbers up, skips contents that the store already has, and unites groups that
have everything but their contents in common.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby, islice
from operator import ge, itemgetter

import numpy as np
import orjson

from arclink.errors import StoreError
from arclink.store.blocks.byte_layouts import Numbers, uri_form
from arclink.store.blocks.inlink_numbers import Numbered, contents_of
from arclink.store.blocks.relations import Groups, InlinksWriter, pack_head


class InlinkGrouping:
    """Groups the inlinks of one target after the other.

    Args:
        blocks: Numbers of the contents of each block, by name of the block and then by position;
            `OLD` for contents that need not be loaded.
        where: Name of the graph files in errors.
        has_repeats: Whether some contents are `OLD`, or occur in two blocks of one name.
    """

    def __init__(self, blocks: dict[str, Numbered], where: str, *, has_repeats: bool) -> None:
        self._blocks = blocks
        self._where = where
        self._has_repeats = has_repeats

    def write(self, rows: Iterable[Sequence[bytes]], writer: InlinksWriter) -> None:
        """Write the rows of ``inlinks``, sorted by SURT, to a writer, and close the writer."""
        for surt, group in groupby(rows, itemgetter(0)):
            of_surt = [(target.decode(), links) for _, target, links in group]
            if len(of_surt) == 1:
                by_target = [(of_surt[0][0], [of_surt[0][1]])]
            else:  # rows are sorted by URI, but the store sorts by the form of the URI
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
        """Return the links to a target, without contents that the store already had."""
        if len(rows) == 1:
            groups = self._groups_of(rows[0])
        else:
            heads: list[str] = []
            counts: list[int] = []
            numbers: list[Numbers] = []
            for row in rows:  # a hub has many rows: convert one at a time to save memory
                of_row = self._groups_of(row)
                heads += of_row.heads
                counts += of_row.counts
                numbers.append(np.array(of_row.numbers, np.int64))
            groups = Groups(heads, counts, np.concatenate(numbers))
        if len(groups.heads) > 1 and any(map(ge, groups.heads, islice(groups.heads, 1, None))):
            return _united(groups)
        return groups

    def _groups_of(self, row: bytes) -> Groups:
        """Return the links of one row."""
        # JSON escapes a control character with a backslash. Graph files must not contain any;
        # `pack_head` replaces those of a wrong file.
        packed_head = pack_head if b"\\" in row else None
        try:
            return Groups(
                *contents_of(orjson.loads(row), self._blocks, self._has_repeats, packed_head)
            )
        except LookupError as error:
            raise StoreError(
                f"{self._where}: the graph files do not belong together: inlinks name contents "
                f"({error}) which outlinks lack ({error.__cause__})."
            ) from error


def _united(groups: Groups) -> Groups:
    """Return groups with sorted, distinct heads, each with its distinct contents."""
    by_head: dict[str, list[Numbers]] = {}
    of_each = np.split(np.asarray(groups.numbers, np.int64), list(accumulate(groups.counts))[:-1])
    for head, of_head in zip(groups.heads, of_each, strict=True):
        by_head.setdefault(head, []).append(of_head)
    heads = sorted(by_head)
    contents = [
        by_head[head][0] if len(by_head[head]) == 1 else np.unique(np.concatenate(by_head[head]))
        for head in heads
    ]
    return Groups(heads, list(map(len, contents)), np.concatenate(contents))
