"""Handling of Ctrl-C: one line that says how to continue, and no output of worker processes.

A terminal sends SIGINT to all processes of a command. The process that the user started handles
it and ends its workers; the workers ignore it.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from types import FrameType
from typing import Final

_REPEAT: Final = "Run the same command again."

_HINTS: Final = {
    "build": "Complete batches are stored: run the same command again to continue.",
    "fetch": "Fetched captures are kept: run the same command again to continue.",
    "load": "Nothing of the batch was stored: run the same command again.",
    "forget": (
        "A takedown is complete or has no effect; `arclink forget --list` shows the complete ones. "
        "One that waited is applied by the next batch of the build: run the same command again."
    ),
    "backup": "No backup was written, and an earlier one is unchanged: run the same command again.",
    "restore": "Nothing was restored or replaced: run the same command again.",
    "export": "No file was written, and earlier ones are unchanged: run the same command again.",
    "serve": "",
    "verify": "With --files, the results so far are kept: run the same command again to continue.",
}
"""What happens to a command's work and how to continue, by command."""


def hint_after(arguments: list[str]) -> str:
    """Return how to continue after the command with these arguments was interrupted.

    >>> hint_after(["stats", "--store", "links.db"])
    'Run the same command again.'
    """
    return _HINTS.get(arguments[0], _REPEAT) if arguments else ""


class Terminated(KeyboardInterrupt):
    """The process was asked to end by SIGTERM."""


@contextmanager
def ended_like_interrupts(is_asked: bool) -> Iterator[None]:
    """In the block, let SIGTERM raise `Terminated`, so that files and jobs on engines are removed.

    Args:
        is_asked: Whether it has this effect at all.
    """

    def end_block(number: int, frame: FrameType | None) -> None:
        raise Terminated

    if not is_asked or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end_block)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@cache
def ignore_in_children() -> None:
    """Make all processes that this one forks ignore SIGINT."""
    os.register_at_fork(after_in_child=_ignore)


def _ignore() -> None:
    with suppress(ValueError):  # forked by a thread other than the main one
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        except KeyboardInterrupt:  # a signal arrived between the fork and this line
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def end() -> None:
    """Ignore interrupts at the end of this process, when it only has to close files."""
    _ignore()
