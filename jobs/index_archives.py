"""Index: archive files without CDX become CDXJ rows.

Input: a manifest, one ``name TAB path`` per line. Output: CDXJ, one row per capture, in the order of the file.
"""

import json
from collections.abc import Iterable, Iterator

from arclink.reasons import Reason
from jobs.base import ArclinkJob, Pair, TextLineProtocol


class IndexArchives(ArclinkJob):
    """Map only: each archive file is read once, forward."""

    OUTPUT_PROTOCOL = TextLineProtocol
    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield ``(b"", CDXJ row)`` for every capture in the files."""
        from arclink.filter.index import index_archive

        for line in lines:
            name, path = json.loads(line)
            self.counts[Reason.FILE_INDEXED] += 1
            for row in index_archive(path, name, self.counts):
                yield b"", row


if __name__ == "__main__":
    IndexArchives.run()
