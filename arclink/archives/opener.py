"""Opening files for reading: `open_bytes` by offset, `open_stream` from the beginning."""

import gzip
from typing import BinaryIO, cast

from arclink.archives.byte_sources import stream_of
from arclink.archives.locations import Location, split_entry
from arclink.archives.wacz import ZIP_DAMAGE, open_bytes, open_entry

__all__ = ["BUFFER", "DAMAGE", "open_bytes", "open_members", "open_stream"]

BUFFER = 256 << 10
"""Bytes that a stream reads in one step."""

DAMAGE = ZIP_DAMAGE
"""Errors of opening and reading a stream of this module if its file is damaged or cannot be read.

A stream may be an entry of a WACZ, so these are the errors of `zipfile`. They include all those of
`gzip`.
"""


def open_stream(location: str) -> BinaryIO:
    """Return a file, open for reading from its beginning; an entry of a WACZ may be compressed.

    Raises:
        OSError: There is no such file, or it cannot be read.
        InputError: Its WACZ is not a WACZ.
    """
    entry = split_entry(location)
    if entry is None:
        return stream_of(open_bytes(location), BUFFER)
    return open_entry(*entry)


def open_members(path: Location) -> BinaryIO:
    """Return a plain or gzip file, open for reading its decompressed bytes.

    All members of a gzip file are read: a ZipNum CDX has thousands. Errors of opening and reading
    are those of `DAMAGE`.
    """
    with open_stream(str(path)) as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    stream = open_stream(str(path))
    return cast(BinaryIO, gzip.open(stream, "rb")) if is_gzip else stream
