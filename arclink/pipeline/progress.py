"""Shows a build to the person who waits for it: one live line on a terminal, plain lines elsewhere."""

import sys
import time
from typing import Protocol, TextIO

from arclink.pipeline.counts import Counts
from arclink.reasons import Reason

SHARES = {"index": 0.1, "filter": 0.05, "extract": 0.4, "join": 0.25, "invert": 0.05, "load": 0.15}
"""About how much of a batch's time each stage takes; for the time left, so roughly right will do."""

SECONDS_BETWEEN_LINES = 30.0


class Progress(Protocol):
    """What a build reports. Every method returns at once."""

    def begin(self, batches: int, size: int) -> None:
        """The build begins: so many batches, so many bytes of archive files."""

    def stage(self, batch: int, size: int, name: str) -> None:
        """A stage of a batch of ``size`` bytes begins: one of `SHARES`."""

    def tasks(self, done: int, total: int) -> None:
        """So many of the stage's tasks are done."""

    def counts(self, counts: Counts) -> None:
        """What the batch counted in a stage that is over."""

    def stored(self) -> None:
        """The batch is in the store."""

    def end(self) -> None:
        """The build is over, for whatever reason."""


class Silent:
    """Reports nothing."""

    def begin(self, batches: int, size: int) -> None: ...

    def stage(self, batch: int, size: int, name: str) -> None: ...

    def tasks(self, done: int, total: int) -> None: ...

    def counts(self, counts: Counts) -> None: ...

    def stored(self) -> None: ...

    def end(self) -> None: ...


class _Told:
    """Keeps where a build is, and says it in words when something changed; a subclass shows them."""

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
        """Return one line: batch, stage, captures, links, rate, time passed and left."""
        passed = max(time.monotonic() - self._started, 0.001)
        done, total = self._tasks
        parts = [f"batch {self._batch}/{self._batches}", self._stage + (f" {done}/{total}" if total else "")]
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
    """Writes a line when a stage begins, and now and then while it lasts.

    Args:
        stream: Where to; standard error by default.
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
    """Keeps one line of a terminal true."""

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
    """Return a time as people say it.

    >>> clock(75)
    '1:15'
    >>> clock(3675)
    '1:01:15'
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
