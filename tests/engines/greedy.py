"""A job whose map tasks take more memory than their containers have."""

import time
from collections.abc import Iterable, Iterator

from arclink.mapreduce.job import ArclinkJob, Pair


class TakeMemory(ArclinkJob):
    """Map only: fills 1.5 GB, and keeps them until YARN notices, for two minutes at most."""

    HAS_REDUCER = False

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        for line in lines:
            memory = b"x" * 1_500_000_000
            time.sleep(120)
            yield line, b"%d" % len(memory)


if __name__ == "__main__":
    TakeMemory.run()
