"""Locations of files: paths, addresses of remote files, and entries of a WACZ.

A location is a path, or an address ``scheme://…`` of another machine. A file inside a WACZ is named
like a file in a folder whose name ends in ``!``: ``crawl.wacz!/archive/data.warc.gz``. The file may
be in a WACZ in a WACZ: ``collection.wacz!/crawl.wacz!/archive/data.warc.gz``.
"""

import re
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

# Names of archive files: recognising archive files, WATs and CDXs, and the files a CDX names.

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


WACZ_SUFFIX = ".wacz"

UNLISTED = frozenset({"http", "https"})
"""Schemes of locations that cannot be searched.

In such an address an asterisk is a plain character, and a question mark begins a query.
"""

INSIDE_WACZ = ".wacz!/"
"""In the name of every entry of a WACZ, in lower case."""

_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]+)://")
_QUERY = re.compile(r"(?<=://)([^?#]*)[?#].*", re.DOTALL)


def split_entry(location: str) -> tuple[str, str] | None:
    """Return the WACZ and the name of the entry in it; None for a file outside a WACZ.

    The WACZ itself may be an entry of another one.

    >>> split_entry("a/crawl.wacz!/archive/data.warc.gz")
    ('a/crawl.wacz', 'archive/data.warc.gz')
    """
    return _split(location, location.lower().rfind(INSIDE_WACZ))


def split_file(location: str) -> tuple[str, str] | None:
    """Return the outermost WACZ, which is a file, and the rest; None for a file outside a WACZ.

    >>> split_file("all.wacz!/crawl.wacz!/archive/data.warc.gz")
    ('all.wacz', 'crawl.wacz!/archive/data.warc.gz')
    """
    return _split(location, location.lower().find(INSIDE_WACZ))


def _split(location: str, where: int) -> tuple[str, str] | None:
    if where < 0:
        return None
    end = where + len(WACZ_SUFFIX)
    return location[:end], location[end + 2 :]


def entry_of(wacz: str, entry: str) -> str:
    """Return the name of an entry of a WACZ; the reverse of `split_entry` and `split_file`."""
    return f"{wacz}!/{entry}"


def is_wacz(location: str) -> bool:
    """Return whether a file is a WACZ, by its name."""
    return location.lower().endswith(WACZ_SUFFIX)


def short_name(location: str) -> str:
    """Return the file's own name; for an entry of a WACZ, the WACZ's name and the entry's name.

    >>> short_name("a/crawl.wacz!/archive/data.warc.gz"), short_name("a/data.warc.gz")
    ('crawl.wacz!/archive/data.warc.gz', 'data.warc.gz')
    """
    entry = split_entry(location)
    return entry_of(short_name(entry[0]), entry[1]) if entry else location_of(location).name


def scheme_of(location: str) -> str | None:
    """Return the scheme of a remote address, in lower case; None for a local path.

    >>> scheme_of("https://example.org/a.warc.gz"), scheme_of("/data/a.warc.gz"), scheme_of("file:///data/a.warc.gz")
    ('https', None, None)
    """
    found = _SCHEME.match(location)
    scheme = found[1].lower() if found else None
    return None if scheme == "file" else scheme


@dataclass(frozen=True, slots=True)
class RemotePath:
    """A file of another machine, with the parts of `pathlib.Path` that naming files needs."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def parts(self) -> tuple[str, ...]:
        """Scheme, host, folders and name; without a query (for example a signature)."""
        return tuple(part for part in _QUERY.sub(r"\1", self.url).split("/") if part)

    @property
    def name(self) -> str:
        """The last one of its parts."""
        return self.parts[-1]


Location = Path | RemotePath
"""The location of a file, local or remote."""


def location_of(location: str) -> Location:
    """Return a location as a value of its own type: a path or a remote path."""
    return Path(location) if scheme_of(location) is None else RemotePath(location)
