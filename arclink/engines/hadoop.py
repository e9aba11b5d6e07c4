"""Jobs on Hadoop, which also has the files between the stages: mrjob runs them.

Its ``hadoop`` runner is changed to make folders and write files over HTTP: with ``hadoop fs``, each
of these operations starts a JVM.
"""

import arclink.mapreduce  # noqa: F401  # before mrjob: it supplies what newer Pythons lack

# isort: split
import io
import logging
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mrjob.fs.composite import CompositeFilesystem
from mrjob.fs.hadoop import HadoopFilesystem
from mrjob.fs.local import LocalFilesystem
from mrjob.hadoop import HadoopJobRunner
from mrjob.step import StepFailedException

from arclink.counts import Counts, from_counters
from arclink.engines.engine import (
    EngineRunner,
    JobCall,
    error_in,
    options_for_tasks,
    seconds_of_tasks,
)
from arclink.engines.environment import (
    check_packed,
    send_once,
    setup_of,
    with_addresses,
    write_settings,
)
from arclink.engines.hdfs import AUTHORITY, PATIENCE
from arclink.engines.object_store import is_object_store
from arclink.errors import InputError, PipelineError, TaskError
from arclink.mapreduce.job_settings import (
    IGNORES_KEYS,
    IN_ONE_CONTAINER,
    LEAST_SPLIT,
    MASTER_MEMORY,
    MASTER_OPTIONS,
    MOST_SPLIT,
    REDUCES,
    TAGS,
    TASK_MEMORY,
    TASK_OPTIONS,
)
from arclink.mapreduce.local import TaskFailedError
from arclink.network.engine_files import EngineFiles, files_of, is_of_engine
from arclink.network.retries import TemporaryError, retried
from arclink.shares import BYTES_OF_CORE

# Applications of YARN, by Hadoop's own client.

CLIENT = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
"""The class that ``yarn application`` runs; the program ``hadoop`` has it on its class path."""

SECONDS = 120.0
"""Seconds after which the client of YARN is given up."""

_ID = re.compile(r"^application_\d+_\d+", re.MULTILINE)


def _end_applications(hadoop: Sequence[str], tag: str) -> list[str]:
    """End the applications with a tag that are not over; return their ids.

    Nothing is reported if YARN cannot be reached: the caller is about to end, and the applications
    write to a folder that no other job uses.

    Args:
        hadoop: The program ``hadoop`` with its first arguments.
        tag: In lower case.
    """
    states = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
    said = _answer([*hadoop, CLIENT, "application", "-list", "-appTags", tag, "-appStates", states])
    running = _ID.findall(said)
    if running:
        _answer([*hadoop, CLIENT, "application", "-kill", *running])
    return running


