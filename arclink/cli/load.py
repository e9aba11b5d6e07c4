"""``arclink load``: runs the second half of stage 3 alone, from graph files to a store."""

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import click

from arclink.access.declarations import PATH, TEXT, Given, Parameter
from arclink.cli.engine_options import ENGINE_CONF, RUNNER, runner_of
from arclink.cli.interrupts import ended_like_interrupts
from arclink.cli.options import CORES, STORE, takes
from arclink.cli.stage_options import (
    INTO,
    SETTINGS,
    archives_of,
    needs,
    read_archives,
    read_settings,
    write_archives,
    write_settings,
)
from arclink.errors import UsageError
from arclink.mapreduce.runs import ON_THIS_MACHINE, JobRunner

GRAPH = Parameter(
    "graph",
    "Address of a folder in HDFS or S3 with graph files that jobs wrote.",
    TEXT,
    is_positional=True,
    metavar="[GRAPH]",
    otherwise="FOLDER/graph",
    see="how-to/jobs-by-hand.md",
)
FOLDER = replace(
    INTO, name="folder", about="Folder with the files of the batch, from the stages before.", was=()
)
ARCHIVES = Parameter(
    "archive",
    "With GRAPH, an archive file of the graph, or a folder, glob or list of them; the store "
    "records them.",
    PATH,
    is_list=True,
    metavar="INPUT",
    otherwise="those of `arclink extract`",
    see="reference/inputs.md",
)

EXAMPLES = (
    "arclink load --folder work --store links.db",
    "arclink load hdfs:///chain/graph --archive hdfs:///archive --folder work "
    "--store cassandra://node1/links --runner hadoop",
)


@click.command()
@takes(GRAPH, FOLDER, ARCHIVES, RUNNER, ENGINE_CONF, CORES, STORE)
def command(given: Given) -> None:
    """Load the graph files in FOLDER/graph, or at the address GRAPH, into a store, as one batch.

    With --runner, tasks of the engine load a store in Cassandra.
    """
    from arclink.counts import Counts
    from arclink.mapreduce.hadoop import MRJOB
    from arclink.pipeline import stages
    from arclink.pipeline.manifest import format_manifest
    from arclink.pipeline.records_read import check_read
    from arclink.pipeline.settings import BuildSettings
    from arclink.store.graph_files import RELATIONS
    from arclink.store.location import local_path_of, open_store
    from arclink.store.locks import only_change

    where, store, graph = Path(FOLDER.required(given)), STORE.required(given), GRAPH.optional(given)
    archives = ARCHIVES.many(given)
    if graph is None:
        needs(where, "graph/outlinks", "graph")
    home, _, name = (graph or "").rstrip("/").rpartition("/")
    run = _runner(given, where, graph, home)
    if graph is not None:
        for relation in RELATIONS:  # an empty relation has no folder on the engine
            (where / name / relation).mkdir(parents=True, exist_ok=True)
    if archives:
        write_archives(where, archives_of(archives, {}))
        if not (where / SETTINGS).exists():
            write_settings(where, BuildSettings())
    files = read_archives(where)
    settings = read_settings(where)
    unread = 0
    if graph is None:
        files, unread = check_read(where / "graph", files)
    with (
        ended_like_interrupts(run.is_on_engine),
        closing(run),
        only_change(local_path_of(store)),
        open_store(store, create=True) as opened,
    ):
        manifest = format_manifest(files, settings, Counts(), 0, {})
        if graph is None:
            (where / "graph/manifest.json").write_text(manifest, encoding="utf-8")
        try:
            batch = stages.load(where, files, settings, manifest, opened, run, name or "graph")
        finally:
            for folder in ("load", "loaded", MRJOB) if run.is_on_engine else ():
                run.remove(where / folder)
        opened.trim()
        click.echo(
            f"{store}: batch {batch.number} loaded; it holds {opened.sums().links:,} links now."
        )
    if unread:
        click.echo(
            f"warning: {unread:,} payloads were not read because their archive file was missing; "
            "`arclink build` with these files reads them",
            err=True,
        )


def _runner(given: Given, where: Path, graph: str | None, home: str) -> JobRunner:
    """Return the runner that loads.

    Args:
        given: The parameters of the command.
        where: Folder for files of this machine.
        graph: Address of the graph files; None if they are in ``where``.
        home: Address of the folder that has them.

    Raises:
        UsageError: The address is not in HDFS or S3, or tasks cannot read files of this machine.
    """
    from arclink.mapreduce.engine import EngineRunner
    from arclink.network.engine_files import is_of_engine

    cores = CORES.optional(given) or os.cpu_count() or 1
    if graph is None:
        if RUNNER.required(given) not in ON_THIS_MACHINE:
            raise UsageError("--runner: tasks read graph files in HDFS or S3 only; name GRAPH, too")
        return JobRunner("local", cores, where / "tasks")
    if not is_of_engine(graph):
        raise UsageError(
            f"{graph}: not an address in HDFS or S3; graph files on this machine are loaded from "
            "--folder"
        )
    if RUNNER.required(given) in ON_THIS_MACHINE:
        return EngineRunner("local", cores, where / "tasks", root=home)
    return runner_of(given, cores, where, "", home)
