"""What the name of a file says about where it is.

A file inside a WACZ is named like one in a folder whose name ends in ``!``: ``crawl.wacz!/archive/data.warc.gz``.
"""

WACZ_SUFFIX = ".wacz"

_INSIDE = ".wacz!/"


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
    return entry_of(short_name(entry[0]), entry[1]) if entry else place.rsplit("/", 1)[-1]
