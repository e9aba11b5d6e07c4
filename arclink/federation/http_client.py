"""An HTTP client for one request, with limits on total time and on size.

It uses the standard library's client, whose timeout limits silence only: a peer that sends a byte
from time to time could hold it forever, even in the header. Here, the socket is shut down when the
total time is over, whatever it is doing. Some missing features of that client are useful here: it
follows no redirects, decodes no compression, uses no proxy and sends no cookies.
"""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from arclink.errors import InstanceError
from arclink.version import VERSION

CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A response whose body was read completely.

    Attributes:
        media_type: The media type without parameters, in lower case; empty if the answer has no
            media type.
        headers: Header values by name in lower case.
    """

    status: int
    media_type: str
    headers: Mapping[str, str]
    body: bytes


def fetch(url: str, headers: Mapping[str, str], seconds: float, most_bytes: int) -> HttpAnswer:
    """Return the response to a GET request; statuses 304 and 4xx are responses, too.

    Args:
        url: An ``http`` or ``https`` URL from the configuration, never from an answer.
        headers: Headers in addition to those of every request.
        seconds: Limit for everything: name resolution, connecting, waiting, reading.
        most_bytes: Largest size of the body.

    Raises:
        InstanceError: The response did not arrive in time, is not HTTP, is a redirect or a server
            error (5xx), or is too large, compressed or incomplete.
    """
    with _Exchange(url, seconds) as exchange:
        return exchange.get(url, headers, most_bytes)


class _TlsConnection(http.client.HTTPConnection):
    """HTTP over TLS whose socket can be shut down from the first byte of the handshake on."""

    default_port = http.client.HTTPS_PORT

    def connect(self) -> None:
        super().connect()
        context = ssl.create_default_context()
        self.sock = context.wrap_socket(
            self.sock, server_hostname=self.host, do_handshake_on_connect=False
        )
        self.sock.do_handshake()


class _Exchange:
    """One connection, which is shut down when its time is over."""

    def __init__(self, url: str, seconds: float) -> None:
        parts = urlsplit(url)
        self.seconds = seconds
        self.is_over = False
        self._end = time.monotonic() + seconds
        host, port = parts.hostname or "", parts.port
        kind = _TlsConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(host, port, timeout=seconds)
        self._socket: socket.socket | None = (
            None  # the client drops its own reference if the response ends with the connection
        )
        self._watch = threading.Timer(seconds, self._shut)
        self._watch.daemon = True

    def __enter__(self) -> Self:
        self._watch.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watch.cancel()
        self._connection.close()

    def get(self, url: str, headers: Mapping[str, str], most_bytes: int) -> HttpAnswer:
        try:
            parts = urlsplit(url)
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            sent = {
                "User-Agent": f"ArcLink/{VERSION}",
                "Accept-Encoding": "identity",
                "Connection": "close",
                **headers,
            }
            self._connection.connect()
            self._socket = self._connection.sock
            if self.is_over:  # before there was a socket to shut
                raise TimeoutError
            self._connection.request("GET", target, headers=sent)
            with self._connection.getresponse() as response:
                self._refuse(response)
                body = self._body(response, most_bytes)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise InstanceError(self._what_failed(error)) from error
        found = {name.lower(): value for name, value in response.getheaders()}
        return HttpAnswer(
            response.status,
            found.get("content-type", "").partition(";")[0].strip().lower(),
            found,
            body,
        )

    def _refuse(self, response: http.client.HTTPResponse) -> None:
        status = response.status
        if status >= 500:
            raise InstanceError(f"it answers with status {status}")
        if 300 <= status < 400 and status != 304:
            raise InstanceError(
                f"it answers with a redirect ({status}), which is not followed; configure the address it leads to"
            )
        coding = response.getheader("Content-Encoding", "identity").strip().lower()
        if coding not in ("", "identity"):
            raise InstanceError(
                f"its answer is compressed ({coding[:40]!a}), although the request excluded this"
            )

    def _body(self, response: http.client.HTTPResponse, most_bytes: int) -> bytes:
        if response.status == 304:
            return b""
        length = None if response.chunked else response.length
        if length is not None and length > most_bytes:
            raise InstanceError(f"its answer has {length:,} bytes, more than {most_bytes:,}")
        pieces: list[bytes] = []
        size = 0
        while length is None or size < length:
            piece = response.read1(CHUNK if length is None else min(CHUNK, length - size))
            if not piece:
                break
            size += len(piece)
            if size > most_bytes:
                raise InstanceError(f"its answer has more than {most_bytes:,} bytes")
            pieces.append(piece)
        if self.is_over:
            raise TimeoutError
        if length is not None and size < length:
            raise InstanceError(f"its answer was truncated: {size:,} of {length:,} bytes")
        return b"".join(pieces)

    def _shut(self) -> None:
        self.is_over = True
        found = self._socket or self._connection.sock  # the latter during a handshake
        if found is not None:
            try:
                found.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # closed by its own end in the same moment

    def _what_failed(self, error: Exception) -> str:
        if self.is_over or isinstance(error, TimeoutError) or time.monotonic() >= self._end:
            return f"no complete answer within {self.seconds:.3g} s"
        match error:
            case ConnectionRefusedError():
                return "nothing answers at its address (connection refused)"
            case socket.gaierror():
                return "its host name cannot be resolved"
            case ssl.SSLError():
                return f"no secure connection: {error.reason or error}"
            case OSError():
                return f"the connection failed: {error.strerror or error}"
            case _:
                return f"its answer is not HTTP: {type(error).__name__}"
