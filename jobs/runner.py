"""mrjob's ``local`` runner for one machine, made to pay little per task.

Four things differ from mrjob's own; semantics stay:

* a task is a fork of the driver, which has the heavy modules loaded already, instead of a new interpreter;
* input is split at the next line or key border behind so many bytes, and a task reads its range: nothing is copied;
* with ``--relations-apart`` each relation of the output is in files of its own (`jobs.relation_files`), as on Hadoop, and
  what a reducer would only hand on (`ArclinkJob.PASSED_ON`) is written there by the map task, and never sorted;
* a task that dies (a native parser can crash) is tried once more, and its attempt id says so.
"""

import ctypes
import errno
import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from mrjob.cat import decompress, is_compressed
from mrjob.local import LocalMRJobRunner, _TaskFailedException
from mrjob.step import StepFailedException

from arclink.files.opening import LocalBytes, RangeOf, stream_of
from arclink.pipeline.running import BUFFER, is_of_space
from jobs.base import ATTEMPT_ID, KEY_COLUMNS, ArclinkJob
from jobs.relation_files import RelationFiles

ATTEMPTS = 2
NO_SPACE = 28
"""Exit code of a task that could not write: what it would say has no room, either."""

LEAST_SPLIT = 1 << 20
"""Bytes of input that are worth a task of their own: starting one costs as much as 10 ms of work."""

PR_SET_PDEATHSIG = 1
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3


class Piece(NamedTuple):
    """What a task reads: the bytes of a file from ``start`` to before ``end``."""

    path: str
    start: int
    end: int


