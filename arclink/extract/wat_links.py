"""The links that a WAT lists of a page (`arclink.archives.wat` reads the rest of its records)."""

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
"""For queries of links only: text in a WAT is decoded already."""


def wat_links(described: Described, limits: Limits) -> tuple[PageLinks, str]:
    """Return the links that a WAT lists of a page, by the rules of `extract_links`, and the charset of the page.

    In the order of the WAT: ``link`` elements, scripts, the refresh, then the rest of the page. Links of kinds that are
    not asked for are counted.

    Raises:
        PayloadError: The WAT says nothing about its links (``PAYLOAD_NOT_IN_WAT``).
    """
    html = described.html
    if html is None:
        raise PayloadError(
            Reason.PAYLOAD_NOT_IN_WAT, described.capture.uri, offset=described.capture.offset
        )
    head = object_in(html, "Head")
    base = text_in(head, "Base") if "Base" in head else None
    return collect_links(_written(html, head), limits, base), _charset_of(described.capture, head)


def _written(html: Json, head: Json) -> Iterator[WrittenLink]:
    for entries in (objects_in(head, "Link"), objects_in(head, "Scripts")):
        yield from map(_link, entries)
    for meta in objects_in(head, "Metas"):
        if text_in(meta, "http-equiv").lower() == "refresh":
            yield WrittenLink(Kind("meta@refresh"), text_in(meta, "content"))
    yield from map(_link, objects_in(html, "Links"))


def _link(entry: Json) -> WrittenLink:
    """Return one entry of a WAT: ``{"path": "A@/href", "url": …, "text": …, "alt": …, "rel": …}``."""
    # "href" instead of "url": addresses in style sheets.
    url = text_in(entry, "url") or text_in(entry, "href")
    kind = text_in(entry, "path").lower().replace("@/", "@")
    return WrittenLink(
        Kind(kind),
        url,
        text_in(entry, "text" if kind == "a@href" else "alt"),
        text_in(entry, "rel"),
    )


def _charset_of(capture: ArchiveRecord, head: Json) -> str:
    """Return the charset that HTTP or a ``meta`` declares; it only matters to queries that are not ASCII."""
    declared = capture.http_charset
    for meta in objects_in(head, "Metas"):
        if declared is None and text_in(meta, "http-equiv").lower() == "content-type":
            found = _CHARSET.search(text_in(meta, "content"))
            declared = found[1] if found else None
    return (encoding_of(declared) if declared else None) or _CHARSET_UNSAID
