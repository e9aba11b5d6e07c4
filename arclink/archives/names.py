"""Names of archive files: recognising archive files, WATs and CDXs, and the files a CDX names."""

from collections.abc import Container

WAT_SUFFIXES = (".wat", ".wat.gz", ".wat.zst")
"""Suffixes of WAT files."""

ARCHIVE_SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".warc.lz4", ".arc", ".arc.gz", *WAT_SUFFIXES)
"""Suffixes of the files that are searched for in a folder; upper and lower case are equal."""

CDX_SUFFIXES = (".cdx", ".cdx.gz", ".cdxj", ".cdxj.gz")
"""Suffixes of CDX and CDXJ files."""


def is_wat(name: str) -> bool:
    """Return whether a file, by its name, is a WAT: a description of the records of another file.

    >>> is_wat("crawl.warc.wat.gz"), is_wat("crawl.warc.gz")
    (True, False)
    """
    return name.lower().endswith(WAT_SUFFIXES)


def known_as(file: str, names: Container[str]) -> str | None:
    """Return the known name of a file that a CDX row names; None if it is not known.

    The known name is the whole name, else the longest tail of its path that is in ``names``.

    >>> known_as("crawl/one/x.warc.gz", {"one/x.warc.gz", "two/x.warc.gz"})
    'one/x.warc.gz'
    """
    while file not in names:
        _, slash, file = file.partition("/")
        if not slash:
            return None
    return file
