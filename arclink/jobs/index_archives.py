"""Index: turns archive files without CDX into CDXJ rows.

Input: a manifest with a JSON list of name and path per line. Output: ``rows``, one CDXJ row per
capture in the order of the file, and ``findings``, the faults of a file; both tagged with their
relation.
"""

import json
from collections.abc import Iterable, Iterator

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.reasons import Reason


class IndexArchives(ArclinkJob):
    """Map only: each archive file is read once, forward."""

    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield ``(b"rows", CDXJ row)`` per capture, and a finding per faulty or empty file."""
        from arclink.filter.index import ROWS, index_archive
        from arclink.rows.findings import FINDINGS, Finding, format_finding

        for line in lines:
            name, path = json.loads(line)
            self.counts[Reason.FILE_INDEXED] += 1
            finding = Finding(name, "index")
            for row in index_archive(path, name, self.counts, finding):
                yield ROWS, row
            if finding.failed or not finding.records:
                yield FINDINGS, format_finding(finding)


if __name__ == "__main__":
    IndexArchives.run()