class OneMachineRunner(LocalMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Run a job's tasks as forks of this process, as many at a time as there are cores."""

    alias = "local"

    def __init__(self, mrjob_cls: Any, **kwargs: Any) -> None:  # Any: mrjob has no types
        super().__init__(**kwargs)
        self.watch: Callable[[int, int], None] = lambda done, total: None
        self._job_class = mrjob_cls
        self._unmapped: list[str] = []
        self._pieces: dict[tuple[str, int, int], Piece] = {}  # by type of task, step and number

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> Callable[..., None]:
        piece = self._pieces[task_type, step_num, task_num]
        part = self._part_of(task_type, step_num, task_num)
        return partial(_run_task, self._job_class, self._args_for_task(step_num, task_type), piece, part)

    def _part_of(self, task_type: str, step_num: int, task_num: int) -> Path | None:
        """Return the file of the job's output that a task writes to; None if it writes to none."""
        if step_num < self._num_steps() - 1:
            return None
        folder = Path(self._output_dir).absolute()
        if task_type == self._last_task_type_in_step(step_num):
            return folder / f"part-{task_num:05d}"
        return folder / f"part-m{task_num:05d}" if self._job_class.PASSED_ON else None

    def _run_multiple(self, funcs: Iterable[Callable[[], None]], num_processes: int | None = None) -> None:
        """Run each of ``funcs`` in a fork; a fork that dies is tried once more with the next attempt number."""
        waiting = [(func, 0) for func in funcs]
        waiting.reverse()
        total = len(waiting)
        running: dict[int, tuple[Callable[[], None], int]] = {}
        sys.stdout.flush()
        sys.stderr.flush()
        _keep_freed_memory()
        gc.freeze()  # what the driver holds is shared with its forks, and stays so
        try:
            while waiting or running:
                while waiting and len(running) < self._num_cores():
                    func, attempt = waiting.pop()
                    running[_fork(func, attempt)] = func, attempt
                pid, status = os.wait()
                if pid not in running:
                    continue
                func, attempt = running.pop(pid)
                if status == 0:
                    self.watch(total - len(waiting) - len(running), total)
                    continue
                if attempt + 1 >= ATTEMPTS or os.WIFEXITED(status):
                    raise _failure(func, status)
                waiting.append((func, attempt + 1))
        finally:
            gc.unfreeze()
            for pid in running:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def _log_cause_of_error(self, ex: Exception) -> None:
        """Say nothing: the driver reports the failure it gets."""

    def _run_streaming_step(self, step: dict[str, Any], step_num: int) -> None:
        """Run one step; where mapping changes nothing, begin with the sort."""
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

    def _split_mapper_input(self, input_paths: Iterable[str], step_num: int) -> list[dict[str, object]]:
        if self._unmapped:
            return []
        paths = list(input_paths)  # a generator after the first step; read twice it would be an empty job
        size = max(self._pick_mapper_split_size(paths, step_num), LEAST_SPLIT)
        splits: list[dict[str, object]] = []
        inputs = self._yield_split_fileobjs("mapper", step_num)
        for path in paths:
            with open(path, "rb") as source:
                total = os.fstat(source.fileno()).st_size
                if is_compressed(path):
                    with next(inputs) as target:
                        target.writelines(decompress(source, path))
                        self._pieces["mapper", step_num, len(splits)] = Piece(os.path.abspath(target.name), 0, target.tell())
                    splits.append({"file": path, "start": 0, "length": total})
                    continue
                for start, end in _ranges(source, total if self._job_class.ONE_TASK_PER_FILE else size, lambda line: line):
                    next(inputs).close()  # mrjob opens it for the task, which reads its piece instead
                    self._pieces["mapper", step_num, len(splits)] = Piece(os.path.abspath(path), start, end)
                    splits.append({"file": path, "start": start, "length": end - start})
        return splits

    def _split_reducer_input(self, step_num: int) -> int:
        path = self._sorted_reducer_input_path(step_num)
        inputs = self._yield_split_fileobjs("reducer", step_num)
        with open(path, "rb") as source:
            size = max(os.fstat(source.fileno()).st_size // (self._num_reducers(step_num) * 2), LEAST_SPLIT)
            ranges = list(_ranges(source, size, lambda line: line.partition(b"\t")[0]))
        for number, (start, end) in enumerate(ranges):
            next(inputs).close()
            self._pieces["reducer", step_num, number] = Piece(os.path.abspath(path), start, end)
        return len(ranges)


def _ranges(source: BinaryIO, size: int, key: Callable[[bytes], bytes]) -> Iterable[tuple[int, int]]:
    """Yield (start, end) byte ranges of about ``size`` that end where a line ends and the key changes.

    An empty file gives one empty range, as mrjob does.
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
    """Return where the first line behind ``position`` starts whose key is not its predecessor's."""
    if position >= total:
        return total
    source.seek(position - 1)
    source.readline()  # the rest of the line that holds position - 1
    end = source.tell()
    if end >= total:
        return total
    # The line before is needed for its key: it may have begun far before, so take the next two that are whole.
    last = key(source.readline())
    while line := source.readline():
        if key(line) != last:
            return source.tell() - len(line)
        last = key(line)
    return total


def _fork(func: Callable[[], None], attempt: int) -> int:
    """Run ``func`` in a child process; return its pid."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        _die_with_parent()
        os.environ["ARCLINK_ATTEMPT"] = str(attempt)
        func()
        status = 0
    except BaseException as error:  # the child's edge: whatever it is, it ends here and the parent hears of it
        if _is_of_space(error):
            status = NO_SPACE
        with suppress(OSError):
            traceback.print_exc()
    finally:
        os._exit(status)


def _is_of_space(error: BaseException | None) -> bool:
    """Tell whether something failed because a disk, a quota or a file is full, whatever failed after it."""
    while error is not None:
        if isinstance(error, OSError) and is_of_space(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _die_with_parent() -> None:
    """Have the system end this process when the driver is killed: its tasks must not go on writing (prctl(2), Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _keep_freed_memory() -> None:
    """Have freed memory stay with this process and its forks (mallopt(3), glibc only).

    Each payload is inflated into some 100 KB; to take these from the system and give them back each time was 3 % of a build.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, 32 << 20)
        mallopt(M_TRIM_THRESHOLD, 64 << 20)


def _run_task(
    job_class: type[ArclinkJob],
    args: list[str],
    piece: Piece,
    part: Path | None,
    _stdin: BinaryIO,
    stdout: BinaryIO,
    stderr: BinaryIO,
    wd: str,
    env: dict[str, str],
) -> None:
    """Run one task of the job in this process, which is a child made for it.

    Args:
        job_class: The job.
        args: Its command line.
        piece: What the task reads.
        part: Where what it writes of the job's output would be if all relations stood in one file.
        _stdin: Opened by mrjob, of nothing.
        stdout: Where the output goes.
        stderr: Where counters and complaints go.
        wd: The folder to work in.
        env: The environment.
    """
    gc.disable()  # a task makes no cycles worth finding, and ends soon
    attempt = os.environ.get("ARCLINK_ATTEMPT", "0")
    os.environ.clear()
    os.environ.update(env)
    os.environ[ATTEMPT_ID] = env.get(ATTEMPT_ID, "attempt_0")[:-1] + attempt
    os.environ.pop(KEY_COLUMNS, None)  # it is for `sort` here: no tab is added to a line (`jobs.base.as_written`)
    os.chdir(wd)
    os.dup2(stderr.fileno(), 2)
    sys.stderr = stderr  # mrjob reads and writes bytes
    try:
        with (
            stream_of(RangeOf(LocalBytes(piece.path), piece.start, piece.end - piece.start), BUFFER) as sys.stdin,
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


def _failure(func: Callable[[], None], status: int) -> StepFailedException:
    """Return the error for a task that failed, with the last lines it wrote to stderr."""
    said = ""
    if isinstance(func, partial):
        paths = [arg for arg in (*func.args, *func.keywords.values()) if isinstance(arg, str) and arg.endswith("stderr")]
        if not paths and func.args and isinstance(func.args[0], partial):
            paths = [arg for arg in func.args[0].args if isinstance(arg, str) and arg.endswith("stderr")]
        if paths:
            lines = Path(paths[0]).read_bytes().decode(errors="replace").splitlines()
            said = "\n".join(line for line in lines[-15:] if not line.startswith("reporter:"))
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == NO_SPACE:
        said = f"{said}\n{os.strerror(errno.ENOSPC)}"
    how = f"exit {os.WEXITSTATUS(status)}" if os.WIFEXITED(status) else f"signal {os.WTERMSIG(status)}"
    return _TaskFailedException(reason=f"task ended with {how}\n{said}")
