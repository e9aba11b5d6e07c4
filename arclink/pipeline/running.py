"""Runs one job of `jobs` on one runner, and sorts its tagged output into relations."""

import errno
import glob
import io
import logging
import os
import re
import shutil
import signal
import subprocess
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from arclink.errors import PipelineError
from arclink.graph.relations import ROWS
from arclink.pipeline.counts import Counts, from_counters

JOBS = {
    "index": ("jobs.index_archives", "IndexArchives"),
    "filter": ("jobs.filter_captures", "FilterCaptures"),
    "extract": ("jobs.extract_links", "ExtractLinks"),
    "join": ("jobs.join_contents", "JoinContents"),
    "invert": ("jobs.invert_links", "InvertLinks"),
    "load": ("jobs.load_graph", "LoadGraph"),
}

_ERROR = re.compile(r"(?:Exception in thread \S+ |Caused by: )?((?:arclink|[\w.]+(?:Error|Exception)): .+)")
"""The line of a task's log that says what was wrong."""

_OUR_ERROR = re.compile(r"arclink[.:]")

FAILED_TASK = "failed-task.txt"
"""What a failed task said, whole; in the folder of the tasks."""


BUFFER = 256 * 1024  # many rows are longer than the usual buffer

SORTING = ("-S", "128M", "--batch-size=64")
"""Options of sort(1). With twice the memory it takes a quarter more CPU for what does not fit, in page faults."""


@dataclass(slots=True)
class JobRunner:
    """Runs jobs by name.

    Attributes:
        runner: ``inline`` (one process), ``local`` (all cores of this machine), ``hadoop`` or ``spark``.
        cores: Tasks at a time.
        scratch: Folder for what a job needs while it runs; on the disk of the output, not in memory.
        watch: Told how many of a phase's tasks are done, and how many there are.
        conf: mrjob's settings for an engine (`conf/`); none for one machine.
        seconds: CPU seconds by job so far, children included.
    """

    runner: str
    cores: int
    scratch: Path
    watch: Callable[[int, int], None] = lambda done, total: None
    conf: Path | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def run(
        self, name: str, inputs: Sequence[Path], output: Path, settings: Mapping[str, object], *, are_relations: bool = False
    ) -> Counts:
        """Run the job called ``name``; its ``part-*`` files are in ``output`` afterwards.

        Args:
            name: Of the job.
            inputs: Files it reads.
            output: Folder for what it writes.
            settings: The job's.
            are_relations: It writes several relations, which `split` will sort into folders; how they stand in
                ``output`` until then is for the runner to say.

        Raises:
            PipelineError: A task failed; the text holds what it said.
        """
        options = []
        if are_relations and self.runner == "local":
            shutil.rmtree(output, ignore_errors=True)
            options.append("--relations-apart")
        return self.run_job(name, [glob.escape(str(path)) for path in inputs], str(output), settings, options)

    def parts(self, folder: Path) -> list[Path]:
        """Return the parts in a folder that a job can read, in order; empty ones are left out."""
        return parts_of(folder)

    def split(self, output: Path, outputs: Mapping[bytes, Path], label: str) -> None:
        """Sort what a job wrote to ``output`` into one folder per relation.

        Args:
            output: What `run` was given, with ``are_relations``.
            outputs: Where the rows of each relation go; every relation the job writes is named here.
            label: Part of the new files' names, so that several jobs can write one relation.

        Raises:
            PipelineError: The job wrote a relation that is not named: it and this stage do not fit together.
        """
        if self.runner == "local":
            move_relations(output, outputs, label)
        else:
            split_relations(output, outputs, label)

    def place(self, path: Path) -> str:
        """Return where a task finds a file of the work folder."""
        return str(path.resolve())

    def fetch(self, folder: Path) -> None:
        """Have the parts in a folder on this machine's disk."""

    def keep(self, graph: Path, name: str) -> None:
        """Keep the graph files of a batch under a name, where the engine keeps files."""

    def remove(self, folder: Path) -> None:
        """Remove a folder."""
        shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def visiting(self, stage: str) -> Iterator[None]:
        """Run one stage alone, in a folder whose files are all on this machine's disk, before and after it."""
        yield

    def run_job(self, name: str, inputs: Sequence[str], output: str, settings: Mapping[str, object], options: Sequence[str]) -> Counts:
        """Run a job through mrjob, with further command line options.

        Raises:
            PipelineError: A task failed; the text holds what it said.
        """
        from importlib import import_module

        module, class_name = JOBS[name]
        job_class: Any = getattr(import_module(module), class_name)  # Any: mrjob has no types

        from mrjob.step import StepFailedException  # after the job: jobs.compat comes before mrjob

        self.scratch.mkdir(parents=True, exist_ok=True)
        args = ["-r", self.runner, "--no-cat-output", "--output-dir", output, *options]
        args += ["--conf-path", str(self.conf)] if self.conf else ["--no-conf"]
        args += ["--settings", orjson.dumps(settings).decode()]
        log = io.StringIO()
        handler = logging.StreamHandler(log)
        logger = logging.getLogger("mrjob")
        logger.addHandler(handler)
        logger.propagate = False
        before = _cpu_seconds()
        try:
            job = job_class([*args, *inputs])
            job.options.local_tmp_dir = str(self.scratch)
            job.options.bootstrap_mrjob = False  # it is installed where we are
            if self.runner == "local":
                job.options.num_cores = self.cores
                by_key = [] if job_class.SORT_VALUES else ["-t", "\t", "-k1,1", "-s"]
                job.options.sort_bin = ["sort", *by_key, *SORTING, f"--parallel={self.cores}"]
            with job.make_runner() as run:
                run.watch = self.watch
                run.run()
                return from_counters(run.counters())
        except StepFailedException as error:
            raise self._failure(name, self._cause(log.getvalue(), str(error.reason or error))) from error
        except (EOFError, zlib.error) as error:
            raise PipelineError(f"{name}: an input file is damaged: {error}") from error
        except OSError as error:
            if is_of_space(error):
                raise no_space(name, self.scratch) from error
            raise PipelineError(f"{name}: {error}: check the rights of {self.scratch}") from error
        finally:
            logger.removeHandler(handler)
            self.seconds[name] = self.seconds.get(name, 0.0) + _cpu_seconds() - before

    def _cause(self, log: str, reason: str) -> str:
        """Return what is to be told of a failed step: on an engine, what mrjob found in the logs of its tasks, the error last."""
        if self.runner in ("local", "inline"):
            return reason
        found = log.partition("Probable cause of failure:")[2]
        errors = [match[1] for match in map(_ERROR.match, found.splitlines()) if match]
        ours = [error for error in errors if _OUR_ERROR.match(error)]  # what carries them is no cause
        return "\n".join(["the job failed", log, reason, *(ours or errors)[-1:]])

    def _failure(self, name: str, said: str) -> PipelineError:
        """Return the error for a task that failed: its last line, and where the rest can be read."""
        lines = [line for line in said.splitlines() if line.strip()]
        if os.strerror(errno.ENOSPC) in said:
            return no_space(name, self.scratch)
        report = self.scratch / FAILED_TASK
        with suppress(OSError):
            report.write_text(said, encoding="utf-8")
        return PipelineError(f"{name}: {lines[0]}: {lines[-1]} (all that the task said: {report})")


