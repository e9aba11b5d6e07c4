"""The stages of a batch, one function each: folders in, folders out, counts returned.

``arclink build`` runs them one after the other; ``arclink index``, ``filter``, ``extract`` and
``graph`` each run one stage alone. docs/reference/stage-files.md describes the files between the
stages.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from arclink.counts import Counts
from arclink.extract.reading_tasks import assign_files, format_files
from arclink.mapreduce.runs import JobRunner, parts_of
from arclink.model import Batch, Checksum
from arclink.pipeline.indexing import Indexing
from arclink.pipeline.jobs import JOBS
from arclink.pipeline.known import KnownRelation
from arclink.pipeline.last_resorts import LastResorts, awaited
from arclink.pipeline.pointer_files import choose, read_pointers, write_pointers
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows import relations
from arclink.rows.findings import FINDINGS
from arclink.rows.pointers import POINTERS, WAITING, Pointer
from arclink.store.graph_files import RELATIONS, write_graph_sums
from arclink.store.protocols import Builds, Cluster, KnownFile, KnownPayloads, ListsPayloads

PAGES = b"pages"
RETRIES = b"retries"

POINTERS_OF_TASK = 100
"""Minimum number of pointers per reading task, if the driver chose them: some 0.1 s of work."""


def index(files: Sequence[KnownFile], folder: Path, run: JobRunner) -> Counts:
    """Write the CDXJ rows of archive files to ``folder/rows``, and faults to ``folder/findings``.

    ``rows`` has one part per task, and one per range of a large file (`arclink.pipeline.indexing`).
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
        JOBS["filter"], rows, folder / "filtered", settings.for_jobs(), are_relations=True
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
    batch: Sequence[KnownFile] = (),
    known: KnownRelation | None = None,
) -> Counts:
    """Write pages, further mementos and ``graph/payloads`` from pointers and mementos.

    All are folders in ``folder``. The stage also writes ``findings``: how much of each archive file
    could be read.

    A payload that cannot be read is tried again from another capture, in a further round. In each
    round a file is opened once; only payloads that are still unread cause another round.

    Args:
        folder: Folder of the batch.
        archives: All archive files that pointers may name.
        store: Asked for the payloads that it knows.
        settings: Settings of the build.
        run: Runs the jobs.
        batch: The files that most pointers name; ``archives`` if not given.
        known: The payloads that the store knows, if the build has written them for tasks already.
    """
    is_empty = next(store.files(), None) is None
    pointers: Iterable[Pointer] = read_pointers(_Parts(folder / "pointers", run))
    search = partial(rows_with, folder, run)
    digested = _Parts(folder / "digested", run)
    is_left = bool(run.parts(folder / "pointers"))
    is_first = True
    uses_recorded = settings.extract.heritrix_outlinks and store.replaces_links
    (folder / "graph/payloads").mkdir(parents=True, exist_ok=True)
    (folder / "pages").mkdir(parents=True, exist_ok=True)
    counts: Counts = Counts()
    rounds = _Rounds(folder, batch or archives, archives, store, settings, run)
    with LastResorts() as resorts:
        while is_left:
            if rounds.number == 0 and run.conf is not None:
                done = rounds.of_filter(known)
            else:
                done = rounds.of_driver(pointers)
            counts += done.counts
            resorts.add(read_pointers(done.waiting))
            if done.retries:
                pointers = read_pointers(done.retries)
                continue
            further = resorts.further(search, digested)
            earlier = awaited(digested, store) if is_first and not is_empty else ()
            found = folder / f"further-{rounds.number}"
            is_left = bool(write_pointers(chain(further, earlier), found))
            if not is_left and uses_recorded:  # last, because anything else is a better source
                is_left = bool(write_pointers(resorts.recorded(search), found))
                uses_recorded = False
            pointers, is_first = read_pointers([found]), False
        counts += _write_unread(resorts, folder / "graph/payloads/part-extract-unread")
    run.fetch(folder / "findings")
    return counts


@dataclass(frozen=True, slots=True)
class _Round:
    """The results of a round of extract.

    Attributes:
        counts: Counts of the round.
        waiting: Files with the pointers that have nothing to read, unless the batch turns out to
            have a capture of their payload.
        retries: Files with pointers to payloads that could not be read.
    """

    counts: Counts
    waiting: Sequence[Path]
    retries: Sequence[Path]


