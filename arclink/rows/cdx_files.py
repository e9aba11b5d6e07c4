"""The sources of CDX rows: files, WACZ, pywb collections and ZipNum clusters.

Lines come out in a usual order of columns, so that no reader needs a header. A pywb collection is a
folder with ``archive/`` and ``indexes/``. A ZipNum cluster is a CDX split into gzip blocks of about
3,000 lines, in files next to an index (``….idx``) of the first key of each block. With a SURT
prefix, only the blocks that may hold it are read. If there is a ``.loc`` next to the index, it says
where the block files are.
"""

import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, pairwise
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, NamedTuple

import orjson

from arclink.archives.byte_sources import ByteSource, RangeOf, special_kind, stream_of
from arclink.archives.locations import (
    CDX_SUFFIXES,
    Location,
    RemotePath,
    entry_of,
    is_wacz,
    location_of,
    scheme_of,
    short_name,
    split_entry,
)
from arclink.archives.opener import BUFFER, DAMAGE, open_bytes, open_members
from arclink.archives.wacz import ARCHIVE_FOLDER, indexes_in
from arclink.errors import CdxError, InputError, UsageError
from arclink.rows.cdx import (
    BOM,
    LAYOUTS,
    LONGEST_ROW,
    Layout,
    is_header,
    parse_header,
    span_of_file,
)

# Lines of large text files, read in bounded memory.

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


def _has_longer_line(path: Location, longest: int) -> bool:
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


# Conversion of CDX lines: to the usual order of columns, and to other names of archive files.
#
# A header line names the columns of the lines after it. Tasks read a CDX in pieces, and only one
# piece would have the header. So lines in another order are rewritten before they are shared out.

USUAL = LAYOUTS[11]

_USUAL_HEADER = b" CDX " + " ".join(USUAL).encode()

_OTHER_LETTER = {"V": "v"}
"""In a file that is not compressed both offsets are equal; `parse_header` keeps one of them."""


def usual_row(line: bytes, layout: Layout) -> bytes:
    """Return a CDX row with its columns in the usual order of 11, without line end.

    Columns that ``layout`` does not have are ``-``. A line with another number of columns has no
    meaning. It is returned as one column, so that it is counted as malformed.

    >>> usual_row(b"http://h/ 2014 5 f.warc.gz text/html", ("a", "b", "V", "g", "m"))
    b'- 2014 http://h/ text/html - - - - - 5 f.warc.gz'
    """
    columns = line.split()
    if len(columns) != len(layout):
        return b",".join(columns)
    named = dict(zip(layout, columns, strict=True))
    return b" ".join(
        [named.get(letter) or named.get(_OTHER_LETTER.get(letter, ""), b"-") for letter in USUAL]
    )


def with_file(line: bytes, rename: Callable[[str], str]) -> bytes:
    """Return a CDX or CDXJ row with a new name for its archive file, without line end.

    A line that is not a row is returned unchanged.

    >>> with_file(b'org,h)/ 2014 {"filename": "f"}', "a/{}".format)
    b'org,h)/ 2014 {"filename":"a/f"}'
    """
    line = line.rstrip(b"\r\n")
    start = line.find(b"{")
    if start < 0:
        span = span_of_file(line)
        if span is None:
            return line
        begin, end = span
        return (
            line[:begin] + rename(line[begin:end].decode("utf-8", "replace")).encode() + line[end:]
        )
    try:
        fields = orjson.loads(line[start:])
    except orjson.JSONDecodeError:
        return line
    for alias in ("filename", "file"):
        if isinstance(fields.get(alias), str):
            fields[alias] = rename(fields[alias])
    return line[:start] + orjson.dumps(fields)


_ZIPNUM_SUFFIXES = (".idx", ".summary")

_HEADER_STARTS = (b" ", b"CDX ", b"!", BOM)
_FIRST_OF_HEADERS = frozenset(start[0] for start in _HEADER_STARTS)
_first_byte = itemgetter(0)

_PYWB_INDEXES = "indexes"


