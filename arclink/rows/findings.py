"""Findings of the tasks about whole archive files: how much could be read, and the first fault.

Counts only show that records were damaged; a finding also names the file and the byte. A task
writes one row per file, to the relation ``findings``; the build merges the rows of each file
(`arclink.pipeline.damage`).
"""

from dataclasses import asdict, dataclass

import orjson

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
