"""Progress of a build for its user: one live line on a terminal, plain lines elsewhere."""

import sys
import time
from typing import Protocol, TextIO

from arclink.counts import Counts
from arclink.reasons import Reason

SHARES = {"index": 0.1, "filter": 0.05, "extract": 0.4, "join": 0.25, "invert": 0.05, "load": 0.15}
"""Approximate share of a batch's time per stage; used for the remaining time only."""

SECONDS_BETWEEN_LINES = 30.0


class Progress(Protocol):
    """Receives the events of a build. Every method returns immediately."""

    def begin(self, batches: int, size: int) -> None:
        """The build begins, with its number of batches and bytes of archive files."""

    def stage(self, batch: int, size: int, name: str) -> None:
        """A stage of a batch of ``size`` bytes begins; its name is a key of `SHARES`."""

    def tasks(self, done: int, total: int) -> None:
        """``done`` of the ``total`` tasks of the stage are finished."""

    def counts(self, counts: Counts) -> None:
        """A stage of the batch has ended with these counts."""

    def stored(self) -> None:
        """The batch is in the store."""

    def end(self) -> None:
        """The build has ended, with or without an error."""


class Silent:
    """Reports nothing."""

    def begin(self, batches: int, size: int) -> None: ...

    def stage(self, batch: int, size: int, name: str) -> None: ...

    def tasks(self, done: int, total: int) -> None: ...

    def counts(self, counts: Counts) -> None: ...

    def stored(self) -> None: ...

    def end(self) -> None: ...


class _Told:
    """Keeps the state of a build and describes it in one line; a subclass shows the line."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._batches = self._batch = 0
        self._size = self._batch_size = self._stored = 0
        self._stage = ""
        self._stages_over = 0.0
        self._tasks = (0, 0)
        self._counts: Counts = Counts()

    def begin(self, batches: int, size: int) -> None:
        self._started = time.monotonic()
        self._batches, self._size = batches, size

    def stage(self, batch: int, size: int, name: str) -> None:
        self._stages_over += SHARES.get(self._stage, 0.0)
        self._batch, self._batch_size, self._stage, self._tasks = batch, size, name, (0, 0)
        self.show(is_news=True)

    def tasks(self, done: int, total: int) -> None:
        self._tasks = (done, total)
        self.show(is_news=False)

    def counts(self, counts: Counts) -> None:
        self._counts += counts

    def stored(self) -> None:
        self._stored += self._batch_size
        self._batch_size, self._stages_over, self._stage, self._tasks = 0, 0.0, "stored", (0, 0)
        self.show(is_news=True)

    def end(self) -> None: ...

    def show(self, *, is_news: bool) -> None:
        """Show `line`, if it is time to."""

    def line(self) -> str:
        """Return one line: batch, stage, captures, links, rate, elapsed and remaining time."""
        passed = max(time.monotonic() - self._started, 0.001)
        done, total = self._tasks
        parts = [
            f"batch {self._batch}/{self._batches}",
            self._stage + (f" {done}/{total}" if total else ""),
        ]
        if captures := self._counts[Reason.ROW_KEPT]:
            parts.append(f"{captures:,} captures")
        if links := self._counts[Reason.LINK_KEPT]:
            parts.append(f"{links:,} links")
        share = self._stages_over + SHARES.get(self._stage, 0.0) * (done / total if total else 0.0)
        read = self._stored + self._batch_size * share
        if read:
            parts.append(f"{read / passed / 1e6:,.1f} MB/s")
        parts.append(f"{clock(passed)} passed")
        if read and self._stored < self._size:
            parts.append(f"about {clock(passed * (self._size - read) / read)} left")
        return " · ".join(parts)


class Lines(_Told):
    """Writes a line when a stage begins, and every `SECONDS_BETWEEN_LINES` while it lasts.

    Args:
        stream: Output stream; standard error by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__()
        self._stream = stream or sys.stderr
        self._shown = time.monotonic()

    def show(self, *, is_news: bool) -> None:
        now = time.monotonic()
        if is_news or now - self._shown > SECONDS_BETWEEN_LINES:
            self._shown = now
            print(self.line(), file=self._stream, flush=True)


class Live(_Told):
    """Keeps one line of a terminal up to date."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.status import Status

        super().__init__()
        self._status = Status("", console=Console(stderr=True), refresh_per_second=4)

    def begin(self, batches: int, size: int) -> None:
        super().begin(batches, size)
        self._status.start()

    def show(self, *, is_news: bool) -> None:
        self._status.update(self.line())

    def end(self) -> None:
        self._status.stop()


def clock(seconds: float) -> str:
    """Return a duration in seconds as ``H:MM:SS`` or ``M:SS``.

    >>> clock(75)
    '1:15'
    >>> clock(3675)
    '1:01:15'
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
