"""Load (paper, 3.3): writes parts of graph files to a store that is not on this machine.

Input: manifests of tasks, ``what TAB part TAB path``; `arclink.engines.cassandra.tasks` describes
the tasks. Output: one line per task with its result. A task that is repeated writes the same rows
again.
"""

from collections.abc import Iterable, Iterator

import orjson

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.mapreduce.job_settings import JobSetting


class LoadGraph(ArclinkJob):
    """Map only: one manifest is one Hadoop task."""

    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True
    SETTINGS = (
        JobSetting("store", "URL of the store."),
        JobSetting("step", "Number of the step of the store that the tasks belong to."),
        JobSetting("loads", "Numbers of the complete loads."),
        JobSetting("versions", "Numbers of the versions of blocks that are valid."),
        JobSetting("lists", "Numbers of the lists of SURTs that are valid."),
    )

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield name and result of each task in a manifest, after its writes are acknowledged."""
        from arclink.engines.cassandra.load import load_parts

        for name, result in load_parts(lines, self.settings):
            yield name.encode(), orjson.dumps(result)


if __name__ == "__main__":
    LoadGraph.run()
