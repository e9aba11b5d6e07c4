"""Clients that send and read by hand."""

import http.client
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

REQUEST = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
"""All but the empty line at its end."""

Opener = Callable[..., socket.socket]


@contextmanager
def opener(port: int) -> Iterator[Opener]:
    """Yield a function that connects from a loopback address; close all connections at the end."""
    with ExitStack() as stack:

        def connect(address: str = "127.0.0.1") -> socket.socket:
            return stack.enter_context(
                socket.create_connection(("127.0.0.1", port), 20, source_address=(address, 0))
            )

        yield connect


def health(port: int, seconds: float = 20, address: str = "127.0.0.77") -> int:
    """Return the status of a cheap request."""
    asking = http.client.HTTPConnection(
        "127.0.0.1", port, timeout=seconds, source_address=(address, 0)
    )
    try:
        asking.request("GET", "/health")
        return asking.getresponse().status
    finally:
        asking.close()


def status_of(connection: socket.socket) -> int:
    """Read one answer to its end; return its status."""
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


def said_before_the_end(connection: socket.socket) -> bytes:
    """Wait until the server closes a connection; return the bytes that it sent before."""
    said = b""
    connection.settimeout(60)
    with suppress(ConnectionResetError):
        while piece := connection.recv(1000):
            said += piece
    return said


def seconds_of_health(port: int, address: str) -> list[float]:
    """Return the seconds that ``/health`` takes, several times; each answer must be a 200."""
    seconds = []
    for _ in range(5):
        began = time.monotonic()
        assert health(port, address=address) == 200
        seconds.append(time.monotonic() - began)
    return seconds
