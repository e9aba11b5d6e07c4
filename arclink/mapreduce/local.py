"""Jobs on this machine: tasks call the map and reduce functions of a job directly, in forks.

* A task is a fork of the driver, which has loaded the heavy modules already.
* Input is split at the first line or key border after a given number of bytes. A task reads its
  range of the file; no input is copied, and what maps write is sorted by sort(1).
* Each relation of the output may be in separate files, as on
  Hadoop. Rows that a reducer would only pass on (`ArclinkJob.PASSED_ON`) are then written by the
  map task and never sorted.
* A task that dies (a native parser can crash, the kernel may need its memory) or lacks memory is
  tried again alone, as a new attempt. If it dies again while it reads the same page, a third
  attempt passes over that page.
"""

import ctypes
import errno
import gc
import mmap
import os
import resource
import signal
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import groupby
from operator import methodcaller
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from arclink.archives.byte_sources import LocalBytes, RangeOf, stream_of
from arclink.archives.opener import BUFFER
from arclink.counts import Counts
from arclink.errors import PipelineError
from arclink.files.atomic import OUT_OF_SPACE
from arclink.mapreduce.job_settings import ATTEMPT_ID, noted_record, share_segment
from arclink.reasons import Reason
from arclink.rows.relations import ROWS

# Files of one relation each, for the output of a job on one machine.
#
# `RelationOutputFormat` does the same in HDFS.


class RelationFiles(ExitStack):
    """Writes ``RELATION/part-NNNNN`` for each relation in the output of one task.

    Close it, or use it as a context manager. Files from another attempt of the task are removed
    first: that attempt may have written a relation that this one does not.

    Args:
        part: Path of the task's output if all relations were in one file.
    """

    def __init__(self, part: Path) -> None:
        super().__init__()
        self._part = part
        self._writers: dict[bytes, Callable[[bytes], int]] = {}
        for written in part.parent.glob(f"*/{part.name}"):
            written.unlink()

    def put(self, relation: bytes, rows: bytes) -> None:
        """Write a row, or a block of rows that was passed on as one."""
        write = self._writers.get(relation) or self._open(relation)
        write(rows.replace(ROWS, b"\n") if ROWS in rows else rows)
        write(b"\n")

    def _open(self, relation: bytes) -> Callable[[bytes], int]:
        path = self._part.parent / relation.decode() / self._part.name
        path.parent.mkdir(exist_ok=True)
        write = self._writers[relation] = self.enter_context(
            path.open("wb", buffering=BUFFER)
        ).write
        return write


def divide(folder: Path) -> None:
    """Replace the ``part-*`` files of a folder, whose lines are tagged, by files per relation.

    A block of rows that was one line becomes one line per row. The order within a part is kept.
    """
    for part in sorted(folder.glob("part-*")):
        with part.open("rb", buffering=BUFFER) as lines, RelationFiles(part) as files:
            for relation, rows in _by_relation(lines):
                files.put(relation, rows)
        part.unlink()


