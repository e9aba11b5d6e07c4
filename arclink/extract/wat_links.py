"""The links that a WAT lists for a page (`arclink.archives.wat` reads the rest of its records)."""

import re
from collections.abc import Iterator

from arclink.archives.records import ArchiveRecord
from arclink.archives.wat import Described, Json, object_in, objects_in, text_in
from arclink.errors import PayloadError
from arclink.extract.charsets import encoding_of
from arclink.extract.html import Limits, PageLinks, WrittenLink, collect_links
from arclink.model import Kind
from arclink.reasons import Reason

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
