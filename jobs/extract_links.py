"""Extract (paper, 3.2): reads payloads and writes the links in them; opens each archive file once.

Input: ``pointers``. Output: ``pages``, ``mementos``, ``digested``, ``retries`` (pointers to the
next capture of a payload), ``referring`` (pointers to captures that records of revisits name),
``findings``, and ``waiting``, ``named`` and ``absent`` pointers, which have nothing to read so far;
all tagged with their relation.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from zlib import crc32

from arclink.extract.extraction import extract_pointers
from arclink.extract.settings import ExtractSettings
from arclink.filter.rules import Rules
from arclink.mapreduce.job import ArclinkJob, Pair, attempt_number
from arclink.mapreduce.job_settings import EXTRACT, RULES, JobSetting, note_record
from arclink.rows.pointers import (
    ABSENT,
    CHOSEN,
    NAMED,
    WAITING,
    format_absent,
    format_pointer,
    parse_pointer,
)
from arclink.rows.task_keys import task_key

_KEYS = {WAITING: b"w", NAMED: b"n", ABSENT: b"a"}

_PASSED_ON = {key: relation for relation, key in _KEYS.items()}
"""By the first byte of a key: the relation that gets its values unchanged."""


class ExtractLinks(ArclinkJob):
    """Map: leaves out known payloads, and keys the other pointers by their reading task.

    One part is one map task, because the chunks of a payload must stay together. Reduce: reads the
    records of one reading task in the order of files and offsets.
    """

    SORT_VALUES = True
    ONE_TASK_PER_FILE = True
    ONE_TASK_PER_KEY = True
    PASSED_ON = _PASSED_ON
    SETTINGS = (
        JobSetting("archives", "Address of the folder in which rows name archive files.", None),
        JobSetting(
            "files",
            "Address of a list of the batch's archive files and the ranges that tasks read, which "
            "a build writes; it replaces `archives`.",
            None,
        ),
        JobSetting(
            "earlier",
            "Address of a sorted list of other archive files, which a build writes.",
            None,
        ),
        JobSetting("tasks", "Number of tasks that read archive files.", 1),
        JobSetting("store", "URL of a store whose payloads are not read again.", None),
        RULES,
        EXTRACT,
    )

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise ValueError if the job would not find archive files."""
        if not (settings["archives"] or settings["files"]):
            raise ValueError(
                "it lacks 'archives', the folder of the archive files, such as "
                '{"archives": "hdfs:///archive"}'
            )

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the pointers of one part that the store does not make needless."""
        from arclink.archives.opener import open_bytes, open_stream
        from arclink.extract.listed_files import ListedFiles
        from arclink.extract.reading_tasks import FilesInFolder, ReadingTasks, parse_files
        from arclink.store.known_payloads import choose_pointers
        from arclink.store.location import open_store
        from arclink.store.protocols import EmptyStore

        settings = self.settings
        if settings["files"]:
            earlier = settings["earlier"]
            others = ListedFiles(open_bytes(earlier)) if earlier else None
            with open_stream(settings["files"]) as files:
                tasks = ReadingTasks(parse_files(files), settings["tasks"], others)
        else:
            tasks = ReadingTasks([], settings["tasks"], FilesInFolder(settings["archives"]))
        url = settings["store"]
        with open_store(url) if url else EmptyStore() as store, store.snapshot():
            pointers = map(parse_pointer, lines)
            for relation, pointer in choose_pointers(pointers, store, self.counts):
                if relation == CHOSEN:
                    task, order, line = tasks.assign(pointer)
                    yield task_key(task), order + b"\t" + line
                else:
                    line = (format_absent if relation == ABSENT else format_pointer)(pointer)
                    yield b"%b%04x" % (_KEYS[relation], crc32(line) & 0xFFFF), line

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the rows extracted from the payloads of one reading task.

        From a task's second attempt on, payloads are parsed in a child process. The runner
        learns file and offset of each page, so that it can name the page if this process dies.
        """
        if (relation := _PASSED_ON.get(key[:1])) is not None:
            return ((relation, value) for value in values)
        settings = self.settings
        return extract_pointers(
            (value.partition(b"\t")[2] for value in values),
            ExtractSettings(**settings["extract"]),
            self.counts,
            is_isolated=attempt_number() > 0,
            is_skipped=note_record,
            rules=Rules.from_json(settings["rules"]),
        )


if __name__ == "__main__":
    ExtractLinks.run()
