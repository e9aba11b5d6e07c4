"""What the names of archive files tell: which files of a folder are archive files, which of them are WATs, and which a CDX means."""

from collections.abc import Container

WAT_SUFFIXES = (".wat", ".wat.gz", ".wat.zst")
"""How the names of WAT files end."""

ARCHIVE_SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".warc.lz4", ".arc", ".arc.gz", *WAT_SUFFIXES)
"""How the names of files end that a folder is searched for; in any case."""

CDX_SUFFIXES = (".cdx", ".cdx.gz", ".cdxj", ".cdxj.gz")
"""How the names of CDX and CDXJ files end."""


def is_wat(name: str) -> bool:
    """Tell whether a file, by its name, only describes the records of another.

    >>> is_wat("crawl.warc.wat.gz"), is_wat("crawl.warc.gz")
    (True, False)
    """
    return name.lower().endswith(WAT_SUFFIXES)


def known_as(file: str, names: Container[str]) -> str | None:
    """Return the name under which a file is known that a CDX row names: all of it, else as many of its last parts as fit.

    >>> known_as("crawl/one/x.warc.gz", {"one/x.warc.gz", "two/x.warc.gz"})
    'one/x.warc.gz'
    """
    while file not in names:
        _, slash, file = file.partition("/")
        if not slash:
            return None
    return file
