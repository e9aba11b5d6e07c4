"""A build: batches of archive files go through all stages, one after the other, into a store.

Each batch is stored in one step. A killed build therefore leaves only whole batches; when it is
started again, it skips the files that the store already has and continues with the others. The
graph does not depend on which files share a batch.
"""

import gc
import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import orjson

from arclink.archives.locations import Location
from arclink.counts import Counts
from arclink.errors import OvertakenError, PipelineError, StoreError
from arclink.extract.listed_files import write_list
from arclink.filter.sharing import IN_STORE, NO_ROW, SharedFile
from arclink.mapreduce.runs import JobRunner, parts_of, room_in
from arclink.pipeline import stages
from arclink.pipeline.inputs import batches_of
from arclink.pipeline.manifest import format_manifest
from arclink.pipeline.records_read import (
    Damage,
    Index,
    damage_in,
    how_read,
    missing_in,
    stored_files,
)
from arclink.pipeline.rows import SharedRows, names_nothing, share_rows, share_rows_by_tasks
from arclink.pipeline.settings import BuildSettings, Progress
from arclink.portions import uncollected
from arclink.reasons import Reason
from arclink.store.batch_backups import batch_name
from arclink.store.layouts import setting_of
from arclink.store.protocols import Builds, KnownFile, OpenStore, removed_in_all


@dataclass(slots=True)
class BuildReport:
    """The result of a build.

    Attributes:
        batches: Number of batches that this build stored.
        skipped: Number of archive files that the store had already.
        counts: Counts by reason over all batches of this build.
        seconds: CPU seconds by job.
        damaged: Archive files that are empty, cut short or damaged: those of this build, and the
            skipped files that were recorded as damaged when they were stored.
    """

    batches: int = 0
    skipped: int = 0
    counts: Counts = field(default_factory=Counts)
    seconds: dict[str, float] = field(default_factory=dict)
    damaged: list[Damage] = field(default_factory=list)

    def add(self, later: "BuildReport") -> None:
        """Add the result of a later build by the same runner, whose seconds are those of both."""
        self.batches += later.batches
        self.skipped += later.skipped
        self.counts += later.counts
        self.damaged += later.damaged
        self.seconds = later.seconds

    @property
    def needs_a_person(self) -> bool:
        """Whether a whole file gave nothing, or input that should have given links gave none."""
        return needs_a_person(self.counts if self.batches else Counts(), self.damaged)


def needs_a_person(
    counts: Counts, damaged: Sequence[Damage], gave: Reason = Reason.LINK_KEPT
) -> bool:
    """Return whether a whole file gave nothing, or failures are all that stages have to show.

    Args:
        counts: Of a build, or of a stage.
        damaged: The archive files that could not be read completely.
        gave: Counted for each item that a stage is run for.
    """
    if any(damage.gave_nothing for damage in damaged):
        return True
    has_failed = bool(damaged and counts) or any(counts[reason] for reason in _UNREAD)
    has_failed = has_failed or bool(counts[Reason.ROW_MALFORMED] and not counts[Reason.ROW_KEPT])
    return has_failed and not (counts[gave] or counts[Reason.PAYLOAD_KNOWN])


_UNREAD = (
    Reason.PAYLOAD_FILE_MISSING,
    Reason.PAYLOAD_PAST_END,
    Reason.PAYLOAD_DAMAGED,
    Reason.PAYLOAD_OTHER_RECORD,
    Reason.PAYLOAD_CODING,
    Reason.PAYLOAD_CRASHED,
    Reason.PAYLOAD_MEMORY,
    Reason.RECORD_DAMAGED,
)
"""Reasons of payloads and records that should have given links but could not be read."""


