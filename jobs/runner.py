"""mrjob's ``local`` runner for one machine, made to pay little per task.

Three things differ from mrjob's own; semantics stay:

* a task is a fork of the driver, which has the heavy modules loaded already, instead of a new interpreter;
* input is split by blocks at the next line or key border, instead of line by line in Python;
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
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO

from mrjob.cat import decompress, is_compressed
from mrjob.local import LocalMRJobRunner, _TaskFailedException
from mrjob.step import StepFailedException

from arclink.pipeline.running import BUFFER, is_of_space
from jobs.base import ATTEMPT_ID, KEY_COLUMNS

ATTEMPTS = 2
NO_SPACE = 28
"""Exit code of a task that could not write: what it would say has no room, either."""

LEAST_SPLIT = 1 << 20
"""Bytes of input that are worth a task of their own: starting one costs as much as 10 ms of work."""

PR_SET_PDEATHSIG = 1
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3


class OneMachineRunner(LocalMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Run a job's tasks as forks of this process, as many at a time as there are cores."""

    alias = "local"

    def __init__(self, mrjob_cls: Any, **kwargs: Any) -> None:  # Any: mrjob has no types
        super().__init__(**kwargs)
        self.watch: Callable[[int, int], None] = lambda done, total: None
        self._job_class = mrjob_cls
        self._unmapped: list[str] = []

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> Callable[..., None]:
        return partial(_run_task, self._job_class, self._args_for_task(step_num, task_type))

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
        self._unmapped = paths if self._job_class.MAPS_NOTHING and not any(map(is_compressed, paths)) else []
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
        outputs = self._yield_split_fileobjs("mapper", step_num)
        for path in paths:
            with open(path, "rb") as source:
                total = os.fstat(source.fileno()).st_size
                if is_compressed(path):
                    with next(outputs) as target:
                        target.writelines(decompress(source, path))
                    splits.append({"file": path, "start": 0, "length": total})
                    continue
                for start, end in _ranges(source, total if self._job_class.ONE_TASK_PER_FILE else size, lambda line: line):
                    with next(outputs) as target:
                        _copy(source, start, end, target)
                    splits.append({"file": path, "start": start, "length": end - start})
        return splits

    def _split_reducer_input(self, step_num: int) -> int:
        path = Path(self._sorted_reducer_input_path(step_num))
        size = max(path.stat().st_size // (self._num_reducers(step_num) * 2), LEAST_SPLIT)
        outputs = self._yield_split_fileobjs("reducer", step_num)
        tasks = 0
        with path.open("rb") as source:
            for start, end in _ranges(source, size, lambda line: line.partition(b"\t")[0]):
                with next(outputs) as target:
                    _copy(source, start, end, target)
                tasks += 1
        return tasks


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


def _copy(source: BinaryIO, start: int, end: int, target: IO[bytes]) -> None:
    """Copy a range of bytes without taking them through Python where the system can."""
    target.flush()
    while start < end:
        done = os.sendfile(target.fileno(), source.fileno(), start, min(end - start, 1 << 30))
        if not done:
            raise OSError(f"{source.name} became shorter while it was read")
        start += done


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


def _run_task(job_class: type, args: list[str], stdin: BinaryIO, stdout: BinaryIO, stderr: BinaryIO, wd: str, env: dict[str, str]) -> None:
    """Run one task of the job in this process, which is a child made for it."""
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
            open(stdin.fileno(), "rb", buffering=BUFFER, closefd=False) as sys.stdin,
            open(stdout.fileno(), "wb", buffering=BUFFER, closefd=False) as sys.stdout,
        ):
            job_class(args).execute()
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
