"""Lines of large text files, read in bounded memory."""

import io
from collections.abc import Iterator
from typing import BinaryIO

from arclink.archives.locations import Location
from arclink.archives.opener import open_members

_BLOCK = 1 << 18


def bounded_line_lists(file: BinaryIO, longest: int) -> Iterator[list[bytes]]:
    """Yield the lines of a file, newline included, in bounded memory, as one list per block read.

    Each list has at least one line. For large files this is faster than single lines.

    Args:
        file: At its beginning.
        longest: Maximum bytes of a line, without its newline; at least 256 KiB. For a longer line,
            its first ``longest + 1`` bytes and a newline are yielded, so that its length still
            shows that it is too long.
    """
    rest = b""
    while block := file.read(_BLOCK):
        end = block.rfind(b"\n") + 1
        if not end:
            rest += block[: longest + 1 - len(rest)]  # nothing is added once it is too long
            continue
        first = block.find(b"\n") + 1
        line = rest + block[:first]
        lines = [line if len(line) <= longest + 1 else line[: longest + 1] + b"\n"]
        lines += io.BytesIO(block[first:end]).readlines()
        yield lines
        rest = block[end:]
    if rest:
        yield [rest if len(rest) <= longest else rest + b"\n"]


def has_longer_line(path: Location, longest: int) -> bool:
    """Return whether a file has a line of more than ``longest`` bytes, without its newline.

    ``longest`` is at least 256 KiB.
    """
    length = 0
    with open_members(path) as file:
        while block := file.read(_BLOCK):
            first = block.find(b"\n")
            if length + (len(block) if first < 0 else first) > longest:
                return True
            length = length + len(block) if first < 0 else len(block) - block.rfind(b"\n") - 1
    return False
