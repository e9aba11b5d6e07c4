"""Progress of a build for its user: stage, rate and time left, in one line."""

import time
from typing import Protocol

from arclink.counts import Counts
from arclink.progress import Display, clock
from arclink.reasons import Reason

SHARES = {"index": 0.1, "filter": 0.05, "extract": 0.4, "join": 0.25, "invert": 0.05, "load": 0.15}
"""Approximate share of a batch's time per stage; used for the remaining time only."""


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


class ShownProgress:
    """Keeps the state of a build, and describes it in one line of a display."""

    def __init__(self, display: Display) -> None:
        self._display = display
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
        self._show(is_news=True)

    def tasks(self, done: int, total: int) -> None:
        self._tasks = (done, total)
        self._show(is_news=False)

    def counts(self, counts: Counts) -> None:
        self._counts += counts

    def stored(self) -> None:
        self._stored += self._batch_size
        self._batch_size, self._stages_over, self._stage, self._tasks = 0, 0.0, "stored", (0, 0)
        self._show(is_news=True)

    def end(self) -> None:
        self._display.close()

    def _show(self, *, is_news: bool) -> None:
        self._display.show(self.line, is_news=is_news)

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