def _by_relation(lines: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield tagged lines as (relation, rows), with many rows at once where a run has one relation.

    Rows of one relation are usually adjacent.
    """
    while some := lines.readlines(BUFFER):
        relation = some[0].partition(b"\t")[0]
        tag, rows = b"\n" + relation + b"\t", b"\n" + b"".join(some).removesuffix(b"\n")
        if rows.count(tag) == len(some):
            yield relation, rows.replace(tag, b"\n")[1:]
        else:
            for line in some:
                relation, _, row = line.removesuffix(b"\n").partition(b"\t")
                yield relation, row


ATTEMPTS = 3
_NO_SPACE = 28
"""Exit code of a task that had no disk space; its message could not be written either."""

_NO_MEMORY = 12
"""Exit code of a task that got no memory: alone, it may get enough."""

LEAST_SPLIT = 1 << 20
"""Minimum bytes of input per task: starting a task costs as much as 10 ms of work."""

_PR_SET_PDEATHSIG = 1
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3

_MERGED = 64
"""Files that sort(1) merges at a time."""


class TaskFailedError(Exception):
    """A task failed; the text begins with how it ended, and ends with its error."""


class Piece(NamedTuple):
    """The input of a task: the bytes of a file from ``start`` up to, not including, ``end``."""

    path: str
    start: int
    end: int


class _Task(NamedTuple):
    """A task of a phase.

    Attributes:
        is_map: Whether it maps or reduces.
        piece: Its input.
        output: File for the lines of its output, without those that are written by relation.
        part: Its share of the job's output if it writes relations, which have files of their own.
        is_last: Whether all lines of its output are the job's.
        notes: Path without suffix of its files for messages and counts.
    """

    is_map: bool
    piece: Piece
    output: Path
    part: Path | None
    is_last: bool
    notes: Path


class _Attempt(NamedTuple):
    """One attempt to run a task."""

    task: _Task
    number: int = 0
    skipped: bytes = b""  # the record that it passes over
    died_at: bytes = b""  # where the attempt before died

    def after(self, status: int, record: bytes) -> "_Attempt | None":
        """Return the next attempt; None if there is no use in one.

        Args:
            status: Of the process, as `os.wait` has it.
            record: File and offset of the record that the task read.
        """
        lacks_memory = os.WIFEXITED(status) and os.WEXITSTATUS(status) == _NO_MEMORY
        if os.WIFEXITED(status) and not (lacks_memory and self.number == 0):
            return None
        if self.number == 0:
            return _Attempt(self.task, 1, died_at=record)
        if self.number + 1 < ATTEMPTS and record and record == self.died_at:
            return _Attempt(self.task, self.number + 1, skipped=record)
        return None


class LocalRun(NamedTuple):
    """A run of a job on this machine.

    Attributes:
        job: The job, an `ArclinkJob` with its options.
        output: Folder for the output; it exists.
        folder: Folder for temporary files.
        cores: Tasks at a time.
        are_relations: Whether each relation of the output has a folder in ``output``.
        is_forked: Whether each task is a process; otherwise they run one by one in this one.
        watch: Called with the number of finished tasks of a phase and the number of all its tasks.
    """

    job: Any  # Any: mrjob has no types
    output: Path
    folder: Path
    cores: int
    are_relations: bool
    is_forked: bool
    watch: Callable[[int, int], None]

    def run(self, inputs: Sequence[Path]) -> Counts:
        """Run the job; return its counts.

        Raises:
            TaskFailedError: A task failed.
            EOFError, zlib.error: A compressed input file is damaged.
            OSError: This process could not read, write or start tasks.
        """
        reduces = self.job.HAS_REDUCER
        paths = [path.absolute() for path in inputs]
        counts: Counts = Counter()
        if self.job.MAPS_NOTHING and not any(map(_is_compressed, paths)):
            mapped = paths  # begin with the sort
        else:
            tasks = [
                self._task("map", number, piece, is_last=not reduces)
                for number, piece in enumerate(self._map_pieces(paths))
            ]
            counts += self._run_tasks(tasks)
            mapped = [task.output for task in tasks]
        if reduces:
            ordered = self.folder / "sorted"
            _sort(mapped, ordered, self.cores, by_key=not self.job.SORT_VALUES)
            counts += self._run_tasks(
                [
                    self._task("reduce", number, piece, is_last=True)
                    for number, piece in enumerate(self._reduce_pieces(ordered))
                ]
            )
        return counts

    def _task(self, phase: str, number: int, piece: Piece, *, is_last: bool) -> _Task:
        notes = self.folder / f"{phase}-{number:05d}"
        part = self.output / (f"part-{number:05d}" if is_last else f"part-m{number:05d}")
        has_relations = self.are_relations and bool(is_last or self.job.PASSED_ON)
        output = part if is_last and not has_relations else notes.with_suffix(".lines")
        return _Task(phase == "map", piece, output, part if has_relations else None, is_last, notes)

    def _map_pieces(self, paths: Sequence[Path]) -> Iterator[Piece]:
        plain = [path for path in paths if not _is_compressed(path)]
        total = sum(path.stat().st_size for path in plain)
        tasks = max(self.cores * 2 - (len(paths) - len(plain)), 1)
        size = max(total // tasks, LEAST_SPLIT)
        for number, path in enumerate(paths):
            with path.open("rb") as source:
                end = os.fstat(source.fileno()).st_size
                if _is_compressed(path):
                    yield _decompressed(source, path, self.folder / f"input-{number:05d}")
                    continue
                for piece in _ranges(
                    source, end if self.job.ONE_TASK_PER_FILE else size, lambda line: line
                ):
                    yield Piece(str(path), *piece)

    def _reduce_pieces(self, ordered: Path) -> Iterator[Piece]:
        with ordered.open("rb") as source:
            if self.job.ONE_TASK_PER_KEY:
                ranges: Iterable[tuple[int, int]] = _ranges_by_key(source)
            else:
                size = max(ordered.stat().st_size // (self.cores * 2), LEAST_SPLIT)
                ranges = _ranges(source, size, _key_of)
            for piece in ranges:
                yield Piece(str(ordered), *piece)

    def _run_tasks(self, tasks: Sequence[_Task]) -> Counts:
        if self.is_forked:
            self._run_forks([_Attempt(task) for task in tasks])
            return sum((_read_counts(task) for task in tasks), Counter())
        counts: Counts = Counter()
        for number, task in enumerate(tasks):
            counts += _run_task(self.job, task)
            self.watch(number + 1, len(tasks))
        return counts

    def _run_forks(self, waiting: list[_Attempt]) -> None:
        """Run each task in a fork. One that dies is tried again, after the others and alone."""
        waiting.reverse()
        again: list[_Attempt] = []
        total = len(waiting)
        running: dict[int, tuple[_Attempt, mmap.mmap]] = {}
        sys.stdout.flush()
        sys.stderr.flush()
        _keep_freed_memory()

        def start(attempt: _Attempt) -> None:
            memory = mmap.mmap(-1, mmap.PAGESIZE)
            running[_fork(self.job, attempt, memory)] = attempt, memory

        try:
            while waiting or running or again:
                while waiting and len(running) < self.cores:
                    start(waiting.pop())
                if not running:
                    start(again.pop())
                pid, status = os.wait()
                if pid not in running:
                    continue
                attempt, memory = running.pop(pid)
                record = noted_record(memory)
                memory.close()
                if status == 0:
                    self.watch(total - len(waiting) - len(running) - len(again), total)
                    continue
                following = attempt.after(status, record)
                if following is None:
                    raise _failure(attempt.task, status, record)
                _report_death(status, record, following)
                again.append(following)
        finally:
            for pid in running:
                # An interrupt may arrive between the end of `os.wait` and the next line.
                with suppress(ProcessLookupError, ChildProcessError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def _run_task(job: Any, task: _Task) -> Counts:  # Any: an ArclinkJob, whose module imports mrjob
    """Run a task in this process; return its counts."""
    path, start, end = task.piece
    job.counts = Counter()
    with ExitStack() as opened:
        source = RangeOf(LocalBytes(path), start, end - start)
        stream = opened.enter_context(stream_of(source, BUFFER))
        lines = map(methodcaller("rstrip", b"\r\n"), stream)
        if task.is_map:
            pairs = job.map_lines(lines)
        else:
            pairs = job.reduce_sorted(map(job.INTERNAL_PROTOCOL().read, lines))
        put_apart = task.part and opened.enter_context(RelationFiles(task.part)).put
        if put_apart and task.is_last:
            for relation, row in pairs:
                put_apart(relation, row)
        else:
            output = opened.enter_context(task.output.open("wb", buffering=BUFFER))
            passed_on = job.PASSED_ON if put_apart else {}
            _write_lines(pairs, output, passed_on, put_apart)
    if os.path.getsize(path) < end:
        raise OSError(f"{path} became shorter while it was read")
    return job.counts  # type: ignore[no-any-return]  # mrjob has no types


def _write_lines(
    pairs: Iterable[tuple[bytes, bytes]],
    output: BinaryIO,
    passed_on: Any,  # Any: a mapping from bytes, also from a slice of them
    put_apart: Any,
) -> None:
    """Write a line per pair, or a row of the relation that the first byte of its key names."""
    put = output.write
    for key, value in pairs:
        if passed_on and (relation := passed_on.get(key[:1])) is not None:
            put_apart(relation, value)
        else:
            put(b"".join((key, b"\t", value, b"\n")))


def _is_compressed(path: Path) -> bool:
    from mrjob.cat import is_compressed

    return bool(is_compressed(str(path)))


def _decompressed(source: BinaryIO, path: Path, target: Path) -> Piece:
    """Write the contents of a compressed file to a file, and return it as a piece."""
    from mrjob.cat import decompress

    with target.open("wb", buffering=BUFFER) as output:
        output.writelines(decompress(source, str(path)))
        return Piece(str(target), 0, output.tell())


def _sort_options() -> list[str]:
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


def too_few_files(name: str) -> PipelineError:
    """Return the error for a step that needs more open files than the limit allows."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return PipelineError(
        f"{name}: this process may have {limit} files open at a time, which is not enough. "
        "Raise the limit (ulimit -n 1024), and run the same command again"
    )


