"""One Spark application for all jobs of a build: its start, its jobs, its end.

An application of its own for each job would start the driver's JVM and all executors each time,
which takes longer than a small job itself.
"""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, NamedTuple
from weakref import finalize

SERVER = Path(__file__).with_name("spark_server.py")

SHORT_NAMES = "/tmp"
"""Folder for the socket: its path may have 103 bytes, and other temporary folders may be longer."""

PATIENCE = 60
"""Seconds that an application may take to end."""


class SparkJob(NamedTuple):
    """A job for an application.

    Attributes:
        arguments: Arguments of mrjob's harness.
        properties: Hadoop properties of this job only.
    """

    arguments: Sequence[str]
    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Running:
    """An application that runs.

    Attributes:
        submit: The ``spark-submit`` command, without a program.
        process: Ends with the application.
        connection: Jobs go there.
        answers: Answers come from there.
        end: Ends the application, at the latest with this Python process.
    """

    submit: Sequence[str]
    process: "subprocess.Popen[bytes]"
    connection: socket.socket
    answers: BinaryIO
    end: Callable[[], object]

    def takes(self, job: SparkJob) -> bool:
        """Send a job; return whether the program takes it, which it does not if it has ended."""
        if self.process.poll() is None:
            with suppress(OSError):
                self.connection.sendall(json.dumps(job._asdict()).encode() + b"\n")
                return bool(self.answers.readline())
        return False

    def answer(self) -> bytes:
        """Return the program's answer to the job that it took; empty if the program ended."""
        with suppress(OSError):
            return self.answers.readline()
        return b""


@dataclass(slots=True, weakref_slot=True)
class SparkApplication:
    """Runs jobs in one application as long as they need the same settings of Spark.

    Attributes:
        log: File with what Spark said during the last job.
    """

    log: Path
    _running: _Running | None = field(default=None, init=False)

    def run(
        self, submit: Sequence[str], environment: Mapping[str, str], job: SparkJob
    ) -> str | None:
        """Run a job, in a new application if none runs or its settings differ.

        Args:
            submit: The ``spark-submit`` command, without a program.
            environment: Environment variables of the application.
            job: The job.

        Returns:
            The error of a failed job; None for a successful one.
        """
        if self._running and self._running.submit != submit:
            self.close()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_bytes(b"")  # Spark appends to it
        answer = b""
        try:
            running = self._taker(submit, environment, job)
            if running is None:
                return "arclink: the Spark application ended before its first job"
            answer = running.answer()
        finally:
            if not answer:  # also if this process was interrupted
                self.close()
        if not answer:
            return "arclink: the Spark application ended during the job"
        error: str | None = json.loads(answer)["error"]
        return error

    def seconds(self) -> float:
        """Return the CPU seconds of the running application on this machine, without executors.

        0 on systems that do not show them as Linux does.
        """
        if self._running is None or self._running.process.poll() is not None:
            return 0.0  # those of a process that ended are in the sum of this process's children
        try:
            status = Path(f"/proc/{self._running.process.pid}/stat").read_text()
        except OSError:
            return 0.0
        ticks = status.rpartition(")")[2].split()[11:15]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the application, if one runs, and wait for its end."""
        if self._running is not None:
            self._running.end()
            self._running = None

    def _taker(
        self, submit: Sequence[str], environment: Mapping[str, str], job: SparkJob
    ) -> _Running | None:
        """Return an application that takes a job: the running one, or else a new one.

        None if the new one does not take it either. An application may end between two jobs, and a
        large process takes a while to end: only what it says shows that it has not.
        """
        if self._running:
            if self._running.takes(job):
                return self._running
            self.close()
        self._running = self._start(submit, environment)
        return self._running if self._running and self._running.takes(job) else None

    def _start(self, submit: Sequence[str], environment: Mapping[str, str]) -> _Running | None:
        """Start an application; return None if its process ends before its program begins."""
        with (
            TemporaryDirectory(prefix="arclink-spark-", dir=SHORT_NAMES) as folder,
            socket.socket(socket.AF_UNIX) as listening,
            self.log.open("ab") as log,
        ):
            address = f"{folder}/jobs"
            listening.bind(address)
            listening.listen()
            process = subprocess.Popen(
                [*submit, str(SERVER), address],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C ends this process, which then ends that one
            )
            try:
                accepted = _accepted(listening, process)
            except BaseException:
                _kill(process)
                raise
        if accepted is None:
            return None
        end = finalize(self, _end, process, accepted)
        return _Running(submit, process, accepted, accepted.makefile("rb"), end)


def _accepted(listening: socket.socket, process: "subprocess.Popen[bytes]") -> socket.socket | None:
    """Return the connection of a process, or None if the process ends without one."""
    listening.settimeout(1)
    while process.poll() is None:
        with suppress(TimeoutError):
            connection, _ = listening.accept()
            connection.settimeout(None)
            return connection
    return None


def _end(process: "subprocess.Popen[bytes]", connection: socket.socket) -> None:
    """End an application: it ends when its connection does."""
    with suppress(OSError), connection:
        connection.shutdown(socket.SHUT_RDWR)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        _kill(process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
