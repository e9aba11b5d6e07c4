"""The job ExtractLinks, slowed down, with a page that kills its parser.

Tests of faults can thus stop a task in the middle of its work.
"""

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from arclink.extract import feeds
from arclink.extract.html import PageLinks, extract_links
from arclink.jobs.extract_links import ExtractLinks
from arclink.mapreduce.job import Pair

POISON = "this page takes the parser down"


def slow_or_deadly(html: bytes | str, *options: Any) -> PageLinks:  # Any: whatever the parser takes
    """Parse a page in its time; die of a poisoned one, as a native parser does."""
    if POISON in (html if isinstance(html, str) else html.decode("utf-8", "replace")):
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(float(os.environ.get("SECONDS_PER_PAGE", "0")))
    return extract_links(html, *options)


class SlowExtract(ExtractLinks):
    """ExtractLinks, with such a parser."""

    def reduce_group(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Take the parser's place in this task, and do what ExtractLinks does."""
        assert "extract_links" in vars(feeds)
        vars(feeds)["extract_links"] = slow_or_deadly
        return super().reduce_group(key, values)


if __name__ == "__main__":
    SlowExtract.run()
