"""A small Wayback Machine on loopback: CDX server in every dialect, TimeMaps, replay, faults."""

import base64
import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Page:
    """One capture that the archive has."""

    original: str
    timestamp: str
    body: bytes = b""
    status: int = 200
    mime: str = "text/html"
    headers: tuple[tuple[str, str], ...] = ()
    checksum: str = ""
    is_revisit: bool = False

    @property
    def digest(self) -> str:
        return (
            self.checksum
            or base64.b32encode(hashlib.sha1(self.body, usedforsecurity=False).digest()).decode()
        )


@dataclass
class FakeArchive:
    """The captures of an archive, its dialects and faults, and the requests that it received.

    Attributes:
        dialect: Of its CDX server: ``columns``, ``cdxj``, ``objects``, ``arrays``, ``eleven``;
            empty: no CDX server.
        has_resume_keys: Whether the CDX server sends resume keys.
        most_rows: Largest number of rows of an answer, whatever the request.
        page_rows: Rows to a page; 0: it knows no pages.
        timemap_rows: Mementos to a TimeMap; 0: it has none.
        rewrites: Whether it ignores ``id_`` and rewrites; None: it answers 404 to it, and rewrites
            what it gives.
        faults: By path (with query): what to do to the next requests for it, one after the other;
            None: nothing.
        asked: Every path with query, in order.
        closings: Of each request, whether it asked to close the connection.
    """

    pages: Sequence[Page] = ()
    dialect: str = "columns"
    has_resume_keys: bool = True
    most_rows: int = 1_000_000
    page_rows: int = 0
    timemap_rows: int = 0
    rewrites: bool | None = False
    faults: dict[str, list[Callable[["_Handler"], None] | None]] = field(
        default_factory=lambda: defaultdict(list)
    )
    asked: list[str] = field(default_factory=list)
    closings: list[bool] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    base: str = ""

    @property
    def replayed(self) -> list[str]:
        """The requests for replay, without the base: ``TIMESTAMPid_/URI``."""
        start = urlsplit(self.base).path + "/"
        return [
            path.removeprefix(start)
            for path in self.asked
            if path.removeprefix(start)[:4].isdigit()
        ]


