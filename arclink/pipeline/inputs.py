"""Which archive files a build is given: files, folders, globs and list files become `ArchiveFile` values."""

import glob
import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from arclink.errors import InputError
from arclink.extract.archives import ArchiveFile as RecordFile
from arclink.store import ArchiveFile

ARCHIVE_SUFFIXES = (".warc", ".warc.gz", ".arc", ".arc.gz")
LIST_SUFFIXES = (".txt", ".lst", ".list")
SAMPLE = 1 << 16


def find_archives(inputs: Iterable[str]) -> list[Path]:
    """Return the archive files that ``inputs`` name, absolute, sorted, each once.

    Args:
        inputs: Archive files; folders (searched through, links followed); globs (``**`` too); list files (``.txt``,
            ``.lst``, ``.list``: one of these per line, relative to the list, ``#`` starts a comment).

    Raises:
        InputError: Something does not exist, or holds no archive file.
    """
    found: dict[Path, Path] = {}
    for text in inputs:
        for path in _expand(text, Path(), ()):
            found.setdefault(_resolved(path), path)  # a link has the name it was given, and is the file it leads to
    return sorted(found.values())


def _resolved(path: Path) -> Path:
    """Return the file a path leads to.

    Raises:
        InputError: It leads nowhere, or its name cannot be kept.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{shown(path)}: the name is no UTF-8, and the graph names its files; rename it, or give it through a link"
        ) from error
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # a loop of links is one or the other, by the Python's version
        what = f"a link to {os.readlink(path)}, which is not there" if path.is_symlink() else "not there"
        raise InputError(f"{path}: {what}; mend or remove it, or leave it out of the input") from error


def shown(path: Path) -> str:
    """Return a path as it can be printed: bytes that are no UTF-8 as escapes."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _expand(text: str, folder: Path, lists: tuple[Path, ...]) -> Iterator[Path]:
    path = folder / Path(text).expanduser()
    if path.is_dir():
        yield from _search(path)
    elif path.is_file():
        if path.name.lower().endswith(LIST_SUFFIXES):
            yield from _read_list(path, lists)
        else:
            yield path.absolute()
    elif glob.has_magic(str(path)):
        matches = sorted(glob.glob(str(path), recursive=True))
        if not matches:
            raise InputError(f"no file matches {text!r}: check the pattern, and quote it so that the shell leaves it alone")
        for match in matches:
            yield from _expand(match, Path(), lists)
    elif path.is_symlink():
        yield path.absolute()
    else:
        raise InputError(
            f"{text}: no such file or folder; give archive files ({', '.join(ARCHIVE_SUFFIXES)}), folders, globs or list files"
        )


def _search(folder: Path) -> Iterator[Path]:
    found = False
    visited: set[tuple[int, int]] = set()  # links may lead back
    for where, folders, names in os.walk(folder, followlinks=True):
        here = os.stat(where)
        if (here.st_dev, here.st_ino) in visited:
            folders.clear()
            continue
        visited.add((here.st_dev, here.st_ino))
        for name in names:
            if name.lower().endswith(ARCHIVE_SUFFIXES):
                found = True
                yield Path(where, name).absolute()
    if not found:
        raise InputError(f"{folder}: no archive file in this folder (looked for {', '.join(ARCHIVE_SUFFIXES)})")


def _read_list(path: Path, lists: tuple[Path, ...]) -> Iterator[Path]:
    if path.resolve() in lists:
        raise InputError(f"{path}: the list names itself" + (", through another list" if lists[-1] != path.resolve() else ""))
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a list file: byte {error.start} is no UTF-8") from error
    for number, line in enumerate(lines, 1):
        entry = line.split("#", 1)[0].strip()
        if entry:
            try:
                yield from _expand(entry, path.parent, (*lists, path.resolve()))
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from error


def leave_out_foreign(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Return the paths that are archive files, and for each other one what it is instead.

    Raises:
        InputError: None of them is an archive file, or there is none; or one cannot be read, so that nobody knows.
    """
    archives, complaints = [], []
    for path in paths:
        if not os.access(path, os.R_OK):
            raise InputError(f"{path}: this user may not read it; change its rights, or leave it out of the input")
        try:
            RecordFile(str(path)).close()
            archives.append(path)
        except InputError as error:
            complaints.append(str(error))
    if not archives:
        raise InputError("\n".join(complaints[:10]) or "no archive file given")
    return archives, complaints


def describe(paths: Sequence[Path], known: Mapping[str, ArchiveFile]) -> list[ArchiveFile]:
    """Return the archive files at ``paths``, each under a name of its own.

    A name is the file's own, as the field's tools use it; where two files share it, with as many of its folders as it
    takes to tell them apart.

    Args:
        paths: Absolute, distinct.
        known: The files a store has, by name.

    Raises:
        InputError: A file cannot be read.
    """
    by_name: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        by_name[path.name].append(path)
    files = []
    for path in paths:
        size, fingerprint = _fingerprint(path)
        name = path.name
        depth = 1
        stored = known.get(name)
        if stored is not None and (stored.size, stored.fingerprint) == (size, fingerprint):
            files.append(ArchiveFile(name, str(path), size, fingerprint))
            continue
        while _is_taken(name, path, by_name[path.name], depth, known, size, fingerprint):
            depth += 1
            if depth > len(path.parts):
                raise InputError(f"{path}: another file of this name and folder is in the store already; rename one of them")
            name = "/".join(path.parts[-depth:])
        files.append(ArchiveFile(name, str(path), size, fingerprint))
    return files


def _is_taken(name: str, path: Path, namesakes: Sequence[Path], depth: int, known: Mapping[str, ArchiveFile], size: int, mark: str) -> bool:
    if any(other != path and other.parts[-depth:] == path.parts[-depth:] for other in namesakes):
        return True
    stored = known.get(name)
    return stored is not None and (stored.size, stored.fingerprint) != (size, mark)


def _fingerprint(path: Path) -> tuple[int, str]:
    """Return size, and SHA-256 over size, first and last 64 KiB: enough to tell archive files apart.

    A digest of the whole would cost as much as inflating it.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest = hashlib.sha256(str(size).encode() + file.read(SAMPLE))
            file.seek(max(size - SAMPLE, 0))
            digest.update(file.read(SAMPLE))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    return size, digest.hexdigest()[:32]


def batches_of(files: Sequence[ArchiveFile], size: int) -> list[list[ArchiveFile]]:
    """Return ``files`` in batches of about ``size`` bytes, in the order given; a larger file is a batch of its own."""
    batches: list[list[ArchiveFile]] = []
    filled = 0
    for file in files:
        if not batches or filled + file.size > size:
            batches.append([])
            filled = 0
        batches[-1].append(file)
        filled += file.size
    return batches
