"""Jobs on Spark: all jobs of a runner run in one application.

Files between the stages are in the work folder, at one path on all workers, or on the engine.
"""

import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import finalize

from arclink.counts import Counts, from_counters
from arclink.engines.engine import (
    EngineRunner,
    JobCall,
    addresses_for_tasks,
    error_in,
    options_for_tasks,
    seconds_of_tasks,
    settings_bytes,
    short_names,
)
from arclink.engines.hdfs import AUTHORITY
from arclink.engines.spark_jobs import Counters, jobconf_of, planned
from arclink.errors import ArclinkError, PipelineError, UsageError
from arclink.mapreduce.job_settings import OF_HADOOP, REDUCES
from arclink.mapreduce.local import TaskFailedError, divide
from arclink.mapreduce.runs import Job, JobRunner

# One Spark application for all jobs of a build: its settings, its start, its jobs, its end.
#
# An application of its own for each job would start the driver's JVM and all executors each time,
# which takes longer than a small job itself. The driver is this process; its JVM is a child, which
# ends when this process does, even if that is killed.

PATIENCE = 60
"""Seconds that an application may take to end."""

KNOWN = ("spark_master", "spark_submit_bin", "python_bin", "libjars", "cmdenv", "jobconf")
"""The options of mrjob's settings for Spark that are used, from a file or the command line."""

UNUSED = {"bootstrap_mrjob", "cleanup"}
"""Options that settings may have because mrjob's own runner needs them."""


