"""Parameters of the queries for captures with their bytes: a stream of them, or files.

A part is a share of the captures of a stream. The hash of a host says which part its captures
belong to, so the parts ``1/n`` to ``n/n`` are disjoint and together have every capture. Clients on
several machines share a stream by this number alone.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Self
from zlib import crc32

from arclink.access.declarations import (
    FROM,
    NOTHING_GIVEN,
    TEXT,
    TO,
    AnyParameter,
    DeclaredQuery,
    Given,
    Parameter,
    choice,
    limit_to,
    matching,
    span_of,
    switch,
    whole_number,
)
from arclink.access.queries import ConflictError
from arclink.model import ALL_TIME, Span, Surt
from arclink.uris.hosts import host_of

_LEAST_FILE_SIZE = 1_000_000
_LARGEST_FILE_SIZE = 10**12

MOST_PARTS = 99_999
"""Largest number of parts of a stream."""


class Order(Enum):
    """The order of the captures of a stream.

    The members say what sorts first; SURT, time, URI and checksum follow.
    """

    FILE = "file"
    """Archive file and offset: each archive file is opened once and read forward."""

    SURT = "surt"
    """SURT: the captures of a site, and those of a page, follow one another. Needs no sorting."""

    TIME = "time"
    """Time of the capture, the oldest first."""

    RANK = "rank"
    """PageRank of the page, the highest first; pages without a rank come last, by SURT."""


class CaptureFormat(Enum):
    """The formats of captures (`arclink.captures.write`)."""

    JSONL = "jsonl"
    """One JSON object per line: the capture, its headers and its body (base64)."""

    WARC = "warc"
    """The records of the captures as WARC; records of ARC files are written as WARC records."""

    TEXT = "text"
    """The readable text of each page as a WARC ``conversion`` record, as in WET files."""

    WACZ = "wacz"
    """WARC files with their index and list of pages."""

    CDXJ = "cdxj"
    """Rows that name the present archive files."""

    CAPTURES = "captures"
    """A table in Parquet."""

    CAPTURES_CSV = "captures-csv"
    """The same table in CSV."""

    @property
    def has_records(self) -> bool:
        """Whether it contains the captures themselves, not only a table of them."""
        return self not in TABLES


TABLES = (CaptureFormat.CDXJ, CaptureFormat.CAPTURES, CaptureFormat.CAPTURES_CSV)
FORMATS_OF_FILES = (CaptureFormat.WARC, CaptureFormat.WACZ, *TABLES)
FORMATS_OF_STREAMS = (CaptureFormat.JSONL, CaptureFormat.WARC, CaptureFormat.TEXT)


@dataclass(frozen=True, slots=True)
class StreamPart:
    """A share of the captures of a stream.

    Attributes:
        number: From 1 to ``of``.
        of: Number of parts; 1 for everything.
    """

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the part in a text.

        Raises:
            ValueError: Its number is greater than the number of parts.

        >>> StreamPart.parse("3/16")
        StreamPart(number=3, of=16)
        """
        number, of = map(int, text.split("/"))
        if number > of:
            raise ValueError(f"there is no part {number} of {of}")
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, surt: Surt) -> bool:
        """Return whether the captures of a SURT belong to this part.

        SURTs without a host belong to the part of the empty host.
        """
        return self.of == 1 or crc32(host_of(surt).encode()) % self.of == self.number - 1


ORDER = Parameter(
    "order",
    "By archive file and offset, by SURT, by time, or by PageRank. The orders file and time sort "
    "all captures first; surt starts at once.",
    choice(Order),
    default=Order.SURT.value,
    see="how-to/streams.md",
)
PART = Parameter(
    "part",
    "Only the hosts of part K of N; the parts 1/N to N/N have each capture once.",
    matching(
        rf"[1-9][0-9]{{0,{len(str(MOST_PARTS)) - 1}}}/[1-9][0-9]{{0,{len(str(MOST_PARTS)) - 1}}}",
        "K/N, such as 3/16, with K not greater than N",
        StreamPart.parse,
    ),
    default="1/1",
    metavar="K/N",
)
AFTER = Parameter(
    "after",
    "Continue after the capture with this token; it is in each capture and at the end of the "
    "stream.",
    TEXT,
    metavar="TOKEN",
    otherwise="from the first capture on",
)
FORM = Parameter(
    "format",
    "Captures with headers and bodies as JSON lines; their WARC records; or their readable text as "
    "WARC conversion records (WET).",
    choice(CaptureFormat, *set(CaptureFormat).difference(FORMATS_OF_STREAMS)),
    default=CaptureFormat.JSONL.value,
    also=("as",),
    fields=("form",),
)
MOST = limit_to(999_999_999, 0)

_OF_STREAM: tuple[AnyParameter, ...] = (ORDER, PART, AFTER, MOST)
"""The parameters that say which captures come, and in which order."""

STREAM_PARAMETERS: tuple[AnyParameter, ...] = (*_OF_STREAM, FORM)


@dataclass(frozen=True, slots=True)
class StreamQuery(DeclaredQuery):
    """A query for captures with their bytes.

    Attributes:
        order: The order of the captures.
        part: Only the captures of this part.
        after: Token of the capture to continue after; empty for the first capture.
        limit: Largest number of captures; 0 for all.
        form: The format.
    """

    DECLARED = STREAM_PARAMETERS

    order: Order = Order.SURT
    part: StreamPart = StreamPart()
    after: str = ""
    limit: int = 0
    form: CaptureFormat = CaptureFormat.JSONL


_CAPTURE_FORMAT = Parameter(
    "format",
    "Format of the file.",
    choice(CaptureFormat, *set(CaptureFormat).difference(FORMATS_OF_FILES)),
    is_required=True,
    see="how-to/take-away.md",
    fields=("form",),
)
FILE_SIZE = Parameter(
    "file-size",
    "With warc and wacz: begin another WARC file after this number of bytes.",
    whole_number(_LARGEST_FILE_SIZE, least=_LEAST_FILE_SIZE),
    default="1000000000",
    metavar="BYTES",
)
CHECK = switch(
    "check",
    "With warc and wacz: decompress every record, so that damage inside a record is found, too. "
    "This takes longer.",
    field="is_checked",
)

TAKE_AWAY_PARAMETERS: tuple[AnyParameter, ...] = (_CAPTURE_FORMAT, FROM, TO, FILE_SIZE, CHECK)


@dataclass(frozen=True, slots=True)
class TakeAwayQuery(DeclaredQuery):
    """A query for captures in files.

    Attributes:
        form: The format.
        span: Times of the captures.
        file_size: Bytes after which another WARC file is begun.
        is_checked: Whether every record is decompressed, so that its CRC is checked.
        given: The parameters as the caller gave them.
    """

    DECLARED = TAKE_AWAY_PARAMETERS

    form: CaptureFormat
    span: Span = ALL_TIME
    file_size: int = 1_000_000_000
    is_checked: bool = False
    given: Given = field(default=NOTHING_GIVEN, compare=False, repr=False)

    @classmethod
    def of(cls, given: Given, **otherwise: Any) -> Self:
        form = _CAPTURE_FORMAT.required(given)
        for parameter in (FILE_SIZE, CHECK):
            if given.text(parameter) and not form.has_records:
                raise ConflictError(
                    parameter.name,
                    given.text(parameter),
                    f"cannot be used with format={form.value}, which contains no records",
                )
        return cls(span=span_of(given), given=given, **cls.values(given, otherwise))

    @property
    def description(self) -> str:
        """The selection in words."""
        if self.span == ALL_TIME:
            return "all captures"
        return f"captures from {self.span.first} to {self.span.last}"
