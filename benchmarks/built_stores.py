"""Builds stores in this process, for benchmarks and tests."""

from collections.abc import Sequence
from pathlib import Path

from arclink.archives.locations import Location
from arclink.mapreduce.runs import JobRunner
from arclink.pipeline.build import BuildReport, build
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.records_read import known_damage
from arclink.pipeline.settings import BuildSettings, ShownProgress
from arclink.progress import Silent
from arclink.store.location import open_store


def build_store(
    folder: Path | str,
    store: Path,
    settings: BuildSettings,
    inputs: Sequence[str] = (),
    cdx: Sequence[Location] = (),
    conf: Path | None = None,
) -> BuildReport:
    """Build a store, or add to it.

    Args:
        folder: The archive files, if ``inputs`` names none.
        store: The store.
        settings: How to build it.
        inputs: Archive files, folders, globs.
        cdx: Rows of these files, if they are known already.
        conf: Settings of mrjob; with them, tasks of this machine do what those of an engine do.
    """
    with open_store(str(store), create=True) as opened:
        files = describe(
            find_archives(inputs or [str(folder)]),
            {file.name: file for file in opened.files()},
            known_damage(opened),
        )
        work = store.with_suffix(".build")
        run = JobRunner("local", settings.cores, work / "tasks", conf=conf) if conf else None
        return build(files, cdx, opened, settings, work, ShownProgress(Silent()), run)
