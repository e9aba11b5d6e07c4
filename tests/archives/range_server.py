"""An HTTP server on loopback that serves ranges, records its requests, and fails on demand."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

_MEDIA_TYPES = {".html": "text/html; charset=utf-8", ".js": "application/javascript"}
"""Types without which a browser does not use a file, by ending."""


@dataclass
class Site:
    """The files of a server, and the requests that it received.

    Attributes:
        url: Its root, with a slash at the end.
        ranges: Path, first and last byte of every range that was sent.
        gives_ranges: Whether it heeds the Range header.
        failing: How many of the next requests get a 503.
        says_gzip: Whether it takes files that are compressed for files compressed on the way.
    """

    folder: Path
    url: str = ""
    ranges: list[tuple[str, int, int]] = field(default_factory=list)
    gives_ranges: bool = True
    failing: int = 0
    says_gzip: bool = False

    @property
    def sent(self) -> int:
        return sum(last - first + 1 for _, first, last in self.ranges)


class _Handler(BaseHTTPRequestHandler):
    site: ClassVar[Site]
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, *, with_body: bool) -> None:
        path = self.site.folder / self.path.partition("?")[0].lstrip("/")
        if self.site.failing > 0:
            self.site.failing -= 1
            self.say(503, b"")
        elif not path.is_file():
            self.say(404, b"")
        else:
            data = path.read_bytes()
            asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
            if asked and self.site.gives_ranges:
                first = int(asked[1]) if asked[1] else max(0, len(data) - int(asked[2]))
                last = min(int(asked[2]) if asked[1] and asked[2] else len(data), len(data) - 1)
                self.site.ranges.append((self.path, first, last))
                self.say(
                    206,
                    data[first : last + 1],
                    f"bytes {first}-{last}/{len(data)}",
                    with_body=with_body,
                )
            else:
                self.say(200, data, with_body=with_body)

    def say(
        self, status: int, body: bytes, content_range: str = "", *, with_body: bool = True
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        media_type = _MEDIA_TYPES.get(Path(self.path.partition("?")[0]).suffix)
        if media_type:
            self.send_header("Content-Type", media_type)
        if content_range:
            self.send_header("Content-Range", content_range)
        if self.site.says_gzip and with_body:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name http.server asks for
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that closes its connections is no fault."""


@contextmanager
def serve(folder: Path) -> Iterator[Site]:
    """Serve a folder while the context lasts."""
    site = Site(folder)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    site.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
