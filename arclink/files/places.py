"""What the name of a file says about where it is.

A path, or an address ``scheme://…`` of another machine. A file inside a WACZ is named like one in a folder whose name ends
in ``!``: ``crawl.wacz!/archive/data.warc.gz``.
"""

import re
from dataclasses import dataclass
from pathlib import Path

WACZ_SUFFIX = ".wacz"

UNLISTED = frozenset({"http", "https"})
"""Schemes of places that cannot be searched: an asterisk in such an address is one, a question mark begins a query."""

_INSIDE = ".wacz!/"
_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]+)://")
_QUERY = re.compile(r"(?<=://)([^?#]*)[?#].*", re.DOTALL)


def split_entry(place: str) -> tuple[str, str] | None:
    """Return the WACZ and the name of the entry in it; None for a file that is in none.

    >>> split_entry("a/crawl.wacz!/archive/data.warc.gz")
    ('a/crawl.wacz', 'archive/data.warc.gz')
    """
    where = place.lower().find(_INSIDE)
    if where < 0:
        return None
    end = where + len(WACZ_SUFFIX)
    return place[:end], place[end + 2 :]


def entry_of(wacz: str, entry: str) -> str:
    """Return the name of an entry of a WACZ; the reverse of `split_entry`."""
    return f"{wacz}!/{entry}"


def is_wacz(place: str) -> bool:
    """Tell whether a file is a WACZ, by its name."""
    return place.lower().endswith(WACZ_SUFFIX)


def short_name(place: str) -> str:
    """Return the file's own name; of an entry of a WACZ that of the WACZ, too.

    >>> short_name("a/crawl.wacz!/archive/data.warc.gz"), short_name("a/data.warc.gz")
    ('crawl.wacz!/archive/data.warc.gz', 'data.warc.gz')
    """
    entry = split_entry(place)
    return entry_of(short_name(entry[0]), entry[1]) if entry else location_of(place).name


def scheme_of(place: str) -> str | None:
    """Return the scheme of an address of another machine, in lower case; None for a path of this one.

    >>> scheme_of("https://example.org/a.warc.gz"), scheme_of("/data/a.warc.gz"), scheme_of("file:///data/a.warc.gz")
    ('https', None, None)
    """
    found = _SCHEME.match(place)
    scheme = found[1].lower() if found else None
    return None if scheme == "file" else scheme


@dataclass(frozen=True, slots=True)
class RemotePath:
    """A file of another machine, with as much of `pathlib.Path` as naming files takes."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def parts(self) -> tuple[str, ...]:
        """Scheme, host, folders and name; without a query (a signature, for example)."""
        return tuple(part for part in _QUERY.sub(r"\1", self.url).split("/") if part)

    @property
    def name(self) -> str:
        """The last of its parts."""
        return self.parts[-1]


Location = Path | RemotePath
"""Where a file is: here, or elsewhere."""


def location_of(place: str) -> Location:
    """Return where a place is, as a value of its own type."""
    return Path(place) if scheme_of(place) is None else RemotePath(place)
