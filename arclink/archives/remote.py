"""Files of other machines, by range: over HTTP, S3, HDFS and every other protocol of fsspec.

Each range is one request, and a request costs far more than the bytes in it. So ArcLink reads
ahead: a little after a jump, and more and more as long as reading continues. Temporary failures are
retried.
"""

import errno
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import aiohttp
import fsspec  # type: ignore[import-untyped]  # it has no types

from arclink.archives.locations import UNLISTED, scheme_of
from arclink.errors import InputError
from arclink.network.retries import TemporaryError, retried
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
_EXTRAS = {"s3": "s3", "s3a": "s3", "hdfs": "hdfs"}
"""Optional dependencies of ArcLink (setup.cfg) by scheme."""

_T = TypeVar("_T")


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
        self._file: Any = _patiently(lambda: _open(url))
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

        data = _patiently(fetch)
        if len(data) < min(count, self.size - offset):
            raise OSError(
                errno.EIO,
                f"{len(data)} bytes were received instead of {count}; the file may have changed",
            )
        return data

    def close(self) -> None:
        self._file.close()


def find_remote(pattern: str) -> list[str]:
    """Return the addresses that match a pattern with ``*``, or that are below a place; sorted.

    A pattern that ends in ``/`` names such a place.

    Raises:
        OSError: The place cannot be listed.
        InputError: There is no driver for its scheme.
    """
    system, path = _system(pattern)
    found = _patiently(lambda: system.find(path) if pattern.endswith("/") else system.glob(path))
    return sorted(system.unstrip_protocol(name) for name in found)


def _open(url: str) -> Any:  # Any: fsspec has no types
    system, path = _system(url)
    if scheme_of(url) in UNLISTED or scheme_of(url) in _EXTRAS:
        return system.open(path, "rb", cache_type="none", block_size=_BLOCK)
    return system.open(path, "rb")


def _system(url: str) -> tuple[Any, str]:
    """Return the driver for an address, and the driver's name of the file."""
    scheme = scheme_of(url)
    try:
        system, path = fsspec.url_to_fs(url, **(_HTTP_OPTIONS if scheme in UNLISTED else {}))
    except ImportError as error:
        extra = _EXTRAS.get(scheme or "")
        how = f"pip install 'arclink[{extra}]'" if extra else f"pip install what it needs ({error})"
        raise InputError(
            f"{url}: {scheme}:// needs a driver that is not installed: {how}"
        ) from error
    except ValueError as error:
        raise InputError(
            f"{url}: {scheme}:// is not supported; use http, https, s3 or hdfs"
        ) from error
    return system, path


def _errors_of_drivers() -> tuple[type[Exception], ...]:
    """Return the errors of loaded drivers that are not OSErrors (of S3, which retries itself)."""
    botocore = sys.modules.get("botocore.exceptions")
    return (botocore.BotoCoreError, botocore.ClientError) if botocore else ()


def _patiently(attempt: Callable[[], _T]) -> _T:
    """Return the result of ``attempt``, retried while the server is away or busy.

    Raises:
        OSError: The server does not come back, refuses the request, or says that there is no such
            file.
    """

    def once() -> _T:
        try:
            return attempt()
        except aiohttp.ClientResponseError as error:
            raise _refusal(error) from error
        except FileNotFoundError as error:
            raise _missing(error.__cause__) from error
        except ValueError as error:
            what = "its server serves no ranges; copy the file to this machine"
            raise OSError(errno.ESPIPE, what) from error
        except _errors_of_drivers() as error:
            raise OSError(errno.EIO, str(error)) from error
        except (aiohttp.ClientError, TimeoutError, ConnectionError) as error:
            what = f"{type(error).__name__}: {error}"
            raise TemporaryError(OSError(errno.EIO, what)) from error

    return retried(once)


def _missing(cause: BaseException | None) -> Exception:
    """Return the error for a missing file: fsspec reports every failure as one."""
    if isinstance(cause, aiohttp.ClientResponseError):
        return _refusal(cause)
    if isinstance(cause, (aiohttp.ClientError, TimeoutError, ConnectionError)):
        what = f"its server cannot be reached: {str(cause) or 'it does not answer'}"
        return TemporaryError(OSError(errno.EHOSTUNREACH, what))
    return OSError(errno.ENOENT, "no such file")


def _refusal(error: aiohttp.ClientResponseError) -> Exception:
    """Return the error for a status; some statuses may pass (RFC 9110, 15.6; RFC 6585, 4)."""
    if error.status in (404, 410):
        return OSError(errno.ENOENT, f"no such file (its server answers {error.status})")
    refusal = OSError(errno.EIO, f"its server answers {error.status} {error.message}")
    return TemporaryError(refusal) if error.status >= 500 or error.status == 429 else refusal
