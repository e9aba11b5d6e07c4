"""Search for archive files in HDFS folders, over HTTP."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from glob import has_magic

from arclink.archives.webhdfs import WebHdfs
from arclink.errors import InputError


def find_in_hdfs(url: str, suffixes: Sequence[str]) -> list[str]:
    """Return the addresses of the files that an address names, sorted.

    Args:
        url: A file, a folder that is searched with its subfolders, or a pattern for the files of
            one folder (``hdfs:///crawl/*.warc.gz``).
        suffixes: Suffixes of the files that are searched for in folders.

    Raises:
        InputError: The place does not exist, or has no such file.
    """
    system, path = WebHdfs.of(url)
    folder, _, pattern = path.rpartition("/")
    if has_magic(pattern):
        above = url.rpartition("/")[0]
        found = [
            f"{above}/{entry.name}"
            for entry in system.entries(folder)
            if fnmatch(entry.name, pattern) and not entry.is_folder
        ]
        if not found:
            raise InputError(
                f"no file matches {url!r}: check the pattern, and quote it so that the shell does not expand it"
            )
        return found
    status = system.status(path)
    if status is None:
        raise InputError(f"{url}: no such file or folder in HDFS")
    if not status.is_folder:
        return [url]
    found = sorted(_search(url.rstrip("/"), system, path, tuple(suffixes)))
    if not found:
        raise InputError(
            f"{url}: no archive file in this folder (expected names: {', '.join(suffixes)})"
        )
    return found


def _search(url: str, system: WebHdfs, path: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    for entry in system.entries(path):
        if entry.is_folder:
            yield from _search(
                f"{url}/{entry.name}", system, f"{path.rstrip('/')}/{entry.name}", suffixes
            )
        elif entry.name.lower().endswith(suffixes):
            yield f"{url}/{entry.name}"
