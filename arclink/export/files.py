"""Export files that are written completely or not at all, with `ExportError` as their error.

The work is done by `arclink.files.atomic`.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from arclink.errors import ExportError
from arclink.files import atomic


def written_whole(paths: Sequence[Path]) -> AbstractContextManager[tuple[Path, ...]]:
    """Return a context with temporary paths to write to; at its end they are moved to ``paths``.

    If the block ends with an error, existing files stay unchanged.

    Args:
        paths: Files in one folder, which must exist.

    Raises:
        ExportError: The folder is missing, one of the paths is a folder, or the disk is full.
    """
    return atomic.written_whole(paths, ExportError)
