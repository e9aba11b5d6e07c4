"""Opening files for reading: `open_bytes` by offset, `open_stream` from the beginning.

A file inside a WACZ is a range of the WACZ, because a WACZ stores archive files uncompressed.
"""

import gzip
from typing import BinaryIO, cast

from arclink.archives.byte_sources import ByteSource, RangeOf, open_file, stream_of
from arclink.archives.locations import Location, split_entry
from arclink.archives.wacz import ZIP_DAMAGE, find_entry, open_entry

BUFFER = 256 << 10
"""Bytes that a stream reads in one step."""

DAMAGE = ZIP_DAMAGE
"""Errors of opening and reading a stream of this module if its file is damaged or cannot be read.

A stream may be an entry of a WACZ, so these are the errors of `zipfile`. They include all those of
`gzip`.
"""


def open_bytes(place: str) -> ByteSource:
    """Return a file, open for reading by offset.

    Args:
        place: A path, the address of a remote file, or an entry of a WACZ
            (`arclink.archives.locations`).

    Raises:
        OSError: There is no such file, or it cannot be read.
        InputError: It is an entry that cannot be read by offset, its WACZ is not a WACZ, or there
            is no driver for its scheme.
    """
    entry = split_entry(place)
    if entry is None:
        return open_file(place)
    wacz, name = entry
    found = find_entry(wacz, name)
    return RangeOf(open_file(wacz), found.start, found.size)


def open_stream(place: str) -> BinaryIO:
    """Return a file, open for reading from its beginning; an entry of a WACZ may be compressed.

    Raises:
        OSError: There is no such file, or it cannot be read.
        InputError: Its WACZ is not a WACZ.
    """
    entry = split_entry(place)
    if entry is None:
        return stream_of(open_bytes(place), BUFFER)
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
