"""A small archive of pages with all their parts, one page that tries to escape, and a service."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.archives.made_archives import gzipped, http, warc

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cfc0f01f00050001ff89993d1d0000000049454e44ae426082"
)
"""One pixel."""

HOME, NEWS, OTHER = "http://past.example/", "http://past.example/news.html", "http://other.example/"
GONE, MOVED, NEVER = (
    "http://past.example/gone.html",
    "http://past.example/moved",
    "http://never.example/",
)
HOSTILE = "http://hostile.example/"
VIDEO, VIDEO_BYTES = "http://past.example/video.mp4", bytes(range(65, 91)) * 4
DAY, LATER = "20100212", "20110301"

_HOME = """<!doctype html><html><head><title>The past</title><link rel=stylesheet href=/style.css>
<script src=/script.js></script></head><body><h1>Old page</h1><p id=scripted>no script</p>
<img id=picture src=/picture.png><a href=/news.html>News</a> <a href=/moved>Moved</a> <a href=/gone.html>Gone</a>
<a href=http://never.example/>Never</a> <a href=http://other.example/ target=_blank>Another site</a>%s</body></html>"""


def capture(
    uri: str,
    body: str | bytes,
    day: str = DAY,
    media_type: str = "text/html; charset=utf-8",
    status: str = "200 OK",
    headers: Sequence[str] = (),
) -> bytes:
    """Return a record of one capture at six in the morning."""
    content = body.encode() if isinstance(body, str) else body
    block = http(content, f"Content-Type: {media_type}", *headers, status=status)
    return warc(uri, block, date=f"{day[:4]}-{day[4:6]}-{day[6:]}T06:00:00Z")


def write_archive(path: Path, hostile: str, more: Sequence[bytes] = ()) -> None:
    """Write the archive; ``hostile`` is the body of its hostile page, ``more`` are more records."""
    script = (
        "addEventListener('load', () => { document.getElementById('scripted').textContent = "
        "'scripted' });"
    )
    news = (
        "<title>News</title><h1>News of 2010</h1><p>Words of the page.</p><a href=/>Home of "
        "the past</a>"
    )
    records = [
        capture(HOME, _HOME % ""),
        capture(HOME, _HOME % "<a href=/new.html>New</a>", LATER),
        capture(
            "http://past.example/style.css", "h1 { color: rgb(1, 2, 3) }", media_type="text/css"
        ),
        capture("http://past.example/script.js", script, media_type="text/javascript"),
        capture("http://past.example/picture.png", PNG, media_type="image/png"),
        capture(VIDEO, VIDEO_BYTES, media_type="video/mp4"),
        capture(NEWS, news),
        capture(MOVED, "", status="302 Found", headers=["Location: /news.html"]),
        capture(GONE, "<h1>Archived error</h1>", status="404 Not Found"),
        capture(OTHER, "<h1>Other</h1><a href=http://past.example/>A page of the past</a>"),
        capture(HOSTILE, hostile),
        *more,
    ]
    path.write_bytes(gzipped(records))


@dataclass(frozen=True, slots=True)
class Past:
    """A service over the archive.

    Attributes:
        base_url: Origin of the service.
        store: Its store.
        replay_port: Port of the origin where pages are replayed.
    """

    base_url: str
    store: Path
    replay_port: int

    def then(self, uri: str, time: str = f"{DAY}235959") -> str:
        """Return the address of a page at a time."""
        return f"{self.base_url}/browse/{time}/{uri}"


@contextmanager
def serving(
    folder: Path, hostile: str = "", options: Sequence[str] = (), more: Sequence[bytes] = ()
) -> Iterator[Past]:
    """Build the store of the archive in ``folder`` and serve it."""
    write_archive(folder / "past.warc.gz", hostile, more)
    run = [sys.executable, "-m", "arclink.cli.main"]
    build = ["build", str(folder / "past.warc.gz"), "--store", str(folder / "past.db")]
    subprocess.run([*run, *build, "--runner", "inline", "--quiet"], check=True, capture_output=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    serve = [
        "serve",
        "--store",
        str(folder / "past.db"),
        "--port",
        "0",
        "--browse-port",
        str(port),
        *options,
    ]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*run, *serve], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        try:
            base_url = process.stdout.readline().split(" at ")[1].split("/  ")[0]
            yield Past(base_url, folder / "past.db", port)
        finally:
            process.send_signal(signal.SIGTERM)


class Canary:
    """Another host: it counts who connects to it, over TCP and UDP, and answers nothing."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._threads = [
            threading.Thread(target=serve, daemon=True) for serve in (self._accept, self._receive)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._tcp.accept()
            except OSError:
                return
            with client:
                client.settimeout(1)
                try:
                    self.asked.append(f"TCP {client.recv(200)!r}")
                except OSError:
                    self.asked.append("TCP, without a word")

    def _receive(self) -> None:
        while True:
            try:
                data = self._udp.recv(200)
            except OSError:
                return
            if data == b"end":
                self._udp.close()
                return
            self.asked.append(f"UDP {data!r}")

    def close(self) -> None:
        self._tcp.shutdown(socket.SHUT_RDWR)
        self._tcp.close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"end", ("127.0.0.1", self.port))
        for thread in self._threads:
            thread.join(10)
