"""Find: looks in a batch for further captures of payloads that extract could not read.

Input: ``waiting``, ``absent`` and ``digested`` of extract, ``pointers`` and ``mementos`` of filter.
Output: ``pointers`` to further captures, ``recorded`` pointers to links that a crawler recorded,
and ``payloads`` rows with the reason of each payload that cannot be read; tagged with their
relation.
"""

from collections.abc import Iterable, Iterator

from arclink.extract.further_captures import further_pointers, places
from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.mapreduce.job_settings import JobSetting


class FindCaptures(ArclinkJob):
    """Map: keys pointers and captures by checksum. Reduce: directs the pointers that wait."""

    SORT_VALUES = True
    SETTINGS = (JobSetting("recorded", "Whether links that a crawler recorded are used.", False),)

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield pointers and captures by checksum."""
        recorded = self.settings["recorded"]
        for line in lines:
            yield from places(line, recorded=recorded)

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield what is to be read for one payload, if it waits."""
        return further_pointers(values, self.counts)


if __name__ == "__main__":
    FindCaptures.run()
