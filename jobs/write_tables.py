"""Write tables: writes the tables of a store, a part per task.

Input: a line per part: ``captures`` or ``links``, its number from 0 on, and the number of parts.
Each part has one share of the store; together they have each row once. For `texts` and `words`, a
line per payload, as `arclink tables --text` writes it; each manifest is a part. Output: the name of
each part, and a JSON list of its rows, its bytes and, of texts, the numbers of pages read and of
others by reason. The parts are written to a folder in HDFS or S3
(`arclink.analysis.relations.by_tasks`). A task that is repeated writes the same files again.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import chain

from arclink.mapreduce.job import ArclinkJob, Pair
from arclink.mapreduce.job_settings import JobSetting


class WriteTables(ArclinkJob):
    """Map only: one manifest is one task, which writes the parts that it lists."""

    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True
    SETTINGS = (
        JobSetting("store", "URL of the store."),
        JobSetting("folder", "Address of the folder for the parts."),
        JobSetting(
            "version",
            "Version of the store, which `arclink tables` sets: a task fails if the store changed.",
            None,
        ),
        JobSetting("archives", "Folders, URLs and path indexes of archive files, for texts.", []),
    )

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield name, rows and bytes of each part in a manifest."""
        # Arrow's own allocator reserves a gigabyte of addresses, and YARN kills such tasks.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        from arclink.extras import analysis_extra

        with analysis_extra():
            from arclink.analysis.relations.by_tasks import format_written, write_parts
            from arclink.captures.texts import write_read_texts

        settings, lines = self.settings, iter(lines)
        first = next(lines, b"")
        manifest = chain([first], lines)
        of_store = settings["store"], settings["folder"], settings["version"]
        if first.startswith(b"["):
            written = write_read_texts(manifest, *of_store, settings["archives"])
            return iter([format_written(written)])
        return map(format_written, write_parts(manifest, *of_store))


if __name__ == "__main__":
    WriteTables.run()
