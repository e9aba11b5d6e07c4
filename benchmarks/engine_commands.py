"""Commands of builds on one machine, on Hadoop and on Spark, and the CPU time of all processes.

Linux only, as a user who may make control groups.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.bench import Corpus, NotHereError, arclink, remove_store
from benchmarks.corpus import CDX
from benchmarks.measurement import PROCESSES

LOCAL, HADOOP, SPARK = "local", "hadoop", "spark"
ENGINES = {LOCAL: "", HADOOP: "HADOOP_RUN", SPARK: "SPARK_RUN"}
"""Engine → variable with the folder of its settings, which the engine's script wrote."""

SETTINGS = {
    HADOOP: """\
include: {settings}

runners:
  hadoop:
    jobconf:
      mapreduce.job.reduces: {tasks}
""",
    SPARK: """\
include: {settings}

runners:
  spark:
    jobconf:
      spark.default.parallelism: {tasks}
""",
}
"""Settings of mrjob for a build, by engine."""


def engines_here() -> dict[str, str]:
    """Return the engines that are there, each with the folder of its settings; empty for local."""
    found = {engine: os.environ.get(name, "") for engine, name in ENGINES.items()}
    return {engine: run for engine, run in found.items() if engine == LOCAL or run}


def build_command(
    corpus: Corpus, engine: str, run: str, store: Path, tasks: int, *options: str
) -> list[str]:
    """Return the command that builds a new store; remove what is at its place.

    Args:
        corpus: What is built.
        engine: One of `ENGINES`.
        run: Folder of the engine's settings; not used on one machine.
        store: Path of the store.
        tasks: Number of reduce tasks per job.
        options: Further options.
    """
    store.parent.mkdir(parents=True, exist_ok=True)
    remove_store(store)
    source, own = str(corpus.cdx.parent), ["--cores", str(tasks)]
    if engine != LOCAL:
        settings = store.with_suffix(".conf")
        base = Path(run).resolve() / "mrjob.conf"
        settings.write_text(SETTINGS[engine].format(settings=base, tasks=tasks))
        own += ["--runner", engine, "--engine-conf", str(settings)]
    if engine == HADOOP:
        source = _in_hdfs(corpus)
        own += ["--engine-folder", f"hdfs:///bench/work-{os.getpid()}-{store.stem}"]
    command = arclink("build", source, "--store", str(store), "--quiet")
    return [*command, "--cdx", f"{source}/{CDX}", *own, *options]


@contextmanager
def control_group(engine: str, run: str) -> Iterator[Path]:
    """Make a control group (cgroups(7), version 2), and empty and remove it at the end.

    The daemons of Hadoop are in it.

    Raises:
        NotHereError: The system has no control groups of version 2, or this user may not make one.
    """
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    mounted = [Path(folder) for _, folder, kind, *_ in mounts if kind == "cgroup2"]
    if not mounted:
        raise NotHereError("no control groups of version 2 (cgroups(7))")
    group = mounted[0] / f"arclink-benchmark-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        raise NotHereError(f"no control group for the build: {error}") from error
    try:
        if engine == HADOOP:
            (group / PROCESSES).write_text((Path(run) / "pid").read_text())
        yield group
    finally:
        for pid in (group / PROCESSES).read_text().split():
            with suppress(ProcessLookupError):
                (mounted[0] / PROCESSES).write_text(pid)
        group.rmdir()


def cpu_of(group: Path) -> float:
    """Return the CPU seconds of all processes that are or were in a control group."""
    usage = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(usage["usage_usec"]) / 1e6


def _in_hdfs(corpus: Corpus) -> str:
    """Return the address of a corpus in HDFS; write it if it is not there."""
    folder = f"/bench/{corpus.name}"
    there = subprocess.run(["hadoop", "fs", "-test", "-d", folder], check=False).returncode == 0
    if not there:
        subprocess.run(["hadoop", "fs", "-mkdir", "-p", "/bench"], check=True)
        subprocess.run(["hadoop", "fs", "-put", str(corpus.cdx.parent), folder], check=True)
    return f"hdfs://{folder}"
