"""Parquet: a row for each link of a content as one page shows it, with the mementos in a list.

A row per memento would be as many rows as links times mementos; ``UNNEST(timestamps)`` makes them where they are wanted. A link that a page
had in several contents has a row with each of them.

Source: Apache Parquet, through Arrow.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from arclink.access.replay import moment_of
from arclink.access.texts import printable, printable_uri
from arclink.analysis.extra import analysis_extra
from arclink.export.manifest import Tally
from arclink.export.scanning import Shown
from arclink.model import ContentId, Outlink, Timestamp, UriR
from arclink.uris.hosts import domain_of, host_of
from arclink.uris.surts import surt_of

ROWS_OF_GROUP = 100_000
TIMES_OF_GROUP = 1_000_000
"""Rows and timestamps of a row group, whichever is reached first: what is held in memory, some 200 MB."""

_OF_URI = ("", "_surt", "_host", "_domain")
TEXTS = (*(f"source{part}" for part in _OF_URI), *(f"target{part}" for part in _OF_URI), "kind", "text", "rel", "content")
TIMES = ("first", "last")
COLUMNS = (*TEXTS, "mementos", *TIMES, "timestamps")

Row = tuple[str | None, ...]


def write_parquet(shown: Iterable[Shown], path: Path, tally: Tally) -> None:
    """Write all links to a new file.

    Args:
        shown: All links.
        path: Of the file.
        tally: Is told how many rows there are.

    Raises:
        UsageError: pyarrow is not installed.
    """
    with analysis_extra():
        import pyarrow as arrow
        from pyarrow.parquet import ParquetWriter
    moments = arrow.timestamp("ms", tz="UTC")  # Parquet knows no seconds
    fields = [(name, arrow.string()) for name in TEXTS]
    fields += [("mementos", arrow.int32()), *((name, moments) for name in TIMES), ("timestamps", arrow.list_(moments))]
    schema = arrow.schema(fields)
    with ParquetWriter(path, schema, compression="zstd") as writer:
        group = _Group(arrow, schema)
        for one in shown:
            page = _parts(one.page)
            times = [_milliseconds(timestamp) for timestamp in one.timestamps]
            for link in dict.fromkeys(one.links):  # asked after each: a page of thousands of links may have thousands of mementos
                group.add(page, link, one.content, times)
                if group.is_full:
                    tally.rows += group.write(writer)
        tally.rows += group.write(writer)


class _Group:
    """Rows of one row group, by column."""

    def __init__(self, arrow: Any, schema: Any) -> None:
        self._arrow = arrow
        self._schema = schema
        self._texts: list[Row] = []
        self._times: list[int] = []
        self._ends = [0]

    @property
    def is_full(self) -> bool:
        return len(self._texts) >= ROWS_OF_GROUP or len(self._times) >= TIMES_OF_GROUP

    def add(self, page: Row, link: Outlink, content: ContentId, times: Sequence[int]) -> None:
        rel = None if link.rel is None else printable(link.rel)
        self._texts.append((*page, *_parts(link.target), printable(link.kind), printable(link.text), rel, content))
        self._times += times
        self._ends.append(len(self._times))

    def write(self, writer: Any) -> int:
        """Write what was added, if there is anything, and return how many rows that was."""
        rows = len(self._texts)
        if rows:
            arrow, ends = self._arrow, self._ends
            firsts = [self._times[begin] for begin in ends[:-1]]
            lasts = [self._times[end - 1] for end in ends[1:]]
            counts = [end - begin for begin, end in pairwise(ends)]
            moments = self._schema.field("first").type
            columns = [arrow.array(column, arrow.string()) for column in zip(*self._texts, strict=True)]
            columns += [arrow.array(counts, arrow.int32()), arrow.array(firsts, moments), arrow.array(lasts, moments)]
            columns.append(arrow.ListArray.from_arrays(arrow.array(ends, arrow.int32()), arrow.array(self._times, moments)))
            writer.write_table(arrow.Table.from_arrays(columns, schema=self._schema))
        self._texts, self._times, self._ends = [], [], [0]
        return rows


@lru_cache(maxsize=1 << 16)
def _parts(uri: UriR) -> tuple[str, str, str, str]:
    surt = surt_of(uri)
    host = host_of(surt)
    return printable_uri(uri), printable_uri(surt), host, domain_of(host)


@lru_cache(maxsize=1 << 16)
def _milliseconds(timestamp: Timestamp) -> int:
    return int(moment_of(timestamp).timestamp()) * 1000
