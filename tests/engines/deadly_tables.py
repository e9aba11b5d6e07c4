"""The job WriteTables, whose first attempts are killed after they have written a part."""

import os
import signal
from collections.abc import Iterable, Iterator

from arclink.jobs.write_tables import WriteTables
from arclink.mapreduce.job import Pair, attempt_number


class DeadlyTables(WriteTables):
    """WriteTables, whose task dies before it says that it has written its first part."""

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Do what WriteTables does, from the second attempt on."""
        for pair in super().map_lines(lines):
            if attempt_number() == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            yield pair


if __name__ == "__main__":
    DeadlyTables.run()
