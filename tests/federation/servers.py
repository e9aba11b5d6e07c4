"""Servers on loopback that answer as a test requests: well, wrongly, slowly, or without end."""

import http.server
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Play = Callable[[socket.socket, threading.Event], None]
"""What a server does with a connection whose request was read; it ends when the event is set."""


@contextmanager
def playing(play: Play) -> Iterator[str]:
    """Run a server that plays this with every connection; yield its URL."""
    is_over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.1)
    threads: list[threading.Thread] = []

    def accept() -> None:
        while not is_over.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            threads.append(threading.Thread(target=one, args=(connection,)))
            threads[-1].start()

    def one(connection: socket.socket) -> None:
        with connection:
            connection.settimeout(5)
            try:
                connection.recv(65_536)
                play(connection, is_over)
            except OSError:
                return  # the other side left, as it should

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        is_over.set()
        accepting.join(10)
        for thread in threads:
            thread.join(10)
        listener.close()


def sends(*pieces: bytes) -> Play:
    """Send this, and close."""
    return lambda connection, _: connection.sendall(b"".join(pieces))


def drips(start: bytes, drop: bytes = b"x") -> Play:
    """Send this, then a drop ten times a second, for ever."""

    def play(connection: socket.socket, is_over: threading.Event) -> None:
        connection.sendall(start)
        while not is_over.wait(0.1):
            connection.sendall(drop)

    return play


def response(
    body: bytes, media_type: str = "application/json", status: str = "200 OK", *headers: str
) -> bytes:
    """Return a whole HTTP response."""
    head = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {media_type}",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


@contextmanager
def handling(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    """Run a server with this handler; yield its URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
