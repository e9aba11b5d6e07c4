"""mrjob's ``local`` runner for one machine, with a low cost per task.

Four things differ from mrjob's own runner; the semantics are the same:

* A task is a fork of the driver, which has loaded the heavy modules already, instead of a new
  interpreter.
* Input is split at the first line or key border after a given number of bytes. A task reads its
  range of the file; no input is copied.
* With ``--relations-apart``, each relation of the output is in separate files
  (`arclink.mapreduce.relation_files`), as on Hadoop. Rows that a reducer would only pass on
  (`ArclinkJob.PASSED_ON`) are written there by the map task and never sorted.
* A task that dies (a native parser can crash, the kernel may need its memory) or lacks memory is
  tried again alone, with a new attempt id. If it dies again while it reads the same page, a third
  attempt passes over that page.
"""

import ctypes
import errno
import gc
import mmap
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from mrjob.cat import decompress, is_compressed
from mrjob.local import LocalMRJobRunner, _TaskFailedException
from mrjob.step import StepFailedException

from arclink.archives.byte_sources import LocalBytes, RangeOf, stream_of
from arclink.mapreduce.relation_files import RelationFiles
from arclink.mapreduce.runs import BUFFER, is_of_space
from arclink.mapreduce.task_variables import (
    ATTEMPT_ID,
    KEY_COLUMNS,
    noted_place,
    share_place,
)

ATTEMPTS = 3
NO_SPACE = 28
"""Exit code of a task that had no disk space; its message could not be written either."""

NO_MEMORY = 12
"""Exit code of a task that got no memory: alone, it may get enough."""

LEAST_SPLIT = 1 << 20
"""Minimum bytes of input per task: starting a task costs as much as 10 ms of work."""

PR_SET_PDEATHSIG = 1
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3


class Piece(NamedTuple):
    """The input of a task: the bytes of a file from ``start`` up to, not including, ``end``."""

    path: str
    start: int
    end: int


class _Attempt(NamedTuple):
    """One attempt to run a task."""

    func: Callable[[], None]
    number: int = 0
    skipped: bytes = b""  # the place that it passes over
    died_at: bytes = b""  # where the attempt before died

    def after(self, status: int, place: bytes) -> "_Attempt | None":
        """Return the next attempt; None if there is no use in one.

        Args:
            status: Of the process, as `os.wait` has it.
            place: What the task was at.
        """
        lacks_memory = os.WIFEXITED(status) and os.WEXITSTATUS(status) == NO_MEMORY
        if os.WIFEXITED(status) and not (lacks_memory and self.number == 0):
            return None
        if self.number == 0:
            return _Attempt(self.func, 1, died_at=place)
        if self.number + 1 < ATTEMPTS and place and place == self.died_at:
            return _Attempt(self.func, self.number + 1, skipped=place)
        return None


