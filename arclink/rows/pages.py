"""A page as extract passes it to join: the links as written, and the addresses of its captures.

There is one line per payload (or per 1,000 originals of it), keyed by the SURT of its first
original, so that the pages of one site come to one reducer. The key of a payload with very many
originals also has the part of their origins, so that several reducers share it. A link is one
string: its four parts are joined by U+001F, which no part can contain. The join looks up most links
as whole strings and never splits them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import orjson

from arclink.archives.locations import is_wat
from arclink.model import Checksum, Payload, RawLink, Surt, UriR
from arclink.reasons import Reason
from arclink.uris.resolution import C0_OR_SPACE

# Where the links of a payload came from, and which source replaces which.
#
# A store may know the links of a payload from a poor source before it gets a better one. It then
# removes the contents from the poor source, so that the order of the input decides nothing.


class LinkSource(IntEnum):
    """A source of links; a smaller number replaces a greater one."""

    PAGE = 0
    """The payload itself, read from an archive file."""

    WAT = 1
    """The list in a WAT."""

    CRAWLER = 2
    """The list that the crawler recorded next to a revisit (docs/reference/heritrix.md)."""


def source_in(file: str) -> LinkSource:
    """Return the source that a capture in this archive file is."""
    return LinkSource.WAT if is_wat(file) else LinkSource.PAGE


def source_of(payload: Payload) -> LinkSource | None:
    """Return the source of a payload's links; None if its links are not known."""
    if payload.scope is None:
        return None
    if payload.reason == Reason.PAYLOAD_RECORDED.name:
        return LinkSource.CRAWLER
    return source_in(payload.file)


PART = "\x1f"
_PART_OF_KEY = b"\x01"
_IN_REFERENCE = "%1F"
"""U+001F after URL parsing (WHATWG URL, C0 control percent-encode set)."""


@dataclass(frozen=True, slots=True)
class Page:
    """A payload that was read.

    Attributes:
        originals: The originals it was captured from: distinct, sorted; at most 1,000, the rest is
            in further pages.
        chunk: 0 for the first page of a payload; only that page has counts.
        base: ``<base href>`` as written; None if missing.
        links: In the form of `format_link`, in page order.
        counts: Links that are not in ``links``, by name of their reason.
        reason: Name of the `Reason` of the payload: ``PAYLOAD_READ``, or ``PAYLOAD_RECORDED`` for a
            list that the crawler recorded at the only original.
        title: Empty if the page has none; None if the payload itself was not read.
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
    reason: str = "PAYLOAD_READ"
    title: str | None = None


def format_shuffle_key(surt: Surt, part: str) -> bytes:
    r"""Return the key of a page.

    Args:
        surt: SURT of the first original of the payload.
        part: See `arclink.rows.pointers.Pointer`.

    >>> format_shuffle_key(Surt("org,example)/"), "https2f")
    b'org,example)/\x01https2f'
    """
    return surt.encode() + (_PART_OF_KEY + part.encode() if part else b"")


def parse_shuffle_key(key: bytes) -> tuple[bytes, str]:
    """Return the SURT in the key of a page, and the part; empty if the key has no part."""
    surt, _, part = key.partition(_PART_OF_KEY)
    return surt, part.decode()


def format_link(link: RawLink) -> str:
    r"""Return a link as one string.

    The separator in a reference is encoded as the URL parser does it. At both ends, where the
    parser removes it, it is removed with what is outside of it.

    >>> format_link(("a@href", "/news", "News", None))
    'a@href\x1f/news\x1fNews\x1f'
    >>> format_link(("a@href", " \x1f /a\x1fb", "", None))
    'a@href\x1f/a%1Fb\x1f\x1f'
    """
    kind, reference, text, rel = link
    if PART in reference:
        reference = reference.strip(C0_OR_SPACE).replace(PART, _IN_REFERENCE)
    return f"{kind}{PART}{reference}{PART}{text}{PART}{rel or ''}"


def parse_link(text: str) -> RawLink:
    r"""Return the link that `format_link` wrote; an empty rel becomes None.

    >>> parse_link('a@href\x1f/news\x1fNews\x1f')
    ('a@href', '/news', 'News', None)
    """
    kind, reference, words, rel = text.split(PART)
    return kind, reference, words, rel or None


def format_page(page: Page) -> bytes:
    """Return a page as JSON on one line."""
    return orjson.dumps(
        [
            page.checksum,
            page.chunk,
            page.file,
            page.offset,
            page.charset,
            page.base,
            page.originals,
            page.links,
            page.counts,
            page.reason,
            page.title,
        ]
    )


def parse_page(line: bytes) -> Page:
    """Return the page that `format_page` wrote."""
    return Page(*orjson.loads(line))
