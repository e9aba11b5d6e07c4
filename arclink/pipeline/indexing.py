"""Indexing of archive files by tasks: whole files, and ranges of files that are large.

A build without CDX would wait for the task of its largest file. So tasks read ranges of it. Their
reports show whether the ranges fit together (`arclink.rows.file_ranges`). If not, a range that
began at a wrong offset is read again from the right one; if this does not help either, or if a
record can be understood only with the records before it, one task reads the whole file. Rows of
ranges that were read in vain are left out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from arclink.counts import Counts
from arclink.filter.index import ROWS
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from arclink.reasons import Reason
from arclink.rows.file_ranges import (
    FINDINGS,
    REPORTS,
    DividedFile,
    FileRange,
    Finding,
    RangeReport,
    format_finding,
    format_range,
    parse_report,
    ranges_of,
    rows_of_range,
)
from arclink.shares import shares_of
from arclink.store.protocols import KnownFile

LEAST = 4 << 20
"""Minimum bytes of a range, as stored: to find its first record, a task may read a megabyte."""


@dataclass(slots=True)
class Indexing:
    """The files and ranges of one run of the stage.

    Attributes:
        folder: Folder of the batch.
        run: Runs the jobs.
        least: Minimum bytes of a range.
    """

    folder: Path
    run: JobRunner
    least: int = LEAST
    _numbers: Iterator[int] = field(default_factory=count)
    _rounds: Iterator[int] = field(default_factory=count)
    _divided: dict[str, DividedFile] = field(default_factory=dict)
    _reports: dict[int | None, RangeReport] = field(default_factory=dict)
    _rows: dict[int | None, Path] = field(default_factory=dict)

    def index(self, files: Sequence[KnownFile]) -> Counts:
        """Write ``rows`` and ``findings`` of archive files; see `arclink.pipeline.stages.index`."""
        sizes = {file.name: file.size for file in files}
        parts = list(self._parts_of(files))
        counts = self._read(parts, sizes)
        while parts:
            parts = [
                part for file in self._divided.values() for part in file.wrong_ranges(self._reports)
            ]
            if parts:
                counts += self._read(parts, sizes)
        for name, file in self._divided.items():
            counts += self._accept(name, file)
        return counts

    def _parts_of(self, files: Sequence[KnownFile]) -> Iterator[FileRange]:
        """Yield the files, or ranges of those that are larger than the share of a task."""
        cores = self.run.cores
        tasks = 2 * cores if cores > 1 else 1
        most = max(self.least, sum(file.size for file in files) // tasks + 1)
        for file in files:
            part = FileRange(file.name, file.path)
            if file.size <= most:
                yield part
                continue
            ranges = [
                one._replace(number=next(self._numbers))
                for one in ranges_of(part, file.size, -(-file.size // most))
            ]
            self._divided[file.name] = DividedFile(ranges, self._numbers)
            yield from ranges

    def _read(self, parts: Sequence[FileRange], sizes: dict[str, int]) -> Counts:
        """Have tasks read files and ranges; return the counts of the whole files."""
        number = next(self._rounds)
        written = self.folder / f"indexed-{number}"
        manifests = self._write_manifests(parts, sizes, number)
        counts = self.run.run(JOBS["index"], manifests, written, {}, are_relations=True)
        outputs = {ROWS: self.folder / "rows", FINDINGS: self.folder / "findings"}
        for part in parts:
            if part.number is not None:
                self._rows[part.number] = written / rows_of_range(part).decode()
                outputs[rows_of_range(part)] = self._rows[part.number]
        if self._divided:
            outputs[REPORTS] = written / REPORTS.decode()
        self.run.split(written, outputs, "index")
        if self._divided:
            self.run.fetch(outputs[REPORTS])
            for path in parts_of(outputs[REPORTS]):
                for report in map(parse_report, path.read_bytes().splitlines()):
                    self._reports[report.number] = report
        return counts

    def _write_manifests(
        self, parts: Iterable[FileRange], sizes: dict[str, int], number: int
    ) -> list[Path]:
        folder = self.folder / "index-manifests"
        folder.mkdir(parents=True, exist_ok=True)

        def size(part: FileRange) -> int:
            return (sizes[part.name] if part.stop is None else part.stop) - part.start

        shares = shares_of(parts, size, 2 * self.run.cores, lambda part: (part.name, part.start))
        paths = []
        for task, share in enumerate(shares):
            paths.append(folder / f"manifest-{number}-{task:05d}")
            paths[-1].write_bytes(b"".join(format_range(part) + b"\n" for part in share))
        return paths

    def _accept(self, name: str, file: DividedFile) -> Counts:
        """Add the rows of a file's ranges to the others, and its finding; return its counts."""
        counts: Counts = Counter({Reason.FILE_INDEXED: 1})
        if file.rounds:
            counts[Reason.NOTE_RANGES_REREAD] = 1
        finding = Finding(name, "index")
        for part in file.right:
            report = self._reports[part.number]
            for reason, number in report.counts.items():
                counts[Reason[reason]] += number
            finding.add(report.finding)
            label = f"ranges-{part.number:06d}"
            self.run.move(self._rows[part.number], self.folder / "rows", label)
        if finding.is_faulty:
            path = self.folder / "findings" / f"part-ranges-{file.right[0].number:06d}"
            path.write_bytes(format_finding(finding) + b"\n")
        return counts
