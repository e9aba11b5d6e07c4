"""Extract (paper, 3.2): reads payloads and writes the links in them; opens each archive file once.

Input: manifests of pointers, sorted by file and offset. Output: ``pages``, ``mementos``,
``retries`` (pointers to payloads that could not be read) and ``findings``, tagged with their
relation.
"""

import json
from collections.abc import Iterable, Iterator

from arclink.extract.extraction import ExtractSettings, extract_pointers
from arclink.filter.rules import Rules
from arclink.mapreduce.job import ArclinkJob, Pair, attempt_number
from arclink.mapreduce.task_variables import note_place


class ExtractLinks(ArclinkJob):
    """Map only: one manifest is one task."""

    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the rows extracted from the payloads that the pointers of one manifest lead to.

        From a task's second attempt on, payloads are parsed in a child process. The runner
        learns the place of each page, so that it can name the page if this process dies.
        """
        settings = ExtractSettings.from_json(self.options.settings)
        return extract_pointers(
            lines,
            settings,
            self.counts,
            is_isolated=attempt_number() > 0,
            is_skipped=note_place,
            rules=Rules.from_json(json.loads(self.options.settings)["rules"]),
        )


if __name__ == "__main__":
    ExtractLinks.run()
