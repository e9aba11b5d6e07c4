"""WACZ: a zip file with archive files in ``archive/`` and their indexes in ``indexes/``.

A WACZ stores archive files without compression, so that they can be read by range (Web Archive
Collection Zipped 1.1.1). ArcLink reads a record at its offset in the WACZ and unpacks nothing.
Indexes may be compressed; they are read from the beginning. A WACZ of a whole collection may have
the WACZ files of its crawls as entries, also without compression; ArcLink reads these, one level
deep.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from lzma import LZMAError
from typing import BinaryIO, cast

import orjson

from arclink.archives.byte_sources import ByteSource, RangeOf, open_file, stream_of
from arclink.archives.locations import (
    ARCHIVE_SUFFIXES,
    CDX_SUFFIXES,
    WACZ_SUFFIX,
    entry_of,
    is_wacz,
    scheme_of,
    split_entry,
    split_file,
)
from arclink.errors import InputError, MissingFileError, unreadable

ARCHIVE_FOLDER = "archive/"
INDEX_FOLDER = "indexes/"

_LOCAL_HEADER = 30
_LOCAL_MAGIC = b"PK\x03\x04"
_ENCRYPTED = 1
_MOST_BYTES = 1 << 62
_MOST_DESCRIPTION = 64 << 20
_BUFFER = 64 << 10

ZIP_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    LZMAError,
)
"""Errors of `zipfile` for a damaged file: also names that are not UTF-8, other versions of zip,
offsets past any end, and methods of compression that need a password or a module.
"""


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """The range of an entry's bytes in the zip file."""

    start: int
    size: int


def archives_in(wacz: str) -> list[str]:
    """Return the names of the archive files in a WACZ and in the WACZ files in it, sorted.

    A WACZ in it that cannot be used has its own name instead: calling this function for it says
    what is wrong.

    Raises:
        InputError: The file is not a zip file, or has no archive file, or is a second level.
    """
    found = _names(wacz, ARCHIVE_FOLDER, ARCHIVE_SUFFIXES)
    for inner in _waczs_in(wacz):
        try:
            found += [entry_of(inner, name) for name in archives_in(entry_of(wacz, inner))]
        except InputError:
            found.append(inner)
    if not found:
        raise InputError(
            f"{wacz} has no archive file: no entry is named {ARCHIVE_FOLDER}….warc.gz; leave "
            "it out of the input"
        )
    return sorted(found)


def indexes_in(wacz: str) -> list[str]:
    """Return the names of the CDX and CDXJ files in a WACZ and in the WACZ files in it, sorted.

    May be empty. A WACZ in it that cannot be used is skipped.

    Raises:
        InputError: The file is not a zip file, or is a second level.
    """
    found = _names(wacz, INDEX_FOLDER, CDX_SUFFIXES)
    for inner in _waczs_in(wacz):
        with suppress(InputError):
            found += [entry_of(inner, name) for name in indexes_in(entry_of(wacz, inner))]
    return sorted(found)


def _waczs_in(wacz: str) -> list[str]:
    """Return the names of the WACZ files in a WACZ, which is not in one itself if it has any."""
    found = _names(wacz, "", (WACZ_SUFFIX,))
    if found and split_entry(wacz):
        raise InputError(
            f"{wacz} has WACZ files in it, but only one level of them is read; unpack the outer "
            "file, and give the files in it"
        )
    return found


def find_entry(wacz: str, name: str) -> ZipEntry:
    """Return the range of an uncompressed entry.

    Raises:
        MissingFileError: There is no such entry, or no such WACZ.
        InputError: The entry is compressed or encrypted, or the file is not a zip file.
    """
    with _open(wacz) as file, _zip(wacz, file) as zipped:
        info = _info(wacz, zipped, name)
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & _ENCRYPTED:
            what = "WACZ" if is_wacz(name) else "archive"
            how = "encrypted" if info.flag_bits & _ENCRYPTED else "compressed once more"
            raise InputError(
                f"{wacz}: {name} is {how} in it, but a WACZ must store {what} files "
                "uncompressed; pack it again (zip -0)"
            )
        header = b""
        # Negative if the directory is before its declared offset; too large for a file if damaged.
        if 0 <= info.header_offset < _MOST_BYTES:
            file.seek(info.header_offset)
            header = file.read(_LOCAL_HEADER)
        if header[:4] != _LOCAL_MAGIC or len(header) < _LOCAL_HEADER:
            raise InputError(
                f"{wacz}: damaged: no entry begins at byte {info.header_offset}, where "
                f"{name} should; fetch it again"
            )
        names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        return ZipEntry(info.header_offset + _LOCAL_HEADER + names, info.file_size)