class OneMachineRunner(LocalMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs a job's tasks as forks of this process, one per core at a time."""

    alias = "local"

    def __init__(self, mrjob_cls: Any, **kwargs: Any) -> None:  # Any: mrjob has no types
        super().__init__(**kwargs)
        self.watch: Callable[[int, int], None] = lambda done, total: None
        self._job_class = mrjob_cls
        self._unmapped: list[str] = []
        self._pieces: dict[tuple[str, int, int], Piece] = {}  # by type of task, step and number

    def _invoke_task_func(
        self, task_type: str, step_num: int, task_num: int
    ) -> Callable[..., None]:
        piece = self._pieces[task_type, step_num, task_num]
        part = self._part_of(task_type, step_num, task_num)
        return partial(
            _run_task, self._job_class, self._args_for_task(step_num, task_type), piece, part
        )

    def _part_of(self, task_type: str, step_num: int, task_num: int) -> Path | None:
        """Return the output file of the job that a task writes to; None if it writes to none."""
        if step_num < self._num_steps() - 1:
            return None
        folder = Path(self._output_dir).absolute()
        if task_type == self._last_task_type_in_step(step_num):
            return folder / f"part-{task_num:05d}"
        return folder / f"part-m{task_num:05d}" if self._job_class.PASSED_ON else None

    def _run_multiple(
        self, funcs: Iterable[Callable[[], None]], num_processes: int | None = None
    ) -> None:
        """Run each of ``funcs`` in a fork.

        One that dies is tried again, after the others and alone.
        """
        waiting = [_Attempt(func) for func in funcs]
        waiting.reverse()
        again: list[_Attempt] = []
        total = len(waiting)
        running: dict[int, tuple[_Attempt, mmap.mmap]] = {}
        sys.stdout.flush()
        sys.stderr.flush()
        _keep_freed_memory()
        try:
            while waiting or running or again:
                while waiting and len(running) < self._num_cores():
                    _start(waiting.pop(), running)
                if not running:
                    _start(again.pop(), running)
                pid, status = os.wait()
                if pid not in running:
                    continue
                attempt, memory = running.pop(pid)
                place = noted_place(memory)
                memory.close()
                if status == 0:
                    self.watch(total - len(waiting) - len(running) - len(again), total)
                    continue
                following = attempt.after(status, place)
                if following is None:
                    raise _failure(attempt.func, status, place)
                _report_death(status, place, following)
                again.append(following)
        finally:
            for pid in running:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def _log_cause_of_error(self, ex: Exception) -> None:
        """Do nothing: the driver reports the failure that it receives."""

    def _run_streaming_step(self, step: dict[str, Any], step_num: int) -> None:
        """Run one step; where the mapper changes nothing, begin with the sort."""
        paths = list(self._input_paths_for_step(step_num))
        maps = "mapper" in step and not self._job_class.MAPS_NOTHING
        self._unmapped = [] if maps or any(map(is_compressed, paths)) else paths
        super()._run_streaming_step(step, step_num)

    def _sort_reducer_input(self, step_num: int, num_map_tasks: int) -> None:
        if not self._unmapped:
            super()._sort_reducer_input(step_num, num_map_tasks)
            return
        output = self._sorted_reducer_input_path(step_num)
        self.fs.mkdir(os.path.dirname(output))
        self._sort_input_func()(self._unmapped, output)

    def _split_mapper_input(
        self, input_paths: Iterable[str], step_num: int
    ) -> list[dict[str, object]]:
        if self._unmapped:
            return []
        paths = list(
            input_paths
        )  # a list: after the first step it is a generator, which can be read only once
        size = max(self._pick_mapper_split_size(paths, step_num), LEAST_SPLIT)
        splits: list[dict[str, object]] = []
        inputs = self._yield_split_fileobjs("mapper", step_num)
        for path in paths:
            with open(path, "rb") as source:
                total = os.fstat(source.fileno()).st_size
                if is_compressed(path):
                    with next(inputs) as target:
                        target.writelines(decompress(source, path))
                        self._pieces["mapper", step_num, len(splits)] = Piece(
                            os.path.abspath(target.name), 0, target.tell()
                        )
                    splits.append({"file": path, "start": 0, "length": total})
                    continue
                for start, end in _ranges(
                    source, total if self._job_class.ONE_TASK_PER_FILE else size, lambda line: line
                ):
                    next(
                        inputs
                    ).close()  # mrjob opens it for the task, which reads its piece instead
                    self._pieces["mapper", step_num, len(splits)] = Piece(
                        os.path.abspath(path), start, end
                    )
                    splits.append({"file": path, "start": start, "length": end - start})
        return splits

    def _split_reducer_input(self, step_num: int) -> int:
        path = self._sorted_reducer_input_path(step_num)
        inputs = self._yield_split_fileobjs("reducer", step_num)
        with open(path, "rb") as source:
            if self._job_class.ONE_TASK_PER_KEY:
                ranges = list(_ranges_by_key(source))
            else:
                total = os.fstat(source.fileno()).st_size
                size = max(total // (self._num_reducers(step_num) * 2), LEAST_SPLIT)
                ranges = list(_ranges(source, size, _key_of))
        for number, (start, end) in enumerate(ranges):
            next(inputs).close()
            self._pieces["reducer", step_num, number] = Piece(os.path.abspath(path), start, end)
        return len(ranges)


def _key_of(line: bytes) -> bytes:
    return line.partition(b"\t")[0]


def _ranges_by_key(source: BinaryIO) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) byte range of each key in a sorted file."""
    start = 0
    for _, lines in groupby(source, _key_of):
        end = start + sum(map(len, lines))
        yield start, end
        start = end


def _ranges(
    source: BinaryIO, size: int, key: Callable[[bytes], bytes]
) -> Iterable[tuple[int, int]]:
    """Yield (start, end) byte ranges of about ``size`` bytes that end where the key changes.

    A key is a part of a line, so a range also ends at a line end. An empty file gives one empty
    range, as in mrjob.
    """
    total = os.fstat(source.fileno()).st_size
    start = 0
    while True:
        end = _border(source, start + max(size, 1), total, key)
        yield start, end
        start = end
        if start >= total:
            return


def _border(source: BinaryIO, position: int, total: int, key: Callable[[bytes], bytes]) -> int:
    """Return the start of the first line after ``position`` whose key is new."""
    if position >= total:
        return total
    source.seek(position - 1)
    source.readline()  # the rest of the line that holds position - 1
    end = source.tell()
    if end >= total:
        return total
    # The key of this line is unknown, as its start may be far back: compare the next whole lines.
    last = key(source.readline())
    while line := source.readline():
        if key(line) != last:
            return source.tell() - len(line)
        last = key(line)
    return total


def _start(attempt: _Attempt, running: dict[int, tuple[_Attempt, mmap.mmap]]) -> None:
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    running[_fork(attempt, memory)] = attempt, memory


def _ending(status: int) -> str:
    """Return how a process ended that did not end well, and what may be the cause."""
    if os.WIFEXITED(status):
        is_memory = os.WEXITSTATUS(status) == NO_MEMORY
        return "lack of memory" if is_memory else f"exit {os.WEXITSTATUS(status)}"
    number = os.WTERMSIG(status)
    causes: dict[int, str] = {
        signal.SIGKILL: " (SIGKILL: by the kernel for lack of memory, or by a user)",
        signal.SIGSEGV: " (SIGSEGV: a parser failed, or got no memory)",
        signal.SIGABRT: " (SIGABRT: a parser failed, or got no memory)",
    }
    return f"signal {number}{causes.get(number, '')}"


def _report_death(status: int, place: bytes, following: _Attempt) -> None:
    """Say on standard error that a task died, where, and what happens next."""
    where = f" at {place.decode(errors='replace')}" if place else ""
    how = "without that page" if following.skipped else "alone"
    print(
        f"arclink: a task ended with {_ending(status)}{where}; it will be retried, {how}",
        file=sys.stderr,
        flush=True,
    )


def _fork(attempt: _Attempt, memory: mmap.mmap) -> int:
    """Run an attempt in a child process; return its pid."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        _die_with_parent()
        os.environ["ARCLINK_ATTEMPT"] = str(attempt.number)
        share_place(memory, attempt.skipped)
        attempt.func()
        status = 0
    except (
        BaseException
    ) as error:  # the edge of the child process: any error ends it, and the parent reports it
        if _is_of_space(error):
            status = NO_SPACE
        elif isinstance(error, MemoryError):
            status = NO_MEMORY
        with suppress(OSError):
            traceback.print_exc()
    finally:
        os._exit(status)


def _is_of_space(error: BaseException | None) -> bool:
    """Return whether an error, or a cause of it, is a full disk, quota or file."""
    while error is not None:
        if isinstance(error, OSError) and is_of_space(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _die_with_parent() -> None:
    """Make the system kill this process when the driver dies, so that no task goes on writing.

    prctl(2), Linux only.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _keep_freed_memory() -> None:
    """Keep freed memory in this process and its forks (mallopt(3), glibc only).

    Each payload is inflated into about 100 KB. Requesting this memory from the system and returning
    it each time took 3 % of a build.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, 32 << 20)
        mallopt(M_TRIM_THRESHOLD, 64 << 20)


def _run_task(
    job_class: type[Any],  # Any: an ArclinkJob, whose module imports this one
    args: list[str],
    piece: Piece,
    part: Path | None,
    _stdin: BinaryIO,
    stdout: BinaryIO,
    stderr: BinaryIO,
    wd: str,
    env: dict[str, str],
) -> None:
    """Run one task of the job in this process, which is a child forked for it.

    Args:
        job_class: Class of the job.
        args: Command line of the job.
        piece: Input of the task.
        part: Path of the task's share of the job's output if all relations were in one file.
        _stdin: Empty file, opened by mrjob.
        stdout: Receives the output.
        stderr: Receives counters and messages.
        wd: Working folder of the task.
        env: Environment variables of the task.
    """
    # A task makes few reference cycles, and ends soon. Collecting, also at its end, would write to
    # memory that it shares with the driver.
    gc.disable()
    gc.freeze()
    attempt = os.environ.get("ARCLINK_ATTEMPT", "0")
    os.environ.clear()
    os.environ.update(env)
    os.environ[ATTEMPT_ID] = env.get(ATTEMPT_ID, "attempt_0")[:-1] + attempt
    os.environ.pop(
        KEY_COLUMNS, None
    )  # for `sort` only: here, no tab is added to a line (`arclink.mapreduce.job.as_written`)
    os.chdir(wd)
    os.dup2(stderr.fileno(), 2)
    sys.stderr = stderr  # mrjob reads and writes bytes
    try:
        with (
            stream_of(
                RangeOf(LocalBytes(piece.path), piece.start, piece.end - piece.start), BUFFER
            ) as sys.stdin,
            open(stdout.fileno(), "wb", buffering=BUFFER, closefd=False) as sys.stdout,
            ExitStack() as apart,
        ):
            job = job_class(args)
            if part is not None and job.options.relations_apart:
                job.put_apart = apart.enter_context(RelationFiles(part)).put
            job.execute()
        if os.path.getsize(piece.path) < piece.end:
            raise OSError(f"{piece.path} became shorter while it was read")
    except BaseException:
        stderr.write(traceback.format_exc().encode())
        raise
    finally:
        stderr.flush()


def _failure(func: Callable[[], None], status: int, place: bytes) -> StepFailedException:
    """Return the error for a task that failed, with the last lines it wrote to stderr."""
    said = ""
    if isinstance(func, partial):
        paths = [
            arg
            for arg in (*func.args, *func.keywords.values())
            if isinstance(arg, str) and arg.endswith("stderr")
        ]
        if not paths and func.args and isinstance(func.args[0], partial):
            paths = [
                arg for arg in func.args[0].args if isinstance(arg, str) and arg.endswith("stderr")
            ]
        if paths:
            lines = Path(paths[0]).read_bytes().decode(errors="replace").splitlines()
            said = "\n".join(line for line in lines[-15:] if not line.startswith("reporter:"))
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == NO_SPACE:
        said = f"{said}\n{os.strerror(errno.ENOSPC)}"
    where = f" at {place.decode(errors='replace')}" if place else ""
    how = _ending(status)
    if os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == NO_MEMORY:
        said += (
            f"\n{how}, even when run alone: allow more memory (ulimit -v, the limit of the "
            "container), or use a smaller --batch-size or fewer --cores"
        )
    return _TaskFailedException(reason=f"task ended with {how}{where}\n{said}")
