"""Checksums of the files of a folder, stored in the same folder: ``checksums.txt``.

::

    CRC-32 in 8 hex digits TAB bytes TAB path in the folder
    …
    CRC-32 of all lines before

Used for files that ArcLink writes once and reads later: graph files (docs/reference/graph-files.md)
and slices.
"""

from collections.abc import Iterable
from pathlib import Path

from isal.isal_zlib import crc32

NAME = "checksums.txt"

_AT_ONCE = 1 << 20
_LAST_LINE = 9
"""Bytes of the last line: 8 digits and a newline."""


def write_sums(folder: Path, paths: Iterable[Path]) -> None:
    """Write the checksums of files in a folder.

    Args:
        folder: Gets the file ``checksums.txt``; an existing one is replaced.
        paths: The files, below the folder.
    """
    lines = "".join(f"{_sum_of(path)}\t{path.relative_to(folder)}\n" for path in sorted(paths))
    partial = folder / f"{NAME}.partial"
    partial.write_text(f"{lines}{crc32(lines.encode()):08x}\n", encoding="utf-8")
    partial.replace(folder / NAME)


def damage_in(folder: Path) -> str | None:
    """Return a description of what differs from a folder's checksums; None if nothing does.

    None also if the folder has no checksums. All files that have a checksum are read. Other files
    of the folder are ignored.

    Raises:
        OSError: A file cannot be read.
    """
    sums = folder / NAME
    if not sums.exists():
        return None
    content = sums.read_bytes()
    lines, last = content[:-_LAST_LINE], content[-_LAST_LINE:]
    if last != f"{crc32(lines):08x}\n".encode():
        return f"{sums} is damaged"
    for line in lines.decode().splitlines():
        *found, name = line.split("\t", 2)
        path = folder / name
        if not path.exists():
            return f"{path} is missing"
        if _sum_of(path) != "\t".join(found):
            return f"{path} is damaged: it fails its checksum in {NAME}"
    return None


def _sum_of(path: Path) -> str:
    """Return checksum and size of a file as the text of its line."""
    value = size = 0
    with path.open("rb") as file:
        while block := file.read(_AT_ONCE):
            value = crc32(block, value)
            size += len(block)
    return f"{value:08x}\t{size}"
