"""Captures of the demo archive, the crawls that make them, and repeatable random numbers.

A crawl has a date and a clock that advances by a few seconds with each capture, so that no two
captures have the same time unless that is intended.
"""

import base64
import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from random import Random
from typing import TypeVar

from arclink.demo.pages import DemoPage, Location, TrueLink, spelled
from arclink.model import Timestamp

T = TypeVar("T")

_DAYS = "20091101 20091122 20091213 20100110 20100131 20100212 20100220 20100228 20100314 20100328"
CRAWLS = tuple(datetime.fromisoformat(f"{day}T06:00:00") for day in _DAYS.split())
"""Start times of the crawls (UTC). The games of the demo's world open on the day of the sixth."""

REASONS = {
    200: "OK",
    301: "Moved Permanently",
    302: "Found",
    303: "See Other",
    304: "Not Modified",
    307: "Temporary Redirect",
    308: "Permanent Redirect",
    404: "Not Found",
}

HTML = "text/html"

Headers = tuple[tuple[str, str], ...]


class Dice:
    """Random numbers that depend on ``seed`` only, on every Python.

    Only ``Random.random()`` promises the same numbers across versions, so everything is derived
    from it.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def roll(self) -> float:
        """Return a number from 0 up to but not including 1."""
        return self._random.random()

    def below(self, end: int) -> int:
        """Return a whole number from 0 up to but not including ``end``."""
        return int(self._random.random() * end)

    def chance(self, share: float) -> bool:
        """Return True with a probability of ``share``."""
        return self._random.random() < share

    def pick(self, things: Sequence[T]) -> T:
        """Return one of ``things``, which must not be empty."""
        return things[self.below(len(things))]


@dataclass(frozen=True, slots=True)
class Revisit:
    """The fields that make a record a revisit (WARC 1.1, 6.7).

    Attributes:
        profile: ``identical-payload-digest`` or ``server-not-modified``.
        digest: Digest of the repeated payload; None if the record does not have it.
        refers_to: Original and timestamp of the repeated capture; None if the record does not name
            it.
    """

    profile: str
    digest: str | None
    refers_to: tuple[str, Timestamp] | None


@dataclass(frozen=True, eq=False)
class DemoCapture:
    """One memento of the demo archive.

    Attributes:
        location: Location of the captured page.
        status: HTTP status; None for a record without HTTP headers.
        headers: Headers of the HTTP answer, without its length.
        body: Bytes after the headers, with their codings; empty for a revisit.
        page: The page whose links it has; None if no links can be known.
        redirects_to: Target of a redirect, as `Location.target` takes it.
        spelled: The original, if it is spelled differently from its parts.
    """

    timestamp: Timestamp
    location: Location
    record_type: str
    status: int | None
    headers: Headers = ()
    body: bytes = b""
    page: DemoPage | None = None
    redirects_to: str | None = None
    revisit: Revisit | None = None
    spelled: str | None = None

    @property
    def original(self) -> str:
        """The URI as captured."""
        return self.location.uri if self.spelled is None else self.spelled

    @cached_property
    def digest(self) -> str:
        """Payload digest of the record: ``sha1:`` and base32, of the bytes after the headers."""
        if self.revisit is not None and self.revisit.digest is not None:
            return self.revisit.digest
        return "sha1:" + base64.b32encode(hashlib.sha1(self.body).digest()).decode("ascii")

    def links(self) -> list[TrueLink] | None:
        """Return the links that the graph must answer with; None if no links can be known."""
        if self.redirects_to is not None:
            return [(self.location.target(self.redirects_to), "http@location", "", None)]
        if self.page is None:
            return None
        return list(self.page.links_at(self.location))


def _gzipped(body: bytes) -> bytes:
    """Return ``body`` with content coding gzip, without a time in it."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    return squeezer.compress(body) + squeezer.flush()


def _chunked(body: bytes, size: int = 600) -> bytes:
    """Return ``body`` with transfer coding chunked (RFC 9112, 7.1)."""
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def gif(comment: str) -> bytes:
    """Return a GIF of one pixel that holds ``comment`` (GIF89a, 24), up to 255 bytes of it."""
    note = comment.encode()[:255]
    head = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff"
    drawing = b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b"
    return head + b"\x21\xfe" + bytes([len(note)]) + note + b"\x00" + drawing