def is_of_space(error: OSError) -> bool:
    """Tell whether a disk, a quota or a file is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def no_space(name: str, folder: Path) -> PipelineError:
    """Return the error for a step that could not write what it made."""
    return PipelineError(
        f"{name}: no space left in {folder}: free some there, or name a folder on a larger disk with --work (--folder, for one stage); "
        "a smaller --batch-size needs less. Then make the same call again"
    )


@contextmanager
def room_in(folder: Path, name: str) -> Iterator[None]:
    """Say of what is done inside that there is no space, where there is none.

    Raises:
        PipelineError: There is no space; the text names the folder.
    """
    try:
        yield
    except OSError as error:
        if is_of_space(error):
            raise no_space(name, folder) from error
        raise


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def move_relations(written: Path, outputs: Mapping[bytes, Path], label: str) -> None:
    """Move the parts of each relation in a job's output to its folder.

    Args:
        written: Folder with a folder for each relation.
        outputs: See `JobRunner.split`.
        label: See there.

    Raises:
        PipelineError: There is a relation that is not named.
    """
    for folder in outputs.values():
        folder.mkdir(parents=True, exist_ok=True)
    for relation in sorted(written.iterdir()):
        if relation.is_file() and not relation.stat().st_size:
            relation.unlink()  # mrjob's own
            continue
        target = outputs.get(relation.name.encode())
        if target is None:
            raise _unknown(relation, relation.name.encode())
        for part in sorted(relation.iterdir()):
            part.rename(target / _labelled(part, label))
        relation.rmdir()


def _labelled(part: Path, label: str) -> str:
    return part.name.replace("part-", f"part-{label}-")


def _unknown(where: Path, relation: bytes) -> PipelineError:
    return PipelineError(f"{where}: unknown relation {relation[:40]!r}; the stages are of different versions")


def split_relations(parts: Path, outputs: Mapping[bytes, Path], label: str) -> None:
    """Sort the tagged lines of a job's ``part-*`` files into one folder per relation; the parts are removed.

    A block of rows that travelled as one line comes apart. The order within a part stays.

    Args:
        parts: Folder with the job's output.
        outputs: See `JobRunner.split`.
        label: See there.

    Raises:
        PipelineError: A line has a relation that is not named.
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
                    path = outputs[relation] / _labelled(part, label)
                    writers[relation] = opened.enter_context(path.open("wb", buffering=BUFFER)).write
                writers[relation](rows.replace(ROWS, b"\n") if ROWS in rows else rows)
        part.unlink()


def _by_relation(lines: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield tagged lines as (relation, rows): many at once where they are of one relation, which stand together as a rule."""
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
    """Return the ``part-*`` files of a relation, in order; empty ones are left out."""
    return [path for path in sorted(folder.glob("part-*")) if path.stat().st_size]


def sort_rows(parts: Sequence[Path], output: Path, run: JobRunner) -> None:
    """Write the rows of parts as one sorted part; in bounded memory, by bytes, which is the order of their columns.

    A tab sorts below whatever a column can hold, so sorting lines sorts by the first column, then the next.

    Raises:
        PipelineError: There is no room for it.
    """
    output.mkdir(parents=True, exist_ok=True)
    run.scratch.mkdir(parents=True, exist_ok=True)
    command = ["sort", *SORTING, f"--parallel={run.cores}", "-T", str(run.scratch), "-o", str(output / "part-00000")]
    # Names on standard input: there may be more parts than a command line holds.
    names = b"\0".join(str(path).encode() for path in parts)
    done = subprocess.run(
        [*command, "--files0-from=-"] if parts else [*command, os.devnull],
        input=names,
        env={**os.environ, "LC_ALL": "C"},
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        if done.returncode == -signal.SIGXFSZ or any(os.strerror(number) in said for number in (errno.ENOSPC, errno.EFBIG)):
            raise no_space("sort", run.scratch)
        raise PipelineError(f"sort: {said}: check the space and rights of {run.scratch}")
