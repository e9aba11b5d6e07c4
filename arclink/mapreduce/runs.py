"""Runs of one job on one machine, and the splitting of a job's tagged output into relations.

`JobRunner` is also the base class of the runners for clusters.
"""

import errno
import glob
import io
import json
import logging
import os
import re
import resource
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from arclink.counts import Counts, from_counters
from arclink.errors import PipelineError, TaskError
from arclink.files.atomic import folder_next_to
from arclink.mapreduce.task_variables import CPU_OF_JVM, CPU_OF_PYTHON
from arclink.rows.relations import ROWS


class Job(NamedTuple):
    """A job that a runner can run.

    Attributes:
        name: Name of the job in messages and counts.
        load: Imports and returns the job's class, an `ArclinkJob`.
    """

    name: str
    load: Callable[[], Any]  # Any: mrjob has no types


_ERROR = re.compile(
    r"(?:Exception in thread \S+ |Caused by: )?((?:arclink|[\w.]+(?:Error|Exception)): .+)"
    r"|\[[^]]*\](Container .* is running .* beyond the .* memory limit\..*)"
)
"""The line of a task's log that has the error, or that of YARN about a task that it killed."""

MORE_MEMORY = (
    "Give tasks larger containers: mapreduce.map.memory.mb and mapreduce.reduce.memory.mb in the "
    "settings of the engine (--engine-conf)"
)

_OUR_ERROR = re.compile(r"arclink[.:]")
_REFUSAL = re.compile(r"arclink(: |\.errors\.(TaskError|UsageError)\b)")
"""An error that a task does not get over by another attempt; others may be those of a network."""

FAILED_TASK = "failed-task.txt"
"""File with the full output of a failed task, in the folder of the tasks."""


ON_THIS_MACHINE = ("local", "inline")
"""Runners without an engine."""

DRIVER = "driver"
"""Name for the CPU seconds of this machine during jobs that run on an engine."""

BUFFER = 256 * 1024  # bytes; many rows are longer than the default buffer


def sort_options() -> list[str]:
    """Return the options of sort(1): 128 MB of memory, and the number of files to merge at a time.

    With twice the memory, sort takes 25 % more CPU time for data that does not fit, because of page
    faults. It refuses to merge more files than the limit of open files, less the three standard
    streams.

    Raises:
        PipelineError: The limit is too low for any merge.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MERGED if limit == resource.RLIM_INFINITY else min(_MERGED, limit - 3)
    if most < 2:
        raise too_few_files("sort")
    return ["-S", "128M", f"--batch-size={most}"]


_MERGED = 64


def too_few_files(name: str) -> PipelineError:
    """Return the error for a step that needs more open files than the limit allows."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return PipelineError(
        f"{name}: this process may have {limit} files open at a time, which is not enough. "
        "Raise the limit (ulimit -n 1024), and run the same command again"
    )


def same_versions() -> list[str]:
    """Return the options by which the tasks of a job on a cluster check their versions.

    The input paths are not checked: on a cluster, each check would start a JVM.
    """
    from arclink.mapreduce.versions import versions_here

    return ["--expects", orjson.dumps(versions_here()).decode(), "--no-check-input-paths"]


class JobArguments(NamedTuple):
    """The arguments of one run of a job: names of its input and output for the engine, options."""

    inputs: Sequence[str]
    output: str
    options: Sequence[str]