def find_cdx(texts: Iterable[str]) -> list[Location]:
    """Return the CDX files that ``texts`` name, in their order, each once; a folder's are sorted.

    Args:
        texts: CDX or CDXJ files, plain or gzip; indexes of ZipNum clusters; WACZ files; all of them
            local or remote (``https://…``); folders with these files in them or in their
            ``indexes`` (pywb collections).

    Raises:
        UsageError: There is no such file.
        InputError: The folder or WACZ has no CDX.
    """
    found: dict[Location, None] = {}
    for text in texts:
        found.update(
            dict.fromkeys(
                _expand_remote(text)
                if scheme_of(text)
                else _expand(Path(text.removeprefix("file://")).expanduser())
            )
        )
    return list(found)


def _expand_remote(url: str) -> Iterator[Location]:
    if is_wacz(RemotePath(url).name):
        yield from (RemotePath(entry_of(url, index)) for index in _indexes(url))
    else:
        yield RemotePath(url)


def _expand(path: Path) -> Iterator[Location]:
    if path.is_dir():
        folder = path / _PYWB_INDEXES if (path / _PYWB_INDEXES).is_dir() else path
        files = sorted(folder.iterdir())
        # If the folder has whole files, an index of their blocks adds nothing.
        chosen = [file for file in files if file.name.lower().endswith(CDX_SUFFIXES)] or [
            file for file in files if file.name.lower().endswith(_ZIPNUM_SUFFIXES)
        ]
        if not chosen:
            raise InputError(
                f"{path}: no CDX in this folder (expected names: "
                f"{', '.join((*CDX_SUFFIXES, *_ZIPNUM_SUFFIXES))})"
            )
        yield from (file.resolve() for file in chosen)
    elif (kind := special_kind(path)) is not None:
        raise UsageError(
            f"{path}: it is a {kind}, and a CDX is read more than once; write it to a file first"
        )
    elif not path.is_file():
        raise UsageError(
            f"{path}: no such file; name a CDX or CDXJ file, the index of a ZipNum cluster, "
            "a WACZ or a folder of these"
        )
    elif is_wacz(path.name):
        where = str(path.resolve())
        yield from (Path(entry_of(where, index)) for index in _indexes(where))
    else:
        yield path.resolve()


def _indexes(wacz: str) -> list[str]:
    if not (indexes := indexes_in(wacz)):
        raise InputError(
            f"{wacz}: this WACZ has no CDX; leave it out, and ArcLink indexes its archive files"
        )
    return indexes


def read_usual_lines(
    path: Location, prefixes: Sequence[str] = (), names: Mapping[str, str] | None = None
) -> Iterator[bytes]:
    """Yield the lines of a CDX file, its rows in an order of columns that needs no header.

    Args:
        path: From `find_cdx`.
        prefixes: For a ZipNum cluster, only blocks that may hold keys with these prefixes; if
            empty, all blocks.
        names: Names of archive files inside a WACZ, by their path; a file that is missing here is
            named by the WACZ's name and the entry's name.

    Raises:
        InputError: The file cannot be read, or a header does not name all columns that are needed.
    """
    return chain.from_iterable(read_usual_line_lists(path, prefixes, names))


def read_usual_line_lists(
    path: Location, prefixes: Sequence[str] = (), names: Mapping[str, str] | None = None
) -> Iterator[list[bytes]]:
    """Yield the lines of `read_usual_lines` as lists, one for each block that was read.

    For large files this is faster than single lines.
    """
    lists = (
        _read_cluster(path, prefixes)
        if path.name.lower().endswith(_ZIPNUM_SUFFIXES)
        else _read_line_lists(path)
    )
    entry = split_entry(str(path))
    if entry is not None:
        lists = _named_within(lists, entry[0], names or {})
    return _in_usual_order(lists, path)


def is_usual(path: Location) -> bool:
    """Return whether a file can be read unchanged, also in pieces.

    This holds for a local file whose rows are in a usual order and are not too long.
    """
    if (
        isinstance(path, RemotePath)
        or path.name.lower().endswith(_ZIPNUM_SUFFIXES)
        or split_entry(str(path))
    ):
        return False
    first = next(iter(read_lines(path)), b"")
    if is_header(first) and first.strip() and layout_of(first, path) is not None:
        return False
    return not _has_longer_line(path, LONGEST_ROW)


