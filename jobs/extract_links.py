"""Extract (paper, 3.2): payloads become the links written in them; each archive file is opened once.

Input: manifests of pointers, sorted by file and offset. Output: ``pages``, ``mementos`` and ``retries`` (pointers to
payloads that could not be read), tagged with their relation.
"""

from collections.abc import Iterable, Iterator

from arclink.extract.extracting import ExtractSettings, extract_pointers
from jobs.base import ArclinkJob, Pair, attempt_number


class ExtractLinks(ArclinkJob):
    """Map only: one manifest is one task."""

    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield what the pointers of one manifest lead to; from a task's second attempt on, parse in a child process."""
        settings = ExtractSettings.from_json(self.options.settings)
        return extract_pointers(lines, settings, self.counts, is_isolated=attempt_number() > 0)


if __name__ == "__main__":
    ExtractLinks.run()
