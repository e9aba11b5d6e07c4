"""Runs of one job on this machine, and the relations of its output.

`JobRunner` is also the base class of the runners for clusters.
"""

import errno
import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from arclink import rooms
from arclink.counts import Counts
from arclink.errors import PipelineError, TaskError
from arclink.files.atomic import OUT_OF_SPACE, folder_next_to
from arclink.mapreduce.local import LocalRun, TaskFailedError, too_few_files


class Job(NamedTuple):
    """A job that a runner can run.

    Attributes:
        name: Name of the job in messages and counts.
        load: Imports and returns the job's class, an `ArclinkJob`: importing mrjob takes 0.1 s.
    """

    name: str
    load: Callable[[], Any]  # Any: mrjob has no types


JOBS: Final = {name: Job(name, partial(rooms.taken, row)) for name, row in rooms.JOBS.items()}
"""Every job that a command runs, by the name used in messages and counts."""


_REFUSAL = re.compile(r"arclink(: |\.errors\.(TaskError|UsageError)\b)")
"""An error that a task does not get over by another attempt; others may be those of a network."""

FAILED_TASK = "failed-task.txt"
"""File with the full output of a failed task, in the folder of the tasks."""

ON_THIS_MACHINE = ("local", "inline")
"""Runners without an engine."""

DRIVER = "driver"
"""Name for the CPU seconds of this machine during jobs that run on an engine."""


@dataclass
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
        with self.accounted(job.name), TemporaryDirectory(dir=self.scratch) as folder:
            shutil.rmtree(output, ignore_errors=True)
            output.mkdir(parents=True)
            run = LocalRun(
                # Not orjson: a path of this machine need not be UTF-8.
                job.load()(["--settings", json.dumps(settings)]),
                output.absolute(),
                Path(folder).absolute(),
                self.cores,
                are_relations,
                self.runner != "inline",
                self.watch,
            )
            return run.run(inputs)

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
        _move_relations(output, outputs, label)

    def move(self, source: Path, target: Path, label: str) -> None:
        """Move the parts in a folder to another folder, with a label in their names."""
        target.mkdir(parents=True, exist_ok=True)
        for part in sorted(source.glob("part-*")):
            part.rename(target / labelled(part.name, label))

    def task_address(self, path: Path) -> str:
        """Return the path or address under which a task finds a file of the work folder."""
        return str(path.resolve())

    def fetch(self, folder: Path) -> None:
        """Make the parts in a folder available on this machine's disk."""

    def keep(self, graph: Path, name: str) -> None:
        """Keep the graph files of a batch under a name, if there is a folder for them."""
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

    @contextmanager
    def accounted(self, name: str) -> Iterator[list[float]]:
        """Run a job in the block: note its CPU seconds, and say what went wrong.

        Yields:
            A list for the CPU seconds of the tasks, if an engine counts them.

        Raises:
            PipelineError: A task failed, or the system refused what the job needs.
        """
        self.scratch.mkdir(parents=True, exist_ok=True)
        before = self.seconds_here()
        of_tasks: list[float] = []
        try:
            yield of_tasks
        except TaskFailedError as error:
            raise self._failure(name, str(error)) from error
        except (EOFError, zlib.error) as error:
            raise PipelineError(f"{name}: an input file is damaged: {error}") from error
        except OSError as error:
            if error.errno in OUT_OF_SPACE:
                raise _no_space(name, self.scratch) from error
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise too_few_files(name) from error
            raise PipelineError(
                f"{name}: {error}: check the permissions of {self.scratch}"
            ) from error
        finally:
            here = self.seconds_here() - before
            for key, seconds in ((DRIVER if of_tasks else name, here), (name, sum(of_tasks))):
                self.seconds[key] = self.seconds.get(key, 0.0) + seconds

    def _failure(self, name: str, said: str) -> PipelineError:
        """Return the error for a failed task: its first and last line; a file has all lines."""
        lines = [line for line in said.splitlines() if line.strip()]
        if os.strerror(errno.ENOSPC) in said:
            return _no_space(name, self.scratch)
        if os.strerror(errno.EMFILE) in said:
            return too_few_files(name)
        report = self.scratch / FAILED_TASK
        with suppress(OSError):
            report.write_text(said, encoding="utf-8")
        kind = TaskError if _REFUSAL.match(lines[-1]) else PipelineError
        return kind(f"{name}: {lines[0]}: {lines[-1]} (all that the task said: {report})")


def _no_space(name: str, folder: Path) -> PipelineError:
    """Return the error for a step that could not write its output for lack of space."""
    return PipelineError(
        f"{name}: no space left in {folder}: free some there, or name a folder on a larger disk "
        "with --work (--into, for one stage); a smaller --batch-size needs less. Then run the same "
        "command again"
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
        if error.errno in OUT_OF_SPACE:
            raise _no_space(name, folder) from error
        raise


def _move_relations(written: Path, outputs: Mapping[bytes, Path], label: str) -> None:
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
        target = outputs.get(relation.name.encode())
        if target is None:
            raise PipelineError(
                f"{relation}: unknown relation {relation.name.encode()[:40]!r}; the stages are of "
                "different versions"
            )
        if target == relation:
            continue
        for part in sorted(relation.iterdir()):
            part.rename(target / labelled(part.name, label))
        relation.rmdir()


def labelled(part: str, label: str) -> str:
    """Return the name of a part with a label."""
    return part.replace("part-", f"part-{label}-")


def parts_of(folder: Path) -> list[Path]:
    """Return the ``part-*`` files of a relation, in order; empty parts are left out."""
    return [path for path in sorted(folder.glob("part-*")) if path.stat().st_size]