class _Handler(BaseHTTPRequestHandler):
    archive: FakeArchive
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None: ...

    def do_GET(self) -> None:
        archive = self.archive
        archive.asked.append(self.path)
        archive.closings.append(self.headers.get("Connection", "").lower() == "close")
        archive.agents.add(self.headers["User-Agent"])
        if archive.faults[self.path]:
            fault = archive.faults[self.path].pop(0)
            if fault is not None:
                fault(self)
                return
        path = urlsplit(self.path)
        if path.path == "/web/cdx" and archive.dialect:
            self._cdx({name: values[0] for name, values in parse_qs(path.query).items()})
        elif path.path.startswith("/web/timemap/link/") and archive.timemap_rows:
            self._timemap(self.path.removeprefix("/web/timemap/link/"))
        elif path.path.startswith("/web/") and path.path[5:9].isdigit():
            self._replay(self.path.removeprefix("/web/"))
        else:
            self.answer(404, b"<html>nothing here</html>", [("Content-Type", "text/html")])

    def answer(
        self,
        status: int,
        body: bytes,
        headers: Sequence[tuple[str, str]] = (),
        length: int | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        if length is not None:
            self.close_connection = True

    def _cdx(self, query: dict[str, str]) -> None:
        archive = self.archive
        pages = [page for page in archive.pages if _matches(page, query)]
        page_rows = archive.page_rows
        if "showNumPages" in query and page_rows:
            self.answer(200, str(-(-len(pages) // page_rows)).encode())
            return
        start = int(query.get("resumeKey", "0"))
        limit = min(int(query.get("limit", "1000000")), archive.most_rows)
        if page_rows:
            start = page_rows * int(query.get("page", "0"))
            limit = min(limit, page_rows)
        shown = pages[start : start + limit]
        is_more = start + limit < len(pages) and archive.has_resume_keys and not page_rows
        self.answer(
            200,
            cdx_answer(archive.dialect, shown, str(start + limit) if is_more else ""),
            [("Content-Type", "text/plain")],
        )

    def _timemap(self, rest: str) -> None:
        original, _, number = (
            rest.partition("#page=") if "#page=" in rest else rest.partition("%23page=")
        )
        pages = [page for page in self.archive.pages if page.original == original]
        rows = self.archive.timemap_rows
        first = int(number or 0)
        shown = pages[first * rows : (first + 1) * rows]
        links = [
            f'<{original}>; rel="original"',
            f'<{self.archive.base}/timemap/link/{rest}>; rel="self"',
        ]
        for other in range(-(-len(pages) // rows)):  # every page names all of the others
            if other != first:
                where = f"{original}#page={other}" if other else original
                links.append(
                    f'<{self.archive.base}/timemap/link/{where}>; rel="timemap"; '
                    'type="application/link-format"'
                )
        for page in shown:
            links.append(
                f'<{self.archive.base}/{page.timestamp}/{page.original}>; rel="first '
                f'memento"; datetime="{http_date(page.timestamp)}"'
            )
        if shown:
            self.answer(
                200, ",\n".join(links).encode(), [("Content-Type", "application/link-format")]
            )
        else:
            self.answer(404, b"")

    def _replay(self, rest: str) -> None:
        archive = self.archive
        where, _, original = rest.partition("/")
        timestamp, modifier = where[:14], where[14:]
        page = next(
            (
                page
                for page in archive.pages
                if page.original == original and page.timestamp == timestamp
            ),
            None,
        )
        if page is None or (modifier == "id_" and archive.rewrites is None):
            self.answer(404, b"<html>not in the archive</html>", [("Content-Type", "text/html")])
            return
        body = page.body
        if archive.rewrites is not False and page.mime == "text/html":
            body = rewritten(body, archive.base, timestamp)
        headers = [
            ("X-Archive-Orig-Content-Length", "999999"),
            ("X-Archive-Orig-Server", "nobody/1.0"),
            ("Content-Type", page.mime),
            ("Memento-Datetime", http_date(timestamp)),
            ("Link", f'<{original}>; rel="original"'),
            *page.headers,
        ]
        self.answer(page.status, body, headers)


def _matches(page: Page, query: dict[str, str]) -> bool:
    """Return whether a CDX query includes a page."""
    uri, match = query["url"], query.get("matchType", "exact")
    if not query.get("from", "0") <= page.timestamp <= query.get("to", "9"):
        return False
    if match == "exact":
        return page.original == uri
    if match == "prefix":
        return page.original.startswith(uri)
    host = urlsplit(page.original).hostname or ""
    return host == uri or host.endswith(f".{uri}")


def cdx_answer(dialect: str, pages: Sequence[Page], resume_key: str = "") -> bytes:
    """Return rows as one kind of CDX server writes them."""
    rows = []
    for page in pages:
        mime, status = ("warc/revisit", "-") if page.is_revisit else (page.mime, str(page.status))
        rows.append(
            (
                f"key){urlsplit(page.original).path}",
                page.timestamp,
                page.original,
                mime,
                status,
                page.digest,
                "321",
            )
        )
    if dialect == "arrays":
        names = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
        return json.dumps([names, *rows] + ([[], [resume_key]] if resume_key else [])).encode()
    if dialect == "columns":
        lines = [" ".join(row) for row in rows]
    elif dialect == "eleven":
        lines = [" ".join((*row[:6], "-", "-", row[6], "77", "crawl.warc.gz")) for row in rows]
    else:
        names = ["url", "mime", "status", "digest", "length"]
        objects = [
            {name: value for name, value in zip(names, row[2:], strict=True) if value != "-"}
            for row in rows
        ]
        if dialect == "objects":
            lines = [
                json.dumps({"urlkey": row[0], "timestamp": row[1], **one})
                for row, one in zip(rows, objects, strict=True)
            ]
        else:
            lines = [
                f"{row[0]} {row[1]} {json.dumps(one)}"
                for row, one in zip(rows, objects, strict=True)
            ]
    return ("\n".join(lines) + "\n" + (f"\n{resume_key}\n" if resume_key else "")).encode()


def http_date(timestamp: str) -> str:
    return format_datetime(
        datetime.strptime(timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC), usegmt=True
    )


def rewritten(body: bytes, base: str, timestamp: str) -> bytes:
    """Return a page as a Wayback Machine shows it: absolute links lead into the archive, and there
    is a banner.
    """
    path = f"{urlsplit(base).path}/{timestamp}".encode()
    body = body.replace(b'href="http', b'href="' + path + b"/http").replace(
        b'src="http', b'src="' + path + b"im_/http"
    )
    toolbar = (
        b'<!-- BEGIN WAYBACK TOOLBAR INSERT --><a href="/help">Help</a><!-- END WAYBACK '
        b"TOOLBAR INSERT -->"
    )
    return body + toolbar + b"<!--\n     FILE ARCHIVED ON 06:00:00 -->"


@contextmanager
def serving(archive: FakeArchive) -> Iterator[FakeArchive]:
    """Serve an archive on a free port of loopback; its base address is set."""
    handler = type("Handler", (_Handler,), {"archive": archive})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    archive.base = f"http://127.0.0.1:{server.server_address[1]}/web"
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield archive
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# Faults


def refuse(status: int, *headers: tuple[str, str]) -> Callable[[_Handler], None]:
    """Answer with a status that is the server's own."""
    return lambda handler: handler.answer(
        status, b"<html>no</html>", [("Content-Type", "text/html"), *headers]
    )


def hang_up(handler: _Handler) -> None:
    """Close the connection without a word."""
    handler.close_connection = True


def say(head: bytes) -> Callable[[_Handler], None]:
    """Answer with a head as it stands here, and close the connection."""

    def fault(handler: _Handler) -> None:
        handler.wfile.write(head + b"\r\n\r\n")
        handler.close_connection = True

    return fault


babble = say(b"HTTP/1.1 0 No Content")
"""Answer with an invalid status, as pywb does for a 204."""


def break_off(body: bytes, length: int, *headers: tuple[str, str]) -> Callable[[_Handler], None]:
    """Announce more bytes than come."""
    return lambda handler: handler.answer(200, body, headers, length)


def announce(
    body: bytes, length: int, *headers: tuple[str, str], status: int = 200
) -> Callable[[_Handler], None]:
    """Announce more bytes than come, and keep the connection open, unless configured to close it:
    as pywb hands on a wrong length.
    """

    def fault(handler: _Handler) -> None:
        handler.answer(status, body, headers, length)
        handler.close_connection = handler.archive.closings[-1]

    return fault


def redirect(location: str) -> Callable[[_Handler], None]:
    """Lead elsewhere, as replay does to a capture near by."""
    return lambda handler: handler.answer(302, b"", [("Location", location)])


__all__ = [
    "FakeArchive",
    "Page",
    "announce",
    "babble",
    "break_off",
    "cdx_answer",
    "hang_up",
    "http_date",
    "redirect",
    "refuse",
    "say",
    "serving",
]
