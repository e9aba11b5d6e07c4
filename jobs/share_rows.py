"""Share: brings the rows of CDX files to the batches of their archive files.

Input: manifests with one piece of a CDX file per line. Output: the lines of each batch, and
findings of the tasks, tagged with their relation.
"""

from collections.abc import Iterable, Iterator

from arclink.filter.sharing import PASSED_ON, map_pieces, reduce_rows
from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.mapreduce.job_settings import JobSetting
from arclink.rows.cdx_files import parse_piece


class ShareRows(ArclinkJob):
    """Map: one manifest is one task, which keys the lines by batch. Reduce: writes few batches."""

    SORT_VALUES = True
    ONE_TASK_PER_FILE = True
    ONE_TASK_PER_KEY = True
    PASSED_ON = PASSED_ON
    SETTINGS = (
        JobSetting("files", "Address of the list of archive files with their batches."),
        JobSetting("tasks", "Number of tasks that write the rows.", 1),
        JobSetting("slices", "Number of these tasks that write the rows of one batch.", 1),
    )

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the lines of the pieces in one manifest by batch, and the findings."""
        settings = self.settings
        return map_pieces(map(parse_piece, lines), settings["files"], settings["slices"])

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the lines of one batch, in order, and their number."""
        return reduce_rows(key, values, self.settings["slices"])


if __name__ == "__main__":
    ShareRows.run()