def usual_files(
    paths: Iterable[Location], folder: Path, prefixes: Sequence[str] = ()
) -> list[Path]:
    """Return files that hold the lines of CDX files in a usual order.

    They are the files themselves, or copies in ``folder``.

    Raises:
        InputError: As `read_usual_lines`.
    """
    usual = []
    for number, path in enumerate(paths):
        if isinstance(path, Path) and is_usual(path):
            usual.append(path)
            continue
        folder.mkdir(parents=True, exist_ok=True)
        usual.append(folder / f"part-{number:05d}.cdx")
        with usual[-1].open("wb") as copy:
            copy.writelines(line.rstrip(b"\n") + b"\n" for line in read_usual_lines(path, prefixes))
    return usual


def read_lines(path: Location) -> Iterator[bytes]:
    """Yield the lines of a plain or gzip file, newline included, in bounded memory.

    For a line longer than `LONGEST_ROW`, only its beginning is yielded.

    Raises:
        InputError: The file cannot be read.
    """
    return chain.from_iterable(_read_line_lists(path))


def _read_line_lists(path: Location) -> Iterator[list[bytes]]:
    """Yield the lines of `read_lines` as lists, one for each block that was read."""
    try:
        with open_members(path) as file:
            yield from bounded_line_lists(file, LONGEST_ROW)
    except DAMAGE as error:
        raise InputError(
            f"{path}: cannot be read as a CDX file: {error}; repair it or fetch it again, or "
            "leave it out: ArcLink indexes archive files without rows"
        ) from error


def _in_usual_order(
    lists: Iterable[list[bytes]], path: Location, layout: Layout | None = None
) -> Iterator[list[bytes]]:
    """Yield the lines of a CDX file, its rows in an order of columns that needs no header.

    Args:
        lists: The lines.
        path: The file, for errors.
        layout: Order of the columns until a header names another one; None for a usual one.

    Raises:
        InputError: A header does not name all columns that are needed.
    """
    for lines in lists:
        if layout is None and _FIRST_OF_HEADERS.isdisjoint(map(_first_byte, lines)):
            yield lines
            continue
        usual = []
        for line in lines:
            if line.startswith(_HEADER_STARTS) and is_header(line) and line.strip():
                layout = layout_of(line, path)
                usual.append(_USUAL_HEADER if layout else line)
            elif layout is None or len(line) > LONGEST_ROW or b"{" in line or is_header(line):
                usual.append(line)
            else:
                usual.append(usual_row(line, layout))
        yield usual


def layout_of(header: bytes, path: Location) -> Layout | None:
    """Return the order of columns that a header names, None for a usual one.

    Raises:
        InputError: The header lacks a column that ArcLink needs.
    """
    try:
        return parse_header(header)
    except CdxError as error:
        text = header.decode(errors="replace").strip()
        raise InputError(
            f"{path}: {error.detail}; its header is {text!r}. It must have b (timestamp), a "
            "(URI), V (offset) and g (file), each once"
        ) from error


def _named_within(
    lists: Iterable[list[bytes]], wacz: str, names: Mapping[str, str]
) -> Iterator[list[bytes]]:
    """Yield the rows of an index inside a WACZ, with ArcLink's names of its archive files."""

    def rename(name: str) -> str:
        entry = entry_of(wacz, name if name.startswith(ARCHIVE_FOLDER) else ARCHIVE_FOLDER + name)
        return names.get(entry, short_name(entry))

    for lines in lists:
        yield [line if is_header(line) else with_file(line, rename) for line in lines]


# ZipNum


Block = tuple[bytes, str, int, int]
"""First key, file, offset, length of a block."""


def _read_cluster(path: Location, prefixes: Sequence[str]) -> Iterator[list[bytes]]:
    """Yield the lines of a ZipNum cluster, one list for each block."""
    return (_read_block(*block) for block in _find_blocks(path, prefixes))


def _find_blocks(path: Location, prefixes: Sequence[str] = ()) -> Iterator[tuple[str, int, int]]:
    """Yield path, offset and length of each block of a ZipNum cluster, in the order of its index.

    Arguments and errors are those of `read_usual_lines`.
    """
    folder = str(path).rpartition("/")[0]
    locations = _locations(path)
    wanted = [prefix.encode() for prefix in prefixes]
    for block, following in pairwise(chain(_blocks(path), [None])):
        if block is not None and (
            not wanted or _may_hold(block[0], following[0] if following else None, wanted)
        ):
            _, name, offset, length = block
            yield _find_part(folder, name, locations), offset, length