@dataclass
class Crawler:
    """One clock per crawl gives each capture its time."""

    dice: Dice
    clocks: list[int] = field(default_factory=lambda: [0] * len(CRAWLS))

    def time(self, crawl: int) -> Timestamp:
        """Return the next time of a crawl."""
        self.clocks[crawl] += 1 + self.dice.below(6)
        return Timestamp(
            (CRAWLS[crawl] + timedelta(seconds=self.clocks[crawl])).strftime("%Y%m%d%H%M%S")
        )


def page(
    moment: Timestamp,
    location: Location,
    shown: DemoPage,
    coding: str = "",
    mime: str | None = HTML,
    spelled: str | None = None,
) -> DemoCapture:
    """Capture the page ``shown`` with status 200.

    Args:
        moment: Time of the capture.
        location: Location of the page.
        shown: The page.
        coding: If it contains ``gzip`` or ``chunked``, these codings are applied, in this order.
        mime: Media type in the Content-Type header; None for no such header.
        spelled: The original, if it is spelled differently.
    """
    headers: Headers = () if mime is None else (("Content-Type", mime + shown.encoding.parameter),)
    body = shown.payload
    for name, header, encode in (
        ("gzip", "Content-Encoding", _gzipped),
        ("chunked", "Transfer-Encoding", _chunked),
    ):
        if name in coding:
            headers, body = (*headers, (header, name)), encode(body)
    return DemoCapture(moment, location, "response", 200, headers, body, shown, spelled=spelled)


def missing(moment: Timestamp, location: Location, shown: DemoPage) -> DemoCapture:
    """Capture a 404 that shows the page ``shown``; the graph does not have its links."""
    return replace(page(moment, location, shown), status=404, page=None)


def redirect(moment: Timestamp, location: Location, status: int, reference: str) -> DemoCapture:
    """Capture a redirect to a reference of the notation.

    Its body also has a link, which the graph does not have.
    """
    body = (
        f"<html><head><title>{status} {REASONS[status]}</title></head><body><a "
        'href="/moved">here</a></body></html>\n'
    )
    written, target = spelled(reference)
    headers = (("Content-Type", HTML), ("Location", written))
    return DemoCapture(
        moment, location, "response", status, headers, body.encode("ascii"), redirects_to=target
    )


def file(
    moment: Timestamp, location: Location, mime: str, body: bytes, record_type: str = "response"
) -> DemoCapture:
    """Capture a file that is not a page, as a ``resource`` if it was not fetched over HTTP."""
    status = 200 if record_type == "response" else None
    return DemoCapture(moment, location, record_type, status, (("Content-Type", mime),), body)


def revisit(
    moment: Timestamp,
    location: Location,
    of: DemoCapture,
    status: int | None = 200,
    names: tuple[str, Timestamp] | None = None,
) -> DemoCapture:
    """Capture the payload of ``of`` again, at any location.

    A status of None makes a record without HTTP headers. The record names ``of``, or the capture
    ``names``.
    """
    repeated = Revisit("identical-payload-digest", of.digest, names or (of.original, of.timestamp))
    headers = () if status is None else of.headers
    return DemoCapture(moment, location, "revisit", status, headers, page=of.page, revisit=repeated)


def not_modified(moment: Timestamp, of: DemoCapture) -> DemoCapture:
    """Capture the answer that nothing changed since ``of``.

    The record has no payload digest.
    """
    repeated = Revisit("server-not-modified", None, (of.original, of.timestamp))
    headers = (("Server", "nginx"),)
    return DemoCapture(moment, of.location, "revisit", 304, headers, page=of.page, revisit=repeated)


def in_order(captures: Sequence[DemoCapture]) -> list[DemoCapture]:
    """Return ``captures`` sorted by time; captures of the same second keep their order."""
    return sorted(captures, key=lambda capture: capture.timestamp)
