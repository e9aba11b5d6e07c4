"""Whole builds on one machine, on Hadoop and on Spark: CPU seconds by stage, driver and answers.

All builds read the same generated archives, and all stores must give the same answers. The CPU time
is that of all processes: of the command and its descendants, and of Hadoop's daemons with their
tasks. The rates of the two smallest sizes predict the costs of the others (`benchmarks.rates`)::

    BLOCK=128m engines/hadoop.sh start FOLDER && . FOLDER/env && export HADOOP_RUN=FOLDER
    engines/spark.sh start && . .engines/run/spark/env && export SPARK_RUN=.engines/run/spark
    python -m benchmarks.run --only engine_builds --captures 10000 30000 100000

An engine that is not there is left out. Linux only: this process adopts children whose parent ended
first, so that they are counted, too (prctl(2), ``PR_SET_CHILD_SUBREAPER``).
"""

import ctypes
import hashlib
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, cast

from arclink.mapreduce.runs import DRIVER
from benchmarks.bench import ROOT, Bench, Corpus, arclink, python, remove_store, say
from benchmarks.corpus import CDX
from benchmarks.rates import Amounts, MeasuredBuild, Rates, fit, predicted
from benchmarks.tables import TIMES, Cell, Table, Target

LOCAL, HADOOP, SPARK = "local", "hadoop", "spark"
ENGINES = {LOCAL: "", HADOOP: "HADOOP_RUN", SPARK: "SPARK_RUN"}
"""Engine → variable with the folder of its settings, which the engine's script wrote."""

PR_SET_CHILD_SUBREAPER = 36

CLUSTER_OPTIONS = """\
# The settings of the cluster, with the JVM options of a cluster's long tasks.
include: {settings}

runners:
  hadoop:
    jobconf:
      mapreduce.map.java.opts: -Xmx300m
      mapreduce.reduce.java.opts: -Xmx300m
"""


