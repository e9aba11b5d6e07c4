"""Map pages: applies a function of the user to every page of a stream, on any engine.

Input: files of pointers that ``arclink stream --format pointers --into FOLDER`` wrote. Output:
a JSON object per value, with the URI and the time of its capture.

    python jobs/map_pages.py -r local --function tools:count_words FOLDER/part-*
    --output-dir WORDS
"""

from collections.abc import Iterable, Iterator

from arclink.captures.pointers import function_named, map_pages
from arclink.mapreduce.job import ArclinkJob, Pair, TextLineProtocol


class MapPages(ArclinkJob):
    """Map only: one file of pointers is one task."""

    HAS_REDUCER = False
    ONE_TASK_PER_FILE = True
    OUTPUT_PROTOCOL = TextLineProtocol

    def add_own_args(self) -> None:
        """Add ``--function``."""
        self.add_passthru_arg(
            "--function",
            help="module:function, called with each page (docs/how-to/streams.md)",
        )

    def map_lines(self, lines: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the values of the function for the pages of one file of pointers."""
        function = function_named(self.options.function or "")
        for value in map_pages(lines, function, self.counts):
            yield b"", value


if __name__ == "__main__":
    MapPages.run()
