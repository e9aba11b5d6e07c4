"""Load (paper, 3.3): parts of graph files become rows of a store beyond one machine.

Input: manifests of tasks, ``what TAB part TAB path``; what a task does is `arclink.store.cassandra.tasks`. Output: a line per task,
with what it found. A task that is done again writes the same rows again.
"""

from collections.abc import Iterable, Iterator

import orjson

from jobs.base import ArclinkJob, Pair


class LoadGraph(ArclinkJob):
    """Map only: one manifest is one task of Hadoop."""

    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the name of each task of a manifest with its result, once what it wrote is acknowledged."""
        from arclink.store.cassandra.by_jobs import load_parts

        for name, result in load_parts(lines, self.options.settings):
            yield name.encode(), orjson.dumps(result)


if __name__ == "__main__":
    LoadGraph.run()
