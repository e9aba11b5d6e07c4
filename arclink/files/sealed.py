"""Sealed files: the one format of files that ArcLink keeps and must not read wrongly.

::

    #arclink takedowns 1 TAB checksum        kind of the file, version of the format
    row TAB checksum                         a text on one line, often JSON
    …
    #end ROWS BYTES DATA TAB checksum        number of rows; size and checksum of the data
    data                                     any bytes; in most files, none

The checksum of a row is the CRC-32 (RFC 1952) of the row in 8 hex digits. The last one, after
``#end``, covers everything before it, so a file that was cut between two rows is damaged, too. A
byte after the data is damage.

A *sealed folder* has a sealed file ``checksums.txt`` with a row for each of its files: CRC-32, tab,
size in bytes, tab, path in the folder.

The reader does not know files without checksums: a damaged file must never look like an older one
(`arclink.store.layouts` knows the older ones).
"""

import os
import re
import shutil
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from isal.isal_zlib import crc32

from arclink.closing import Closing
from arclink.errors import InputError, SealError
from arclink.files.atomic import folder_next_to, room_for, write_whole

# List files: text with one value per line.


def lines_of_list(path: Path) -> list[str]:
    """Return the lines of a list file without blank lines and comments (``#``).

    Raises:
        InputError: The file cannot be read as text.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # editors begin it with a mark
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a list: byte {error.start} is not UTF-8") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


SUMS = "checksums.txt"
"""Name of the file with the checksums of a sealed folder."""

_VERSION = 1
_START = b"#arclink "
_END = b"#end "
_FOLDER = "checksums"
_AT_ONCE = 1 << 20
_BLOCK = 1 << 14
"""Bytes of a block of `OpenSealedFile`; a read costs up to two blocks more than it asks for."""
_LONGEST_LINE = 1 << 24
"""Largest number of bytes of a row; a longer line is the data of a damaged file."""


class Sealed(NamedTuple):
    """The contents of a sealed file."""

    rows: list[bytes]
    data: bytes


def seal_rows(kind: str, rows: Iterable[bytes], data: bytes = b"") -> bytes:
    r"""Return the bytes of a sealed file.

    Args:
        kind: A word that names the kind of file.
        rows: Texts without line feeds.
        data: Bytes after the rows.

    >>> seal_rows("example", [b"one"])
    b'#arclink example 1\t0f167c86\none\t7a6c86f1\n#end 1 0 00000000\t7e22adb9\n'
    """
    lines = [_line(f"{kind} {_VERSION}".encode(), _START)]
    lines += map(_line, rows)
    content = b"".join(lines)
    end = b"%s%d %d %08x" % (_END, len(lines) - 1, len(data), crc32(data))
    return content + b"%s\t%08x\n" % (end, crc32(end, crc32(content))) + data


def write_sealed(path: Path, kind: str, rows: Iterable[bytes], data: bytes = b"") -> None:
    """Write a sealed file, or leave the existing one unchanged.

    Raises:
        OperatorError: It cannot be written.
    """
    write_whole(path, seal_rows(kind, rows, data))


def read_sealed(path: Path, kind: str) -> Sealed:
    """Return the contents of a sealed file.

    Raises:
        SealError: It is damaged, is missing, or is not a file of this kind.
    """
    return _read(path, kind, has_data=True)


def read_rows(path: Path, kind: str) -> list[bytes]:
    """Return the rows of a sealed file, without reading its data; only their size is checked.

    Raises:
        SealError: See `read_sealed`.
    """
    return _read(path, kind, has_data=False).rows


def is_sealed(path: Path) -> bool:
    """Return whether a file begins as sealed files do.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return file.read(len(_START)) == _START


def seal_folder(folder: Path, paths: Iterable[Path]) -> None:
    """Write the checksums of files of a folder; existing checksums are replaced.

    Args:
        folder: The folder.
        paths: The files, below the folder.

    Raises:
        OperatorError: The checksums cannot be written.
    """
    rows = [b"%s\t%s" % (_sum_of(path), _name(folder, path)) for path in sorted(paths)]
    write_sealed(folder / SUMS, _FOLDER, rows)


