"""A build: batches of archive files go through all stages, one after the other, into a store.

A batch is stored as one step, so a killed build leaves whole batches only; started again, it passes over the files that
the store has and goes on. Which files share a batch changes nothing in the graph.
"""

import fcntl
import gc
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import orjson

from arclink.errors import InputError, PipelineError, StoreError
from arclink.files.places import Location
from arclink.pipeline import stages
from arclink.pipeline.counts import Counts
from arclink.pipeline.inputs import batches_of
from arclink.pipeline.manifest import format_manifest
from arclink.pipeline.progress import Progress
from arclink.pipeline.rows import IN_STORE, NO_ROW, SharedRows, check_rows, count_lines, share_rows
from arclink.pipeline.running import JobRunner, parts_of, room_in
from arclink.pipeline.settings import BuildSettings
from arclink.store import ArchiveFile, GraphStore


@dataclass(slots=True)
class BuildReport:
    """What a build did.

    Attributes:
        batches: Batches stored by this build.
        skipped: Archive files that the store had already.
        counts: Over all its batches.
        seconds: CPU seconds by job.
    """

    batches: int = 0
    skipped: int = 0
    counts: Counts = field(default_factory=Counts)
    seconds: dict[str, float] = field(default_factory=dict)


def build(
    files: Sequence[ArchiveFile],
    cdx: Sequence[Location],
    store: GraphStore,
    settings: BuildSettings,
    work: Path,
    progress: Progress,
    run: JobRunner | None = None,
) -> BuildReport:
    """Add archive files to a store.

    Args:
        files: Distinct; in the order they are to be built.
        cdx: Their CDX files, from `arclink.pipeline.cdx_files.find_cdx`; a file without a row in them is indexed by reading it.
        store: Open for writing.
        settings: Must be those the store was built with.
        work: Folder for the files between the stages; made if it is not there, its batches removed when stored.
        progress: Told where the build is.
        run: Runs the jobs, with the files between the stages below ``work``; that of the settings by default.

    Raises:
        InputError: No row of the CDX files points to one of the files.
        StoreError: The store was built with other settings.
        PipelineError: A step failed.
    """
    check_settings(store, settings)
    settings = replace(settings, forgotten=tuple(takedown.what for takedown, _ in store.forgotten()))
    known = {file.name: file for file in store.files()}
    fresh = [file for file in files if not _is_known(file, known)]
    batches = batches_of(fresh, settings.batch_bytes)
    report = BuildReport(skipped=len(files) - len(fresh))
    work.mkdir(parents=True, exist_ok=True)
    run = run or JobRunner(settings.runner, settings.cores, work / "tasks")
    run.watch = progress.tasks
    with room_in(work, "sharing out the rows"):
        rows = _share_rows(cdx, batches, [file for file in files if _is_known(file, known)], work / "rows", settings.rules.prefixes)
    report.counts += rows.passed_over
    progress.begin(len(batches), sum(file.size for file in fresh))
    # A file that was given is where it was given, wherever the store saw it before.
    archives = list({**known, **{file.name: file for file in files}}.values())
    try:
        for number, batch in enumerate(batches):
            folder = work / f"batch-{number:06d}"
            step = partial(progress.stage, number + 1, sum(file.size for file in batch))
            with room_in(folder, "build"), _uncollected():
                counts = _run_batch(batch, rows, number, archives, store, settings, run, folder, step, progress.counts)
            progress.stored()
            known.update({file.name: file for file in batch})
            report.batches += 1
            report.counts += counts
        store.trim()
    finally:
        progress.end()
    report.seconds = run.seconds
    shutil.rmtree(work, ignore_errors=True)
    return report


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for garbage when a batch is done, not while rows pass by: they make no cycles, and looking costs a tenth of loading."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
        gc.collect()


def check_settings(store: GraphStore, settings: BuildSettings) -> None:
    """Raise StoreError if a store was built with settings that give another graph; name the difference."""
    for name, value in settings.for_store().items():
        stored = store.setting(name)
        if stored is not None and stored != value:
            raise StoreError(
                f"this store was built with other settings ({name}):\n{_difference(stored, value)}\n"
                "Use the stored setting, another --store, or --rebuild to build it anew."
            )


