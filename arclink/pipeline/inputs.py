"""Inputs of a build: turns files, folders, globs and list files into `KnownFile` values.

`find_archives` expands the inputs to paths, `leave_out_foreign` removes files of other formats,
`describe` gives each file its name and fingerprint, and `batches_of` groups the files.
"""

import glob
import os
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import orjson

from arclink.archives.locations import (
    ARCHIVE_SUFFIXES,
    UNLISTED,
    WACZ_SUFFIX,
    Location,
    RemotePath,
    entry_of,
    is_wacz,
    location_of,
    scheme_of,
    short_name,
    split_entry,
)
from arclink.archives.marks import FileMark, Look, look_at_each, of_each, read_mark
from arclink.archives.opener import open_stream
from arclink.archives.wacz import archives_in
from arclink.errors import InputError
from arclink.mapreduce.runs import JOBS, JobRunner, parts_of
from arclink.network.addresses import joined
from arclink.network.engine_files import reader_of
from arclink.rows.cdx import is_file_name
from arclink.store.protocols import KnownFile

_LIST_SUFFIXES = (".txt", ".lst", ".list")

MANY_FILES = 4_000
"""Number of remote files from which tasks of an engine look at them: half a minute of CPU time."""

_SEARCHED = (*ARCHIVE_SUFFIXES, WACZ_SUFFIX)


def find_archives(inputs: Iterable[str]) -> list[Location]:
    """Return the archive files that ``inputs`` name, absolute, sorted, each once.

    Args:
        inputs: Each one is an archive file, a WACZ file (for the archive files in it), a folder
            (searched recursively; symbolic links are followed), a glob (``**`` too), or a list file
            (``.txt``, ``.lst``, ``.list``). A list file has one input per line, relative to the
            list; ``#`` starts a comment.

    Raises:
        InputError: An input does not exist or has no archive file.
    """
    archives: dict[str, Location] = {}
    for text in inputs:
        for path in _expand(text, Path(), ()):
            # A link keeps the name of the link, and duplicates are found by the file it leads to.
            archives.setdefault(str(_resolved(path) if isinstance(path, Path) else path), path)
    return sorted(archives.values(), key=_order)


def _order(path: Location) -> tuple[bool, Sequence[str]]:
    return isinstance(path, RemotePath), path.parts


def _resolved(path: Path) -> Path:
    """Return the file that a path leads to.

    Raises:
        InputError: The path leads to no file, or its name is not UTF-8.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{shown(path)}: the name is not UTF-8, and the graph stores file names; rename "
            "it, or use a symbolic link"
        ) from error
    try:
        # What is inside of a file has no path of its own.
        return path.resolve(strict=not split_entry(str(path)))
    # A loop of links is one or the other, by the Python's version.
    except (
        OSError,
        RuntimeError,
    ) as error:
        what = (
            f"a link to {os.readlink(path)}, which does not exist"
            if path.is_symlink()
            else "not there"
        )
        raise InputError(
            f"{path}: {what}; repair or remove it, or leave it out of the input"
        ) from error


def shown(path: Path) -> str:
    """Return a path in printable form, with bytes that are not UTF-8 as escapes."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _expand(text: str, folder: Path, lists: tuple[Location, ...]) -> Iterator[Location]:
    if scheme_of(text):
        yield from _expand_remote(text, lists)
        return
    path = folder / Path(text.removeprefix("file://")).expanduser()
    if path.is_dir():
        yield from _search(path)
    elif path.is_file():
        if path.name.lower().endswith(_LIST_SUFFIXES):
            yield from _read_list(path, lists)
        else:
            yield from _unpacked(path.absolute())
    elif split_entry(str(path)):
        yield from _unpacked(path.absolute())
    elif glob.has_magic(str(path)):
        matches = sorted(glob.glob(str(path), recursive=True))
        if not matches:
            raise InputError(
                f"no file matches {text!r}: check the pattern, and quote it so that the "
                "shell does not expand it"
            )
        for match in matches:
            yield from _expand(match, Path(), lists)
    elif path.is_symlink() or path.exists():
        yield path.absolute()  # a dead link or a FIFO: reported when the file is opened
    else:
        raise InputError(
            f"{text}: no such file or folder; name archive files ({', '.join(_SEARCHED)}), "
            "folders, globs or list files"
        )