@dataclass(slots=True)
class JobRunner:
    """Runs jobs on this machine.

    Attributes:
        runner: ``inline`` (one process), ``local`` (all cores of this machine), ``hadoop``, ``emr``
            or ``spark``.
        cores: Tasks at a time.
        scratch: Folder for temporary files of a running job; on the disk of the output, not in
            memory.
        watch: Called with the number of finished tasks of a phase and the number of all its tasks.
        conf: File of mrjob's settings for an engine (`conf/`); None for one machine.
        kept: Folder that keeps the graph files of each batch; None if they are removed.
        seconds: CPU seconds by job so far, including child processes. Where an engine counts the
            CPU seconds of its tasks, these are the job's, and those of this machine are under
            `DRIVER`.
    """

    runner: str
    cores: int
    scratch: Path
    watch: Callable[[int, int], None] = lambda done, total: None
    conf: Path | None = None
    kept: Path | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def run(
        self,
        job: Job,
        inputs: Sequence[Path],
        output: Path,
        settings: Mapping[str, object],
        *,
        are_relations: bool = False,
    ) -> Counts:
        """Run a job; its ``part-*`` files are in ``output`` afterwards.

        Args:
            job: The job to run.
            inputs: Input files.
            output: Folder for the output.
            settings: Settings of the job.
            are_relations: Whether the job writes several relations, which `split` will move to
                their folders. Until then, their layout in ``output`` depends on the runner.

        Raises:
            PipelineError: A task failed; the message has the task's error.
        """
        command = self.prepare(inputs, output, are_relations=are_relations)
        counts = self.run_job(job, command.inputs, command.output, settings, command.options)
        self.tidy(output)
        return counts

    def prepare(self, inputs: Sequence[Path], output: Path, *, are_relations: bool) -> JobArguments:
        """Make a job's input available to its engine; return the engine's arguments for it.

        Arguments and errors are those of `run`.
        """
        options = []
        if are_relations and self.runner == "local":
            shutil.rmtree(output, ignore_errors=True)
            options.append("--relations-apart")
        return JobArguments([glob.escape(str(path)) for path in inputs], str(output), options)

    def adapt(self, run: Any) -> None:  # Any: mrjob has no types
        """Change the settings of mrjob's runner before it runs a job."""
        run.watch = self.watch

    @contextmanager
    def for_archives(self, size: int) -> Iterator[None]:
        """Run jobs for archive files of this size in bytes.

        An engine may use fewer or more cores for them.
        """
        yield

    def seconds_here(self) -> float:
        """Return the CPU seconds so far of this process and of its children that ended."""
        return sum(os.times()[:4])

    def close(self) -> None:
        """End what this runner keeps for further jobs."""

    def seconds_of_tasks(self, counters: Iterable[Mapping[str, Mapping[str, int]]]) -> float | None:
        """Return the CPU seconds of the tasks of a job; None if the engine does not count them.

        Args:
            counters: Counters of the job's steps: group → name → count.
        """
        if self.runner in ON_THIS_MACHINE:
            return None
        counted = [
            step[group][name]
            for step in counters
            for group, name in (CPU_OF_JVM, CPU_OF_PYTHON)
            if name in step.get(group, {})
        ]
        return sum(counted) / 1000 if counted else None

    def tidy(self, output: Path) -> None:
        """Remove the files of the engine from the output of a job."""

    @property
    def is_on_engine(self) -> bool:
        """Whether an engine may run the tasks, so that they cannot open files of this machine."""
        return self.conf is not None

    def parts(self, folder: Path) -> list[Path]:
        """Return the parts in a folder that a job can read, in order; empty parts are left out.

        A part may be stored on the engine only.
        """
        return list(self.sizes(folder))

    def sizes(self, folder: Path) -> Mapping[Path, int]:
        """Return the `parts` of a folder with their sizes in bytes."""
        return {path: path.stat().st_size for path in parts_of(folder)}

    def checksum(self, path: Path) -> bytes | None:
        """Return a checksum of a part that is stored on the engine only.

        Returns:
            None if the part is a file of this machine.
        """
        return None

    def split(self, output: Path, outputs: Mapping[bytes, Path], label: str) -> None:
        """Split the output of a job into one folder per relation.

        Args:
            output: The ``output`` of a call of `run` with ``are_relations``.
            outputs: Folder by relation; must have every relation that the job writes. If it is the
                folder of this name in ``output``, its parts may keep their names.
            label: Part of the new files' names, so that several jobs can write one relation.

        Raises:
            PipelineError: The job wrote a relation that is not in ``outputs``: the versions of job
                and stage differ.
        """
        if self.runner == "local":
            move_relations(output, outputs, label)
        else:
            split_relations(output, outputs, label)

    def move(self, source: Path, target: Path, label: str) -> None:
        """Move the parts in a folder to another folder, with a label in their names."""
        target.mkdir(parents=True, exist_ok=True)
        for part in sorted(source.glob("part-*")):
            part.rename(target / labelled(part.name, label))

    def place(self, path: Path) -> str:
        """Return the path or address under which a task finds a file of the work folder."""
        return str(path.resolve())

    def fetch(self, folder: Path) -> None:
        """Make the parts in a folder available on this machine's disk."""

    def keep(self, graph: Path, name: str) -> None:
        """Keep the graph files of a batch under a name, if there is a place for them."""
        if self.kept is None:
            return
        self.kept.mkdir(parents=True, exist_ok=True)
        target = self.kept / name
        with folder_next_to(target) as work:
            shutil.move(graph, work / name)
            shutil.rmtree(target, ignore_errors=True)
            (work / name).rename(target)

    def remove(self, folder: Path) -> None:
        """Remove a folder."""
        shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def visiting(self, stage: str) -> Iterator[None]:
        """Run one stage alone, in a folder whose files are on this machine before and after it."""
        yield

    @contextmanager
    def building(self, store: str, lock: Path) -> Iterator[None]:
        """Run the build of a store.

        Args:
            store: Name of the store, the same for all builds of it.
            lock: The store's lock on this machine, held by the caller.
        """
        yield

    def run_job(
        self,
        job: Job,
        inputs: Sequence[str],
        output: str,
        settings: Mapping[str, object],
        options: Sequence[str],
    ) -> Counts:
        """Run a job through mrjob, with further command line options.

        Raises:
            PipelineError: A task failed; the message has the task's error.
        """
        name, job_class = job.name, job.load()

        from mrjob.step import (
            StepFailedException,  # after the job: arclink.mapreduce.mrjob_compat comes before mrjob
        )

        self.scratch.mkdir(parents=True, exist_ok=True)
        args = ["-r", self.runner, "--no-cat-output", "--output-dir", output, *options]
        args += ["--conf-path", str(self.conf)] if self.conf else ["--no-conf"]
        # Not orjson: a path of this machine need not be UTF-8.
        args += ["--settings", json.dumps(settings)]
        log = io.StringIO()
        handler = logging.StreamHandler(log)
        logger = logging.getLogger("mrjob")
        logger.addHandler(handler)
        logger.propagate = False
        before = self.seconds_here()
        of_tasks: float | None = None
        try:
            started = job_class([*args, *inputs])
            started.options.local_tmp_dir = str(self.scratch)
            started.options.bootstrap_mrjob = False  # mrjob is installed on the workers already
            if self.runner == "local":
                started.options.num_cores = self.cores
                by_key = [] if job_class.SORT_VALUES else ["-t", "\t", "-k1,1", "-s"]
                started.options.sort_bin = [
                    "sort",
                    *by_key,
                    *sort_options(),
                    f"--parallel={self.cores}",
                ]
            with started.make_runner() as run:
                self.adapt(run)
                run.run()
                counters = run.counters()
                of_tasks = self.seconds_of_tasks(counters)
                return from_counters(counters)
        except StepFailedException as error:
            raise self._failure(
                name, self._cause(log.getvalue(), str(error.reason or error))
            ) from error
        except (EOFError, zlib.error) as error:
            raise PipelineError(f"{name}: an input file is damaged: {error}") from error
        except OSError as error:
            if is_of_space(error):
                raise no_space(name, self.scratch) from error
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise too_few_files(name) from error
            raise PipelineError(
                f"{name}: {error}: check the permissions of {self.scratch}"
            ) from error
        finally:
            logger.removeHandler(handler)
            self._add_seconds(name if of_tasks is None else DRIVER, self.seconds_here() - before)
            self._add_seconds(name, of_tasks or 0.0)

    def _add_seconds(self, name: str, seconds: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def _cause(self, log: str, reason: str) -> str:
        """Return the cause of a failed step in words.

        On an engine, this is what mrjob found in the logs of its tasks, with the error last.
        """
        if self.runner in ON_THIS_MACHINE:
            return reason
        found = log.partition("Probable cause of failure:")[2]
        errors = [
            match[1] or f"{match[2]} {MORE_MEMORY}"
            for match in map(_ERROR.match, found.splitlines())
            if match
        ]
        ours = [
            error for error in errors if _OUR_ERROR.match(error)
        ]  # an error that only wraps ours is not the cause
        return "\n".join(["the job failed", log, reason, *(ours or errors)[-1:]])

    def _failure(self, name: str, said: str) -> PipelineError:
        """Return the error for a failed task: its first and last line; a file has all lines."""
        lines = [line for line in said.splitlines() if line.strip()]
        if os.strerror(errno.ENOSPC) in said:
            return no_space(name, self.scratch)
        if os.strerror(errno.EMFILE) in said:
            return too_few_files(name)
        report = self.scratch / FAILED_TASK
        with suppress(OSError):
            report.write_text(said, encoding="utf-8")
        kind = TaskError if _REFUSAL.match(lines[-1]) else PipelineError
        return kind(f"{name}: {lines[0]}: {lines[-1]} (all that the task said: {report})")


def is_of_space(error: OSError) -> bool:
    """Return whether the error is a full disk, quota or file."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def no_space(name: str, folder: Path) -> PipelineError:
    """Return the error for a step that could not write its output for lack of space."""
    return PipelineError(
        f"{name}: no space left in {folder}: free some there, or name a folder on a larger "
        "disk with --work (--folder, for one stage); "
        "a smaller --batch-size needs less. Then run the same command again"
    )


@contextmanager
def room_in(folder: Path, name: str) -> Iterator[None]:
    """Turn errors about a full disk in the block into an error that names the folder.

    Raises:
        PipelineError: The disk, quota or file is full.
    """
    try:
        yield
    except OSError as error:
        if is_of_space(error):
            raise no_space(name, folder) from error
        raise


def move_relations(written: Path, outputs: Mapping[bytes, Path], label: str) -> None:
    """Move the parts of each relation in a job's output to its folder.

    Args:
        written: Folder with one folder per relation.
        outputs: See `JobRunner.split`.
        label: See `JobRunner.split`.

    Raises:
        PipelineError: A relation is not in ``outputs``.
    """
    for folder in outputs.values():
        folder.mkdir(parents=True, exist_ok=True)
    for relation in sorted(written.iterdir()):
        if relation.is_file() and not relation.stat().st_size:
            relation.unlink()  # written by mrjob
            continue
        target = outputs.get(relation.name.encode())
        if target is None:
            raise _unknown(relation, relation.name.encode())
        if target == relation:
            continue
        for part in sorted(relation.iterdir()):
            part.rename(target / labelled(part.name, label))
        relation.rmdir()


def labelled(part: str, label: str) -> str:
    """Return the name of a part with a label."""
    return part.replace("part-", f"part-{label}-")


def _unknown(where: Path, relation: bytes) -> PipelineError:
    return PipelineError(
        f"{where}: unknown relation {relation[:40]!r}; the stages are of different versions"
    )


def split_relations(parts: Path, outputs: Mapping[bytes, Path], label: str) -> None:
    """Split the tagged lines of a job's ``part-*`` files into one folder per relation.

    A block of rows that was one line becomes one line per row. The order within a part is kept. The
    parts are removed.

    Args:
        parts: Folder with the job's output.
        outputs: See `JobRunner.split`.
        label: See `JobRunner.split`.

    Raises:
        PipelineError: A line has a relation that is not in ``outputs``.
    """
    for folder in outputs.values():
        folder.mkdir(parents=True, exist_ok=True)
    for part in sorted(parts.glob("part-*")):
        with ExitStack() as opened:
            writers: dict[bytes, Callable[[bytes], int]] = {}
            lines = opened.enter_context(part.open("rb", buffering=BUFFER))
            for relation, rows in _by_relation(lines):
                if relation not in writers:
                    if relation not in outputs:
                        raise _unknown(part, relation)
                    path = outputs[relation] / labelled(part.name, label)
                    writers[relation] = opened.enter_context(
                        path.open("wb", buffering=BUFFER)
                    ).write
                writers[relation](rows.replace(ROWS, b"\n") if ROWS in rows else rows)
        part.unlink()


def _by_relation(lines: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield tagged lines as (relation, rows), with many rows at once where a run has one relation.

    Rows of one relation are usually adjacent.
    """
    while some := lines.readlines(BUFFER):
        relation = some[0].partition(b"\t")[0]
        tag, rows = b"\n" + relation + b"\t", b"\n" + b"".join(some)
        if rows.count(tag) == len(some):
            yield relation, rows.replace(tag, b"\n")[1:]
        else:
            for line in some:
                relation, _, row = line.partition(b"\t")
                yield relation, row


def parts_of(folder: Path) -> list[Path]:
    """Return the ``part-*`` files of a relation, in order; empty parts are left out."""
    return [path for path in sorted(folder.glob("part-*")) if path.stat().st_size]