def _difference(stored: str, now: str) -> str:
    """Return what differs between two values of a setting: of rules, those that do."""
    try:
        before, after = orjson.loads(stored), orjson.loads(now)
    except orjson.JSONDecodeError:
        before, after = {"value": stored}, {"value": now}
    names = sorted({*before, *after})
    return "\n".join(f"  {name}: stored {before.get(name)}, now {after.get(name)}" for name in names if before.get(name) != after.get(name))


def _is_known(file: ArchiveFile, known: dict[str, ArchiveFile]) -> bool:
    stored = known.get(file.name)
    return stored is not None and (stored.size, stored.fingerprint) == (file.size, file.fingerprint)


def _share_rows(
    cdx: Sequence[Location], batches: Sequence[Sequence[ArchiveFile]], stored: Sequence[ArchiveFile], folder: Path, prefixes: Sequence[str]
) -> SharedRows:
    """Return the rows of each batch, by its place in ``batches``; lines that are no rows go with the first."""
    if not cdx or not batches:
        return SharedRows({}, frozenset(), Counts())
    check_rows(cdx, prefixes)
    batch_of = {file.name: IN_STORE for file in stored}
    batch_of.update({file.name: number for number, batch in enumerate(batches) for file in batch})
    names = {file.path: file.name for file in (*stored, *(file for batch in batches for file in batch))}
    rows = share_rows(cdx, batch_of, folder, prefixes, names)
    if not rows.names:
        raise InputError(
            f"no row of {', '.join(map(str, cdx))} points to one of the archive files given, such as {batches[0][0].name}; "
            "the last column (filename) of its rows must name them"
        )
    return rows


def _run_batch(
    batch: Sequence[ArchiveFile],
    rows: SharedRows,
    number: int,
    stored: Sequence[ArchiveFile],
    store: GraphStore,
    settings: BuildSettings,
    run: JobRunner,
    folder: Path,
    step: Callable[[str], None],
    counted: Callable[[Counts], None],
) -> Counts:
    """Take one batch through all stages."""
    run.remove(folder)
    folder.mkdir()
    counts: Counts = Counts()

    def add(some: Counts) -> None:
        counts.update(some)
        counted(some)

    wanted = [number, NO_ROW] if number == 0 else [number]
    row_files = [rows.by_batch[one] for one in wanted if one in rows.by_batch]
    without_rows = [file for file in batch if file.name not in rows.names]
    if without_rows:
        step("index")
        add(stages.index(without_rows, folder, run))
        run.fetch(folder / "rows")
        row_files += parts_of(folder / "rows")
    step("filter")
    add(stages.filter_rows(row_files, folder, settings, run))
    step("extract")
    add(stages.extract(folder, [*stored, *batch], store, settings, run))
    step("join")
    add(stages.join(folder, run))
    step("invert")
    add(stages.invert(folder, run))
    given = count_lines(row_files)
    if wrong := stages.check(counts, given):
        raise PipelineError("rows were lost, which must not be: " + "; ".join(wrong))
    step("load")
    manifest = format_manifest(batch, settings.for_store(), counts, given, run.seconds)
    (folder / "graph/manifest.json").write_text(manifest, encoding="utf-8")
    for relation in ("payloads", "outlinks", "inlinks"):
        run.fetch(folder / "graph" / relation)
    stages.load(folder, batch, settings.for_store(), manifest, store, run)
    run.keep(folder / "graph", _name_of(batch))
    run.remove(folder)
    return counts


def _name_of(batch: Sequence[ArchiveFile]) -> str:
    """Return a name for the graph files of a batch: the same for the same archive files, whichever build reads them."""
    digest = hashlib.sha256("\n".join(f"{file.name} {file.fingerprint}" for file in batch).encode())
    return f"batch-{digest.hexdigest()[:16]}"


@contextmanager
def only_build(store: Path) -> Iterator[None]:
    """Hold a store for one build, from before it is looked at; a second build of it ends at once.

    Raises:
        StoreError: Another build of the store is at work.
    """
    if not store.parent.is_dir():
        raise StoreError(f"no folder {store.parent} for the store {store.name}. Make the folder, or name another path.")
    path = store.with_name(store.name + ".lock")
    while True:
        with path.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise StoreError(f"another build of {store} is at work (it holds {path}); wait for it, or end it first") from error
            if os.fstat(lock.fileno()).st_nlink == 0:
                continue  # the build that had it has just removed it: hold the next one
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return
