"""Opens plain and gzip files alike; all members of a gzip file are read (a ZipNum CDX has thousands)."""

import gzip
from pathlib import Path
from typing import BinaryIO, cast


def open_members(path: Path) -> BinaryIO:
    """Return a file open for reading its decompressed bytes."""
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path, "rb")) if is_gzip else path.open("rb")
