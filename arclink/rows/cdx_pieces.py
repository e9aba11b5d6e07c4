"""Pieces of CDX files, for tasks that share their lines.

A plain file is read in ranges of bytes: a task reads the lines that begin in its range. A ZipNum
cluster is read in groups of its blocks. A gzip file and an index in a WACZ are one piece.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

import orjson

from arclink.archives.byte_sources import ByteSource, RangeOf, stream_of
from arclink.archives.locations import Location, location_of, split_entry
from arclink.archives.opener import BUFFER, open_bytes
from arclink.errors import InputError
from arclink.rows.cdx import LONGEST_ROW, Layout, is_header
from arclink.rows.cdx_files import (
    HEADER_STARTS,
    ZIPNUM_SUFFIXES,
    find_blocks,
    in_usual_order,
    layout_of,
    read_block,
    read_usual_line_lists,
)
from arclink.rows.lines import bounded_line_lists

PIECE = 64 << 20
"""Approximate bytes of a piece, as stored."""


class CdxPiece(NamedTuple):
    """A piece of a CDX file.

    Attributes:
        path: The file, as the user named it.
        task_address: Path or address at which a task finds the file.
        start: Beginning of the range of bytes in which the lines of the piece begin.
        end: End of that range, not included.
        is_whole: Whether the piece is the whole file, which cannot be read in ranges.
        blocks: Offset and length of each block, for a file of a ZipNum cluster.
        file: Number of the CDX file among those of a build.
        number: Number of the piece in its file.
    """

    path: str
    task_address: str
    start: int
    end: int
    is_whole: bool = False
    blocks: Sequence[tuple[int, int]] = ()
    file: int = 0
    number: int = 0

    @property
    def size(self) -> int:
        """Bytes of the piece, as stored."""
        return sum(length for _, length in self.blocks) or self.end - self.start


def pieces_of(path: Location, prefixes: Sequence[str] = ()) -> list[CdxPiece]:
    """Return the pieces of a CDX file, in the order of its lines.

    Args:
        path: From `arclink.rows.cdx_files.find_cdx`.
        prefixes: See `arclink.rows.cdx_files.read_usual_lines`.

    Raises:
        InputError: The file cannot be read.
    """
    if path.name.lower().endswith(ZIPNUM_SUFFIXES):
        return list(_groups(path, prefixes))
    location = str(path)
    try:
        with closing(open_bytes(location)) as file:
            size = file.size
            is_whole = split_entry(location) is not None or file.read(0, 2) == b"\x1f\x8b"
    except OSError as error:
        raise InputError(f"{location}: cannot be read as a CDX file: {error.strerror}") from error
    if is_whole:
        return [CdxPiece(location, location, 0, size, True)]
    return [
        CdxPiece(location, location, start, min(start + PIECE, size))
        for start in range(0, size, PIECE)
    ]


def _groups(path: Location, prefixes: Sequence[str]) -> Iterator[CdxPiece]:
    """Yield the blocks of a ZipNum cluster, in groups of one file each."""
    location, blocks, filled = "", list[tuple[int, int]](), 0
    for block_location, offset, length in find_blocks(path, prefixes):
        if blocks and (block_location != location or filled >= PIECE):
            yield CdxPiece(location, location, 0, 0, blocks=blocks)
            blocks, filled = [], 0
        location = block_location
        blocks.append((offset, length))
        filled += length
    if blocks:
        yield CdxPiece(location, location, 0, 0, blocks=blocks)


def format_piece(piece: CdxPiece) -> bytes:
    """Return a piece as JSON on one line."""
    return orjson.dumps([*piece])


def parse_piece(line: bytes) -> CdxPiece:
    """Return the piece that `format_piece` wrote."""
    return CdxPiece(*orjson.loads(line))


def read_piece(piece: CdxPiece, names: Mapping[str, str] | None = None) -> Iterator[list[bytes]]:
    """Yield the lines of a piece as lists, the rows in an order of columns that needs no header.

    Args:
        piece: From `pieces_of`.
        names: See `arclink.rows.cdx_files.read_usual_lines`.

    Raises:
        InputError: The file cannot be read, or a header does not name all columns that are needed,
            or a header inside the file names another order than the file's first line.
    """
    try:
        if piece.blocks:
            lists = (read_block(piece.task_address, *block) for block in piece.blocks)
            yield from in_usual_order(lists, location_of(piece.path))
        elif piece.is_whole:
            yield from read_usual_line_lists(location_of(piece.task_address), names=names)
        else:
            yield from _read_range(piece)
    except InputError as error:
        raise InputError(str(error).replace(piece.task_address, piece.path)) from error
    except OSError as error:
        raise InputError(
            f"{piece.path}: cannot be read as a CDX file: {error.strerror or error}"
        ) from error


def _read_range(piece: CdxPiece) -> Iterator[list[bytes]]:
    path = location_of(piece.path)
    with closing(open_bytes(piece.task_address)) as file:
        first = file.read(0, BUFFER).partition(b"\n")[0]
        begin, end = _line_at(file, piece.start), _line_at(file, piece.end)
        is_part = end - begin < file.size
    layout = _layout_at(first, path)
    source = RangeOf(open_bytes(piece.task_address), begin, end - begin)
    with stream_of(source, BUFFER) as lines:
        lists = bounded_line_lists(lines, LONGEST_ROW)
        if is_part:
            lists = _in_one_order(lists, path, layout)
        yield from in_usual_order(lists, path, layout)


def _line_at(file: ByteSource, position: int) -> int:
    """Return the offset of the first line that begins at a position or after it."""
    if not position:
        return 0
    position -= 1
    while block := file.read(position, BUFFER):
        if end := block.find(b"\n") + 1:
            return position + end
        position += len(block)
    return file.size


def _layout_at(line: bytes, path: Location) -> Layout | None:
    """Return the order of columns that a line names, if it is a header; None for a usual one."""
    return layout_of(line, path) if is_header(line) and line.strip() else None


def _in_one_order(
    lists: Iterable[list[bytes]], path: Location, layout: Layout | None
) -> Iterator[list[bytes]]:
    """Yield lines unchanged; raise InputError for a header that the other pieces would not see."""
    for lines in lists:
        for line in lines:
            if (
                line.startswith(HEADER_STARTS)
                and is_header(line)
                and line.strip()
                and layout_of(line, path) != layout
            ):
                raise InputError(
                    f"{path}: a header after its first line names another order of columns: "
                    f"{line[:80]!r}; split the file there, or compress it with gzip"
                )
        yield lines
