"""``arclink build``: turns archive files into a store."""

import shutil
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import click

from arclink.access.declarations import PATH, Given, Parameter, field_parameter, switch
from arclink.cli.declared_options import takes
from arclink.cli.engine_options import ENGINE, RUNNER, runner_of
from arclink.cli.interrupts import ended_like_interrupts
from arclink.cli.options import CORES, HERITRIX_OUTLINKS, INPUTS, LAZY, QUIET, SOURCES, STORE
from arclink.cli.rules import SELECTION, WAYBACK, rules_from, wayback_of
from arclink.cli.sizes import size
from arclink.credentials import hide_credentials
from arclink.errors import ArclinkError
from arclink.extract.settings import ExtractSettings
from arclink.mapreduce.runs import ON_THIS_MACHINE
from arclink.pipeline.settings import BATCH_BYTES, BuildSettings, usual_batch_bytes
from arclink.progress import display_for

CDX = Parameter(
    "cdx",
    "CDX or CDXJ file, ZipNum index, WACZ or pywb collection.",
    PATH,
    is_list=True,
    metavar="FILE",
    otherwise="archives are indexed",
    see="reference/filter.md#rows",
    keeps_empty=True,
)
_BATCH_SIZE = field_parameter(
    BuildSettings,
    "batch_bytes",
    size("batch-size"),
    name="batch-size",
    metavar="SIZE",
    otherwise="4G; on an engine 250 MB per core, if that is more",
    see="reference/settings.md#build",
)
_WORK = Parameter(
    "work",
    "Folder for files between the stages.",
    PATH,
    metavar="FOLDER",
    otherwise="next to the store, or the current folder for Cassandra",
)
_KEEP_GRAPH = Parameter(
    "keep-graph",
    "Folder that keeps the graph files of each batch, for `arclink backup`; files in HDFS or "
    "S3 stay there.",
    PATH,
    metavar="FOLDER",
    otherwise="they are removed",
    see="how-to/operations.md#backup-of-a-store-in-cassandra",
)
_REBUILD = switch("rebuild", "Remove the store and build a new one. Takedowns stay in effect.")

EXAMPLES = (
    "arclink build /data/crawl --store links.db",
    "arclink build crawl.warc.gz --cdx crawl.cdxj --store links.db",
    "arclink build hdfs:///crawl --runner hadoop --store cassandra://node1/links",
)


@click.command()
@takes(
    INPUTS,
    STORE,
    CDX,
    *SELECTION,
    *SOURCES,
    *WAYBACK,
    _BATCH_SIZE,
    *ENGINE,
    CORES,
    _WORK,
    _KEEP_GRAPH,
    _REBUILD,
    QUIET,
)
def command(given: Given) -> None:
    """Build the link graph of archive files, or add more files to it.

    INPUT is an archive file, a folder, a glob, an address (https, s3 or hdfs), or a list file
    (.txt, .lst, .list) with one of these per line. Files that the store has already are skipped,
    so the same command continues a build that was stopped.
    """
    from arclink.cli.summary import show_summary
    from arclink.mapreduce.runs import FAILED_TASK
    from arclink.pipeline.build import build
    from arclink.pipeline.damage import known_damage
    from arclink.pipeline.inputs import (
        FileMarks,
        describe,
        find_archives,
        leave_out_foreign,
        looked_at_by_tasks,
    )
    from arclink.pipeline.progress import ShownProgress
    from arclink.pipeline.rows import check_names
    from arclink.pipeline.wat_pairs import leave_out_described
    from arclink.relations.forgetting import remove_at_addresses
    from arclink.rows.cdx_files import find_cdx
    from arclink.store.location import (
        exists,
        identity_of,
        local_path_of,
        open_store,
        remove_if_empty,
        remove_store,
        takedowns_path,
        work_folder,
    )
    from arclink.store.locks import only_build, only_change
    from arclink.store.takedown_files import set_aside, take_back

    settings, store = _settings(given), STORE.required(given)
    found, marks = find_archives(INPUTS.many(given)), FileMarks()
    cdx_paths = find_cdx(CDX.many(given))
    work = _WORK.optional(given)
    folder = Path(work) if work else work_folder(store)
    run = runner_of(given, settings.cores, folder, local_path_of(store).name)
    if graph_folder := _KEEP_GRAPH.optional(given):
        run.kept = Path(graph_folder)
    with (
        only_build(local_path_of(store)),
        ended_like_interrupts(run.is_on_engine),
        run.building(identity_of(store), local_path_of(store)),
        closing(run),
        ExitStack() as beginning,
    ):
        looks = looked_at_by_tasks(found, run, folder / "look")
        paths, complaints = leave_out_foreign(found, marks, looks)
        for complaint in complaints:
            click.echo(hide_credentials(f"skipped: {complaint}"), err=True)
        record = takedowns_path(store)
        change = partial(only_change, local_path_of(store))
        beginning.enter_context(change())
        if _REBUILD.required(given):
            # A wrong path must not cost the store that is there.
            check_names(cdx_paths, describe(paths, {}, marks=marks))
            if exists(store):
                with open_store(store, create=True) as old:
                    remove_at_addresses(old)
                    set_aside(old, record)
            remove_store(store)
            shutil.rmtree(folder, ignore_errors=True)
        is_new = not exists(store)
        progress = ShownProgress(display_for(is_quiet=QUIET.required(given)))
        try:
            with open_store(store, create=True) as opened:
                take_back(opened, record)
                beginning.close()
                known = {file.name: file for file in opened.files()}
                paths, described = leave_out_described(paths, known)
                for complaint in described:
                    click.echo(hide_credentials(f"skipped: {complaint}"), err=True)
                files = describe(paths, known, known_damage(opened), marks)
                report = build(files, cdx_paths, opened, settings, folder, progress, run, change)
        except ArclinkError:
            # No store is better than one that answers "not captured" to every query. The log of a
            # failed task is kept.
            if is_new and remove_if_empty(store) and not (folder / "tasks" / FAILED_TASK).exists():
                shutil.rmtree(folder, ignore_errors=True)
            raise
    with open_store(store) as built:  # reopened: its size is that of the closed file
        show_summary(report, built, store)
    if report.needs_a_person:
        raise click.exceptions.Exit(1)


def _settings(given: Given) -> BuildSettings:
    runner = RUNNER.required(given)
    cores = 1 if runner == "inline" else CORES.optional(given) or BuildSettings().cores
    usual = BATCH_BYTES if runner in ON_THIS_MACHINE else usual_batch_bytes(cores)
    return BuildSettings(
        rules=rules_from(given),
        extract=ExtractSettings(
            lazy=LAZY.required(given),
            heritrix_outlinks=HERITRIX_OUTLINKS.required(given),
            wayback=wayback_of(given),
        ),
        batch_bytes=_BATCH_SIZE.optional(given) or usual,
        runner=runner,
        cores=cores,
    )
