"""Cost of reading records of one large file in HDFS: whole, by ranges, or forward with gaps.

    . .engines/run/hadoop/env
    .venv/bin/python -m benchmarks.reading_from_hdfs

The program writes a file of random bytes to HDFS. Then it reads records of 20,000 bytes at
ascending offsets, as extract does, for several shares of the file. The results are in
docs/decisions/20261121-reading-from-hdfs.md.
"""

import io
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence

from arclink.engines import hdfs
from arclink.engines.hdfs import HdfsBytes, WebHdfs

SIZE = 256 << 20
RECORD = 20_000
PATH = "/benchmark/reading"


def forwards(url: str, offsets: Sequence[int]) -> int:
    """Read with one request as long as gaps are small; return how many requests that took."""
    with HdfsBytes(url) as file:
        for offset in offsets:
            file.read(offset, RECORD)
        return file.requests


def ranges(url: str, offsets: Sequence[int]) -> int:
    """Ask for every record."""
    system, path = WebHdfs.of(url)
    for offset in offsets:
        with system.opened(path, offset) as response:
            response.read(RECORD)
    return len(offsets)


def whole(url: str, offsets: Sequence[int]) -> int:
    """Copy the file to this machine's disk first."""
    system, path = WebHdfs.of(url)
    with tempfile.TemporaryFile() as copy:
        for block in system.read(path):
            copy.write(block)
        for offset in offsets:
            os.pread(copy.fileno(), RECORD, offset)
    return 1


def with_a_jvm(url: str, offsets: Sequence[int]) -> int:
    """Let ``hadoop fs -cat`` copy it."""
    with tempfile.TemporaryFile() as copy:
        subprocess.run(["hadoop", "fs", "-cat", PATH], stdout=copy, check=True)
        for offset in offsets:
            os.pread(copy.fileno(), RECORD, offset)
    return 1


def main() -> None:
    """Print seconds, CPU seconds with children, and requests, for each way and share."""
    system, _ = WebHdfs.of(f"hdfs://cluster{PATH}")
    system.write(PATH, io.BytesIO(os.urandom(SIZE)))
    ways: list[Callable[[str, Sequence[int]], int]] = [forwards, ranges, whole, with_a_jvm]
    for share in (0.5, 0.2, 0.05, 0.01, 1.0):
        offsets = sorted(
            random.Random(2).sample(range(0, SIZE - RECORD, RECORD), int(SIZE / RECORD * share))
        )
        for way in (
            ways if share < 0.1 else [one for one in ways if one is not ranges or share == 1.0]
        ):
            before, cpu = time.monotonic(), os.times()
            requests = way(f"hdfs://cluster{PATH}", offsets)
            now = os.times()
            spent = sum(now[:4]) - sum(cpu[:4])
            print(
                f"{share:5.0%} {way.__name__:11} {time.monotonic() - before:7.2f} s "
                f"{spent:6.2f} CPU s {requests:6} requests",
                flush=True,
            )
    for gap in (0, 64 << 10, 256 << 10, 1 << 20, 4 << 20):
        hdfs.LARGEST_GAP = gap
        offsets = sorted(
            random.Random(2).sample(range(0, SIZE - RECORD, RECORD), int(SIZE / RECORD * 0.03))
        )
        before = time.monotonic()
        requests = forwards(f"hdfs://cluster{PATH}", offsets)
        print(
            f"gap {gap >> 10:5} KiB, 3 % of the file: {time.monotonic() - before:.2f} s "
            f"{requests} requests",
            flush=True,
        )
    system.remove("/benchmark")


if __name__ == "__main__":
    main()
