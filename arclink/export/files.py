"""Files that are there whole or not at all: written beside their place, and moved to it at the end."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from arclink.errors import ExportError


@contextmanager
def written_whole(paths: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """Yield paths to write to instead of ``paths``; at the end of the block they are moved there, the last one last.

    If the block ends with an error nothing of them is left, and what stood there before still does.

    Args:
        paths: Files of one folder, which must be there.

    Raises:
        ExportError: The folder is missing, or one of the paths is a folder.
    """
    folder = paths[0].parent
    if not folder.is_dir():
        raise ExportError(f"no folder {folder} for {paths[0].name}. Make the folder, or name another path.")
    for path in paths:
        if path.is_dir():
            raise ExportError(f"{path} is a folder; an export is a file. Name a file in it.")
    with tempfile.TemporaryDirectory(prefix=f".{paths[0].name}.", dir=folder) as work:
        places = tuple(Path(work, path.name) for path in paths)
        yield places
        for place, path in zip(places, paths, strict=True):
            with place.open("rb") as stream:
                os.fsync(stream.fileno())
            place.replace(path)
