"""Files of other machines, by range: over HTTP, S3, HDFS and every other protocol of fsspec.

Each range is one request, and a request costs far more than the bytes in it. So ArcLink reads
ahead: a little after a jump, and more and more as long as reading continues. Temporary failures are
retried.
"""

import errno
from typing import Any

from arclink.archives.locations import UNLISTED, scheme_of
from arclink.network.drivers import EXTRAS, driver_of, patiently
from arclink.version import AGENT

_LEAST = 64 << 10
_MOST = 8 << 20
_BLOCK = 64 << 10
"""Block size for fsspec: it would fetch a smaller file as a whole."""

_HTTP_OPTIONS: dict[str, Any] = {  # Any: options differ between drivers
    # Request the stored bytes: a server may compress them in transfer, and a client may decompress
    # bytes that were not compressed in transfer.
    "headers": {"Accept-Encoding": "identity", "User-Agent": AGENT},
    "client_kwargs": {"auto_decompress": False},
}


class RemoteBytes:
    """A file of another machine; see `arclink.archives.byte_sources.ByteSource`.

    Args:
        url: Its address.

    Raises:
        OSError: The file does not exist or cannot be reached, or its server does not support
            ranges.
        InputError: There is no driver for its scheme.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._file: Any = patiently(lambda: _open(url))
        size = getattr(self._file, "size", None)
        if callable(size):  # in the HDFS driver
            size = size()
        if not isinstance(size, int):
            raise OSError(
                errno.ESPIPE,
                "its server does not send its length, or serves no ranges; copy the file to "
                "this machine",
            )
        self.size = size
        self._start = 0
        self._block = b""
        self._fetched = _LEAST

    def read(self, offset: int, count: int) -> bytes:
        count = min(count, self.size - offset)
        if count <= 0:
            return b""
        start = offset - self._start
        if not 0 <= start <= len(self._block) - count:
            goes_on = self._block and 0 <= start <= len(self._block)
            self._fetched = min(self._fetched * 2, _MOST) if goes_on else _LEAST
            self._block = self._fetch(offset, max(count, self._fetched))
            self._start, start = offset, 0
        return self._block[start : start + count]

    def _fetch(self, offset: int, count: int) -> bytes:
        def fetch() -> bytes:
            self._file.seek(offset)
            data: bytes = self._file.read(count)
            return data

        data = patiently(fetch)
        if len(data) < min(count, self.size - offset):
            raise OSError(
                errno.EIO,
                f"{len(data)} bytes were received instead of {count}; the file may have changed",
            )
        return data

    def close(self) -> None:
        self._file.close()


def find_remote(pattern: str) -> list[str]:
    """Return the addresses that match a pattern with ``*``, or that are below a folder; sorted.

    A pattern that ends in ``/`` names such a folder.

    Raises:
        OSError: The folder cannot be listed.
        InputError: There is no driver for its scheme.
    """
    system, path = _system(pattern)
    found = patiently(lambda: system.find(path) if pattern.endswith("/") else system.glob(path))
    return sorted(system.unstrip_protocol(name) for name in found)


def _open(url: str) -> Any:  # Any: fsspec has no types
    system, path = _system(url)
    if scheme_of(url) in UNLISTED or scheme_of(url) in EXTRAS:
        return system.open(path, "rb", cache_type="none", block_size=_BLOCK)
    return system.open(path, "rb")


def _system(url: str) -> tuple[Any, str]:
    """Return the driver for an address, and the driver's name of the file."""
    return driver_of(url, **(_HTTP_OPTIONS if scheme_of(url) in UNLISTED else {}))
