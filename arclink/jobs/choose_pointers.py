"""Choose: leaves out pointers to payloads that the store knows, and divides the others by file.

Input: ``pointers``. Output: ``manifest-00000``, … with the lines that each task of extract reads,
sorted by archive file and offset; ``waiting`` pointers, which have nothing to read so far; all
tagged with their relation.
"""

import json
from collections.abc import Iterable, Iterator
from zlib import crc32

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.rows.pointers import CHOSEN, MANIFEST, WAITING, format_pointer, parse_pointer

_WAITING = b"w"

_PASSED_ON = {_WAITING: WAITING}
"""By the first byte of a key: the relation that gets its values unchanged."""


class ChoosePointers(ArclinkJob):
    """Map: one part is one task, because the chunks of a payload must stay together.

    Reduce: the lines of one manifest.
    """

    SORT_VALUES = True
    ONE_TASK_PER_FILE = True
    PASSED_ON = _PASSED_ON

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the pointers of one part that the store does not make needless."""
        from arclink.archives.opener import open_stream
        from arclink.extract.reading_tasks import ReadingTasks, parse_files
        from arclink.store.empty import EmptyStore
        from arclink.store.known_payloads import choose_pointers
        from arclink.store.location import open_store

        settings = json.loads(self.options.settings)
        with open_stream(settings["files"]) as files:
            tasks = ReadingTasks(parse_files(files), settings["tasks"])
        url = settings["store"]
        with open_store(url) if url else EmptyStore() as store, store.snapshot():
            pointers = map(parse_pointer, lines)
            for relation, pointer in choose_pointers(pointers, store, self.counts):
                if relation == CHOSEN:
                    task, order, line = tasks.place(pointer)
                    yield b"%05d" % task, order + b"\t" + line
                else:
                    line = format_pointer(pointer)
                    yield b"%b%04x" % (_WAITING, crc32(line) & 0xFFFF), line

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the lines of one manifest in order, or waiting pointers unchanged."""
        if key.startswith(_WAITING):
            for value in values:
                yield WAITING, value
        else:
            for value in values:
                yield MANIFEST + key, value.partition(b"\t")[2]


if __name__ == "__main__":
    ChoosePointers.run()