def build(
    files: Sequence[KnownFile],
    cdx: Sequence[Location],
    store: Builds,
    settings: BuildSettings,
    work: Path,
    progress: Progress,
    run: JobRunner | None = None,
    only_change: Callable[[], AbstractContextManager[None]] = nullcontext,
    keep_texts: Callable[[Sequence[Path]], None] | None = None,
) -> BuildReport:
    """Add archive files to a store.

    Args:
        files: Distinct, in the order in which they are built.
        cdx: Their CDX files, from `arclink.rows.cdx_files.find_cdx`. A file without a row in them
            is indexed by reading it.
        store: Open for writing.
        settings: Must be the settings that the store was built with.
        work: Folder for the files between the stages. It is created if it does not exist; each
            batch is removed from it once it is stored.
        progress: Receives the progress of the build.
        run: Runs the jobs, with the files between the stages below ``work``. By default, a runner
            made from the settings.
        only_change: Returns a context that keeps other processes from changing the store, for the
            load of a batch.
        keep_texts: Takes the files with the texts of a batch that is stored; None to read no texts.
            Engines read none, but pages of plain text for later.

    Raises:
        InputError: No row of the CDX files points to one of the files.
        StoreError: The store was built with other settings.
        PipelineError: A step failed.
    """
    check_settings(store, settings)
    index, stored = Index.of(cdx), stored_files(store)
    skipped = {
        file.name: file
        for file in files
        if (earlier := stored.get(file.name)) is not None
        and earlier.fingerprint == file.fingerprint
        and earlier.has_records_of(index)
    }
    fresh = [file for file in files if file.name not in skipped]
    batches = batches_of(fresh, settings.batch_bytes)
    report = BuildReport(skipped=len(skipped))
    report.damaged += [damage for name in skipped if (damage := stored[name].damage)]
    work.mkdir(parents=True, exist_ok=True)
    run = run or JobRunner(settings.runner, settings.cores, work / "tasks")
    if keep_texts is not None:
        extract = replace(settings.extract, plain=True, texts=not run.is_on_engine)
        settings = replace(settings, extract=extract)
    run.watch = progress.tasks
    size = sum(file.size for file in fresh)
    with room_in(work, "sorting the rows into batches"), run.for_archives(size):
        rows = _share_rows(
            cdx,
            batches,
            [*skipped.values()],
            work / "rows",
            settings.key_prefixes(),
            run,
        )
    report.counts += rows.passed_over
    progress.begin(len(batches), size)
    # Files of this call are read from the path given now, even if the store recorded another path.
    listed = work / "archives"
    write_list({file.name: file.path for file in (*store.files(), *files)}, listed)
    try:
        for number, batch in enumerate(batches):
            folder = work / f"batch-{number:06d}"
            size = sum(file.size for file in batch)
            step = partial(progress.stage, number + 1, size)
            with room_in(folder, "build"), uncollected(), run.for_archives(size):
                done = None
                while done is None:
                    done = _run_batch(
                        batch,
                        store.last_batch() if any(file.name in stored for file in batch) else 0,
                        rows,
                        index,
                        number,
                        listed,
                        store,
                        settings,
                        run,
                        folder,
                        step,
                        progress.counts,
                        only_change,
                        keep_texts,
                    )
                counts, damaged = done
            gc.collect()
            progress.stored()
            report.batches += 1
            report.counts += counts
            report.damaged += damaged
        store.trim()
    finally:
        progress.end()
    report.seconds = run.seconds
    run.remove(work / "rows")
    shutil.rmtree(work, ignore_errors=True)
    return report


def check_settings(store: OpenStore, settings: BuildSettings, where: str = "STORE") -> None:
    """Raise StoreError, naming the difference, if a store's settings would give another graph.

    Args:
        store: The store.
        settings: The settings of the build.
        where: The path or URL of the store, for the message.
    """
    for name, value in settings.for_store().items():
        stored = setting_of(store, name)
        if stored is not None and stored != value:
            raise StoreError(
                f"{where} was built with other settings ({name}):\n{_difference(stored, value)}\n"
                "Use the stored setting, or name a new store with --store."
            )


