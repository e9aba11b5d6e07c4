"""The files of the repository below a folder."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def files_below(folder: Path, *patterns: str) -> list[Path]:
    """Return the files whose paths match one of the patterns, sorted.

    Unlike `Path.rglob` of Python 3.11, it enters links to folders, such as ``arclink/jobs``.
    """
    paths = (
        Path(where, name) for where, _, names in os.walk(folder, followlinks=True) for name in names
    )
    return sorted(path for path in paths if any(map(path.match, patterns)))
