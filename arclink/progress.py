"""The progress of long work, shown on a terminal: one line that is kept up to date.

Code that does long work says how far it is (`watched`, `note`), and need not know whether anything
shows it. A command calls `show_on_terminal` once. Without it, nothing is counted. `shown_width` is
the width of the terminal that shows the output itself.
"""

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TextIO, TypeVar

Item = TypeVar("Item")

_SECONDS_BETWEEN_LINES = 30.0
"""Pause between two lines where there is no terminal."""

_EVERY = 256
"""Number of items between two notes of their number."""
_FIRST = 1.0
"""Seconds before work is called long; shorter work shows nothing."""
_PAUSE = 0.25
_START_OF_LINE = "\r\x1b[2K"
"""Moves to the start of the terminal's line and erases it (ECMA-48, EL)."""


Line = Callable[[], str]
"""Returns a line as it reads now: its times change while nothing else does."""


class Display(Protocol):
    """Shows lines, of which each replaces the one before."""

    def show(self, line: Line, *, is_news: bool = False) -> None:
        """Show a line; one that is no news may be left out."""

    def close(self) -> None:
        """Remove the line; a later call of `show` shows one again."""


class TerminalLine:
    """One line of a terminal, cut to its width, which a thread keeps up to date.

    Args:
        stream: The terminal; standard error by default.
        delay: Seconds for which a line must be shown before it is written.
    """

    def __init__(self, stream: TextIO | None = None, delay: float = 0.0) -> None:
        self._stream = stream or sys.stderr
        self._delay = delay
        self._changes = threading.Condition()
        self._line: Line | None = None
        self._thread: threading.Thread | None = None

    def show(self, line: Line, *, is_news: bool = False) -> None:
        with self._changes:
            self._line = line
            if self._thread is None:
                self._thread = threading.Thread(target=self._refresh, daemon=True)
                self._thread.start()

    def close(self) -> None:
        with self._changes:
            thread, self._thread, self._line = self._thread, None, None
            self._changes.notify_all()
        if thread is not None:
            thread.join()

    def _refresh(self) -> None:
        """Write the line until it is closed; then remove it."""
        has_line = False
        with self._changes:
            self._changes.wait_for(lambda: self._line is None, self._delay)
            while self._line is not None:
                width = shutil.get_terminal_size().columns - 1
                self._write(f"{_START_OF_LINE}{fitting(self._line(), width)}")
                has_line = True
                self._changes.wait_for(lambda: self._line is None, _PAUSE)
        if has_line:
            self._write(_START_OF_LINE)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class PlainLines:
    """A line for each piece of news, and one every `_SECONDS_BETWEEN_LINES` without any."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._shown = time.monotonic()

    def show(self, line: Line, *, is_news: bool = False) -> None:
        now = time.monotonic()
        if is_news or now - self._shown > _SECONDS_BETWEEN_LINES:
            self._shown = now
            print(line(), file=self._stream, flush=True)

    def close(self) -> None:
        """Do nothing: lines stay."""


class Silent:
    """Shows nothing."""

    def show(self, line: Line, *, is_news: bool = False) -> None: ...

    def close(self) -> None: ...


def display_for(*, is_quiet: bool = False) -> Display:
    """Return the display of a command: a line of the terminal, or lines of a log."""
    if is_quiet:
        return Silent()
    return TerminalLine() if sys.stderr.isatty() else PlainLines()


def fitting(line: str, width: int) -> str:
    """Return a line without the end for which the terminal has no room.

    >>> fitting("batch 1/2 · extract", 10)
    'batch 1/2…'
    """
    return line if len(line) <= width else f"{line[: max(width - 1, 0)].rstrip()}…"


class _Watch:
    """The work of a command, and how far it is."""

    def __init__(self, display: Display) -> None:
        self.display = display
        self._work = ""
        self._done = self._total = 0
        self._begun = 0.0

    def note(self, work: str, done: int, total: int) -> None:
        if work != self._work:
            self._work, self._begun = work, time.monotonic()
        self._done, self._total = done, total
        self.display.show(self._line)

    def _line(self) -> str:
        passed = time.monotonic() - self._begun
        return _progress_line(self._work, self._done, self._total, passed)


_watch: _Watch | None = None


@contextmanager
def show_on_terminal() -> Iterator[None]:
    """Show the progress of long work inside the block, if standard error is a terminal."""
    global _watch
    if not sys.stderr.isatty():
        yield
        return
    display = TerminalLine(delay=_FIRST)
    _watch = _Watch(display)
    try:
        yield
    finally:
        _watch = None
        display.close()


def clear() -> None:
    """Remove the line: some work has ended, and other output may follow."""
    if _watch is not None:
        _watch.display.close()


def hide_from_output() -> None:
    """Show no progress from now on if standard output is the terminal, too.

    Call this before output that is written while the work goes on.
    """
    global _watch
    if sys.stdout.isatty():
        clear()
        _watch = None


def note(work: str, done: int = 0, total: int = 0) -> None:
    """Say how far some work is. `clear` removes the line.

    Args:
        work: What is done, such as "checking the store"; a new text starts a new clock.
        done: Number of finished parts.
        total: Number of all parts; 0 if it is not known.
    """
    if _watch is not None:
        _watch.note(work, done, total)


def watched(
    items: Iterable[Item],
    work: str,
    total: Callable[[], int] = lambda: 0,
    weight: Callable[[Item], int] = lambda _: 1,
) -> Iterator[Item]:
    """Yield items unchanged, and note their number; without a display they are not counted.

    Args:
        items: What is worked on.
        work: As for `note`.
        total: Returns the sum of all weights, or 0; called only if the progress is shown.
        weight: The number of finished parts that one item stands for.
    """
    return iter(items) if _watch is None else _counted(items, work, total(), weight)


def _counted(
    items: Iterable[Item], work: str, total: int, weight: Callable[[Item], int]
) -> Iterator[Item]:
    done = 0
    try:
        note(work, done, total)
        for number, item in enumerate(items, 1):
            done += (parts := weight(item))
            if number % _EVERY == 0 or parts > _EVERY:
                note(work, done, total)
            yield item
    finally:
        clear()


def _progress_line(work: str, done: int, total: int, seconds: float) -> str:
    """Return a line about some work, with the time left if it can be estimated.

    >>> _progress_line("reading links", 500, 2000, 10)
    'reading links · 500 of 2,000 · 0:10 passed · about 0:30 left'
    >>> _progress_line("copying the store", 0, 0, 3)
    'copying the store · 0:03 passed'
    """
    parts = [work]
    if total:
        parts.append(f"{min(done, total):,} of {total:,}")
    elif done:
        parts.append(f"{done:,}")
    parts.append(f"{clock(seconds)} passed")
    if done and done < total:
        parts.append(f"about {clock(seconds * (total - done) / done)} left")
    return " · ".join(parts)


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


shown_width: ContextVar[int | None] = ContextVar("shown_width", default=None)
"""Cells of a line of the terminal that shows standard output; None for a file, a pipe or a service.

Only the thread of a command sets it, so the answers of a service never depend on a terminal.
"""


def note_width() -> None:
    """Remember the width of the terminal, if standard output is one."""
    if sys.stdout.isatty():
        shown_width.set(shutil.get_terminal_size().columns)
