"""A captured page as an object of Beautiful Soup or of warcio."""

import warnings
from collections.abc import Iterator, Sequence
from io import BufferedReader, BytesIO, RawIOBase
from typing import TYPE_CHECKING, Any

from arclink.archives.records import charset_in
from arclink.extract.charsets import decode_html
from arclink.extract.page_text import HTML_MIMES
from arclink.extras import analysis_extra

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from warcio.recordloader import ArcWarcRecord  # type: ignore[import-untyped]


def is_html(mime: str, body: bytes = b"") -> bool:
    """Return whether a body is HTML: by its media type, or without one, by its beginning."""
    return mime in HTML_MIMES or (not mime and body.lstrip()[:1] == b"<")


def soup_of(body: bytes, content_type: str) -> "BeautifulSoup":
    """Return a page as parsed by Beautiful Soup, in the charset that extraction decides for.

    Raises:
        UsageError: Beautiful Soup is not installed.
    """
    with analysis_extra():
        from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, XMLParsedAsHTMLWarning

    decoded = decode_html(body, charset_in(content_type))
    text = decoded.text if isinstance(decoded.text, str) else decoded.text.decode(errors="replace")
    with warnings.catch_warnings():
        # XHTML, feeds and short pages are meant.
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        soup = BeautifulSoup(text, "html.parser")
    soup.original_encoding = decoded.charset
    return soup


def record_of(
    head: bytes,
    http_head: bytes,
    http_fields: Sequence[tuple[str, str]],
    body: Iterator[bytes],
    body_length: int,
) -> "ArcWarcRecord":
    """Return a record of warcio.

    warcio does not parse the HTTP head: ArcLink accepts more of them, and both must agree.

    Args:
        head: Its head, as of a WARC file.
        http_head: The HTTP head as recorded; empty if there is no HTTP.
        http_fields: The fields of this head.
        body: The body as recorded.
        body_length: Its bytes.
    """
    from warcio.recordloader import ArcWarcRecord
    from warcio.statusandheaders import (  # type: ignore[import-untyped]
        StatusAndHeaders,
        StatusAndHeadersParser,
    )

    fields = StatusAndHeadersParser([], verify=False).parse(BytesIO(head))
    http = None
    if http_head:
        line = http_head.lstrip().partition(b"\n")[0].decode("latin-1").strip()
        protocol, _, status = line.partition(" ")
        http = StatusAndHeaders(status.strip(), [*http_fields], protocol)
    return ArcWarcRecord(
        "warc",
        fields.get_header("WARC-Type"),
        fields,
        BufferedReader(_Pieces(body)),
        http,
        fields.get_header("Content-Type"),
        len(http_head) + body_length,
        payload_length=body_length,
    )


class _Pieces(RawIOBase):
    """A stream of bytes that come in pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # a writable buffer, for which 3.11 has no type
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
