"""A page as extract hands it to join: the links as written, and where its payload was captured.

One line per payload (or per 1,000 originals of it), keyed by the SURT of its first original, so that the pages of one
site meet in one reducer. A link is one string, its four parts joined by U+001F, which no part can hold: the join looks
most links up as they are and never takes them apart.

The line is JSON for what a page has once, and behind it the links, each after U+001D: they are most of the bytes, and need no
escaping.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from arclink.model import Checksum, RawLink, UriR

PART = "\x1f"
_LINK = "\x1d"
_IN_REFERENCE = str.maketrans({PART: "%1F", _LINK: "%1D", "\t": None, "\n": None, "\r": None})
"""What URL parsing makes of them anyway (URL Standard: C0 control percent-encode set; tab and newline are removed)."""


@dataclass(frozen=True, slots=True)
class Page:
    """A payload that was read.

    Attributes:
        originals: Where it was captured: distinct, sorted; at most 1,000, the rest follows in further pages.
        chunk: 0 for the first page of a payload; counts are in that one only.
        base: ``<base href>`` as written; None without.
        links: As `format_link` writes them, in page order.
        counts: Links that are not in ``links``, by name of their reason.
    """

    checksum: Checksum
    chunk: int
    file: str
    offset: int
    charset: str
    base: str | None
    originals: Sequence[UriR]
    links: Sequence[str]
    counts: Mapping[str, int]


def format_link(link: RawLink) -> str:
    r"""Return a link as one string.

    >>> format_link(("a@href", "/news", "News", None))
    'a@href\x1f/news\x1fNews\x1f'
    """
    kind, reference, text, rel = link
    if not reference.isprintable():
        reference = reference.translate(_IN_REFERENCE)
    return f"{kind}{PART}{reference}{PART}{text}{PART}{rel or ''}"


def parse_link(text: str) -> RawLink:
    r"""Return what `format_link` was given; an empty rel comes back as None.

    >>> parse_link('a@href\x1f/news\x1fNews\x1f')
    ('a@href', '/news', 'News', None)
    """
    kind, reference, words, rel = text.split(PART)
    return kind, reference, words, rel or None


def format_page(page: Page) -> bytes:
    """Return a page on one line."""
    once = [page.checksum, page.chunk, page.file, page.offset, page.charset, page.base, page.originals, page.counts]
    return b"%b%b" % (orjson.dumps(once), "".join([_LINK + link for link in page.links]).encode())


def parse_page(line: bytes) -> Page:
    """Return the page that `format_page` wrote."""
    once, *links = line.decode().split(_LINK)
    *rest, counts = orjson.loads(once)
    return Page(*rest, links, counts)
