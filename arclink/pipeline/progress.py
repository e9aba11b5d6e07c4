"""Shows a build to the person who waits for it: one live line on a terminal, plain lines elsewhere."""

import sys
import time
from typing import Protocol, TextIO

from arclink.pipeline.counts import Counts
from arclink.reasons import Reason


class Progress(Protocol):
    """What a build reports. Every method returns at once."""

    def begin(self, batches: int, size: int) -> None:
        """The build begins: so many batches, so many bytes of archive files."""

    def stage(self, batch: int, name: str) -> None:
        """A stage of a batch begins: ``index``, ``filter``, ``extract``, ``join and invert`` or ``load``."""

    def done(self, batch: int, size: int, counts: Counts) -> None:
        """A batch of ``size`` bytes is in the store."""

    def end(self) -> None:
        """The build is over, for whatever reason."""


class Silent:
    """Reports nothing."""

    def begin(self, batches: int, size: int) -> None: ...

    def stage(self, batch: int, name: str) -> None: ...

    def done(self, batch: int, size: int, counts: Counts) -> None: ...

    def end(self) -> None: ...


class Lines:
    """Writes one line per stage.

    Args:
        stream: Where to; standard error by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._state = _State()

    def begin(self, batches: int, size: int) -> None:
        self._state.begin(batches, size)

    def stage(self, batch: int, name: str) -> None:
        self._state.stage(batch, name)
        print(self._state.line(), file=self._stream, flush=True)

    def done(self, batch: int, size: int, counts: Counts) -> None:
        self._state.done(size, counts)
        print(self._state.line(), file=self._stream, flush=True)

    def end(self) -> None:
        self._stream.flush()


class Live:
    """Keeps one line of a terminal true, with a spinner and the time passed."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.status import Status

        self._state = _State()
        self._console = Console(stderr=True)
        self._status = Status("", console=self._console, refresh_per_second=4)

    def begin(self, batches: int, size: int) -> None:
        self._state.begin(batches, size)
        self._status.start()

    def stage(self, batch: int, name: str) -> None:
        self._state.stage(batch, name)
        self._status.update(self._state.line())

    def done(self, batch: int, size: int, counts: Counts) -> None:
        self._state.done(size, counts)
        self._status.update(self._state.line())

    def end(self) -> None:
        self._status.stop()


class _State:
    """Where a build is, in words."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._batches = 0
        self._size = 0
        self._batch = 0
        self._stage = ""
        self._done = 0
        self._counts: Counts = Counts()

    def begin(self, batches: int, size: int) -> None:
        self._started = time.monotonic()
        self._batches, self._size = batches, size

    def stage(self, batch: int, name: str) -> None:
        self._batch, self._stage = batch, name

    def done(self, size: int, counts: Counts) -> None:
        self._done += size
        self._counts += counts
        self._stage = "stored"

    def line(self) -> str:
        """Return one line: batch, stage, captures, links, rate, time passed and left."""
        passed = max(time.monotonic() - self._started, 0.001)
        parts = [f"batch {self._batch}/{self._batches}", self._stage]
        if self._done:
            captures = self._counts[Reason.ROW_KEPT]
            parts += [f"{captures:,} captures", f"{self._counts[Reason.LINK_KEPT]:,} links", f"{captures / passed:,.0f} captures/s"]
        parts.append(f"{clock(passed)} passed")
        if 0 < self._done < self._size:
            parts.append(f"about {clock(passed * (self._size - self._done) / self._done)} left")
        return " · ".join(parts)


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
