"""Search: finds the mementos and pointers of a batch that have one of some checksums.

Input: ``mementos`` and ``pointers`` that filter wrote. Output: the rows with these checksums,
tagged with the same relations.
"""

import json
from collections.abc import Iterable, Iterator

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.rows.pointers import POINTERS, parse_pointer
from arclink.rows.relations import MEMENTOS


class SearchRows(ArclinkJob):
    """Map only."""

    HAS_REDUCER = False

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the rows with one of the checksums; a memento has tabs, a pointer has none."""
        from arclink.archives.opener import open_stream

        with open_stream(json.loads(self.options.settings)["checksums"]) as file:
            wanted = frozenset(file.read().split(b"\n"))
        for line in lines:
            if b"\t" in line:
                if line.split(b"\t", 4)[3] in wanted:
                    yield MEMENTOS, line
            elif parse_pointer(line).checksum.encode() in wanted:
                yield POINTERS, line


if __name__ == "__main__":
    SearchRows.run()
