"""The stages of a batch, one function each: folders in, folders out, counts returned.

``arclink build`` runs them one after the other; ``arclink index``, ``filter``, ``extract`` and
``graph`` each run one stage alone. docs/reference/stage-files.md describes the files between the
stages.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NamedTuple

from arclink.counts import Counts
from arclink.extract.reading_tasks import RECORDED, assign_files, format_files
from arclink.filter.index import ROWS
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from arclink.model import Batch, Checksum, Memento
from arclink.pipeline.rows import choose, read_pointers, write_pointers
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows import relations
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
from arclink.rows.pointers import (
    ABSENT,
    NAMED,
    POINTERS,
    REFERRING,
    RETRIES,
    WAITING,
    PointerKind,
    format_pointer,
)
from arclink.rows.texts import TEXTS
from arclink.shares import shares_of
from arclink.store.graph_files import RELATIONS, write_graph_sums
from arclink.store.known_payloads import (
    awaited_by_name,
    awaited_contents,
    from_earlier_batches,
)
from arclink.store.protocols import Builds, Cluster, KnownFile, KnownPayloads, Removed

# Indexing of archive files by tasks: whole files, and ranges of files that are large.
#
# A build without CDX would wait for the task of its largest file. So tasks read ranges of it. Their
# reports show whether the ranges fit together (`arclink.rows.file_ranges`). If not, a range that
# began at a wrong offset is read again from the right one; if this does not help either, or if a
# record can be understood only with the records before it, one task reads the whole file. Rows of
# ranges that were read in vain are left out.

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


PAGES = b"pages"

_BYTES_OF_TASK = 25_000
"""Minimum bytes of pointers per reading task, except in the first round on an engine.

