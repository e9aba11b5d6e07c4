"""Drivers of fsspec for files of other machines, and the attempts that they get.

`arclink.archives.remote` reads archive files with them, `arclink.engines.object_store` keeps the
files of a build.
"""

import errno
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import aiohttp
import fsspec  # type: ignore[import-untyped]  # it has no types

from arclink.errors import InputError
from arclink.network.addresses import WEB_PORTS, parse_server_address
from arclink.network.retries import TemporaryError, retried

EXTRAS = {"s3": "s3", "s3a": "s3", "hdfs": "hdfs"}
"""Optional dependencies of ArcLink (setup.cfg) by scheme."""

_T = TypeVar("_T")


def driver_of(url: str, **options: object) -> tuple[Any, str]:  # Any: fsspec has no types
    """Return the driver for an address, and the driver's name of the file.

    Args:
        url: The address.
        options: Options of the driver.

    Raises:
        InputError: It is not an address, or there is no driver for its scheme.
    """
    scheme, _, rest = url.partition("://")
    scheme = scheme.lower()
    if scheme in ("s3", "s3a") and "@" in rest.partition("/")[0]:
        raise InputError(
            f"{url}: an address in S3 has no user and password; keys are found as by any program "
            "of AWS (docs/reference/inputs.md)"
        )
    try:
        if scheme in WEB_PORTS:  # its driver takes any text
            parse_server_address(url)
        system, path = fsspec.url_to_fs(url, **options)
    except ImportError as error:
        extra = EXTRAS.get(scheme)
        how = f"pip install 'arclink[{extra}]'" if extra else f"pip install what it needs ({error})"
        raise InputError(
            f"{url}: {scheme}:// needs a driver that is not installed: {how}"
        ) from error
    except ValueError as error:
        is_known = scheme in fsspec.available_protocols()
        why = f"not an address of a file: {error}" if is_known else f"{scheme}:// is not supported"
        raise InputError(f"{url}: {why}; use http, https, s3 or hdfs") from error
    return system, path


def _errors_of_drivers() -> tuple[type[Exception], ...]:
    """Return the errors of loaded drivers that are not OSErrors (of S3, which retries itself)."""
    botocore = sys.modules.get("botocore.exceptions")
    return (botocore.BotoCoreError, botocore.ClientError) if botocore else ()


def patiently(attempt: Callable[[], _T]) -> _T:
    """Return the result of ``attempt``, retried while the server is away or busy.

    Args:
        attempt: Calls a driver.

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