def open_entry(wacz: str, name: str) -> BinaryIO:
    """Return an entry, compressed or not, open for reading from its beginning.

    Raises:
        InputError: There is no such entry, or the file is not a zip file.
    """
    zipped = _zip(wacz, _open(wacz))
    try:
        return cast(BinaryIO, zipped.open(_info(wacz, zipped, name)))
    except ZIP_DAMAGE as error:
        raise InputError(f"{wacz}: {name} cannot be read: {error}") from error


def described(wacz: str) -> tuple[str, str]:
    """Return the title and the description of a collection; empty if its maker gave none.

    Source: Web Archive Collection Zipped 1.1.1, 5.1 (``datapackage.json``); before 1.1, writers had
    both in its object ``metadata``. For a file that cannot be read, both are empty: the reader of
    its archive files reports the error.
    """
    with suppress(*ZIP_DAMAGE, InputError, orjson.JSONDecodeError):
        with open_entry(wacz, "datapackage.json") as file:
            fields = orjson.loads(file.read(_MOST_DESCRIPTION))
        named = fields if isinstance(fields, dict) else {}
        earlier = named.get("metadata")
        named = {**(earlier if isinstance(earlier, dict) else {}), **named}
        found = [named.get(name) for name in ("title", "description")]
        title, description = (one if isinstance(one, str) else "" for one in found)
        return title.strip(), description.strip()
    return "", ""


def described_together(locations: Iterable[str]) -> tuple[str, str]:
    """Return the title and description of the local WACZ that all files are in, or are.

    What is missing is an empty text. Both are empty if there are other files, too.
    """
    found: set[str] = set()
    for location in locations:
        wacz, _ = split_file(location) or (location, "")
        found.add(wacz)
        if len(found) > 1 or not is_wacz(wacz) or scheme_of(wacz):
            return "", ""
    return described(*found) if found else ("", "")


def _names(wacz: str, folder: str, suffixes: tuple[str, ...]) -> list[str]:
    with _open(wacz) as file, _zip(wacz, file) as zipped:
        return [
            name
            for name in zipped.namelist()
            if name.startswith(folder) and name.lower().endswith(suffixes)
        ]


def open_bytes(location: str) -> ByteSource:
    """Return a file, open for reading by offset.

    A file inside a WACZ is a range of the WACZ, because a WACZ stores archive files uncompressed.

    Args:
        location: A path, the address of a remote file, or an entry of a WACZ
            (`arclink.archives.locations`).

    Raises:
        OSError: There is no such file, or it cannot be read.
        InputError: It is an entry that cannot be read by offset, its WACZ is not a WACZ, or there
            is no driver for its scheme.
    """
    entry = split_entry(location)
    if entry is None:
        return open_file(location)
    wacz, name = entry
    found = find_entry(wacz, name)
    return RangeOf(open_bytes(wacz), found.start, found.size)


def _info(wacz: str, zipped: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    try:
        return zipped.getinfo(name)
    except KeyError as error:
        raise MissingFileError(f"{wacz}: it has no {name}") from error


def _open(wacz: str) -> BinaryIO:
    try:
        return stream_of(open_bytes(wacz), _BUFFER)
    except OSError as error:
        raise unreadable(f"{wacz}: cannot be read: {error.strerror}", error) from error


def _zip(wacz: str, file: BinaryIO) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except ZIP_DAMAGE as error:
        raise InputError(
            f"{wacz} is not a WACZ: {error}; leave it out of the input, or fetch it again if "
            "it was truncated"
        ) from error