def _blocks(index: Location) -> Iterator[Block]:
    """Yield the blocks that an index names.

    Its lines are ``key timestamp TAB file TAB offset TAB length``, or in a WACZ ``key timestamp
    {"offset": …, "length": …}`` with the file's name in the first line, ``!meta 0 {"filename":
    …}``.
    """
    file = ""
    for number, line in enumerate(read_lines(index), 1):
        try:
            if line.startswith(b"!"):
                file = orjson.loads(line[line.index(b"{") :])["filename"]
            elif b"\t" in line:
                key, name, offset, length, *_ = line.rstrip(b"\r\n").split(b"\t")
                yield key, name.decode(), int(offset), int(length)
            elif line.strip():
                start = line.index(b"{")
                fields = orjson.loads(line[start:])
                yield (
                    line[:start].rstrip(),
                    fields.get("filename") or file,
                    int(fields["offset"]),
                    int(fields["length"]),
                )
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{index}, line {number}: is not the entry of a ZipNum block: "
                f"{line[:200]!r}; it must be the cluster's index"
            ) from error


def _may_hold(first: bytes, following: bytes | None, prefixes: Sequence[bytes]) -> bool:
    """Return whether a block may hold a key with one of the prefixes.

    The block begins with the key ``first`` and ends before the key ``following``. If keys are not
    SURTs (``example.com/``), the result is True.
    """
    if b")" not in first:
        return True
    return any(
        first[: len(prefix)] <= prefix and (following is None or following >= prefix)
        for prefix in prefixes
    )


def _locations(index: Location) -> dict[str, str]:
    """Return the locations of a cluster's files, by name, from the ``.loc`` next to its index.

    The result is empty if there is no ``.loc``.
    """
    folder = str(index).rpartition("/")[0]
    beside = Path(str(index).rsplit(".", 1)[0] + ".loc")
    if isinstance(index, RemotePath) or split_entry(str(index)) or not beside.is_file():
        return {}
    columns = [
        line.decode("utf-8", "replace").rstrip("\r\n").split("\t") for line in read_lines(beside)
    ]
    return {
        name: location
        if location.startswith("/") or scheme_of(location)
        else f"{folder}/{location}"
        for name, location, *_ in (one for one in columns if len(one) > 1)
    }


def _find_part(folder: str, name: str, locations: Mapping[str, str]) -> str:
    """Return the location of a cluster's file: from the ``.loc``, else next to the index.

    If the file is not there under its name, ``.gz`` is added to the name.
    """
    if name in locations:
        return locations[name]
    location = f"{folder}/{name}"
    if (
        not name.endswith(".gz")
        and not split_entry(location)
        and scheme_of(location) is None
        and not Path(location).exists()
    ):
        return f"{location}.gz"
    return location


def _read_block(location: str, offset: int, length: int) -> list[bytes]:
    """Return the lines of one block of a ZipNum cluster.

    Raises:
        InputError: The file cannot be read, or has no block there.
    """
    try:
        with closing(open_bytes(location)) as file:
            data = zlib.decompress(file.read(offset, length), wbits=31)
    except OSError as error:
        raise InputError(
            f"{location}: block of a ZipNum cluster cannot be read: {error.strerror}; it must "
            "be at the place in the .loc file or index"
        ) from error
    except zlib.error as error:
        raise InputError(
            f"{location}: no ZipNum block at byte {offset}: {error}; index and file belong to "
            "different versions"
        ) from error
    return data.splitlines(keepends=True)


# Pieces of CDX files, for tasks that share their lines.
#
# A plain file is read in ranges of bytes: a task reads the lines that begin in its range. A ZipNum
# cluster is read in groups of its blocks. A gzip file and an index in a WACZ are one piece.

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
    if path.name.lower().endswith(_ZIPNUM_SUFFIXES):
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
    for block_location, offset, length in _find_blocks(path, prefixes):
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
            lists = (_read_block(piece.task_address, *block) for block in piece.blocks)
            yield from _in_usual_order(lists, location_of(piece.path))
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
        yield from _in_usual_order(lists, path, layout)


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
                line.startswith(_HEADER_STARTS)
                and is_header(line)
                and line.strip()
                and layout_of(line, path) != layout
            ):
                raise InputError(
                    f"{path}: a header after its first line names another order of columns: "
                    f"{line[:80]!r}; split the file there, or compress it with gzip"
                )
        yield lines