These are some 100 pointers, or 0.1 s of work.
"""

PartSizes = Mapping[Path, int]
"""Bytes by part; a part may be stored on the engine only."""


def index(files: Sequence[KnownFile], folder: Path, run: JobRunner) -> Counts:
    """Write the CDXJ rows of archive files to ``folder/rows``, and faults to ``folder/findings``.

    ``rows`` has one part per task, and one per range of a large file.
    """
    return Indexing(folder, run).index(files)


def filter_rows(
    rows: Sequence[Path], folder: Path, settings: BuildSettings, run: JobRunner
) -> Counts:
    """Write ``folder/mementos`` and ``folder/pointers`` from CDX or CDXJ files."""
    for name in ("mementos", "pointers"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    if not rows:  # no captures; without input files, mrjob would read standard input
        return Counts()
    counts = run.run(
        JOBS["filter"], rows, folder / "filtered", settings.for_filter(), are_relations=True
    )
    run.split(
        folder / "filtered",
        {relations.MEMENTOS: folder / "mementos", POINTERS: folder / "pointers"},
        "filter",
    )
    return counts


def extract(
    folder: Path,
    archives: Sequence[KnownFile],
    store: KnownPayloads,
    settings: BuildSettings,
    run: JobRunner,
    earlier: Path | None = None,
) -> Counts:
    """Write pages, further mementos and ``graph/payloads`` from pointers and mementos.

    All are folders in ``folder``. The stage also writes ``findings``: how much of each archive file
    could be read.

    A payload that cannot be read is tried again from another capture, in a further round. In each
    round a file is opened once; only payloads that are still unread cause another round.

    Args:
        folder: Folder of the batch.
        archives: The archive files of the batch, which most pointers name.
        store: Asked for the payloads that it knows.
        settings: Settings of the build.
        run: Runs the jobs.
        earlier: List (`write_list`) of all other archive files that pointers may name.
    """
    (folder / "graph/payloads").mkdir(parents=True, exist_ok=True)
    for name in ("pages", "absent"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    counts: Counts = Counts()
    if run.parts(folder / "pointers"):
        rounds = _Rounds(folder, archives, earlier, store, settings, run)
        done = rounds.run_first()
        counts += done.counts
        further = rounds.find_awaited()
        rounds.find_awaited_by_name()
        while True:
            while done.retries or done.referring:
                done = rounds.run_again(done)
                counts += done.counts
            found = rounds.find_further(further)
            counts += found.counts
            if found.further:
                done, further = rounds.run_further(found.further), {}
                counts += done.counts
            elif not rounds.waiting and not rounds.named:
                break
    run.fetch(folder / "findings")
    return counts


def _mementos_in(parts: Iterable[Path]) -> Iterator[Memento]:
    """Yield the first memento of each checksum."""
    seen: set[Checksum] = set()
    for part in parts:
        with part.open("rb") as lines:
            for line in lines:
                memento = relations.parse_memento(line.rstrip(b"\n"))
                if memento.checksum not in seen:
                    seen.add(memento.checksum)
                    yield memento


class _Round(NamedTuple):
    """The results of a round of extract.

    Attributes:
        counts: Counts of the round.
        retries: Parts with pointers to payloads that are to be read from their next capture.
        referring: Folder with pointers to captures that records of revisits name, if it has any.
    """

    counts: Counts
    retries: PartSizes
    referring: Path | None = None


class _Choice(NamedTuple):
    """Pointers that are worth reading.

    Attributes:
        counts: Outcomes decided already, such as payloads that the store knows.
        parts: Parts with the pointers.
        url: Store that tasks ask about them; None if the choice is made.
    """

    counts: Counts
    parts: PartSizes
    url: str | None


class _Found(NamedTuple):
    """The results of a search for further captures.

    Attributes:
        counts: Reasons of the payloads that cannot be read.
        further: Parts with pointers to further captures and to recorded links.
    """

    counts: Counts
    further: PartSizes


@dataclass(slots=True)
class _Rounds:
    """The rounds of extract in a batch.

    Attributes:
        folder: Folder of the batch.
        batch: The files that most pointers name; distributed to reading tasks by size.
        earlier: List of all other archive files that pointers may name; None without further files.
        store: Asked for the payloads that it knows.
        settings: Settings of the build.
        run: Runs the jobs.
        number: Number of earlier rounds and searches.
        waiting: Parts with pointers whose captures could not be read. Each search takes them all.
        named: Parts with pointers that wait for a capture that revisits name. So do these.
    """

    folder: Path
    batch: Sequence[KnownFile]
    earlier: Path | None
    store: KnownPayloads
    settings: BuildSettings
    run: JobRunner
    number: int = 0
    waiting: list[Path] = field(default_factory=list)
    named: list[Path] = field(default_factory=list)

    def run_first(self) -> _Round:
        """Run the first round, for the pointers of filter."""
        choice = self._choose(self.folder / "pointers")
        tasks = self._most_tasks() if self.run.is_on_engine else self._tasks_for(choice.parts)
        return self._read(choice.parts, choice.url, tasks, choice.counts)

    def run_further(self, pointers: PartSizes) -> _Round:
        """Run a round for pointers about which the store was asked already."""
        return self._read(pointers, None, self._tasks_for(pointers), Counts())

    def run_again(self, done: _Round) -> _Round:
        """Run a round for what an earlier one could not read or did not know."""
        choice = self._choose(done.referring) if done.referring else _Choice(Counts(), {}, None)
        again = self._read(choice.parts, choice.url, self._tasks_for(choice.parts), choice.counts)
        further = self.run_further(done.retries)
        return _Round(
            again.counts + further.counts,
            {**again.retries, **further.retries},
            again.referring or further.referring,
        )

    def find_awaited_by_name(self) -> None:
        """Let revisits of earlier batches wait for the captures that they name."""
        part = self.folder / "named-before/part-00000"
        part.parent.mkdir()
        with self.store.snapshot():
            if write_pointers(awaited_by_name(self.store), part):
                self.named.append(part)

    def find_awaited(self) -> PartSizes:
        """Return parts with pointers for mementos of earlier batches; call it after a round."""
        digested = self.folder / "digested"
        if next(self.store.files(), None) is None or not (parts := self.run.parts(digested)):
            return {}
        target = self.folder / "awaited"
        if self._tasks_ask:
            output, own = self.folder / "found-awaited", {"store": self.store.shared_url}
            self.run.run(JOBS["awaited"], parts, output, own, are_relations=True)
            self.run.split(output, {POINTERS: target}, "awaited")
            return self.run.sizes(target)
        target.mkdir()
        self.run.fetch(digested)
        mementos = _mementos_in(parts_of(digested))
        write_pointers(awaited_contents(mementos, self.store), target / "part-00000")
        return self.run.sizes(target)

    def find_further(self, others: PartSizes) -> _Found:
        """Find further captures for all pointers that wait; none waits afterwards.

        Absent pointers take part only if the batch may have something for them. A named capture is
        read from an earlier batch if one had it.

        Args:
            others: Parts with pointers that are read in the same round as these captures.
        """
        folder, number = self.folder, self.number
        recorded = self.settings.extract.heritrix_outlinks and self.store.replaces_links
        digested, absent = self.run.parts(folder / "digested"), folder / "absent"
        others = {**others, **self._find_named_before()}
        waiting = [*self.waiting, *(self.run.parts(absent) if digested or recorded else ())]
        if not waiting and not self.named:
            return _Found(Counts(), others)
        self.number += 1
        mementos = self.run.parts(folder / "mementos")
        inputs = [
            *waiting,
            *self.named,
            *self.run.parts(folder / "pointers"),
            *(part for part in mementos if self.named or part.name.startswith("part-filter")),
            *digested,
        ]
        settings = {"recorded": recorded, "by_name": bool(self.named)}
        self.waiting.clear()
        self.named.clear()
        output = folder / f"found-{number}"
        counts = self.run.run(JOBS["find"], inputs, output, settings, are_relations=True)
        further, revisits = folder / f"further-{number}", folder / f"recorded-{number}"
        outputs = {
            POINTERS: further,
            RECORDED: revisits,
            WAITING: folder / f"waiting-{number}",
            NAMED: folder / f"named-{number}",
            relations.PAYLOADS: folder / "graph/payloads",
        }
        for target in (further, revisits):
            target.mkdir()
        self.run.split(output, outputs, f"find{number}")
        self.waiting += self.run.parts(outputs[WAITING])
        self.named += self.run.parts(outputs[NAMED])
        if digested or recorded:
            self.run.remove(absent)
            absent.mkdir()
        found = {**others, **self.run.sizes(further)}
        if not self.run.parts(revisits):
            return _Found(counts, found)
        choice = self._choose(revisits)  # complete: only stores on one machine take recorded links
        return _Found(counts + choice.counts, {**found, **choice.parts})

    def _find_named_before(self) -> PartSizes:
        """Return parts with pointers to named captures of earlier batches; the others wait on."""
        if not self.named or next(self.store.files(), None) is None:
            return {}
        for folder in {part.parent for part in self.named if not part.exists()}:
            self.run.fetch(folder)
        target = self.folder / f"named-before-{self.number}"
        target.mkdir()
        found, rest = target / "part-00000", self.folder / f"named-now-{self.number}"
        with self.store.snapshot(), found.open("wb") as to_read, rest.open("wb") as to_find:
            for pointer in read_pointers(self.named):
                before = None
                if pointer.kind is PointerKind.NAMED:
                    before = from_earlier_batches(pointer, self.store)
                lines = to_read if before else to_find
                lines.write(format_pointer(before or pointer) + b"\n")
        self.named = [rest] if rest.stat().st_size else []
        return {found: found.stat().st_size} if found.stat().st_size else {}

    @property
    def _tasks_ask(self) -> bool:
        """Whether tasks ask the store what it knows; otherwise only the driver can open it."""
        return self.run.is_on_engine and self.store.shared_url is not None

    def _choose(self, pointers: Path) -> _Choice:
        """Choose among pointers about which the store was not asked yet.

        On an engine, the tasks that read the pointers ask if they can open the store, or if it has
        nothing to say. Otherwise the driver asks.
        """
        is_empty = next(self.store.files(), None) is None
        if not self._tasks_ask and not (is_empty and self.run.is_on_engine):
            target = self.folder / f"chosen-{self.number}"
            self.run.fetch(pointers)
            chosen = choose(read_pointers(parts_of(pointers)), self.store, target)
            if chosen.waiting.stat().st_size:
                self.waiting.append(chosen.waiting)
            if chosen.named.stat().st_size:
                self.named.append(chosen.named)
            if chosen.absent.stat().st_size:
                chosen.absent.rename(self.folder / f"absent/part-chosen-{self.number}")
            sizes = {part: part.stat().st_size for part in chosen.parts}
            return _Choice(Counts(chosen.counts), sizes, None)
        return _Choice(Counts(), self.run.sizes(pointers), self.store.shared_url)

    def _read(self, pointers: PartSizes, url: str | None, tasks: int, counts: Counts) -> _Round:
        """Run the job for parts with pointers.

        Args:
            pointers: The parts.
            url: Store that tasks ask for the payloads that it knows; None if all are to be read.
            tasks: Number of reading tasks.
            counts: Counts of the round so far.
        """
        folder, number = self.folder, self.number
        self.number += 1
        if not pointers:
            return _Round(counts, {})
        files = folder / f"reading-tasks-{number}"
        sizes = ((file.name, file.path, file.size) for file in self.batch)
        files.write_bytes(format_files(assign_files(sizes, tasks)))
        own = {
            "store": url,
            "files": self.run.task_address(files),
            "earlier": self.earlier and self.run.task_address(self.earlier),
            "tasks": tasks,
        }
        output = folder / f"extracted-{number}"
        waiting, retries = folder / f"waiting-{number}", folder / f"retries-{number}"
        named, referring = folder / f"named-{number}", folder / f"referring-{number}"
        counts += self.run.run(
            JOBS["extract"],
            list(pointers),
            output,
            {**self.settings.for_jobs(), **own},
            are_relations=True,
        )
        outputs = {
            PAGES: folder / "pages",
            relations.MEMENTOS: folder / "mementos",
            relations.DIGESTED: folder / "digested",
            WAITING: waiting,
            NAMED: named,
            ABSENT: folder / "absent",
            RETRIES: retries,
            REFERRING: referring,
            FINDINGS: folder / "findings",
            TEXTS: folder / "texts",
        }
        self.run.split(output, outputs, f"extract{number}")
        self.waiting += self.run.parts(waiting)
        self.named += self.run.parts(named)
        has_referring = bool(self.run.parts(referring))
        return _Round(counts, self.run.sizes(retries), referring if has_referring else None)

    def _most_tasks(self) -> int:
        return self.run.cores * 2 if self.run.cores > 1 else 1

    def _tasks_for(self, pointers: PartSizes) -> int:
        return min(self._most_tasks(), -(-sum(pointers.values()) // _BYTES_OF_TASK))


def join(folder: Path, run: JobRunner) -> Counts:
    """Write payloads and outlinks of the graph, and ``postings``, from ``pages`` and ``absent``."""
    graph = folder / "graph"
    for relation in (relations.PAYLOADS, relations.OUTLINKS):
        (graph / relation.decode()).mkdir(parents=True, exist_ok=True)
    parts = [*run.parts(folder / "pages"), *run.parts(folder / "absent")]
    if not parts:
        return Counts()
    counts = run.run(JOBS["join"], parts, folder / "joined", {}, are_relations=True)
    run.split(
        folder / "joined",
        {
            relations.PAYLOADS: graph / "payloads",
            relations.OUTLINKS: graph / "outlinks",
            relations.POSTINGS: folder / "postings",
        },
        "join",
    )
    return counts


def invert(folder: Path, run: JobRunner) -> Counts:
    """Write ``graph/inlinks`` from ``postings``, and ``graph/mementos`` from all mementos.

    The checksums of all graph files are written at the end.
    """
    graph = folder / "graph"
    outputs = {name: graph / name.decode() for name in (relations.INLINKS, relations.MEMENTOS)}
    for target in outputs.values():
        target.mkdir(parents=True, exist_ok=True)
    counts = Counts()
    names = ("postings", "mementos", "digested")
    if parts := [part for name in names for part in run.parts(folder / name)]:
        counts = run.run(JOBS["invert"], parts, folder / "inverted", {}, are_relations=True)
        run.split(folder / "inverted", outputs, "invert")
    write_graph_sums(graph)
    return counts


def load(
    folder: Path,
    files: Sequence[KnownFile],
    settings: Mapping[str, str],
    manifest: str,
    store: Builds,
    run: JobRunner,
    name: str = "graph",
    removed: Removed | None = None,
) -> Batch:
    """Load the graph files in a folder of ``folder`` into a store.

    If the store is not on this machine and an engine is configured, tasks of the engine load it,
    and the graph files stay there.
    """
    graph = folder / name
    if store.shared_url is None or not run.is_on_engine:
        for relation in RELATIONS:
            run.fetch(graph / relation)

    def by_job(manifests: Sequence[Path], job_settings: Mapping[str, object]) -> None:
        run.run(JOBS["load"], manifests, folder / "loaded", job_settings)

    cluster = (
        Cluster(run.task_address, by_job, run.sizes, run.checksum) if run.is_on_engine else None
    )
    return store.load(graph, files, settings, manifest, run.cores, cluster, removed)


def check(counts: Counts, rows: int) -> list[str]:
    """Return a message per sum that does not add up; empty when nothing was lost.

    Args:
        counts: Counts of one batch over all stages.
        rows: Number of lines given to filter, counted separately.
    """
    wrong = []
    seen = sum(counts[reason] for reason in Reason if reason.group == "rows")
    if seen != rows:
        wrong.append(f"{rows} rows were given to filter, {seen} ended in a reason")
    kept = counts[Reason.ROW_KEPT]
    mementos = sum(counts[reason] for reason in Reason if reason.group == "mementos")
    if kept != mementos:
        wrong.append(f"{kept} rows were kept, {mementos} mementos ended in a reason")
    return wrong
