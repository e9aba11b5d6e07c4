"""Measures a command: CPU seconds and memory of its process and of all child processes."""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SECONDS_BETWEEN_SAMPLES = 0.2
MOST_OF_SAMPLING = 0.01
"""Share of a processor that samples may take: one of a process of some gigabytes takes the system
as many hundredths of a second.
"""

MOST_PRINTED = 1 << 20
"""Bytes of a command's output that are kept: a peer may write its whole result there."""


PROCESSES = "cgroup.procs"
"""File of a control group, into which the numbers of its processes are written."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What a command cost.

    Attributes:
        printed: What it wrote to standard output, up to a megabyte.
        cpu: User and system seconds, of itself and of all children it waited for (wait4(2)).
        wall: Seconds.
        megabytes: Most that all its processes held at one time, pages they share counted once;
            sampled five times a second at most, 0 where there is no /proc.
        largest: Megabytes of its largest process at its peak (wait4(2)). No less than this process
            held when it started it.
    """

    printed: str
    cpu: float
    wall: float
    megabytes: float
    largest: float


def measure(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    group: Path | None = None,
) -> Figure:
    """Run a command to its end and return its cost.

    Args:
        command: Its first word is the path of a program.
        environment: Added to that of this process.
        folder: To run it in.
        group: Control group that it is run in.

    Raises:
        RuntimeError: It failed; what it wrote to standard error was shown.
    """
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        pid = _spawn(command, {**os.environ, **(environment or {})}, output.fileno(), folder, group)
        sampler = _Sampler(pid)
        sampler.start()
        try:
            _, status, usage = os.wait4(pid, 0)
        except BaseException:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
                os.waitpid(pid, 0)
            raise
        finally:
            sampler.stop()
        wall = time.perf_counter() - started
        output.seek(0)
        printed = output.read(MOST_PRINTED).decode(errors="replace").strip()
    if status:
        raise RuntimeError(
            f"{' '.join(command)} ended with exit code {os.waitstatus_to_exitcode(status)}\n"
            f"{printed[-500:]}"
        )
    return Figure(
        printed, usage.ru_utime + usage.ru_stime, wall, sampler.peak / 1024, usage.ru_maxrss / 1024
    )


def _spawn(
    command: Sequence[str],
    environment: Mapping[str, str],
    output: int,
    folder: Path | None,
    group: Path | None,
) -> int:
    # Not posix_spawn: a child that shares this process's memory until exec starts with its peak.
    pid = os.fork()
    if pid:
        return pid
    try:
        if group:
            (group / PROCESSES).write_text(str(os.getpid()))
        if folder:
            os.chdir(folder)
        os.dup2(output, 1)
        os.execve(command[0], list(command), environment)
    except OSError as error:
        os.write(2, f"{command[0]}: {error}\n".encode())
    os._exit(127)


class _Sampler(threading.Thread):
    """Sums at intervals the memory of a process and its descendants (PSS, proc(5))."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._is_over = threading.Event()
        self.peak = 0

    def run(self) -> None:
        pause = SECONDS_BETWEEN_SAMPLES
        while not self._is_over.wait(pause):
            started = time.thread_time()
            self.peak = max(self.peak, sum(map(_kilobytes, descendants(self._pid))))
            pause = max(SECONDS_BETWEEN_SAMPLES, (time.thread_time() - started) / MOST_OF_SAMPLING)

    def stop(self) -> None:
        """End; `peak` stays."""
        self._is_over.set()
        self.join()


def descendants(pid: int) -> list[int]:
    """Return a process and all that descend from it (proc(5), ``children``)."""
    found = [pid]
    for one in found:
        for path in Path(f"/proc/{one}/task").glob("*/children"):
            with suppress(OSError):  # it has just ended
                found += map(int, path.read_text().split())
    return found


def _kilobytes(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0
