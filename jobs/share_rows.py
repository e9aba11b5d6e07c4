"""Share: brings the rows of CDX files to the batches of their archive files.

Input: manifests with one piece of a CDX file per line. Output: the lines of each batch, and
findings of the task, tagged with their relation (`arclink.filter.sharing.share_pieces`).
"""

from collections.abc import Iterable, Iterator

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.mapreduce.job_settings import JobSetting
from arclink.rows.cdx_pieces import parse_piece


class ShareRows(ArclinkJob):
    """Map only: one manifest is one task."""

    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True
    SETTINGS = (JobSetting("files", "Address of the list of archive files with their batches."),)

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the lines of the pieces in one manifest, by batch."""
        from arclink.filter.sharing import share_pieces

        return share_pieces(map(parse_piece, lines), self.settings["files"])


if __name__ == "__main__":
    ShareRows.run()
