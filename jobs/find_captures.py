"""Find: looks in a batch for further captures of payloads that extract could not read.

Input: ``waiting``, ``named``, ``absent`` and ``digested`` of extract, ``pointers`` of filter, and
``mementos``. Output: ``pointers`` to further captures, ``named`` and ``waiting`` pointers for the
next search, ``recorded`` pointers to links that a crawler recorded, and ``payloads`` rows with the
reason of each payload that cannot be read; tagged with their relation.
"""

from collections.abc import Iterable, Iterator

from arclink.extract.reading_tasks import further_pointers, pairs_of
from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.mapreduce.job_settings import JobSetting


class FindCaptures(ArclinkJob):
    """Map: keys pointers and captures by checksum, or by URI and time for those that are named.

    Reduce: directs the pointers that wait.
    """

    SORT_VALUES = True
    SETTINGS = (
        JobSetting("recorded", "Whether links that a crawler recorded are used.", False),
        JobSetting("by_name", "Whether pointers wait for captures that revisits name.", False),
    )

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield pointers and captures by their keys."""
        recorded, by_name = self.settings["recorded"], self.settings["by_name"]
        for line in lines:
            yield from pairs_of(line, recorded=recorded, by_name=by_name)

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield what is to be read for one payload, if it waits."""
        return further_pointers(values, self.counts)


if __name__ == "__main__":
    FindCaptures.run()
