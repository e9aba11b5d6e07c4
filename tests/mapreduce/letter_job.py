"""A small job for tests of the base class and the runner."""

import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

from arclink.mapreduce.job import ArclinkJob, Pair, attempt_number
from arclink.reasons import Reason


class CountLetters(ArclinkJob):
    """Counts the first letters of lines.

    A line ``die PATH`` kills its task the first time, ``die always`` every time, ``fail`` raises.
    """

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        for line in lines:
            self.counts[Reason.ROW_KEPT] += 1
            if line == b"fail":
                raise ValueError("this line has to fail")
            if line == b"die always" or (line == b"die" and attempt_number() == 0):
                Path(f"died-{os.getpid()}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield line[:1], b"1"

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        self.counts[Reason.ROW_HEADER] += 1
        yield key, str(sum(map(int, values))).encode()

    def reduce_sorted(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        yield from super().reduce_sorted(pairs)
        yield b"end", b""


class OneManifestOneTask(ArclinkJob):
    """Writes what each task saw, on one line."""

    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        yield b"task", b" ".join(lines)


if __name__ == "__main__":
    CountLetters.run()
