"""The ``--runner`` option: this machine, or an engine configured by mrjob's settings."""

import getpass
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from arclink.errors import UsageError
from arclink.mapreduce.runs import JobRunner

F = TypeVar("F", bound=Callable[..., None])

RUNNERS = ("local", "inline", "hadoop", "spark")


def engine_options(function: F) -> F:
    """Add ``--runner``, ``--engine-conf`` and ``--hdfs``."""
    for option in (
        click.option(
            "--hdfs",
            metavar="URL",
            help="Folder in HDFS for files between the stages, with --runner hadoop (docs/engines.md).",
        ),
        click.option(
            "--engine-conf",
            envvar="MRJOB_CONF",
            type=click.Path(),
            help="mrjob settings of the engine (docs/engines.md).",
        ),
        click.option(
            "--runner",
            type=click.Choice(RUNNERS),
            default="local",
            show_default=True,
            help="Where jobs run: on all cores, in one process, or on an engine.",
        ),
    ):
        function = option(function)
    return function


def runner_of(
    runner: str, cores: int, work: Path, engine_conf: str | None, hdfs: str | None, name: str
) -> JobRunner:
    """Return the runner for the jobs of a build or of a stage.

    Args:
        runner: ``local``, ``inline``, ``hadoop`` or ``spark``.
        cores: Tasks at a time.
        work: Folder for files between the stages.
        engine_conf: File of mrjob's settings for an engine.
        hdfs: Folder in HDFS, for Hadoop; by default a folder named after the store, in the user's
            folder.
        name: Name of the store, or of the batch's folder.

    Raises:
        UsageError: An engine has no settings, their file does not exist, or ``hdfs`` is not an HDFS
            address.
        InputError: The HTTP address of HDFS is not known.
    """
    tasks = work / "tasks"
    if runner in ("local", "inline"):
        return JobRunner(runner, 1 if runner == "inline" else cores, tasks)
    if engine_conf is None:
        raise UsageError(
            f"--runner {runner}: --engine-conf must name a file of mrjob settings for the engine, made from conf/{runner}.conf"
        )
    conf = Path(engine_conf)
    if not conf.is_file():
        raise UsageError(f"--engine-conf {engine_conf}: no such file")
    if runner == "spark":
        from arclink.mapreduce.spark import SparkRunner

        return SparkRunner(runner, cores, tasks, conf=conf.resolve())
    from arclink.mapreduce.hadoop import HadoopRunner
    from arclink.network.hdfs import is_hdfs, webhdfs_address

    root = (hdfs or f"hdfs:///user/{getpass.getuser()}/arclink/{name}").rstrip("/")
    if not is_hdfs(root):
        raise UsageError(
            f"--hdfs {hdfs}: not an HDFS address; write one such as hdfs:///user/me/arclink"
        )
    webhdfs_address(root)
    return HadoopRunner(runner, cores, tasks, conf=conf.resolve(), root=root)
