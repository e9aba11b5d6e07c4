"""Filter (paper, 3.1): rows of CDX files become mementos, and pointers to the payloads worth reading.

Input: CDX or CDXJ lines. Output: ``mementos`` blocks and ``pointers``, tagged with their relation.
"""

import json
from collections.abc import Iterable, Iterator

from arclink.filter.filtering import PASSED_ON, map_captures, reduce_sorted
from arclink.filter.rules import Rules
from arclink.model import Forgotten, Span
from jobs.base import ArclinkJob, Pair


class FilterCaptures(ArclinkJob):
    """Map: a row is a memento, and perhaps a candidate under its checksum. Reduce: one pointer per checksum."""

    SORT_VALUES = True
    PASSED_ON = PASSED_ON

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield memento blocks, and candidates under their checksum."""
        settings = json.loads(self.options.settings)
        rules = Rules.from_json(settings["rules"])
        forgotten = [Forgotten(prefix, Span(first, last)) for prefix, first, last in settings.get("forgotten", ())]
        return map_captures(lines, rules, self.counts, forgotten=forgotten)

    def reduce_sorted(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield tagged rows: memento blocks as they are, and the pointers of each checksum."""
        return reduce_sorted(pairs, self.counts)


if __name__ == "__main__":
    FilterCaptures.run()
