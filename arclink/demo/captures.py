"""Captures of the demo archive, and the crawls that make them.

A crawl has a date and a clock that advances by a few seconds with each capture, so that no two
captures have the same time unless that is intended.
"""

import base64
import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from arclink.demo.dice import Dice
from arclink.demo.locations import Location, Reference
from arclink.demo.pages import DemoPage, TrueLink
from arclink.model import Timestamp

CRAWLS = tuple(
    datetime.fromisoformat(f"{day}T06:00:00")
    for day in (
        "2009-11-01",
        "2009-11-22",
        "2009-12-13",
        "2010-01-10",
        "2010-01-31",
        "2010-02-12",
        "2010-02-20",
        "2010-02-28",
        "2010-03-14",
        "2010-03-28",
    )
)
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
        redirects_to: Target of a redirect.
        spelled: The original, if it is spelled differently from its parts.
    """

    timestamp: Timestamp
    location: Location
    record_type: str
    status: int | None
    headers: Headers = ()
    body: bytes = b""
    page: DemoPage | None = None
    redirects_to: Reference | None = None
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
            return [(self.redirects_to.target(self.location), "http@location", "", None)]
        if self.page is None:
            return None
        return list(self.page.links_at(self.location))


def gzipped(body: bytes) -> bytes:
    """Return ``body`` with content coding gzip, without a time in it."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    return squeezer.compress(body) + squeezer.flush()


def chunked(body: bytes, size: int = 600) -> bytes:
    """Return ``body`` with transfer coding chunked (RFC 9112, 7.1)."""
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


@dataclass
class Crawler:
    """Makes captures; one clock per crawl gives each capture its time."""

    dice: Dice
    clocks: list[int] = field(default_factory=lambda: [0] * len(CRAWLS))

    def time(self, crawl: int) -> Timestamp:
        """Return the next time of a crawl."""
        self.clocks[crawl] += 1 + self.dice.below(6)
        return Timestamp(
            (CRAWLS[crawl] + timedelta(seconds=self.clocks[crawl])).strftime("%Y%m%d%H%M%S")
        )

    def page(
        self,
        crawl: int,
        location: Location,
        page: DemoPage,
        coding: str = "",
        mime: str | None = HTML,
        spelled: str | None = None,
    ) -> DemoCapture:
        """Capture ``page`` with status 200.

        Args:
            crawl: Number of the crawl, from 0.
            location: Location of the page.
            page: The page.
            coding: If it contains ``gzip`` or ``chunked``, these codings are applied, in this
                order.
            mime: Media type in the Content-Type header; None for no such header.
            spelled: The original, if it is spelled differently.
        """
        headers: list[tuple[str, str]] = (
            [] if mime is None else [("Content-Type", mime + page.charset.parameter)]
        )
        body = page.payload
        if "gzip" in coding:
            headers.append(("Content-Encoding", "gzip"))
            body = gzipped(body)
        if "chunked" in coding:
            headers.append(("Transfer-Encoding", "chunked"))
            body = chunked(body)
        return DemoCapture(
            self.time(crawl), location, "response", 200, tuple(headers), body, page, spelled=spelled
        )

    def missing(self, crawl: int, location: Location, page: DemoPage) -> DemoCapture:
        """Capture a 404 that shows ``page``; the graph does not have its links."""
        headers = (("Content-Type", HTML + page.charset.parameter),)
        return DemoCapture(self.time(crawl), location, "response", 404, headers, page.payload)

    def redirect(
        self,
        crawl: int,
        location: Location,
        status: int,
        target: Reference,
        moment: Timestamp | None = None,
    ) -> DemoCapture:
        """Capture a redirect. Its body also has a link, which the graph does not have."""
        body = (
            f"<html><head><title>{status} {REASONS[status]}</title></head><body><a "
            'href="/moved">here</a></body></html>\n'
        )
        headers = (("Content-Type", HTML), ("Location", target.written))
        return DemoCapture(
            moment or self.time(crawl),
            location,
            "response",
            status,
            headers,
            body.encode("ascii"),
            redirects_to=target,
        )

    def file(self, crawl: int, location: Location, mime: str, body: bytes) -> DemoCapture:
        """Capture a file that is not a page."""
        return DemoCapture(
            self.time(crawl), location, "response", 200, (("Content-Type", mime),), body
        )

    def resource(self, crawl: int, location: Location, mime: str, body: bytes) -> DemoCapture:
        """Capture a file that was not fetched over HTTP: a ``resource`` record."""
        return DemoCapture(
            self.time(crawl), location, "resource", None, (("Content-Type", mime),), body
        )

    def revisit(
        self,
        crawl: int,
        location: Location,
        of: DemoCapture,
        status: int | None = 200,
        moment: Timestamp | None = None,
    ) -> DemoCapture:
        """Capture the payload of ``of`` again, at any location.

        A status of None makes a record without HTTP headers.
        """
        revisit = Revisit("identical-payload-digest", of.digest, (of.original, of.timestamp))
        headers = () if status is None else of.headers
        return DemoCapture(
            moment or self.time(crawl),
            location,
            "revisit",
            status,
            headers,
            page=of.page,
            revisit=revisit,
        )

    def not_modified(self, crawl: int, of: DemoCapture) -> DemoCapture:
        """Capture the answer that nothing changed since ``of``.

        The record has no payload digest.
        """
        revisit = Revisit("server-not-modified", None, (of.original, of.timestamp))
        return DemoCapture(
            self.time(crawl),
            of.location,
            "revisit",
            304,
            (("Server", "nginx"),),
            page=of.page,
            revisit=revisit,
        )


def in_order(captures: Sequence[DemoCapture]) -> list[DemoCapture]:
    """Return ``captures`` sorted by time; captures of the same second keep their order."""
    return sorted(captures, key=lambda capture: capture.timestamp)
