"""Filter (paper, 3.1): turns CDX rows into mementos and pointers to payloads worth reading.

Input: CDX or CDXJ lines. Output: ``mementos`` blocks and ``pointers``, tagged with their relation.
"""

from collections.abc import Iterable, Iterator

from arclink.extract.settings import ExtractSettings
from arclink.filter.rules import Rules
from arclink.filter.selection import PASSED_ON, map_captures, reduce_sorted
from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.mapreduce.job_settings import EXTRACT, RULES, JobSetting
from arclink.model import Forgotten, Span


class FilterCaptures(ArclinkJob):
    """Map: a row becomes a memento and, perhaps, a candidate. Reduce: one pointer per checksum."""

    SORT_VALUES = True
    PASSED_ON = PASSED_ON
    SETTINGS = (
        RULES,
        EXTRACT,
        JobSetting("forgotten", "Takedowns: lists of SURT prefix, first and last timestamp.", []),
    )

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield blocks of mementos, and candidates keyed by their checksum."""
        settings = self.settings
        rules = Rules.from_json(settings["rules"])
        forgotten = [
            Forgotten(prefix, Span(first, last)) for prefix, first, last in settings["forgotten"]
        ]
        extract = ExtractSettings(**settings["extract"])
        return map_captures(
            lines, rules, self.counts, forgotten=forgotten, unwrapper=extract.unwrapper()
        )

    def reduce_sorted(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield tagged rows: memento blocks unchanged, and the pointers of each checksum."""
        return reduce_sorted(pairs, self.counts)


if __name__ == "__main__":
    FilterCaptures.run()