def _difference(stored: str, now: str) -> str:
    """Return the differences between two values of a setting; of rules, only the differing ones."""
    try:
        before, after = orjson.loads(stored), orjson.loads(now)
    except orjson.JSONDecodeError:
        before, after = stored, now
    if not (isinstance(before, dict) and isinstance(after, dict)):
        before, after = {"value": before}, {"value": after}
    names = sorted({*before, *after})
    return "\n".join(
        f"  {name}: stored {before.get(name)}, now {after.get(name)}"
        for name in names
        if before.get(name) != after.get(name)
    )


def _share_rows(
    cdx: Sequence[Location],
    batches: Sequence[Sequence[KnownFile]],
    stored: Sequence[KnownFile],
    folder: Path,
    prefixes: Sequence[str],
    run: JobRunner,
) -> SharedRows:
    """Return the rows of each batch, by index in ``batches``; malformed lines are in `NO_ROW`."""
    if not cdx or not batches:
        return SharedRows()
    files = [SharedFile(file.name, IN_STORE, file.path) for file in stored]
    files += [
        SharedFile(file.name, number, file.path)
        for number, batch in enumerate(batches)
        for file in batch
    ]
    rows = (
        share_rows_by_tasks(cdx, files, folder, prefixes, run)
        if run.is_on_engine
        else share_rows(cdx, files, folder, prefixes)
    )
    if not rows.names:
        raise names_nothing(cdx, batches[0])
    return rows


def _run_batch(
    batch: Sequence[KnownFile],
    after: int,
    rows: SharedRows,
    index: Index,
    number: int,
    listed: Path,
    store: Builds,
    settings: BuildSettings,
    run: JobRunner,
    folder: Path,
    step: Callable[[str], None],
    counted: Callable[[Counts], None],
    only_change: Callable[[], AbstractContextManager[None]],
    keep_texts: Callable[[Sequence[Path]], None] | None,
) -> tuple[Counts, list[Damage]] | None:
    """Run one batch through all stages.

    Returns:
        Its counts and its damaged files; None if something was forgotten meanwhile, and nothing of
        the batch is stored.
    """
    run.remove(folder)
    folder.mkdir()
    forgotten = list(store.forgotten())
    settings = replace(settings, forgotten=tuple(takedown.what for takedown, _ in forgotten))
    removed = removed_in_all(forgotten)
    counts: Counts = Counts()

    def add(task_counts: Counts) -> None:
        counts.update(task_counts)
        counted(task_counts)

    wanted = [number, NO_ROW] if number == 0 else [number]
    row_files = [file for batch_number in wanted for file in rows.by_batch.get(batch_number, ())]
    row_count = sum(rows.lines.get(batch_number, 0) for batch_number in wanted)
    without_rows = [file for file in batch if file.name not in rows.names]
    if without_rows:
        step("index")
        indexed = stages.index(without_rows, folder, run)
        add(indexed)
        row_count += indexed[Reason.RECORD_INDEXED]
        run.fetch(folder / "findings")
        row_files += run.parts(folder / "rows")
    step("filter")
    add(stages.filter_rows(row_files, folder, settings, run))
    step("extract")
    add(stages.extract(folder, batch, store, settings, run, listed))
    step("join")
    add(stages.join(folder, run))
    step("invert")
    add(stages.invert(folder, run))
    if wrong := stages.check(counts, row_count):
        raise PipelineError("rows were lost, which is a bug: " + "; ".join(wrong))
    step("load")
    damaged = damage_in(folder, batch, rows.names)
    read = how_read(batch, rows.names, missing_in(folder, batch), index)
    manifest = format_manifest(
        batch, settings.for_store(), counts, row_count, run.seconds, damaged, read, index, after
    )
    (folder / "graph/manifest.json").write_text(manifest, encoding="utf-8")
    try:
        with only_change():
            stages.load(folder, batch, settings.for_store(), manifest, store, run, removed=removed)
    except OvertakenError:
        counted(Counts({reason: -count for reason, count in counts.items()}))
        return None
    if keep_texts is not None and (texts := parts_of(folder / "texts")):
        keep_texts(texts)
    run.keep(folder / "graph", batch_name(((file.name, file.fingerprint) for file in batch), after))
    run.remove(folder)
    return counts, damaged