@dataclass(slots=True)
class _Rounds:
    """The rounds of extract in a batch.

    Attributes:
        folder: Folder of the batch.
        batch: The files that most pointers name; distributed to reading tasks by size.
        archives: All archive files that pointers may name.
        store: Asked for the payloads that it knows.
        settings: Settings of the build.
        run: Runs the jobs.
        number: Number of earlier rounds.
    """

    folder: Path
    batch: Sequence[KnownFile]
    archives: Sequence[KnownFile]
    store: KnownPayloads
    settings: BuildSettings
    run: JobRunner
    number: int = 0

    def of_filter(self, known: KnownRelation | None) -> _Round:
        """Run the first round on an engine, where tasks choose among the pointers of filter.

        Args:
            known: The payloads that a store on this machine knows; written here if not given.
        """
        pointers, counts = self.folder / "pointers", Counts()
        if known is None and isinstance(self.store, ListsPayloads):
            known = KnownRelation(self.store, self.folder / "known", self.run)
        if known is not None and known.update():
            counts += known.match(pointers, self.folder / "matched")
            pointers = self.folder / "matched"
        done = self._read(self.run.parts(pointers), self.store.shared_url, self._most_tasks())
        return replace(done, counts=counts + done.counts)

    def of_driver(self, pointers: Iterable[Pointer]) -> _Round:
        """Run a round for pointers that the driver chooses.

        Args:
            pointers: See `choose`.
        """
        chosen = choose(pointers, self.store, self.folder / f"chosen-{self.number}")
        tasks = min(self._most_tasks(), -(-chosen.number // POINTERS_OF_TASK))
        done = self._read(chosen.parts, None, tasks)
        return _Round(chosen.counts + done.counts, [chosen.waiting, *done.waiting], done.retries)

    def _most_tasks(self) -> int:
        return self.run.cores * 2 if self.run.cores > 1 else 1

    def _read(self, pointers: Sequence[Path], url: str | None, tasks: int) -> _Round:
        """Run the job for parts with pointers.

        Args:
            pointers: The parts.
            url: Store that tasks ask for the payloads that it knows; None if all are to be read.
            tasks: Number of reading tasks.
        """
        folder, number = self.folder, self.number
        self.number += 1
        if not pointers:
            return _Round(Counts(), [], [])
        files = folder / f"reading-tasks-{number}"
        sizes = ((file.name, file.path, file.size) for file in self.batch)
        paths = {file.name: file.path for file in self.archives}
        files.write_bytes(format_files(assign_files(sizes, paths, tasks)))
        own = {"store": url, "files": self.run.place(files), "tasks": tasks}
        output = folder / f"extracted-{number}"
        waiting, retries = folder / f"waiting-{number}", folder / f"retries-{number}"
        counts = self.run.run(
            JOBS["extract"],
            pointers,
            output,
            {**self.settings.for_jobs(), **own},
            are_relations=True,
        )
        outputs = {
            PAGES: folder / "pages",
            relations.MEMENTOS: folder / "mementos",
            relations.DIGESTED: folder / "digested",
            WAITING: waiting,
            RETRIES: retries,
            FINDINGS: folder / "findings",
        }
        self.run.split(output, outputs, f"extract{number}")
        for copied in (waiting, retries):
            self.run.fetch(copied)
        return _Round(counts, parts_of(waiting), parts_of(retries))


def rows_with(
    folder: Path, run: JobRunner, checksums: Iterable[Checksum]
) -> tuple[Iterable[Path], Iterable[Pointer]]:
    """Return the mementos and pointers of filter with these checksums; see `last_resorts.Search`.

    On an engine, tasks search for them, so that no other row is copied to this machine.
    """
    inputs = {
        relations.MEMENTOS: [
            part for part in run.parts(folder / "mementos") if part.name.startswith("part-filter")
        ],
        POINTERS: run.parts(folder / "pointers"),
    }
    if run.conf is None:
        return inputs[relations.MEMENTOS], read_pointers(inputs[POINTERS])
    wanted, found = folder / "search/checksums", folder / "search/found"
    run.remove(wanted.parent)
    wanted.parent.mkdir()
    with wanted.open("wb") as lines:
        lines.writelines(checksum.encode() + b"\n" for checksum in checksums)
    settings = {"checksums": run.place(wanted)}
    rows = [part for parts in inputs.values() for part in parts]
    run.run(JOBS["search"], rows, found, settings, are_relations=True)
    outputs = {relation: found / relation.decode() for relation in inputs}
    run.split(found, outputs, "search")
    for target in outputs.values():
        run.fetch(target)
    return parts_of(outputs[relations.MEMENTOS]), read_pointers(parts_of(outputs[POINTERS]))


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts in a folder.

    An engine's files are copied to this machine when they are read: few batches need that.
    """

    folder: Path
    run: JobRunner

    def __iter__(self) -> Iterator[Path]:
        self.run.fetch(self.folder)
        return iter(parts_of(self.folder))


def _write_unread(resorts: LastResorts, path: Path) -> Counts:
    """Write one row per payload that could not be read, if there are any; return their reasons."""
    counts: Counts = Counts()
    with path.open("wb") as rows:
        for payload in resorts.unread():
            counts[Reason[payload.reason]] += 1
            rows.write(relations.format_payload(payload) + b"\n")
    if not counts:
        path.unlink()
    return counts


def join(folder: Path, run: JobRunner) -> Counts:
    """Write ``graph/payloads``, ``graph/outlinks`` and ``postings`` from ``pages``."""
    graph = folder / "graph"
    for relation in (relations.PAYLOADS, relations.OUTLINKS):
        (graph / relation.decode()).mkdir(parents=True, exist_ok=True)
    pages = run.parts(folder / "pages")
    if not pages:
        return Counts()
    counts = run.run(JOBS["join"], pages, folder / "joined", {}, are_relations=True)
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
) -> Batch:
    """Load ``folder/graph`` into a store.

    If the store is not on this machine and an engine is configured, tasks of the engine load it,
    and the graph files stay there.
    """
    graph = folder / "graph"
    if store.shared_url is None:
        for relation in RELATIONS:
            run.fetch(graph / relation)

    def by_job(manifests: Sequence[Path], job_settings: Mapping[str, object]) -> None:
        run.run(JOBS["load"], manifests, folder / "loaded", job_settings)

    cluster = None if run.conf is None else Cluster(run.place, by_job, run.sizes, run.checksum)
    return store.load(graph, files, settings, manifest, run.cores, cluster)


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
