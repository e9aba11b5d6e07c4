"""Opens plain and gzip files alike; all members of a gzip file are read (a ZipNum CDX has thousands)."""

import gzip
from typing import BinaryIO, cast

from arclink.files.opening import open_stream
from arclink.files.places import Location


def open_members(path: Location) -> BinaryIO:
    """Return a file open for reading its decompressed bytes."""
    with open_stream(str(path)) as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    stream = open_stream(str(path))
    return cast(BinaryIO, gzip.open(stream, "rb")) if is_gzip else stream
