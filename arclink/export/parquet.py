"""Parquet: one row per link of a content as one page shows it, with its mementos in a list.

One row per memento would multiply the number of links by the number of mementos; where such rows
are needed, ``UNNEST(timestamps)`` creates them. If several contents of a page have a link, there is
one row per content.

Source: Apache Parquet, through Arrow.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from arclink.access.kinds import Kinds
from arclink.access.replay import moment_of
from arclink.access.texts import printable, printable_uri
from arclink.analysis.scipy_extra import analysis_extra
from arclink.export.link_scan import Shown
from arclink.export.manifest import ExportTally
from arclink.model import ContentId, Outlink, Timestamp, UriR
from arclink.uris.hosts import domain_of, host_of
from arclink.uris.resolution import serialised
from arclink.uris.surts import surt_of

ROWS_OF_GROUP = 100_000
TIMES_OF_GROUP = 1_000_000
"""Largest numbers of rows and timestamps of a row group, held in memory: about 200 MB."""

_OF_URI = ("", "_surt", "_host", "_domain")
TEXTS = (
    *(f"source{part}" for part in _OF_URI),
    "source_written",
    *(f"target{part}" for part in _OF_URI),
    "kind",
    "text",
    "rel",
    "content",
)
TIMES = ("first", "last")
COLUMNS = (*TEXTS, "mementos", *TIMES, "timestamps")

Row = tuple[str | None, ...]


def write_parquet(shown: Iterable[Shown], path: Path, tally: ExportTally, kinds: Kinds) -> None:
    """Write all links to a new file.

    Args:
        shown: All links.
        path: The path of the file.
        tally: Counts to be updated with the number of rows.
        kinds: The kinds of these links, for the metadata of the file.

    Raises:
        UsageError: pyarrow is not installed.
    """
    with analysis_extra():
        import pyarrow as arrow
        from pyarrow.parquet import ParquetWriter
    moments = arrow.timestamp("ms", tz="UTC")  # Parquet has no type with seconds
    fields = [(name, arrow.string()) for name in TEXTS]
    fields += [
        ("mementos", arrow.int32()),
        *((name, moments) for name in TIMES),
        ("timestamps", arrow.list_(moments)),
    ]
    schema = arrow.schema(fields, {"arclink.kinds": ",".join(kinds.words)})
    with (  # opened here: Arrow accepts only UTF-8 file names
        path.open("wb") as stream,
        ParquetWriter(stream, schema, compression="zstd") as writer,
    ):
        group = _Group(arrow, schema)
        for one in shown:
            page = _source(one.page)
            times = [_milliseconds(timestamp) for timestamp in one.timestamps]
            # Checked after each link: a page may have thousands of links and of mementos.
            for link in dict.fromkeys(one.links):
                group.add(page, link, one.content, times)
                if group.is_full:
                    tally.rows += group.write(writer)
        tally.rows += group.write(writer)


class _Group:
    """The rows of one row group, by column."""

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
        self._texts.append(
            (*page, *_parts(link.target), printable(link.kind), printable(link.text), rel, content)
        )
        self._times += times
        self._ends.append(len(self._times))

    def write(self, writer: Any) -> int:
        """Write the rows that were added, if any, and return their number."""
        rows = len(self._texts)
        if rows:
            arrow, ends = self._arrow, self._ends
            firsts = [self._times[begin] for begin in ends[:-1]]
            lasts = [self._times[end - 1] for end in ends[1:]]
            counts = [end - begin for begin, end in pairwise(ends)]
            moments = self._schema.field("first").type
            columns = [
                arrow.array(column, arrow.string()) for column in zip(*self._texts, strict=True)
            ]
            columns += [
                arrow.array(counts, arrow.int32()),
                arrow.array(firsts, moments),
                arrow.array(lasts, moments),
            ]
            columns.append(
                arrow.ListArray.from_arrays(
                    arrow.array(ends, arrow.int32()), arrow.array(self._times, moments)
                )
            )
            writer.write_table(arrow.Table.from_arrays(columns, schema=self._schema))
        self._texts, self._times, self._ends = [], [], [0]
        return rows


@lru_cache(maxsize=1 << 16)
def _parts(uri: UriR) -> tuple[str, str, str, str]:
    surt = surt_of(uri)
    host = host_of(surt)
    return printable_uri(uri), printable_uri(surt), host, domain_of(host)


def _source(uri: UriR) -> Row:
    """Return the columns of a page.

    Its URI is serialised like targets, so that both join; the last column is the URI as captured if
    it differs.
    """
    joined = serialised(uri)
    written = printable_uri(uri)
    return printable_uri(joined), *_parts(uri)[1:], None if joined == uri else written


@lru_cache(maxsize=1 << 16)
def _milliseconds(timestamp: Timestamp) -> int:
    return int(moment_of(timestamp).timestamp()) * 1000
