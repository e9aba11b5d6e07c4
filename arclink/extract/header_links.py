"""The links in the HTTP headers of a page: ``Link`` (RFC 8288) and ``Refresh``.

Headers belong to a capture, the links of a page to its payload, which many captures share. The
links returned here are those of the capture that was read (docs/explanation/data-model.md,
*Headers*).

``Refresh`` has the syntax of a ``meta`` refresh. No RFC describes it; the HTML Standard does
(7.4.2.2, *navigation*; 4.2.5.3, *shared declarative refresh steps*).
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from arclink.archives.records import ArchiveRecord
from arclink.errors import UriError
from arclink.extract.html import HEADER_KINDS, Limits, PageLinks, WrittenLink, collect_links
from arclink.model import Kind
from arclink.reasons import Reason
from arclink.rows.pages import format_link, parse_link
from arclink.uris.resolution import Base

_LINK: Final = Kind("http@link")
_REFRESH: Final = Kind("http@refresh")

# All quantifiers are possessive, so a text that does not match is refused in linear time.
_TARGET: Final = re.compile(r"[ \t,]*+<([^>]*+)>")
_PARAMETER: Final = re.compile(
    r"[ \t]*+;[ \t]*+([^ \t=;,]*+)[ \t]*+"
    r'(?:=[ \t]*+(?:"((?:[^"\\]++|\\.)*+)"?+|([^;,"][^;,]*+)?+))?+'
)
_LINK_END: Final = re.compile(r"[ \t]*+(?:,|\Z)")
_PAIR: Final = re.compile(r"\\(.)")
_EXTENDED: Final = re.compile(r"([A-Za-z0-9_.-]++)'[^']*+'(.*+)", re.DOTALL)


class HeaderLink(NamedTuple):
    """One link of a ``Link`` header.

    Attributes:
        target: Text between the angle brackets, as written.
        rel: Relation types as written; empty if missing.
        title: ``title*`` if it can be decoded, else ``title``.
        anchor: URI of the link's source, as written; None if the source is the page.
    """

    target: str
    rel: str = ""
    title: str = ""
    anchor: str | None = None


def parse_link_header(value: str) -> Iterator[HeaderLink | None]:
    r"""Yield the links of one ``Link`` header field, and at the end None if the rest is not valid.

    Source:
        RFC 8288, 3.2 to 3.4 and appendix B.2 (parsing); RFC 8187 (``title*``).

    >>> list(parse_link_header('</a>; rel="next", <b>;rel=prev;title="A, \\"B\\""'))[1]
    HeaderLink(target='b', rel='prev', title='A, "B"', anchor=None)
    """
    position = 0
    while target := _TARGET.match(value, position):
        parameters: dict[str, str] = {}
        position = target.end()
        while parameter := _PARAMETER.match(value, position):
            position = parameter.end()
            name, quoted, token = parameter.groups()
            text = (token or "").rstrip(" \t") if quoted is None else _PAIR.sub(r"\1", quoted)
            parameters.setdefault(name.lower(), text)  # the first of each name is valid
        yield HeaderLink(
            target[1],
            parameters.get("rel", ""),
            _extended(parameters.get("title*", "")) or parameters.get("title", ""),
            parameters.get("anchor"),
        )
        if not _LINK_END.match(value, position):
            break
    if value[position:].strip(" \t,"):
        yield None


def _extended(value: str) -> str:
    """Return the text of an extended parameter (RFC 8187, 3.2); empty if it is not valid."""
    extended = _EXTENDED.fullmatch(value)
    if extended is not None:
        with suppress(LookupError, UnicodeError, ValueError):
            return unquote_to_bytes(extended[2]).decode(extended[1])
    return ""


def links_in_headers(record: ArchiveRecord) -> PageLinks:
    """Return the links in the headers of a response, with the rules, limits and counts of a page.

    A link whose ``anchor`` is more than a fragment has another source than this page. It is only
    counted (``LINK_OTHER_CONTEXT``).
    """
    written: list[WrittenLink] = []
    counts: dict[Reason, int] = {Reason.LINK_INVALID: 0, Reason.LINK_OTHER_CONTEXT: 0}
    for value in record.header_values("link"):
        for link in parse_link_header(value):
            if link is None:
                counts[Reason.LINK_INVALID] += 1
            elif link.anchor and not link.anchor.startswith("#"):
                counts[Reason.LINK_OTHER_CONTEXT] += 1
            else:
                written.append(WrittenLink(_LINK, link.target, link.title, link.rel))
    written += (WrittenLink(_REFRESH, value) for value in record.header_values("refresh"))
    links = collect_links(written, kinds=HEADER_KINDS)
    links.counts.update({reason: count for reason, count in counts.items() if count})
    return links


def add_header_links(page: PageLinks, record: ArchiveRecord, charset: str, limits: Limits) -> None:
    """Add the links in the headers of a response to those of the page in it.

    References in headers resolve against the URI of the page, whatever its ``base`` says (RFC 8288,
    3.1). They are kept as written if the page has no ``base``. Otherwise they are resolved now,
    against the URI of this capture.

    Args:
        page: Links of the page; added links come after them.
        record: The response.
        charset: Charset of the page.
        limits: Limits for one page.
    """
    found = links_in_headers(record)
    page.counts.update(found.counts)
    base = None if page.base is None else Base(record.uri, None, charset)
    for written in found.written:
        kind, reference, text, rel = parse_link(written)
        if len(page.written) >= limits.links:
            page.counts[Reason.LINK_TOO_MANY] += 1
            continue
        try:
            target = reference if base is None else base.resolve(reference)
        except UriError as error:
            page.counts[error.reason] += 1
            continue
        page.written.append(format_link((kind, target, text, rel)))
