"""The query for captures in files, parsed once from the parameters of a caller."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Self

from arclink.access.declarations import (
    AnyParameter,
    DeclaredQuery,
    Given,
    Parameter,
    choice,
    switch,
    whole_number,
)
from arclink.access.queries import ConflictError
from arclink.access.times import FROM, TO, span_of
from arclink.model import ALL_TIME, Span

LEAST_FILE_SIZE = 1_000_000
LARGEST_FILE_SIZE = 10**12


class CaptureFormat(Enum):
    """The formats of captures; ``docs/how-to/take-away.md`` has a section for each."""

    WARC = "warc"
    WACZ = "wacz"
    CDXJ = "cdxj"
    CAPTURES = "captures"
    CAPTURES_CSV = "captures-csv"

    @property
    def has_records(self) -> bool:
        """Whether it contains the captures themselves, not only a table of them."""
        return self in (CaptureFormat.WARC, CaptureFormat.WACZ)


CAPTURE_FORMAT = Parameter(
    "format",
    "Format of the file.",
    choice(CaptureFormat),
    is_required=True,
    see="how-to/take-away.md",
)
FILE_SIZE = Parameter(
    "file-size",
    "With warc and wacz: begin another WARC file after this number of bytes.",
    whole_number(LARGEST_FILE_SIZE, least=LEAST_FILE_SIZE),
    default="1000000000",
    metavar="BYTES",
)
CHECK = switch(
    "check",
    "With warc and wacz: decompress every record, so that damage inside a record is found, too. "
    "This takes longer.",
)

TAKE_AWAY_PARAMETERS: tuple[AnyParameter, ...] = (CAPTURE_FORMAT, FROM, TO, FILE_SIZE, CHECK)


@dataclass(frozen=True, slots=True)
class TakeAwayQuery(DeclaredQuery):
    """A query for captures in files.

    Attributes:
        form: The format.
        span: Times of the captures.
        file_size: Bytes after which another WARC file is begun.
        is_checked: Whether every record is decompressed, so that its CRC is checked.
    """

    DECLARED = TAKE_AWAY_PARAMETERS

    form: CaptureFormat
    span: Span = ALL_TIME
    file_size: int = 1_000_000_000
    is_checked: bool = False

    @classmethod
    def of(cls, given: Given, **otherwise: Any) -> Self:
        form = CAPTURE_FORMAT.sure(given)
        for parameter in (FILE_SIZE, CHECK):
            if given.text(parameter) and not form.has_records:
                raise ConflictError(
                    parameter.name,
                    given.text(parameter),
                    f"cannot be used with format={form.value}, which contains no records",
                )
        return cls(form, span_of(given), FILE_SIZE.sure(given), CHECK.sure(given))

    @property
    def description(self) -> str:
        """The selection in words."""
        if self.span == ALL_TIME:
            return "all captures"
        return f"captures from {self.span.first} to {self.span.last}"
