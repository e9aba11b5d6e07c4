"""The sources of CDX rows: files, WACZ, pywb collections and ZipNum clusters.

Lines come out in a usual order of columns, so that no reader needs a header. A pywb collection is a
folder with ``archive/`` and ``indexes/``. A ZipNum cluster is a CDX split into gzip blocks of about
3,000 lines, in files next to an index (``….idx``) of the first key of each block. With a SURT
prefix, only the blocks that may hold it are read. If there is a ``.loc`` next to the index, it says
where the block files are.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, pairwise
from operator import itemgetter
from pathlib import Path

import orjson

from arclink.archives.byte_sources import special_kind
from arclink.archives.locations import (
    Location,
    RemotePath,
    entry_of,
    is_wacz,
    scheme_of,
    short_name,
    split_entry,
)
from arclink.archives.names import CDX_SUFFIXES
from arclink.archives.opener import DAMAGE, open_bytes, open_members
from arclink.archives.wacz import ARCHIVE_FOLDER, indexes_in
from arclink.errors import CdxError, InputError, UsageError
from arclink.rows.cdx import BOM, LONGEST_ROW, Layout, is_header, parse_header
from arclink.rows.cdx_layouts import USUAL_HEADER, usual_row, with_file
from arclink.rows.lines import bounded_line_lists, has_longer_line

ZIPNUM_SUFFIXES = (".idx", ".summary")

HEADER_STARTS = (b" ", b"CDX ", b"!", BOM)
_FIRST_OF_HEADERS = frozenset(start[0] for start in HEADER_STARTS)
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
            file for file in files if file.name.lower().endswith(ZIPNUM_SUFFIXES)
        ]
        if not chosen:
            raise InputError(
                f"{path}: no CDX in this folder (expected names: "
                f"{', '.join((*CDX_SUFFIXES, *ZIPNUM_SUFFIXES))})"
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
        if path.name.lower().endswith(ZIPNUM_SUFFIXES)
        else _read_line_lists(path)
    )
    entry = split_entry(str(path))
    if entry is not None:
        lists = _named_within(lists, entry[0], names or {})
    return in_usual_order(lists, path)


def is_usual(path: Location) -> bool:
    """Return whether a file can be read unchanged, also in pieces.

    This holds for a local file whose rows are in a usual order and are not too long.
    """
    if (
        isinstance(path, RemotePath)
        or path.name.lower().endswith(ZIPNUM_SUFFIXES)
        or split_entry(str(path))
    ):
        return False
    first = next(iter(read_lines(path)), b"")
    if is_header(first) and first.strip() and layout_of(first, path) is not None:
        return False
    return not has_longer_line(path, LONGEST_ROW)


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


def in_usual_order(
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
            if line.startswith(HEADER_STARTS) and is_header(line) and line.strip():
                layout = layout_of(line, path)
                usual.append(USUAL_HEADER if layout else line)
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
    return (read_block(*block) for block in find_blocks(path, prefixes))


def find_blocks(path: Location, prefixes: Sequence[str] = ()) -> Iterator[tuple[str, int, int]]:
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


def read_block(location: str, offset: int, length: int) -> list[bytes]:
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