def settings_of(job: Any, defaults: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return Spark's properties for a job, and environment variables of its driver.

    Args:
        job: The job, whose options name files of mrjob's settings.
        defaults: Properties that the settings may change.

    Raises:
        UsageError: The settings have an option that is not known.
    """
    from mrjob import conf

    found = conf.load_opts_from_mrjob_confs("spark", job.options.conf_paths)
    given = {name: getattr(job.options, name) for name in KNOWN if name != "jobconf"}
    combiners = {
        "cmdenv": conf.combine_envs,
        "jobconf": conf.combine_dicts,
        "libjars": conf.combine_path_lists,
        "python_bin": conf.combine_cmds,
        "spark_submit_bin": conf.combine_cmds,
    }
    options = conf.combine_opts(combiners, *(one for _, one in found), given)
    if unknown := sorted({name for name in options if options[name]} - {*KNOWN, *UNUSED}):
        paths = ", ".join(str(path) for path, _ in found)
        raise UsageError(
            f"{paths}: not known for Spark: {', '.join(unknown)}; known: {', '.join(KNOWN)}. "
            "Properties of Spark may be in `jobconf`"
        )
    properties = {**defaults, "spark.master": options.get("spark_master") or "local[*]"}
    for name, value in (options.get("jobconf") or {}).items():
        properties[name if name.startswith("spark.") else OF_HADOOP + name] = str(value)
    for name, value in jobconf_of(job).items():
        if name.startswith("spark."):
            properties[name] = str(value)
    if jars := options.get("libjars"):
        properties["spark.jars"] = ",".join(jars)
    for name, value in (options.get("cmdenv") or {}).items():
        properties[f"spark.executorEnv.{name}"] = str(value)
    python = (options.get("python_bin") or [sys.executable])[0]
    environment = {"PYSPARK_PYTHON": python, "PYSPARK_SUBMIT_ARGS": "pyspark-shell"}
    if submit := options.get("spark_submit_bin"):
        home = Path(submit[0]).absolute().parents[1]
        if (home / "jars").is_dir():  # not the script that the package pyspark installs
            environment["SPARK_HOME"] = str(home)
    return properties, environment


@dataclass(frozen=True)
class _Running:
    """An application that runs.

    Attributes:
        properties: Its properties.
        gateway: Connection to its JVM.
        context: Spark's context.
    """

    properties: Mapping[str, str]
    gateway: Any  # Any: pyspark has no types
    context: Any

    def takes_jobs(self) -> bool:
        """Return whether a job can run: Spark may have stopped, or the JVM may be gone."""
        try:
            return not self.context._jsc.sc().isStopped()
        except Exception:
            return False

    def end(self) -> None:
        """End the application, and wait for its JVM, which ends with its standard input."""
        from pyspark import SparkContext

        process = self.gateway.proc
        with suppress(Exception):  # the JVM may be gone
            self.context._jsc.stop()
        self.context._jsc = None
        self.context.stop()  # what is left of it in this process
        with suppress(Exception):
            self.gateway.shutdown()
        SparkContext._gateway = SparkContext._jvm = None
        _end_process(process)


def _end_process(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@dataclass
class SparkApplication:
    """Runs jobs in one application as long as they need the same settings of Spark.

    Attributes:
        log: File with what Spark said during the last job; None for standard error.
        defaults: Properties that the settings of a job may change.
    """

    log: Path | None
    defaults: Mapping[str, str] = field(default_factory=dict)
    _running: _Running | None = field(default=None, init=False)
    _end: Callable[[], object] | None = field(default=None, init=False)  # at the latest with this

    def run(self, job: Any, inputs: str, output: str) -> list[Counters]:
        """Run a job, in a new application if none runs or its settings differ.

        Args:
            job: The job, an `ArclinkJob`.
            inputs: Addresses of the input, with commas between them.
            output: Address of a new folder.

        Raises:
            TaskFailedError: The job failed, or the application ended during it.
        """
        if self.log is not None:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            self.log.write_bytes(b"")  # Spark appends to it
        previous, running = self._running, self._started(job)
        plan = None
        try:
            with _hadoop_properties(running.context, job):
                plan = planned(running.context, job, inputs)
                counters = plan.run(output)
        except Exception:
            said = traceback.format_exc()
            if not running.takes_jobs():
                self.close()
                if running is previous and plan is None:
                    # It ended after an earlier job. To ask it beforehand is not enough: it may end
                    # after its answer.
                    return self.run(job, inputs, output)
                said = f"{said}\narclink: the Spark application ended during the job"
            cause = error_in(said) or said.splitlines()[-1]
            raise TaskFailedError(f"the job failed\n{said}\n{cause}") from None
        except BaseException:  # Ctrl-C
            self.close()
            raise
        # Spark removes the files of a shuffle when its own objects for it are collected, which
        # takes up to half an hour without a request.
        gc.collect()
        with suppress(Exception):
            running.context._jvm.System.gc()
        return counters

    def seconds(self) -> float:
        """Return the CPU seconds of the running application on this machine, without executors.

        0 on systems that do not show them as Linux does.
        """
        if self._running is None or self._running.gateway.proc.poll() is not None:
            return 0.0  # those of a process that ended are in the sum of this process's children
        try:
            status = Path(f"/proc/{self._running.gateway.proc.pid}/stat").read_text()
        except OSError:
            return 0.0
        ticks = status.rpartition(")")[2].split()[11:15]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the application, if one runs, and wait for its end."""
        if self._end is not None:
            self._end()
            self._running = self._end = None

    def _started(self, job: Any) -> _Running:
        """Return the application that ran the last job, or a new one if the settings differ."""
        properties, environment = settings_of(job, self.defaults)
        if self._running and self._running.properties == properties:
            return self._running
        self.close()
        with _environment(environment):
            running = self._start(properties, environment.get("SPARK_HOME"))
        self._running, self._end = running, finalize(self, running.end)
        return running

    def _start(self, properties: dict[str, str], home: str | None) -> _Running:
        try:
            import pyspark
        except ImportError:  # Spark has a copy
            sys.path += [f"{home}/python", *map(str, Path(f"{home}/python/lib").glob("py4j-*.zip"))]
            import pyspark
        from pyspark.java_gateway import launch_gateway

        conf = pyspark.SparkConf(loadDefaults=False)
        conf.setAll(list(properties.items()))
        previous_handler = signal.getsignal(signal.SIGINT)
        try:
            with open(self.log or "/dev/stderr", "ab") as log:
                # Ctrl-C ends this process, which then ends that one.
                how = {"stdout": log, "stderr": log, "start_new_session": True}
                gateway = launch_gateway(conf, how)
        except Exception as error:
            cause = "arclink: the Spark application ended before its first job"
            raise TaskFailedError(f"the job failed\n{error}\n{cause}") from error
        try:
            context = pyspark.SparkContext(conf=conf, gateway=gateway)
        except BaseException as error:
            pyspark.SparkContext._gateway = pyspark.SparkContext._jvm = None
            _end_process(gateway.proc)
            if not isinstance(error, Exception):
                raise
            cause = error_in(str(error)) or str(error).splitlines()[-1]
            raise TaskFailedError(f"the job failed\n{error}\n{cause}") from error
        if threading.current_thread() is threading.main_thread():
            # pyspark's handler needs an application that runs.
            signal.signal(signal.SIGINT, previous_handler)
        return _Running(properties, gateway, context)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables of this process in the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _hadoop_properties(context: Any, job: Any) -> Iterator[None]:
    """Set the Hadoop properties of a job, such as the sizes of splits, and remove them after it."""
    own = {
        name: str(value)
        for name, value in jobconf_of(job).items()
        if not name.startswith("spark.") and name != REDUCES
    }
    properties = context._jsc.hadoopConfiguration()
    for name, value in own.items():
        properties.set(name, value)
    try:
        yield
    finally:
        with suppress(Exception):  # there may be no JVM any more
            for name in own:
                properties.unset(name)


_SCHEME = "file://"
LOG = "spark.log"
"""File with what Spark said during the last job, in the folder of the tasks."""

_SPECIAL = frozenset(",*?[]{}\\")
"""Characters that a path must not have."""


@dataclass
class _ApplicationRunner(JobRunner):
    """What both runners for Spark share.

    Attributes:
        application: Runs the jobs.
    """

    application: SparkApplication = field(init=False)

    def __post_init__(self) -> None:
        self.application = SparkApplication(self.scratch / LOG)

    def run_job(self, call: JobCall) -> Counts:
        """Run a job with addresses for its files.

        Raises:
            PipelineError: A task failed; the message has the task's error.
        """
        args = [
            "-r",
            "spark",
            "--conf-path",
            str(self.conf),
            *options_for_tasks(call.settings),
            *call.options,
        ]
        with self.accounted(call.job.name) as of_tasks:
            counters = self.application.run(
                call.job.load()(args), ",".join(call.inputs), call.output
            )
            of_tasks += seconds_of_tasks(counters)
            return from_counters(counters)

    def variables(self) -> list[str]:
        """Return the options by which tasks get the variables that they need to read files."""
        return [*addresses_for_tasks(), *_variables(AUTHORITY)]

    def seconds_here(self) -> float:
        """Return the CPU seconds of this process, its ended children and the application."""
        return super().seconds_here() + self.application.seconds()

    def close(self) -> None:
        """End the application."""
        self.application.close()


@dataclass
class SparkRunner(_ApplicationRunner):
    """Runs jobs on Spark, with the files between the stages in the work folder."""

    def run(
        self,
        job: Job,
        inputs: Sequence[Path],
        output: Path,
        settings: Mapping[str, object],
        *,
        are_relations: bool = False,
    ) -> Counts:
        """Run a job; Spark does not write to a folder that exists.

        Raises:
            PipelineError: A path has a character that Spark treats as a pattern.
        """
        address = _address(output)
        shutil.rmtree(output, ignore_errors=True)
        names = short_names(list(map(_address, inputs)), address, _names_in)
        given = ""
        if settings:  # workers find the folder of the tasks at the same path
            self.scratch.mkdir(parents=True, exist_ok=True)
            path = self.scratch / f"{output.name}-settings.json"
            path.write_bytes(settings_bytes(settings))
            given = str(path.absolute())
        counts = self.run_job(JobCall(job, names, address, given, self.variables()))
        for note in (*output.glob("_*"), *output.glob(".*.crc")):  # success, and checksums of parts
            note.unlink()
        return counts

    def split(self, output: Path, outputs: Mapping[bytes, Path], label: str) -> None:
        """Split the tagged lines of a job's parts into one folder per relation."""
        divide(output)
        super().split(output, outputs, label)


@dataclass
class SparkEngineRunner(_ApplicationRunner, EngineRunner):
    """Runs jobs on Spark, with the files between the stages in HDFS or an object store."""

    def __post_init__(self) -> None:
        defaults = {OF_HADOOP + name: value for name, value in self.committing().items()}
        self.application = SparkApplication(self.scratch / LOG, defaults)

    def variables(self) -> list[str]:
        """Return the options by which tasks get the variables that they need to read files."""
        return [*EngineRunner.variables(self), *_variables(AUTHORITY)]


def run_alone(job: Any) -> None:  # Any: mrjob has no types
    """Run a job that was started by hand in an application of its own; print its counters."""
    given = job.options
    if not given.output_dir:
        job.arg_parser.error("-r spark needs --output-dir, a new folder")
    names = list(map(_of_this_machine, given.args))
    application = SparkApplication(None)
    try:
        counters = application.run(job, ",".join(names), _of_this_machine(given.output_dir))
    except (ArclinkError, TaskFailedError) as error:
        sys.exit(f"arclink: {str(error).splitlines()[-1]}")
    finally:
        application.close()
    for reason, count in from_counters(counters).items():
        print(f"{reason.group}: {reason.name} {count}", file=sys.stderr)


def _of_this_machine(name: str) -> str:
    """Return an address: a name without scheme is a path here, whatever Hadoop's settings say."""
    return name if "://" in name else f"{_SCHEME}{Path(name).absolute()}"


def _variables(*names: str) -> list[str]:
    """Return the options by which tasks get environment variables of this process, if set."""
    values = {name: os.environ.get(name) for name in names}
    return [
        word for name, value in values.items() if value for word in ("--cmdenv", f"{name}={value}")
    ]


def _names_in(folder: str) -> set[str]:
    """Return the names of the files in a folder that a job reads; empty ones change nothing."""
    path = Path(folder.removeprefix(_SCHEME))
    return {one.name for one in path.iterdir() if one.name[0] not in "._" and one.stat().st_size}


def _address(path: Path) -> str:
    """Return the ``file://`` address of a path.

    Raises:
        PipelineError: The path has a character that Hadoop treats as a pattern or separator.

    >>> _address(Path("/data/work of mine"))
    'file:///data/work of mine'
    """
    if special := sorted(_SPECIAL & set(str(path))):
        raise PipelineError(
            f"{path}: Spark takes {' '.join(special)} in a path as a pattern; name another "
            "folder with --work (--into, for one stage)"
        )
    return f"{_SCHEME}{path.absolute()}"