def _answer(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


# Exit statuses of programs in words.

_STATUS = re.compile(r"(?:exit status|exit code|failed with code) (\d+)")

_OF_START = (2, 7, 12, 13)
"""Error numbers with which the start of a program fails: no such file, arguments too long, no
memory, no permission.
"""

_SIGNALLED = 128
"""A shell, and YARN, add the number of a signal to this."""

_SIGNALS: dict[int, str] = {
    signal.SIGKILL: "killed (SIGKILL), often for lack of memory",
    signal.SIGTERM: "asked to end (SIGTERM), as YARN asks a task that takes too much memory",
    signal.SIGSEGV: "crashed (SIGSEGV)",
}
"""What happened to a program that a signal ended; Hadoop's own exit codes are below these."""


def _with_words(text: str) -> str:
    """Return a text with the meaning after each exit status.

    A status is the code of the program, or what ``wait`` returns, 256 times this code: mrjob says
    the latter for a program that it gave a terminal.

    >>> _with_words("returned non-zero exit status 1792.")
    'returned non-zero exit status 1792 (7 x 256: Argument list too long).'
    >>> _with_words("exit code 137"), _with_words("exit status 3")
    ('exit code 137 (killed (SIGKILL), often for lack of memory)', 'exit status 3')
    """
    return _STATUS.sub(lambda match: match[0] + _words(int(match[1])), text)


def _words(status: int) -> str:
    code, times = (status >> 8, f"{status >> 8} x 256: ") if status > 255 else (status, "")
    ended_by = code - _SIGNALLED if code > _SIGNALLED else code
    meaning = _SIGNALS.get(ended_by)
    if times and code in _OF_START:
        meaning = os.strerror(code)
    return f" ({times}{meaning})" if meaning else ""


COMBINED = "org.apache.hadoop.mapred.lib.CombineTextInputFormat"
"""Java class that gives one map task several small files."""

USUAL_BLOCK = 128 << 20
"""Bytes of a block in HDFS, unless a cluster has other settings."""

MOST_PARTS = 2048
"""Greatest number of reduce tasks; a store in Cassandra loads at most this number of parts."""

MRJOB = "mrjob"
"""Folder of a build in an object store for mrjob's scripts and settings."""


_OF_CLIENT = re.compile(
    r"Error [Ll]aunching job ?[:,] .+|Job job_\S+ failed with state .+"
    r"|[\w.]+(?:Error|Exception): .+"
)
"""What Hadoop's client says about a job that failed without a log of a task."""

_BEGUN = re.compile(r"Submitted application application_\d+")
"""What Hadoop's client says when YARN has taken a job; the job has an id before that."""

_NOT_STARTED = re.compile(
    r"Error Launching job ?: (?!.*(?:already exists|does not exist|[Pp]ermission denied))"
)
"""What it says about a job that it could not hand over, for reasons that may pass.

About paths and properties that are wrong, it says "launching" in lower case.
"""

_COMMAND = re.compile(r"Command '.*'", re.DOTALL)


class _HttpFilesystem(HadoopFilesystem):  # type: ignore[misc]  # mrjob has no types
    """An engine's files over HTTP where the address is known; ``hadoop fs`` elsewhere."""

    def mkdir(self, path: str) -> None:
        """Make a folder and its parents."""
        if files := _files(path):
            files.make_folder(files.path_of(path))
        else:
            super().mkdir(path)

    def put(self, src: str, path: str) -> None:
        """Copy a file of this machine to the engine."""
        if files := _files(path):
            with open(src, "rb") as source:
                files.write(files.path_of(path), source)
        else:
            super().put(src, path)

    def rm(self, path_glob: str) -> None:
        """Remove a file, or a folder with its contents, if it exists."""
        if files := _files(path_glob):
            files.remove(files.path_of(path_glob))
        else:
            super().rm(path_glob)


def _files(path: str) -> EngineFiles | None:
    """Return the file system of a path.

    None if the HTTP address of HDFS is not known, or if the path is a pattern, which HTTP does not
    support.
    """
    if not is_of_engine(path) or any(special in path for special in "*?[{"):
        return None
    try:
        return files_of(path)
    except InputError:
        return None


class QuickHadoopRunner(HadoopJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs jobs through Hadoop streaming, with one JVM per job on this machine."""

    alias = "hadoop"
    _fs: CompositeFilesystem | None

    @property
    def fs(self) -> CompositeFilesystem:
        """The file systems that the runner writes to: the engine's and this machine's."""
        if self._fs is None:
            found = CompositeFilesystem()
            found.add_fs("hadoop", _HttpFilesystem(self._opts["hadoop_bin"] or None))
            found.add_fs("local", LocalFilesystem())
            self._fs = found
        return self._fs

    def _wd_mirror(self) -> str | None:
        """Return the folder from which tasks get the files of a job, or None for this machine.

        Hadoop copies files of this machine itself. It cannot copy those in an object store, because
        the name of a bucket is no host.
        """
        folder: str | None = super()._wd_mirror()
        return None if folder is not None and is_object_store(folder) else folder


@dataclass
class HadoopRunner(EngineRunner):
    """Runs jobs on Hadoop.

    Attributes:
        by_size: Whether the number of cores follows from the size of the archive files.
        apart: Whether each task has a container of its own, also where there is only one core.
        is_interrupted: Whether a job was started that may still run.
        is_shared: Whether the packed environment is on the engine already.
    """

    by_size: bool = False
    apart: bool = False
    is_interrupted: bool = False
    is_shared: bool = False

    @contextmanager
    def for_archives(self, size: int) -> Iterator[None]:
        """Run jobs on one core for each 250 MB of archive files, if no number was given."""
        cores = self.cores
        if self.by_size:
            self.cores = -(-size // BYTES_OF_CORE) or 1
        try:
            yield
        finally:
            self.cores = cores

    def variables(self) -> list[str]:
        """Return the options for variables and files of tasks, and for mrjob's own files."""
        self.share_environment()
        options = [*super().variables(), *self.cluster_options()]
        if authority := os.environ.get(AUTHORITY):  # workers need not have the file
            name = "webhdfs-ca.pem"
            options += ["--files", f"{authority}#{name}", "--cmdenv", f"{AUTHORITY}={name}"]
        return options

    def run_job(self, call: JobCall) -> Counts:
        """Run a job; on one core all in one container, and apart if that fails.

        Hadoop repeats a task that failed only if it has a container of its own.

        Raises:
            PipelineError: A task failed; the message has the task's error.
        """
        try:
            return self._run_once(call)
        except TaskError:
            raise
        except PipelineError as error:
            if self.cores > 1 or self.apart or _never_began(error):
                raise
        self.apart = True
        try:
            self._files().remove(self._files().path_of(call.output))
            return self._run_once(call)
        finally:
            self.apart = False

    def _run_once(self, call: JobCall) -> Counts:
        self.is_interrupted = True
        try:
            counts = retried(lambda: self._attempt(call), PATIENCE)
        except PipelineError:  # the job is over
            self.is_interrupted = False
            raise
        self.is_interrupted = False
        return counts

    def _attempt(self, call: JobCall) -> Counts:
        """Run a job, as `run_by_mrjob`; TemporaryError if it never began.

        Hadoop's client has less patience with a NameNode that starts than our own requests.
        """
        try:
            return self.run_by_mrjob(call)
        except PipelineError as error:
            if not _never_began(error):
                raise
            self._files().remove(self._files().path_of(call.output))
            raise TemporaryError(error) from error

    def run_by_mrjob(self, call: JobCall) -> Counts:
        """Run a job by mrjob; arguments and errors are those of `run_job`."""
        args = ["-r", self.runner, "--conf-path", str(self.conf), "--output-dir", call.output]
        args += [*options_for_tasks(call.settings), *call.options]
        log = io.StringIO()
        handler = logging.StreamHandler(log)
        logger = logging.getLogger("mrjob")
        logger.addHandler(handler)
        logger.propagate = False
        try:
            with self.accounted(call.job.name) as of_tasks:
                started = call.job.load()([*args, *call.inputs])
                started.options.local_tmp_dir = str(self.scratch)
                started.options.bootstrap_mrjob = False  # mrjob is installed on the workers already
                with started.make_runner() as run:
                    self.adapt(run)
                    try:
                        run.run()
                    except StepFailedException as error:
                        reason = str(error.reason or error)
                        raise TaskFailedError(failure_of(log.getvalue(), reason)) from error
                    of_tasks += seconds_of_tasks(run.counters())
                    return from_counters(run.counters())
        finally:
            logger.removeHandler(handler)

    def adapt(self, run: Any) -> None:  # Any: mrjob has no types
        """Set the numbers of tasks, unless the settings of the engine do.

        Hadoop's own defaults are one reduce task, whatever the amount of data, and a map task for
        each file, however small it is.
        """
        properties = run._opts["jobconf"]
        own = [properties[TAGS]] if properties.get(TAGS) else []
        properties[TAGS] = ",".join([*own, _tag_of(self.root)])
        properties.setdefault(REDUCES, str(min(self.cores, MOST_PARTS)))
        if LEAST_SPLIT not in properties:  # else each file is one task
            run._hadoop_input_format = COMBINED
            properties[IGNORES_KEYS] = "true"
            properties.setdefault(MOST_SPLIT, str(USUAL_BLOCK))
        if self.cores == 1 and not self.apart:
            for name, value in _in_one_container(properties).items():
                properties.setdefault(name, value)
        for name, value in self.committing().items():
            properties.setdefault(name, value)

    def cluster_options(self) -> list[str]:
        """Return mrjob's options for the folder of its scripts, and for the cluster."""
        return ["--hadoop-tmp-dir", f"{self.root}/{MRJOB}"]

    def share_environment(self) -> None:
        """Write the packed environment that the settings name to the engine, once.

        Raises:
            UsageError: It has other versions than this machine.
        """
        if self.is_shared or self.conf is None:
            return
        self.is_shared = True
        commands = setup_of(self.runner, self.conf)
        addressed = with_addresses(commands, self._send_environment)
        if addressed != commands:
            own = self.scratch / "shared-environment.conf"
            write_settings(own, self.runner, self.conf, addressed)
            self.conf = own

    def _send_environment(self, archive: Path) -> str:
        """Check an archive; return its address on the engine."""
        check_packed(archive)
        home = self.home or self.root
        if is_object_store(home) and self.runner != "emr":
            return str(archive)  # Hadoop does not copy what it takes from an object store to tasks
        address = send_once(self._files(), home, archive)
        return address.replace("s3a://", "s3://", 1)  # the name that EMR has for S3

    def clear(self, folder: str) -> None:
        """End the job that was interrupted in a folder of the engine, and remove the folder."""
        if self.is_interrupted:
            self.end_jobs(folder)
        super().clear(folder)

    def clear_left(self, folder: str) -> None:
        """End the jobs of a killed process in a folder of the engine, and remove the folder."""
        self.end_jobs(folder)
        super().clear(folder)

    def end_jobs(self, folder: str) -> None:
        """End the applications of YARN that work in a folder of the engine."""
        hadoop = QuickHadoopRunner(conf_paths=[str(self.conf)]).get_hadoop_bin()
        _end_applications(hadoop, _tag_of(folder))


def _never_began(error: PipelineError) -> bool:
    """Return whether a job failed before YARN had taken it, in a way that may pass."""
    said = str(error.__cause__ or error)
    return _NOT_STARTED.search(said) is not None and _BEGUN.search(said) is None


def failure_of(log: str, reason: str) -> str:
    """Return the words of mrjob about a failed job, with the cause last.

    Args:
        log: Its log, in which it copies the logs of tasks.
        reason: Its error.
    """
    said = [match[0] for match in map(_OF_CLIENT.search, log.splitlines()) if match]
    # mrjob's reason is a command of some thousand characters.
    short = _COMMAND.sub("the engine's command", reason)
    cause = error_in(log.partition("Probable cause of failure:")[2]) or [short, *said][-1]
    return "\n".join(["the job failed", log, reason, _with_words(cause)])


def _tag_of(folder: str) -> str:
    """Return the tag of the applications of YARN that work in a folder of the engine."""
    return folder.rpartition("/")[2].lower()


def _in_one_container(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of a job in one container, which must be as large as those of tasks.

    Its JVM leaves as much memory to Python as that of a reduce task.
    """
    found = dict(IN_ONE_CONTAINER)
    if asked := [int(properties[name]) for name in TASK_MEMORY if name in properties]:
        found[MASTER_MEMORY] = str(max(asked))
    if TASK_OPTIONS in properties:
        found[MASTER_OPTIONS] = properties[TASK_OPTIONS]
    return found
