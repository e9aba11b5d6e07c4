"""Look: takes a first look at archive files, where there are too many for the driver.

Input: one path or address per line, as JSON. Output: the path, and a JSON list: why it is not an
archive file (null if it is one), its size, and its fingerprint.
"""

from collections.abc import Iterable, Iterator

import orjson

from arclink.archives.locations import location_of
from arclink.archives.marks import look_at_each
from arclink.mapreduce.job import ArclinkJob, Pair


class LookAtFiles(ArclinkJob):
    """Map only; one part is one map task."""

    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield what a first look at each file found."""
        names = list(lines)
        paths = [location_of(orjson.loads(name)) for name in names]
        for name, look in zip(names, look_at_each(paths, is_marked=True), strict=True):
            size, fingerprint = look.mark or (None, None)
            yield name, orjson.dumps([look.complaint, size, fingerprint])


if __name__ == "__main__":
    LookAtFiles.run()