def _expand_remote(url: str, lists: tuple[Location, ...]) -> Iterator[Location]:
    """Yield the archive files that a URL names: a file, a WACZ or a list.

    Where the protocol can list files, the URL may also be a folder or a pattern.
    """
    reader = reader_of(url)
    if reader and not url.lower().endswith(_LIST_SUFFIXES) and not split_entry(url):
        for address in reader.found(url, _SEARCHED):
            yield from _unpacked(RemotePath(address))
        return
    if url.endswith("/") or (glob.has_magic(url) and scheme_of(url) not in UNLISTED):
        from arclink.archives.remote import find_remote

        try:
            addresses = [
                address
                for address in find_remote(url)
                if not url.endswith("/") or address.lower().endswith(_SEARCHED)
            ]
        except OSError as error:
            raise InputError(f"{url}: cannot be searched: {error.strerror or error}") from error
        if not addresses:
            raise InputError(f"{url}: no archive file there; name the files, or a list of them")
        for address in addresses:
            yield from _unpacked(RemotePath(address))
    elif RemotePath(url).name.lower().endswith(_LIST_SUFFIXES):
        yield from _read_list(RemotePath(url), lists)
    else:
        yield from _unpacked(RemotePath(url))


def _search(folder: Path) -> Iterator[Location]:
    has_archives = False
    visited: set[tuple[int, int]] = set()  # links may form a loop
    for where, folders, names in os.walk(folder, onerror=_refuse_folder, followlinks=True):
        here = os.stat(where)
        if (here.st_dev, here.st_ino) in visited:
            folders.clear()
            continue
        visited.add((here.st_dev, here.st_ino))
        for name in names:
            if name.lower().endswith(_SEARCHED):
                has_archives = True
                yield from _unpacked(Path(where, name).absolute())
    if not has_archives:
        raise InputError(
            f"{folder}: no archive file in this folder (expected names: {', '.join(_SEARCHED)})"
        )


def _refuse_folder(error: OSError) -> None:
    """Raise InputError for a folder that cannot be listed: its files would be missing silently."""
    raise InputError(
        f"{error.filename}: this folder cannot be read: {error.strerror}; change its "
        "permissions, or leave it out of the input"
    ) from error


def _unpacked(path: Location) -> Iterator[Location]:
    """Yield the archive files in a WACZ; yield an unusable WACZ or any other file unchanged."""
    if not is_wacz(path.name):
        yield path
        return
    try:
        entries = archives_in(str(path))
    except InputError:
        yield path  # `leave_out_foreign` reports why
        return
    for entry in entries:
        yield location_of(entry_of(str(path), entry))


def _read_list(path: Location, lists: tuple[Location, ...]) -> Iterator[Location]:
    itself = path.resolve() if isinstance(path, Path) else path
    if itself in lists:
        raise InputError(
            f"{path}: the list names itself"
            + (", through another list" if lists[-1] != itself else "")
        )
    try:
        with open_stream(str(path)) as file:
            lines = file.read().decode("utf-8-sig").splitlines()  # editors begin it with a mark
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a list file: byte {error.start} is not UTF-8") from error
    for number, line in enumerate(lines, 1):
        entry = (
            line.partition(" #")[0].strip()
            if scheme_of(line.strip())
            else line.split("#", 1)[0].strip()
        )
        if entry and not entry.startswith("#"):
            try:
                if isinstance(path, Path):
                    yield from _expand(entry, path.parent, (*lists, itself))
                else:
                    address = joined(str(path), entry)
                    if not address:
                        raise InputError(f"{entry}: not an address")
                    yield from _expand_remote(address, (*lists, itself))
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from error


FileMarks = dict[Location, FileMark]


def leave_out_foreign(
    paths: Sequence[Location], marks: FileMarks | None = None, looks: Iterable[Look] | None = None
) -> tuple[list[Location], list[str]]:
    """Return the paths that are archive files, and one message per path that is not.

    Args:
        paths: The paths.
        marks: Gets the marks of archive files on other machines, so that `describe` need not open
            them again.
        looks: What a first look at each path found; without it, this process looks.

    Raises:
        InputError: No path is an archive file, ``paths`` is empty, or a file cannot be read.
    """
    archives: list[Location] = []
    complaints = []
    looks = looks or look_at_each(paths, is_marked=marks is not None)
    for path, (complaint, mark) in zip(paths, looks, strict=True):
        if complaint is None:
            archives.append(path)
        else:
            complaints.append(complaint)
        if marks is not None and mark is not None:
            marks[path] = mark
    if not archives:
        raise InputError("\n".join(complaints[:10]) or "no archive file was given")
    return archives, complaints


