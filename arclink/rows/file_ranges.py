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

# Findings of the tasks about whole archive files: how much could be read, and the first fault.
#
# Counts only show that records were damaged; a finding also names the file and the byte. A task
# writes one row per file, to the relation ``findings``; the build merges the rows of each file
# (`arclink.pipeline.records_read`).

FINDINGS = b"findings"
"""The relation that holds rows of findings."""

CUT = "the file ends within"
"""Beginning of a fault's detail if the end of the file cuts off the record."""


@dataclass(slots=True)
class Finding:
    """The findings of one task about one archive file.

    Attributes:
        file: Name of the file, as in mementos.
        stage: ``index``: the task read all records; ``extract``: it read those that pointers name.
        records: Number of records in the file, of any type.
        read: Number of captures that could be read.
        failed: Number of records, or stretches without a record, that could not be read.
        offset: Of the first of these, in bytes of the file as stored.
        detail: Description of the fault at that offset.
        reason: Name of the `Reason` of extract's first fault; empty for index.
        is_missing: Whether the file could not be opened when a record of it was to be read.
    """

    file: str
    stage: str
    records: int = 0
    read: int = 0
    failed: int = 0
    offset: int = 0
    detail: str = ""
    reason: str = ""
    is_missing: bool = False

    @property
    def is_faulty(self) -> bool:
        """Whether a record could not be read, or the file has none."""
        return bool(self.failed) or not self.records

    def fail(self, offset: int, detail: str, reason: str = "") -> None:
        """Count a fault; keep its details if it is the first in the file."""
        if not self.failed or offset < self.offset:
            self.offset, self.detail, self.reason = offset, detail, reason
        self.failed += 1

    def add(self, other: "Finding") -> None:
        """Add the findings of another task of the same stage about the same file."""
        self.records += other.records
        self.read += other.read
        self.is_missing = self.is_missing or other.is_missing
        failed = self.failed + other.failed
        if other.failed:
            self.fail(other.offset, other.detail, other.reason)
        self.failed = failed


def format_finding(finding: Finding) -> bytes:
    """Return a finding as JSON on one line."""
    return orjson.dumps(asdict(finding))


def parse_finding(line: bytes) -> Finding:
    """Return the finding that `format_finding` wrote.

    Raises:
        ValueError: The line is not a finding.
    """
    return Finding(**orjson.loads(line))


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
