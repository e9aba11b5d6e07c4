"""What runs one stage of a build alone: index and load, and parameters of the others."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from arclink.access.declarations import PATH, STORE, TEXT, AnyParameter, Given, Parameter
from arclink.counts import Counts, Report
from arclink.errors import InputError, UsageError
from arclink.files.atomic import write_whole
from arclink.mapreduce.runs import ON_THIS_MACHINE, JobRunner, room_in
from arclink.operations.engine import ENGINE, ENGINE_CONF, RUNNER, runner_of
from arclink.operations.operation import CORES, INPUTS, Operation, Say
from arclink.pipeline.records_read import Damage, check_read, damage_in
from arclink.pipeline.settings import BuildSettings
from arclink.store.protocols import KnownFile

ARCHIVES = "archives.json"
SETTINGS = "settings.json"


INTO = Parameter(
    "into",
    "Folder for the files of this batch, which also has those of earlier stages.",
    PATH,
    is_required=True,
    was=("folder",),
    metavar="FOLDER",
    see="reference/stage-files.md",
)
STAGE: tuple[AnyParameter, ...] = (INTO, *ENGINE, CORES)
"""The parameters of the commands that run one stage."""


@contextmanager
def running(given: Given, name: str) -> Iterator[JobRunner]:
    """Run the stage with this name: yield its runner, then fetch files from an engine.

    Earlier output of this stage and of those after it is removed first.

    Args:
        given: The parameters of `STAGE`.
        name: The name of the stage.

    Raises:
        PipelineError: There is no space in the folder.
    """
    folder = Path(INTO.required(given))
    run = runner_of(given, CORES.optional(given) or os.cpu_count() or 1, folder, folder.name)
    folder.mkdir(parents=True, exist_ok=True)
    clear(folder, name)
    with room_in(folder, name), run.visiting(name), closing(run):
        yield run
        for relation in RELATIONS[name]:
            run.fetch(folder / relation)


RELATIONS: Mapping[str, Sequence[str]] = {
    "index": ("rows", "findings"),
    "filter": ("pointers", "mementos"),
    "extract": ("pages", "absent", "mementos", "digested", "graph/payloads", "findings"),
    "graph": (
        "postings",
        "graph/mementos",
        "graph/payloads",
        "graph/outlinks",
        "graph/inlinks",
    ),
}
"""Folders that the jobs of each stage write."""

WRITTEN: Mapping[str, Sequence[str]] = {
    "index": ("rows", "indexed-*", "index-manifests", "findings"),
    "filter": ("filtered", "cdx-rows", "pointers", "mementos/part-filter*", SETTINGS),
    "extract": (
        "pages",
        "extracted-*",
        "retries-*",
        "chosen-*",
        "waiting-*",
        "named-*",
        "referring-*",
        "known",
        "further-*",
        "found-*",
        "recorded-*",
        "awaited",
        "absent",
        "digested",
        "reading-tasks-*",
        "findings/part-extract*",
        "mementos/part-extract*",
        "graph/payloads",
        ARCHIVES,
    ),
    "graph": (
        "joined",
        "inverted",
        "postings",
        "graph/mementos",
        "graph/outlinks",
        "graph/inlinks",
        "graph/payloads/part-join*",
        "graph/manifest.json",
    ),
}
"""Files and folders that each stage writes."""


def clear(folder: Path, stage: str) -> None:
    """Remove the earlier output of a stage and of those after it, which is no longer valid."""
    for later in list(WRITTEN)[list(WRITTEN).index(stage) :]:
        for name in WRITTEN[later]:
            for path in folder.glob(name):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def archives_of(inputs: Sequence[str], known: Mapping[str, KnownFile], say: Say) -> list[KnownFile]:
    """Return the given archive files, and say which files are not archive files.

    Raises:
        InputError: See `arclink.pipeline.inputs`.
    """
    from arclink.pipeline.inputs import FileMarks, describe, find_archives, leave_out_foreign

    marks: FileMarks = {}
    paths, complaints = leave_out_foreign(find_archives(inputs), marks)
    for complaint in complaints:
        say(f"skipped: {complaint}")
    return describe(paths, known, marks=marks)


def needs(folder: Path, name: str, stage: str) -> None:
    """Raise InputError if the files of an earlier stage do not exist."""
    if not (folder / name).exists():
        raise InputError(
            f"{folder / name}: does not exist; run `arclink {stage}` with --into {folder} first"
        )


def write_archives(folder: Path, files: Sequence[KnownFile]) -> None:
    """Record the archive files of the stages in this folder."""
    rows = [[file.name, file.path, file.size, file.fingerprint] for file in files]
    write_whole(folder / ARCHIVES, orjson.dumps(rows, option=orjson.OPT_INDENT_2))


def _read_archives(folder: Path) -> list[KnownFile]:
    """Return the archive files of the stages in this folder."""
    needs(folder, ARCHIVES, "extract")
    return [KnownFile(*row) for row in orjson.loads((folder / ARCHIVES).read_bytes())]


def write_settings(folder: Path, settings: BuildSettings) -> None:
    """Record the settings that shaped the files of this folder."""
    write_whole(folder / SETTINGS, orjson.dumps(settings.for_store(), option=orjson.OPT_INDENT_2))


def add_settings(folder: Path, settings: BuildSettings) -> None:
    """Record the settings of extract; the rules recorded by filter are kept."""
    noted = {**settings.for_store(), "rules": read_settings(folder)["rules"]}
    write_whole(folder / SETTINGS, orjson.dumps(noted, option=orjson.OPT_INDENT_2))


def read_settings(folder: Path) -> dict[str, str]:
    """Return the settings that shaped the files of this folder, as a store records them."""
    needs(folder, SETTINGS, "filter")
    settings: dict[str, str] = orjson.loads((folder / SETTINGS).read_bytes())
    return settings


@dataclass(frozen=True, slots=True)
class Indexed(Report):
    """The rows of archive files.

    Attributes:
        rows: The folder of the files with the rows.
        counts: Counts by reason.
        damaged: Archive files that are empty, cut short or damaged.
    """

    rows: Path
    counts: Counts
    damaged: Sequence[Damage]


def _index(given: Given, say: Say) -> Indexed:
    from arclink.pipeline import stages

    folder = Path(INTO.required(given))
    files = archives_of(INPUTS.many(given), {}, say)
    with running(given, "index") as run:
        counts = stages.index(files, folder, run)
    return Indexed(folder / "rows", counts, damage_in(folder, files))


INDEX = Operation((INPUTS, *STAGE), _index)


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
OF_GRAPH = Parameter(
    "archive",
    "With GRAPH, an archive file of the graph, or a folder, glob or list of them; the store "
    "records them.",
    PATH,
    is_list=True,
    metavar="INPUT",
    otherwise="those of `arclink extract`",
    see="reference/inputs.md",
)


@dataclass(frozen=True, slots=True)
class LoadedBatch(Report):
    """A batch of graph files that was loaded.

    Attributes:
        number: Its number in the store.
        links: Number of links that the store has now.
        unread: Number of payloads that were not read because their archive file was missing.
    """

    number: int
    links: int
    unread: int


def _load(given: Given, say: Say) -> LoadedBatch:
    from arclink.engines.hadoop import MRJOB
    from arclink.pipeline import stages
    from arclink.pipeline.manifest import format_manifest
    from arclink.store.graph_files import RELATIONS
    from arclink.store.location import local_path_of, open_store
    from arclink.store.locks import only_change

    where, store, graph = Path(FOLDER.required(given)), STORE.required(given), GRAPH.optional(given)
    archives = OF_GRAPH.many(given)
    if graph is None:
        needs(where, "graph/outlinks", "graph")
    home, _, name = (graph or "").rstrip("/").rpartition("/")
    run = _runner(given, where, graph, home)
    if graph is not None:
        for relation in RELATIONS:  # an empty relation has no folder on the engine
            (where / name / relation).mkdir(parents=True, exist_ok=True)
    if archives:
        write_archives(where, archives_of(archives, {}, say))
        if not (where / SETTINGS).exists():
            write_settings(where, BuildSettings())
    files = _read_archives(where)
    settings = read_settings(where)
    unread = 0
    if graph is None:
        files, unread = check_read(where / "graph", files)
    with (
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
        links = opened.sums().links
    if unread:
        say(
            f"warning: {unread:,} payloads were not read because their archive file was missing; "
            "`arclink build` with these files reads them"
        )
    return LoadedBatch(batch.number, links, unread)


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
    from arclink.engines.engine import EngineRunner
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


LOAD = Operation((GRAPH, FOLDER, OF_GRAPH, RUNNER, ENGINE_CONF, CORES, STORE), _load)
