"""Which archive files in HDFS a build is given: the counterpart of `arclink.pipeline.inputs` for addresses."""

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from arclink.errors import InputError
from arclink.pipeline.inputs import ARCHIVE_SUFFIXES, SAMPLE
from arclink.store import ArchiveFile
from arclink.webhdfs import HdfsBytes, WebHdfs


def find_in_hdfs(urls: Iterable[str]) -> list[str]:
    """Return the addresses of the archive files that ``urls`` name, sorted, each once.

    Args:
        urls: Files, or folders that are searched through.

    Raises:
        InputError: Something does not exist, or holds no archive file.
    """
    found: set[str] = set()
    for url in urls:
        system, path = WebHdfs.of(url)
        status = system.status(path)
        if status is None:
            raise InputError(f"{url}: no such file or folder in HDFS")
        files = set(_search(url.rstrip("/"), system, path)) if status.is_folder else {url}
        if not files:
            raise InputError(f"{url}: no archive file in this folder (looked for {', '.join(ARCHIVE_SUFFIXES)})")
        found |= files
    return sorted(found)


def _search(url: str, system: WebHdfs, path: str) -> Iterator[str]:
    for entry in system.entries(path):
        if entry.is_folder:
            yield from _search(f"{url}/{entry.name}", system, f"{path.rstrip('/')}/{entry.name}")
        elif entry.name.lower().endswith(ARCHIVE_SUFFIXES):
            yield f"{url}/{entry.name}"


def describe_in_hdfs(urls: Sequence[str], known: Mapping[str, ArchiveFile]) -> list[ArchiveFile]:
    """Return the archive files at addresses, each under a name of its own.

    Size and fingerprint are those of a file on disk: what was built from a disk is known when it stands in HDFS.

    Args:
        urls: Distinct.
        known: The files a store has, by name.

    Raises:
        InputError: A file cannot be read, or two cannot be told apart by name.
    """
    files: dict[str, ArchiveFile] = {}
    for url in urls:
        size, fingerprint = _fingerprint(url)
        parts = WebHdfs.of(url)[1].strip("/").split("/")
        for depth in range(1, len(parts) + 1):
            name = "/".join(parts[-depth:])
            stored = known.get(name)
            if name not in files and (stored is None or (stored.size, stored.fingerprint) == (size, fingerprint)):
                files[name] = ArchiveFile(name, url, size, fingerprint)
                break
        else:
            raise InputError(f"{url}: another file of this name and folder is in the store already; rename one of them")
    return list(files.values())


def _fingerprint(url: str) -> tuple[int, str]:
    """Return what `arclink.pipeline.inputs` takes of a file on disk."""
    with HdfsBytes(url) as file:
        digest = hashlib.sha256(str(file.size).encode() + file.read(0, SAMPLE))
        digest.update(file.read(max(file.size - SAMPLE, 0), SAMPLE))
        return file.size, digest.hexdigest()[:32]


def fetch_from_hdfs(url: str, folder: Path) -> Path:
    """Copy a file to a folder of this machine; return where it is.

    Raises:
        InputError: It is not there.
    """
    system, path = WebHdfs.of(url)
    if system.status(path) is None:
        raise InputError(f"{url}: no such file in HDFS")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{zlib.crc32(url.encode()):08x}-{path.rsplit('/', 1)[-1]}"
    with target.open("wb") as copy:
        copy.writelines(system.read(path))
    return target