def check_folder(folder: Path) -> list[Path]:
    """Check the files of a sealed folder, and return their paths.

    All files that have a checksum are read. Other files of the folder are ignored.

    Raises:
        SealError: A file is damaged or missing, or the folder is not sealed.
    """
    paths = []
    for path, seal in _seals_of(folder):
        try:
            found = _sum_of(path)
        except OSError as error:
            raise _unreadable(path, error) from error
        if found != seal:
            raise _damaged(path)
        paths.append(path)
    return paths


def is_whole(folder: Path) -> bool:
    """Return whether a sealed folder is there and undamaged; a damaged one is removed.

    For folders that ArcLink can make again (`make_sealed`).
    """
    if not folder.exists():
        return False
    try:
        check_folder(folder)
    except SealError:
        shutil.rmtree(folder, ignore_errors=True)
        return False
    return True


class OpenSealedFile(Closing):
    """An open file of a sealed folder, of which no byte is read without a checksum.

    The whole file is read and checked when it is opened. Its blocks get checksums then, in memory:
    so what changes in the file later is found by the read that meets it. The file may be replaced
    or removed meanwhile. Any thread may read.

    Args:
        path: The file.

    Attributes:
        size: Bytes of the file.

    Raises:
        SealError: It is damaged or missing, or its folder is not sealed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        seal = dict(_seals_of(path.parent)).get(path)
        if seal is None:
            raise SealError(path, f"has no checksum in {SUMS}")
        self._blocks = array("I")
        value = self.size = 0
        try:
            self._file = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise _unreadable(path, error) from error
        try:
            while data := self._stored(self.size, _AT_ONCE):
                value = crc32(data, value)
                self._blocks.extend(_sums_of_blocks(data))
                self.size += len(data)
            if seal != _sum_in_form(value, self.size):
                raise _damaged(path)
        except BaseException:
            self.close()
            raise

    def read(self, start: int, length: int) -> bytes:
        """Return bytes of the file; fewer at its end.

        Raises:
            SealError: The blocks that they are in have changed since the file was opened, or cannot
                be read.
        """
        first = start // _BLOCK
        end = min(start + length, self.size)
        last = -(-end // _BLOCK)
        if first >= last:
            return b""
        data = self._stored(first * _BLOCK, (last - first) * _BLOCK)
        if array("I", _sums_of_blocks(data)) != self._blocks[first:last]:
            raise _damaged(self._path)
        return data[start - first * _BLOCK : end - first * _BLOCK]

    def _stored(self, start: int, length: int) -> bytes:
        """Return bytes that are on the disk now, fewer only at the end of the file."""
        data = b""
        try:
            while len(data) < length:
                more = os.pread(self._file, length - len(data), start + len(data))
                if not more:
                    break
                data = data + more if data else more
        except OSError as error:
            raise _unreadable(self._path, error) from error
        return data

    def close(self) -> None:
        os.close(self._file)


def make_sealed(folder: Path, make: Callable[[Path], object]) -> None:
    """Make a sealed folder: all of it, or nothing.

    Args:
        folder: The folder, which does not exist yet. Its parents are made if they are missing.
        make: Called with a path for a new folder in which to write the files.

    Raises:
        OperatorError: It cannot be written.
    """
    parent = folder.parent
    with room_for(parent):
        parent.mkdir(parents=True, exist_ok=True)
        with folder_next_to(parent / "made") as work:
            made = work / folder.name
            make(made)
            seal_folder(made, [path for path in made.rglob("*") if path.is_file()])
            try:
                made.rename(folder)
            except OSError:
                if not folder.is_dir():  # otherwise another process made the same
                    raise


def problems_in(path: Path) -> Iterator[SealError]:
    """Yield what is wrong with a file or folder of files that ArcLink keeps next to a store.

    Hidden folders, which a process is writing, and stores (``.db``) are skipped.
    """
    if path.is_dir():
        if (path / SUMS).exists():
            yield from _problems_of_sealed_folder(path)
        else:
            for entry in sorted(path.iterdir()):
                if not entry.name.startswith(".") and ".db" not in entry.name:
                    yield from problems_in(entry)
    elif path.exists():
        try:
            _read(path, None, has_data=True)
        except SealError as error:
            yield error


def _problems_of_sealed_folder(folder: Path) -> Iterator[SealError]:
    try:
        known = {folder / SUMS, *check_folder(folder)}
    except SealError as error:
        yield error
        return
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path not in known:
            yield SealError(path, f"has no checksum in {SUMS}")


def _line(row: bytes, before: bytes = b"") -> bytes:
    line = before + row
    if b"\n" in row or (not before and row.startswith((_START, _END))):
        raise ValueError(f"not a row of a sealed file: {row[:80]!r}")
    return b"%s\t%08x\n" % (line, crc32(line))


def _name(folder: Path, path: Path) -> bytes:
    return str(path.relative_to(folder)).encode("utf-8", "surrogateescape")


def _seals_of(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the files of a sealed folder, each with the checksum and the size that it should have.

    Raises:
        SealError: The folder is not sealed.
    """
    for row in read_rows(folder / SUMS, _FOLDER):
        *seal, name = row.split(b"\t", 2)
        yield folder / name.decode("utf-8", "surrogateescape"), b"\t".join(seal)


