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
from arclink.archives.wat import Described, Json, object_in, objects_in, text_in
from arclink.errors import PayloadError, UriError
from arclink.extract.charsets import encoding_of
from arclink.extract.html import HEADER_KINDS, Limits, PageLinks, WrittenLink, collect_links
from arclink.model import Kind
from arclink.reasons import Reason
from arclink.rows.pages import format_link, parse_link
from arclink.uris.resolution import Base

# The links that a WAT lists for a page (`arclink.archives.wat` reads the rest of its records).

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\"'\s;,]+)", re.IGNORECASE)
_CHARSET_UNSAID = "utf-8"
"""Used only for the query strings of links: text in a WAT is already decoded."""


def wat_links(described: Described, limits: Limits) -> tuple[PageLinks, str]:
    """Return the links that a WAT lists for a page, and the page's charset.

    The rules are those of `extract_links`. The links are in the order of the WAT: ``link``
    elements, scripts, the refresh, then the rest of the page. Links of other kinds are counted. A
    page without ``Title`` has none, because a WAT has that of each page that has one.

    Raises:
        PayloadError: The WAT has no entry for the page's links (``PAYLOAD_NOT_IN_WAT``).
    """
    html = described.html
    if html is None:
        raise PayloadError(
            Reason.PAYLOAD_NOT_IN_WAT, described.capture.uri, offset=described.capture.offset
        )
    head = object_in(html, "Head")
    base = text_in(head, "Base") if "Base" in head else None
    links = collect_links(_written(html, head), limits, base, title=text_in(head, "Title"))
    return links, _charset_of(described.capture, head)


def _written(html: Json, head: Json) -> Iterator[WrittenLink]:
    for entries in (objects_in(head, "Link"), objects_in(head, "Scripts")):
        yield from map(_link, entries)
    for meta in objects_in(head, "Metas"):
        if text_in(meta, "http-equiv").lower() == "refresh":
            yield WrittenLink(Kind("meta@refresh"), text_in(meta, "content"))
    yield from map(_link, objects_in(html, "Links"))


def _link(entry: Json) -> WrittenLink:
    """Return the link in an entry of a WAT: ``{"path": "A@/href", "url": …, "text": …}``."""
    # Addresses in style sheets have "href" instead of "url".
    url = text_in(entry, "url") or text_in(entry, "href")
    kind = text_in(entry, "path").lower().replace("@/", "@")
    return WrittenLink(
        Kind(kind),
        url,
        text_in(entry, "text" if kind == "a@href" else "alt"),
        text_in(entry, "rel"),
    )


def _charset_of(capture: ArchiveRecord, head: Json) -> str:
    """Return the charset that HTTP or a ``meta`` declares.

    It matters only for query strings that are not ASCII.
    """
    declared = capture.http_charset
    for meta in objects_in(head, "Metas"):
        if declared is None and text_in(meta, "http-equiv").lower() == "content-type":
            found = _CHARSET.search(text_in(meta, "content"))
            declared = found[1] if found else None
    return (encoding_of(declared) if declared else None) or _CHARSET_UNSAID


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
