"""Ranges of archive files, for tasks that index a large file together, and their reports.

Only reading a file from its beginning shows for certain where records begin: the body of a record
may hold another archive file. A task takes the first offset in its range where a record seems to
begin. The ranges are correct if each one ends where the next one begins; `wrong_ranges` checks
this.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

import orjson

from arclink.rows.findings import Finding

REPORTS = b"reports"
"""The relation that holds reports about ranges."""

ROUNDS = 3
"""Number of times that ranges of a file may be wrong; the last time, a task reads it whole."""


class FileRange(NamedTuple):
    """An archive file, or the records that begin in a range of it.

    Attributes:
        name: Name of the file in rows.
        path: Path or address of the file.
        start: Beginning of the range, in bytes of the file as stored.
        stop: End of the range, not included; None: the end of the file.
        number: Number of the range, by which its rows and its report are found; None for a whole
            file that has neither.
        is_exact: Whether a record is known to begin at ``start``.
    """

    name: str
    path: str
    start: int = 0
    stop: int | None = None
    number: int | None = None
    is_exact: bool = True


@dataclass(slots=True)
class RangeReport:
    """The report of a task about a range.

    Attributes:
        number: Number of the range.
        first: Address of the first record that was read; None if no record seems to begin in the
            range.
        following: Address at which reading ended (`ArchiveFile.following`); None if nothing was
            read.
        is_at_end: Whether reading ended at the end of the file.
        needs_whole: Whether a record can be understood only with the records before the range, so
            that one task must read the file.
        counts: Counts by the name of their reason.
        finding: The faults in the range.
    """

    number: int | None
    finding: Finding
    first: int | None = None
    following: int | None = None
    is_at_end: bool = False
    needs_whole: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)


def rows_of_range(part: FileRange) -> bytes:
    """Return the relation that holds the rows of a range, which has a number.

    >>> rows_of_range(FileRange("a.warc.gz", "/data/a.warc.gz", number=12))
    b'rows-000012'
    """
    return b"rows-" + str(part.number).zfill(6).encode()


def ranges_of(file: FileRange, size: int, count: int) -> Iterator[FileRange]:
    """Yield ``count`` ranges of a file of ``size`` bytes, in order, without numbers."""
    borders = [size * number // count for number in range(count)]
    for start, stop in zip(borders, [*borders[1:], None], strict=True):
        yield file._replace(start=start, stop=stop, is_exact=start == 0)


@dataclass(slots=True)
class DividedFile:
    """The ranges of one archive file, until they fit together.

    Attributes:
        ranges: All ranges of the file, in order; each has a number.
        numbers: Numbers for further ranges.
        right: The ranges whose rows are all rows of the file, once no range is wrong.
        rounds: Number of times that ranges were wrong.
    """

    ranges: Sequence[FileRange]
    numbers: Iterator[int]
    right: Sequence[FileRange] = ()
    rounds: int = 0

    def wrong_ranges(self, reports: Mapping[int | None, RangeReport]) -> list[FileRange]:
        """Return the ranges to read in place of those that do not fit, with new numbers.

        A range begins where reading the range before it ended; or it is the whole file, after
        `ROUNDS` rounds or if a report needs it.

        Args:
            reports: Reports by number, at least those of all ranges.
        """
        self.right, wrong = _checked(self.ranges, reports)
        if not wrong:
            return []
        self.rounds += 1
        if self.rounds == ROUNDS:
            wrong = [_whole(wrong[0])]
        new = {part.number: part._replace(number=next(self.numbers)) for part in wrong}
        parts = list(new.values())
        is_whole = parts[0].start == 0 and parts[0].stop is None
        self.ranges = parts if is_whole else [new.get(part.number, part) for part in self.ranges]
        return parts


def _checked(
    ranges: Sequence[FileRange], reports: Mapping[int | None, RangeReport]
) -> tuple[list[FileRange], list[FileRange]]:
    """Return the ranges that fit together, and those to be read in place of the others."""
    right: list[FileRange] = []
    wrong: list[FileRange] = []
    position: int | None = 0  # None after a wrong range: reading it again will show where it ends
    for part in ranges:
        if position is not None and part.stop is not None and position >= part.stop:
            continue  # a record before the range fills it
        report = reports[part.number]
        if position is not None and report.first != position:
            wrong.append(part._replace(start=position, is_exact=True))
            position = None
        elif not report.needs_whole:
            right.append(part)
            position = report.following
            if report.is_at_end:
                break  # no record begins in the other ranges
        elif position is not None:
            return [], [_whole(part)]
    return right, wrong


def _whole(part: FileRange) -> FileRange:
    return part._replace(start=0, stop=None, is_exact=True)


def format_range(part: FileRange) -> bytes:
    """Return a range as JSON on one line."""
    return orjson.dumps([*part])


def parse_range(line: bytes) -> FileRange:
    """Return the range that `format_range` wrote."""
    return FileRange(*orjson.loads(line))


def format_report(report: RangeReport) -> bytes:
    """Return a report as JSON on one line."""
    return orjson.dumps(asdict(report))


def parse_report(line: bytes) -> RangeReport:
    """Return the report that `format_report` wrote."""
    report = orjson.loads(line)
    return RangeReport(**{**report, "finding": Finding(**report["finding"])})
