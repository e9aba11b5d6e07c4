"""The width of the terminal that shows the output of a command."""

import shutil
import sys
from contextvars import ContextVar

shown_width: ContextVar[int | None] = ContextVar("shown_width", default=None)
"""Cells of a line of the terminal that shows standard output; None for a file, a pipe or a service.

Only the thread of a command sets it, so the answers of a service never depend on a terminal.
"""


def note_width() -> None:
    """Remember the width of the terminal, if standard output is one."""
    if sys.stdout.isatty():
        shown_width.set(shutil.get_terminal_size().columns)
