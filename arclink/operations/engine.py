"""The ``--runner`` option: this machine, or an engine configured by mrjob's settings."""

import getpass
from pathlib import Path

from arclink.access.declarations import PATH, TEXT, AnyParameter, Given, Parameter, named
from arclink.errors import UsageError
from arclink.mapreduce.runs import ON_THIS_MACHINE, JobRunner
from arclink.operations.operation import CORES
from arclink.pipeline.settings import BuildSettings

RUNNER = Parameter(
    "runner",
    "Where jobs run: on all cores, in one process, or on an engine.",
    named({name: name for name in ("local", "inline", "hadoop", "emr", "spark")}),
    default=BuildSettings().runner,
    see="reference/engines.md#options",
)
ENGINE_CONF = Parameter(
    "engine-conf",
    "mrjob settings of the engine.",
    PATH,
    metavar="FILE",
    envvar="MRJOB_CONF",
    see="reference/engines.md#options",
)
_ENGINE_FOLDER = Parameter(
    "engine-folder",
    "Folder in HDFS or S3 for files between the stages, with --runner hadoop, emr or spark.",
    TEXT,
    also=("hdfs",),
    metavar="URL",
    otherwise="a folder of the user in HDFS, or the work folder with --runner spark",
    see="reference/engines.md#options",
)
ENGINE: tuple[AnyParameter, ...] = (RUNNER, ENGINE_CONF, _ENGINE_FOLDER)
"""The parameters that select where jobs run."""


def uses_engine(given: Given) -> bool:
    """Return whether work leaves jobs or files on an engine if its process is ended at once."""
    return RUNNER.required(given) not in ON_THIS_MACHINE or "graph" in given.texts


def runner_of(
    given: Given, cores: int, work: Path, name: str, root: str | None = None
) -> JobRunner:
    """Return the runner for the jobs of a build or of a stage.

    Args:
        given: The parameters of `ENGINE`. Without ``engine-folder``, Hadoop uses a folder of HDFS
            named after the store, in the user's folder, and Spark the work folder.
        cores: Tasks at a time.
        work: Folder for files between the stages.
        name: Name of the store, or of the batch's folder.
        root: Address of the folder for files between the stages, in place of ``engine-folder``.

    Raises:
        UsageError: An engine has no settings, their file does not exist, or ``engine-folder`` is
            not an address in HDFS or S3 (for EMR, in S3).
        InputError: The HTTP address of HDFS is not known, or S3 cannot be used.
    """
    runner, engine_conf = RUNNER.required(given), ENGINE_CONF.optional(given)
    folder = root or _ENGINE_FOLDER.optional(given)
    tasks = work / "tasks"
    if runner in ON_THIS_MACHINE:
        return JobRunner(runner, 1 if runner == "inline" else cores, tasks)
    if engine_conf is None:
        raise UsageError(
            f"--runner {runner}: --engine-conf must name a file of mrjob settings for the "
            f"engine, made from conf/{runner}.conf"
        )
    conf = Path(engine_conf)
    if not conf.is_file():
        raise UsageError(f"--engine-conf {engine_conf}: no such file")
    from arclink.engines.object_store import is_object_store
    from arclink.network.engine_files import files_of, is_of_engine

    if runner == "spark":
        from arclink.engines.spark import SparkEngineRunner, SparkRunner
    if runner == "spark" and folder is None:
        return SparkRunner(runner, cores, tasks, conf=conf.resolve())
    root = (folder or f"hdfs:///user/{getpass.getuser()}/arclink/{name}").rstrip("/")
    if not is_of_engine(root):
        raise UsageError(
            f"--engine-folder {folder}: not an address in HDFS or S3; write one such as "
            "hdfs:///user/me/arclink or s3a://bucket/arclink"
        )
    if runner == "emr" and not is_object_store(root):
        raise UsageError(
            "--runner emr: --engine-folder must be in S3, such as s3a://bucket/arclink"
        )
    files = files_of(root)
    files.entries(files.path_of(root))  # fails now if it does not answer
    if runner == "spark":
        return SparkEngineRunner(runner, cores, tasks, conf=conf.resolve(), root=root)
    from arclink.engines.hadoop import HadoopRunner

    kind = HadoopRunner
    if runner == "emr":
        from arclink.engines.emr import EmrRunner

        kind = EmrRunner
    by_size = CORES.optional(given) is None
    return kind(runner, cores, tasks, conf=conf.resolve(), root=root, by_size=by_size)
