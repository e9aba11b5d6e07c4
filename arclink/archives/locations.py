"""Names of places where files are: paths, addresses of remote files, and entries of a WACZ.

A place is a path, or an address ``scheme://…`` of another machine. A file inside a WACZ is named
like a file in a folder whose name ends in ``!``: ``crawl.wacz!/archive/data.warc.gz``. The file may
be in a WACZ in a WACZ: ``collection.wacz!/crawl.wacz!/archive/data.warc.gz``.
"""

import re
from dataclasses import dataclass
from pathlib import Path

WACZ_SUFFIX = ".wacz"

UNLISTED = frozenset({"http", "https"})
"""Schemes of places that cannot be searched.

In such an address an asterisk is a plain character, and a question mark begins a query.
"""

INSIDE_WACZ = ".wacz!/"
"""In the name of every entry of a WACZ, in lower case."""

_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]+)://")
_QUERY = re.compile(r"(?<=://)([^?#]*)[?#].*", re.DOTALL)


def split_entry(place: str) -> tuple[str, str] | None:
    """Return the WACZ and the name of the entry in it; None for a file outside a WACZ.

    The WACZ itself may be an entry of another one.

    >>> split_entry("a/crawl.wacz!/archive/data.warc.gz")
    ('a/crawl.wacz', 'archive/data.warc.gz')
    """
    return _split(place, place.lower().rfind(INSIDE_WACZ))


def split_file(place: str) -> tuple[str, str] | None:
    """Return the outermost WACZ, which is a file, and the rest; None for a file outside a WACZ.

    >>> split_file("all.wacz!/crawl.wacz!/archive/data.warc.gz")
    ('all.wacz', 'crawl.wacz!/archive/data.warc.gz')
    """
    return _split(place, place.lower().find(INSIDE_WACZ))


def _split(place: str, where: int) -> tuple[str, str] | None:
    if where < 0:
        return None
    end = where + len(WACZ_SUFFIX)
    return place[:end], place[end + 2 :]


def entry_of(wacz: str, entry: str) -> str:
    """Return the name of an entry of a WACZ; the reverse of `split_entry` and `split_file`."""
    return f"{wacz}!/{entry}"


def is_wacz(place: str) -> bool:
    """Return whether a file is a WACZ, by its name."""
    return place.lower().endswith(WACZ_SUFFIX)


def short_name(place: str) -> str:
    """Return the file's own name; for an entry of a WACZ, the WACZ's name and the entry's name.

    >>> short_name("a/crawl.wacz!/archive/data.warc.gz"), short_name("a/data.warc.gz")
    ('crawl.wacz!/archive/data.warc.gz', 'data.warc.gz')
    """
    entry = split_entry(place)
    return entry_of(short_name(entry[0]), entry[1]) if entry else location_of(place).name


def scheme_of(place: str) -> str | None:
    """Return the scheme of a remote address, in lower case; None for a local path.

    >>> scheme_of("https://example.org/a.warc.gz"), scheme_of("/data/a.warc.gz"), scheme_of("file:///data/a.warc.gz")
    ('https', None, None)
    """
    found = _SCHEME.match(place)
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
"""The place of a file, local or remote."""


def location_of(place: str) -> Location:
    """Return a place as a value of its own type: a path or a remote path."""
    return Path(place) if scheme_of(place) is None else RemotePath(place)