def looked_at_by_tasks(
    paths: Sequence[Location], run: JobRunner, folder: Path
) -> Iterator[Look] | None:
    """Have tasks of an engine look at archive files on other machines, if there are many.

    Args:
        paths: All archive files.
        run: Runs the job.
        folder: Folder for its files, in the work folder; removed at the end.

    Returns:
        What they found, in the order of ``paths``; None if this process shall look.

    Raises:
        PipelineError: The user may not read a file.
    """
    if not run.is_on_engine or sum(isinstance(path, RemotePath) for path in paths) < MANY_FILES:
        return None
    run.remove(folder)
    folder.mkdir(parents=True)
    names = [orjson.dumps(str(path)) for path in paths]
    share = -(-len(names) // (2 * run.cores))
    parts: list[Path] = []
    for start in range(0, len(names), share):
        parts.append(folder / f"part-{len(parts):05d}")
        parts[-1].write_bytes(b"".join(name + b"\n" for name in names[start : start + share]))
    run.run(JOBS["look"], parts, folder / "looks", {})
    run.fetch(folder / "looks")
    found: dict[bytes, Look] = {}
    for part in parts_of(folder / "looks"):
        for line in part.read_bytes().splitlines():
            name, _, look = line.partition(b"\t")
            complaint, size, fingerprint = orjson.loads(look)
            found[name] = Look(complaint, None if size is None else FileMark(size, fingerprint))
    run.remove(folder)
    return iter([found[name] for name in names])


def describe(
    paths: Sequence[Location],
    known: Mapping[str, KnownFile],
    damaged: Container[str] = (),
    marks: Mapping[Location, FileMark] | None = None,
) -> list[KnownFile]:
    """Return the archive files at ``paths``, each under a unique name.

    The name is the file's own name, as other tools for web archives use it; for a file in a WACZ,
    it includes the name of the WACZ. Where two files share a name, as many of their folders are
    added as are needed to distinguish them.

    Args:
        paths: Absolute paths or URLs, distinct.
        known: The files that a store has, by name.
        damaged: Names of stored files that were empty, cut short or damaged. If such a file has
            changed at the same path, it keeps its name, so that it is read again and replaces
            the damaged one.
        marks: Marks of files, from `leave_out_foreign`; other files are opened.

    Raises:
        InputError: A file cannot be read, or has a name that rows cannot hold.
    """
    by_name: dict[str, list[Location]] = defaultdict(list)
    for path in paths:
        by_name[short_name(str(path))].append(path)
    files = []
    known_marks = marks or {}

    def mark(path: Location) -> FileMark:
        return known_marks.get(path) or read_mark(path)

    for path, (size, fingerprint) in zip(paths, of_each(mark, paths), strict=True):
        short = name = short_name(str(path))
        depth = name.count("/") + 1
        stored = known.get(name)
        if stored is not None and (stored.size, stored.fingerprint) == (size, fingerprint):
            files.append(KnownFile(name, str(path), size, fingerprint))
            continue
        if stored is not None and name in damaged and stored.path == str(path):
            files.append(KnownFile(name, str(path), size, fingerprint))
            continue
        while _is_taken(name, path, by_name[short], depth, known, size, fingerprint):
            depth += 1
            if depth > len(path.parts):
                raise InputError(
                    f"{path}: another file of this name and folder is already in the store; "
                    "rename one of them"
                )
            name = "/".join(path.parts[-depth:])
        files.append(KnownFile(name, str(path), size, fingerprint))
    for file in files:
        _check_name(file)
    return files


def _check_name(file: KnownFile) -> None:
    """Raise InputError if a file's name cannot be a column of the graph's rows."""
    if is_file_name(file.name):
        return
    shown_path = file.path.encode("unicode_escape").decode()
    if split_entry(file.path):
        remedy = "pack the WACZ again with another name for this file"
    elif scheme_of(file.path):
        remedy = "change its name there"
    else:
        remedy = "rename it, or use a symbolic link with another name"
    raise InputError(
        f"{shown_path}: its name has a tab, a line end or another control character, or is a dash; "
        f"rows of the graph cannot store such a name; {remedy}"
    )


def _is_taken(
    name: str,
    path: Location,
    namesakes: Sequence[Location],
    depth: int,
    known: Mapping[str, KnownFile],
    size: int,
    mark: str,
) -> bool:
    if any(
        namesake != path and namesake.parts[-depth:] == path.parts[-depth:]
        for namesake in namesakes
    ):
        return True
    stored = known.get(name)
    return stored is not None and (stored.size, stored.fingerprint) != (size, mark)


def batches_of(files: Sequence[KnownFile], size: int) -> list[list[KnownFile]]:
    """Return ``files`` in batches of at most ``size`` bytes, in their order.

    A file larger than ``size`` is a batch of its own.
    """
    batches: list[list[KnownFile]] = []
    filled = 0
    for file in files:
        if not batches or filled + file.size > size:
            batches.append([])
            filled = 0
        batches[-1].append(file)
        filled += file.size
    return batches
