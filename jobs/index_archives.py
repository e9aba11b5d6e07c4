"""Index: turns archive files without CDX into CDXJ rows.

Input: a manifest with a range of an archive file, or a whole file, per line
(`arclink.rows.file_ranges`). Output: ``rows``, one CDXJ row per capture in the order of the file,
and ``findings``, the faults of a file; for a range, rows of a relation of its own and one of
``reports``. All are tagged with their relation.
"""

from collections.abc import Iterable, Iterator

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.reasons import Reason
from arclink.rows.file_ranges import (
    FINDINGS,
    REPORTS,
    FileRange,
    Finding,
    RangeReport,
    format_finding,
    format_report,
    parse_range,
    rows_of_range,
)


class IndexArchives(ArclinkJob):
    """Map only: each archive file, or each range of it, is read once, forward."""

    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield a CDXJ row per capture, a finding per faulty or empty file, a report per range."""
        for part in map(parse_range, lines):
            yield from self._index_file(part) if part.number is None else _index_range(part)

    def _index_file(self, part: FileRange) -> Iterator[Pair]:
        from arclink.filter.index import ROWS, index_archive

        self.counts[Reason.FILE_INDEXED] += 1
        finding = Finding(part.name, "index")
        for row in index_archive(part.path, part.name, self.counts, finding):
            yield ROWS, row
        if finding.is_faulty:
            yield FINDINGS, format_finding(finding)


def _index_range(part: FileRange) -> Iterator[Pair]:
    from arclink.filter.index import index_range

    relation = rows_of_range(part)
    report = RangeReport(part.number, Finding(part.name, "index"))
    for row in index_range(part, report):
        yield relation, row
    yield REPORTS, format_report(report)


if __name__ == "__main__":
    IndexArchives.run()
