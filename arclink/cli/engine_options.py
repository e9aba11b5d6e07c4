"""What ``--runner`` stands for: this machine, or an engine that mrjob's settings describe."""

import getpass
from pathlib import Path

from arclink.errors import UsageError
from arclink.pipeline.running import JobRunner


def runner_of(runner: str, cores: int, work: Path, engine_conf: str | None, hdfs: str | None, store: str) -> JobRunner:
    """Return what runs the jobs of a build.

    Args:
        runner: ``local``, ``inline``, ``hadoop`` or ``spark``.
        cores: Tasks at a time.
        work: Folder for files between the stages.
        engine_conf: mrjob's settings of an engine.
        hdfs: Folder in HDFS, for Hadoop; by default one in the user's own, called as the store is.
        store: Name of the store.

    Raises:
        UsageError: An engine has no settings, or they are not there.
        InputError: Where HDFS answers HTTP is not known.
    """
    tasks = work / "tasks"
    if runner in ("local", "inline"):
        return JobRunner(runner, cores, tasks)
    if engine_conf is None:
        raise UsageError(f"--runner {runner}: --engine-conf is to name mrjob's settings of the engine, made from conf/{runner}.conf")
    conf = Path(engine_conf)
    if not conf.is_file():
        raise UsageError(f"--engine-conf {engine_conf}: no such file")
    if runner == "spark":
        from arclink.pipeline.spark import SparkRunner

        return SparkRunner(runner, cores, tasks, conf=conf.resolve())
    from arclink.pipeline.hadoop import HadoopRunner
    from arclink.webhdfs import is_hdfs, webhdfs_address

    root = (hdfs or f"hdfs:///user/{getpass.getuser()}/arclink/{store}").rstrip("/")
    if not is_hdfs(root):
        raise UsageError(f"--hdfs {hdfs}: not an address in HDFS; give one such as hdfs:///user/me/arclink")
    webhdfs_address(root)
    return HadoopRunner(runner, cores, tasks, conf=conf.resolve(), root=root)