@dataclass(frozen=True, slots=True)
class EngineBuild:
    """A build, and its store's answers.

    Attributes:
        build: Its amounts, and CPU seconds by stage.
        driver: CPU seconds of the command itself, on an engine.
        megabytes: Largest process of the command and its children.
        wall: Seconds.
        load: Load average at the end.
        answers: Digest of all mementos and links.
    """

    build: MeasuredBuild
    driver: float
    megabytes: float
    wall: float
    load: float
    answers: str

    @property
    def cpu(self) -> float:
        """CPU seconds of all processes."""
        return sum(self.build.seconds.values())


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table of builds, and one of predictions.

    Raises:
        RuntimeError: Two engines gave different answers.
    """
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    here = {engine: os.environ.get(name, "") for engine, name in ENGINES.items()}
    engines = [engine for engine in ENGINES if engine == LOCAL or here[engine]]
    found: dict[tuple[str, int], EngineBuild] = {}
    rows: list[list[Cell]] = []
    for captures in bench.sizes:
        corpus = bench.corpus(captures)
        for engine in engines:
            builds = [_build(bench, corpus, engine, here[engine]) for _ in range(bench.repeat)]
            one = found[engine, captures] = min(builds, key=lambda build: build.cpu)
            rows.append(
                [
                    f"{captures:,} captures, {engine}",
                    one.cpu,
                    one.driver,
                    one.megabytes,
                    one.wall,
                    one.load,
                    ", ".join(f"{name} {cost:.3g}" for name, cost in one.build.seconds.items()),
                ]
            )
            say(f"{rows[-1]}")
        if len({found[engine, captures].answers for engine in engines}) != 1:
            raise RuntimeError(f"{captures:,} captures: the stores give different answers")
    columns = [
        "",
        "CPU s",
        "of the driver",
        "MB, largest process",
        "wall s",
        "load",
        "CPU s by stage",
    ]
    yield Table(
        "Builds by engine",
        columns,
        rows,
        notes=["The mementos and links of all stores of one size are equal (sorted, by SHA-256)."],
    )
    if len(bench.sizes) < 3:
        return
    rates = {
        engine: fit(*(found[engine, captures].build for captures in bench.sizes[:2]))
        for engine in engines
    }
    yield _predictions(bench, rates, found)


def _predictions(
    bench: Bench, rates: Mapping[str, Rates], found: Mapping[tuple[str, int], EngineBuild]
) -> Table:
    rows: list[list[Cell]] = []
    targets = []
    for engine, of_engine in rates.items():
        for captures in bench.sizes[2:]:
            one = found[engine, captures]
            said = sum(predicted(of_engine, one.build.amounts).values())
            rows.append([f"{captures:,} captures, {engine}", said, one.cpu, said / one.cpu])
            targets += [
                Target(f"{captures:,}, {engine}: above", said / one.cpu, 1.25, unit=TIMES),
                Target(
                    f"{captures:,}, {engine}: below",
                    said / one.cpu,
                    0.75,
                    at_most=False,
                    unit=TIMES,
                ),
            ]
    return Table(
        f"Predicted from {bench.sizes[0]:,} and {bench.sizes[1]:,} captures",
        ["", "CPU s, predicted", "measured", "predicted by measured"],
        rows,
        targets,
    )


def _build(bench: Bench, corpus: Corpus, engine: str, run: str) -> EngineBuild:
    """Build a new store on an engine.

    Args:
        bench: Where the store goes.
        corpus: What is built.
        engine: One of `ENGINES`.
        run: Folder of the engine's settings; not used on one machine.
    """
    store = bench.folder / "stores" / f"{corpus.name}-{engine}.db"
    store.parent.mkdir(parents=True, exist_ok=True)
    remove_store(store)
    source, options = str(corpus.cdx.parent), ["--runner", engine, "--cores", "2"]
    if engine == HADOOP:
        settings = store.with_suffix(".conf")
        settings.write_text(CLUSTER_OPTIONS.format(settings=Path(run).resolve() / "mrjob.conf"))
        source = _in_hdfs(corpus)
        folder = f"hdfs:///bench/work-{os.getpid()}-{corpus.name}"
        options += ["--engine-conf", str(settings), "--engine-folder", folder]
    elif engine == SPARK:
        options += ["--engine-conf", str(Path(run) / "mrjob.conf")]
    if engine == LOCAL:
        options = ["--cores", "2"]
    command = arclink("build", source, "--store", str(store), "--quiet")
    command += ["--cdx", f"{source}/{CDX}", *options]
    cluster = int((Path(run) / "pid").read_text()) if engine == HADOOP else None
    before, started = _cpu_of(cluster), time.perf_counter()
    client, megabytes = _run(command)
    wall = time.perf_counter() - started
    daemons = _cpu_of(cluster) - before
    seconds = bench.seconds(store)
    driver = seconds.pop(DRIVER, 0.0)
    in_client = driver if engine == HADOOP else sum(seconds.values())
    seconds["load"] = client - in_client
    if engine != LOCAL:
        tasks = sum(cost for stage, cost in seconds.items() if stage != "load")
        seconds["engine"] = (daemons - tasks + driver) if engine == HADOOP else driver
    stats = bench.stats(store)
    amounts = Amounts(stats["mementos"], stats["contents"], stats["links"])
    return EngineBuild(
        MeasuredBuild(amounts, seconds),
        driver,
        megabytes,
        wall,
        os.getloadavg()[0],
        _answers(bench, store),
    )


def _run(command: list[str]) -> tuple[float, float]:
    """Run a command; return CPU seconds of all its processes, and megabytes of the largest."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""}
    _, status, usage = os.wait4(os.spawnve(os.P_NOWAIT, command[0], command, environment), 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with exit code {status}")
    seconds, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    with suppress(ChildProcessError):  # no child is left
        while True:
            _, _, usage = os.wait3(0)
            seconds += usage.ru_utime + usage.ru_stime
    return seconds, megabytes


def _cpu_of(pid: int | None) -> float:
    """Return the CPU seconds of a process and of all its children that ended (proc(5))."""
    if pid is None:
        return 0.0
    columns = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, columns[11:15])) / os.sysconf("SC_CLK_TCK")


def _in_hdfs(corpus: Corpus) -> str:
    """Return the address of a corpus in HDFS; write it if it is not there."""
    folder = f"/bench/{corpus.name}"
    there = subprocess.run(["hadoop", "fs", "-test", "-d", folder], check=False).returncode == 0
    if not there:
        subprocess.run(["hadoop", "fs", "-mkdir", "-p", "/bench"], check=True)
        subprocess.run(["hadoop", "fs", "-put", str(corpus.cdx.parent), folder], check=True)
    return f"hdfs://{folder}"


def _answers(bench: Bench, store: Path) -> str:
    """Return a digest of all mementos and links of a store."""
    folder = bench.scratch("answers")
    bench.run(python("benchmarks.flat_links", str(store), str(folder)), repeat=1)
    digest = hashlib.sha256()
    for name in ("mementos.tsv", "links.tsv"):
        command = ["sort", "-S", "256M", str(folder / name)]
        environment = {**os.environ, "LC_ALL": "C"}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as sort:
            for piece in iter(partial(cast("IO[bytes]", sort.stdout).read, 1 << 20), b""):
                digest.update(piece)
        if sort.returncode:
            raise RuntimeError(f"sort ended with exit code {sort.returncode}")
    return digest.hexdigest()