def _sums_of_blocks(data: bytes) -> Iterator[int]:
    view = memoryview(data)
    return (crc32(view[start : start + _BLOCK]) for start in range(0, len(data), _BLOCK))


def _damaged(path: Path) -> SealError:
    return SealError(path, f"is damaged: it fails its checksum in {SUMS}")


def _sum_in_form(value: int, size: int) -> bytes:
    return b"%08x\t%d" % (value, size)


def _sum_of(path: Path) -> bytes:
    """Return checksum and size of a file in the form of its row."""
    value = size = 0
    with path.open("rb") as file:
        while block := file.read(_AT_ONCE):
            value = crc32(block, value)
            size += len(block)
    return _sum_in_form(value, size)


def _unreadable(path: Path, error: OSError) -> SealError:
    if isinstance(error, FileNotFoundError):
        return SealError(path, "is missing", is_missing=True)
    return SealError(path, f"cannot be read: {error.strerror or error}")


def _read(path: Path, kind: str | None, *, has_data: bool) -> Sealed:
    try:
        with path.open("rb") as file:
            return _parse(path, file, kind, has_data=has_data)
    except OSError as error:
        raise _unreadable(path, error) from error


def _parse(path: Path, file: BinaryIO, kind: str | None, *, has_data: bool) -> Sealed:
    head = file.readline(_LONGEST_LINE)
    if not head:
        raise SealError(path, "is damaged: it is empty")
    if not head.startswith(_START):
        raise SealError(path, "is damaged: it does not begin as ArcLink begins its files")
    start = _row_of(path, 1, head)
    match = _HEAD.fullmatch(start)
    if match is None or int(match[2]) != _VERSION:
        raise SealError(path, f"has a format that this ArcLink does not know: {start.decode()!r}")
    if kind is not None and match[1] != kind.encode():
        raise SealError(path, f"is a file of another kind: {match[1].decode()!r}, not {kind!r}")
    crc = crc32(head)
    rows: list[bytes] = []
    while not (line := file.readline(_LONGEST_LINE)).startswith(_END):
        if not line:
            raise SealError(path, f"is damaged: it is cut short after line {len(rows) + 1}")
        rows.append(_row_of(path, len(rows) + 2, line))
        crc = crc32(line, crc)
    end = _TAIL.fullmatch(line)
    if end is None or int(end[5], 16) != crc32(end[1], crc) or int(end[2]) != len(rows):
        raise SealError(path, f"is damaged: its end, line {len(rows) + 2}, fails its checksum")
    if os.fstat(file.fileno()).st_size - file.tell() != int(end[3]):
        raise SealError(path, f"is damaged: its data have not {int(end[3]):,} bytes")
    data = file.read() if has_data else b""
    if has_data and crc32(data) != int(end[4], 16):
        raise SealError(path, f"is damaged: its {int(end[3]):,} bytes of data fail their checksum")
    return Sealed(rows, data)


_HEAD = re.compile(rb"#arclink ([a-z-]+) ([0-9]+)")
_TAIL = re.compile(rb"(#end ([0-9]+) ([0-9]+) ([0-9a-f]{8}))\t([0-9a-f]{8})\n")


def _row_of(path: Path, number: int, line: bytes) -> bytes:
    row, _, checksum = line.rpartition(b"\t")
    if checksum != b"%08x\n" % crc32(row):
        raise SealError(path, f"is damaged: line {number} fails its checksum")
    return row
