"""Stricter reading of HTTP requests.

A request with both ``Content-Length`` and ``Transfer-Encoding`` is refused, because a proxy may see
its end at another position.

Source: RFC 9112, sections 6.1 and 6.3 (message framing).
"""

import re
from typing import Final

from waitress.parser import HTTPRequestParser, ParsingError  # type: ignore[import-untyped]  # has no types

_TRANSFER_ENCODING: Final = re.compile(rb"(?im)^transfer-encoding[ \t]*:([^\n]*)")
_CONTENT_LENGTH: Final = re.compile(rb"(?im)^content-length[ \t]*:")
_START_LINE: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^ ]+(?: HTTP/[0-9]\.[0-9])?")
"""Matches the same start lines as waitress, in linear time also if there is no match."""
_BEFORE_VALUE: Final = re.compile(rb"(\n[^\s:]+:)[ \t]*(?:\r\n[ \t]+)*")
"""The name of a header and the blanks after it, over which waitress takes quadratic time."""


class StrictParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """Refuses requests whose end is ambiguous and which waitress would read in its own way."""

    def parse_header(self, header_plus: bytes) -> None:
        if _START_LINE.fullmatch(header_plus.partition(b"\r\n")[0].rstrip()) is None:
            raise ParsingError("Start line is invalid")
        super().parse_header(_BEFORE_VALUE.sub(rb"\1 ", header_plus))
        encodings = [
            value.removesuffix(b"\r").strip(b" \t")
            for value in _TRANSFER_ENCODING.findall(header_plus)
        ]
        if not encodings:
            return
        if _CONTENT_LENGTH.search(header_plus):
            raise ParsingError("Content-Length and Transfer-Encoding in one request")
        if self.version != "1.1":
            raise ParsingError("Transfer-Encoding in a request that is not HTTP/1.1")
        if [encoding.lower() for encoding in encodings] != [b"chunked"]:
            raise ParsingError("Transfer-Encoding can only be: chunked")