def _sort(paths: Sequence[Path], target: Path, cores: int, *, by_key: bool) -> None:
    """Write the lines of files to a file, sorted as bytes.

    Args:
        paths: The files.
        target: The file to write; temporary files are next to it.
        cores: Threads.
        by_key: Whether lines of one key keep their order.
    """
    options = ["-t", "\t", "-k1,1", "-s"] if by_key else []
    options += [*_sort_options(), f"--parallel={cores}", "-T", str(target.parent)]
    with target.open("wb") as output:
        if not paths:  # sort(1) would read its standard input
            return
        done = subprocess.run(
            ["sort", *options, *map(str, paths)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C"},
            restore_signals=False,  # a file that grows too large is an error, and kills nothing
            check=False,
        )
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        for number in OUT_OF_SPACE:
            if os.strerror(number) in said:
                raise OSError(number, os.strerror(number))
        raise TaskFailedError(f"sort ended with code {done.returncode}\n{said}")


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
    range.
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


def _ending(status: int) -> str:
    """Return how a process ended that did not end well, and what may be the cause."""
    if os.WIFEXITED(status):
        is_memory = os.WEXITSTATUS(status) == _NO_MEMORY
        return "lack of memory" if is_memory else f"exit {os.WEXITSTATUS(status)}"
    number = os.WTERMSIG(status)
    causes: dict[int, str] = {
        signal.SIGKILL: " (SIGKILL: by the kernel for lack of memory, or by a user)",
        signal.SIGSEGV: " (SIGSEGV: a parser failed, or got no memory)",
        signal.SIGABRT: " (SIGABRT: a parser failed, or got no memory)",
    }
    return f"signal {number}{causes.get(number, '')}"


def _report_death(status: int, record: bytes, following: _Attempt) -> None:
    """Say on standard error that a task died, where, and what happens next."""
    where = f" at {record.decode(errors='replace')}" if record else ""
    how = "without that page" if following.skipped else "alone"
    print(
        f"arclink: a task ended with {_ending(status)}{where}; it will be retried, {how}",
        file=sys.stderr,
        flush=True,
    )


def _fork(job: Any, attempt: _Attempt, memory: mmap.mmap) -> int:  # Any: as above
    """Run an attempt in a child process; return its pid.

    Its messages go to a file, and so do its counts.
    """
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        _die_with_parent()
        # A terminal or notebook interrupts all processes of a group: the parent ends its tasks.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.environ[ATTEMPT_ID] = f"attempt_{attempt.number}"
        share_segment(memory, attempt.skipped)
        # A task makes few reference cycles, and ends soon. Collecting, also at its end, would write
        # to memory that it shares with the driver.
        gc.disable()
        gc.freeze()
        notes = attempt.task.notes
        os.chdir(notes.parent)  # for what a crash may leave
        with notes.with_suffix(".log").open("wb") as log:
            os.dup2(log.fileno(), 2)
        sys.stdout = sys.stderr = os.fdopen(2, "w", errors="backslashreplace", closefd=False)
        counts = _run_task(job, attempt.task)
        numbers = {reason.name: count for reason, count in counts.items()}
        notes.with_suffix(".counts").write_bytes(orjson.dumps(numbers))
        status = 0
    # The edge of the child process: any error ends it, and the parent reports it.
    except BaseException as error:
        if _has_no_space(error):
            status = _NO_SPACE
        elif isinstance(error, MemoryError):
            status = _NO_MEMORY
        with suppress(OSError):
            traceback.print_exc()
            sys.stderr.flush()
    finally:
        os._exit(status)


def _read_counts(task: _Task) -> Counts:
    found = orjson.loads(task.notes.with_suffix(".counts").read_bytes())
    return Counter({Reason[name]: count for name, count in found.items()})


def _has_no_space(error: BaseException | None) -> bool:
    """Return whether an error, or a cause of it, is a full disk, quota or file."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in OUT_OF_SPACE:
            return True
        error = error.__cause__ or error.__context__
    return False


def _die_with_parent() -> None:
    """Make the system kill this process when the driver dies, so that no task goes on writing.

    prctl(2), Linux only.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _keep_freed_memory() -> None:
    """Keep freed memory in this process and its forks (mallopt(3), glibc only).

    Each payload is inflated into about 100 KB. Requesting this memory from the system and returning
    it each time took 3 % of a build.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, 32 << 20)
        mallopt(M_TRIM_THRESHOLD, 64 << 20)


def _failure(task: _Task, status: int, record: bytes) -> TaskFailedError:
    """Return the error for a task that failed, with the last lines it wrote to stderr."""
    lines = task.notes.with_suffix(".log").read_bytes().decode(errors="replace").splitlines()
    said = "\n".join(lines[-15:])
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == _NO_SPACE:
        said = f"{said}\n{os.strerror(errno.ENOSPC)}"
    where = f" at {record.decode(errors='replace')}" if record else ""
    how = _ending(status)
    if os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == _NO_MEMORY:
        said += (
            f"\n{how}, even when run alone: allow more memory (ulimit -v, the limit of the "
            "container), or use a smaller --batch-size or fewer --cores"
        )
    return TaskFailedError(f"task ended with {how}{where}\n{said}")
