"""Files in HDFS, over HTTP (WebHDFS): tasks read archive files, a build manages its folders.

A JVM for each file (``hadoop fs -cat``) costs a second and half a gigabyte; HTTP costs two round
trips. Addresses are ``webhdfs://namenode:9870/path``, or Hadoop's ``hdfs://…/path``; for the
latter, the variable ``ARCLINK_WEBHDFS`` names the NameNode's HTTP address. Reading follows
docs/decisions/20261121-reading-from-hdfs.md.

Source: https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html
"""

import getpass
import http.client
import os
import time
from collections import OrderedDict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple, Self
from urllib.parse import quote, urlsplit

import orjson

from arclink.archives.locations import WEBHDFS
from arclink.errors import InputError, MissingFileError

ADDRESS = WEBHDFS
SCHEMES = ("hdfs://", "webhdfs://")
BLOCK = 256 << 10
"""Bytes per read."""

KEPT = 16
"""Number of blocks kept in memory: a reader steps back a little from one record to the next."""

LARGEST_GAP = 1 << 20
"""Maximum bytes that are read and dropped; a larger gap is skipped by a new request."""

SECONDS = 60.0
"""Maximum seconds to wait for a server."""

ATTEMPTS = 7
"""Attempts per block: a DataNode may fail during a read, and another one has its blocks."""

PAUSE = 0.5
"""Seconds before the second attempt; each further pause is twice the one before.

The NameNode continues to name a failed node for some time.
"""

_LOST = (OSError, http.client.HTTPException)


class HdfsEntry(NamedTuple):
    """A file or folder in a folder; size in bytes."""

    name: str
    is_folder: bool
    size: int


def is_hdfs(path: str) -> bool:
    """Return whether a path is an address in HDFS."""
    return path.startswith(SCHEMES)


class WebHdfs:
    """A file system in HDFS.

    Args:
        host: Host of the NameNode's HTTP server.
        port: Port of that server.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._user = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()

    @property
    def address(self) -> str:
        """The NameNode's HTTP address."""
        return f"http://{self._host}:{self._port}"

    @classmethod
    def of(cls, url: str) -> tuple["WebHdfs", str]:
        """Return the file system of an address, and the path in it.

        Raises:
            InputError: The address begins with ``hdfs://``, and the variable does not name its HTTP
                address.
        """
        parts = urlsplit(url)
        address = urlsplit(os.environ.get(ADDRESS, "")) if parts.scheme == "hdfs" else parts
        if not address.hostname:
            raise InputError(
                f"{url}: the HTTP address of its NameNode is unknown; set {ADDRESS} to that address, such as http://namenode:9870, "
                "or write webhdfs://namenode:9870/path"
            )
        path = url.partition("://")[2].partition("/")[2]
        return cls(address.hostname, address.port or 9870), "/" + path.strip("/")

    def status(self, path: str) -> HdfsEntry | None:
        """Return the file or folder at a path; None if missing."""
        reply = self._ask("GET", path, "GETFILESTATUS", missing=b"")
        return _entry(orjson.loads(reply)["FileStatus"]) if reply else None

    def entries(self, path: str) -> list[HdfsEntry]:
        """Return the entries of a folder, by name; an empty list if the folder does not exist."""
        reply = self._ask("GET", path, "LISTSTATUS", missing=b'{"FileStatuses":{"FileStatus":[]}}')
        return sorted(
            _entry(status) for status in orjson.loads(reply)["FileStatuses"]["FileStatus"]
        )

    def make_folder(self, path: str) -> None:
        """Make a folder, and its parent folders."""
        self._ask("PUT", path, "MKDIRS")

    def remove(self, path: str) -> None:
        """Remove a file or folder, if it exists."""
        self._ask("DELETE", path, "DELETE", "&recursive=true")

    def rename(self, path: str, target: str) -> None:
        """Move a file or folder; the parent folder of ``target`` must exist.

        Raises:
            InputError: The source does not exist, or the target does.
        """
        reply = self._ask("PUT", path, "RENAME", f"&destination={quote(target)}")
        if not orjson.loads(reply)["boolean"]:
            raise InputError(
                f"{path} cannot be moved to {target} in HDFS: the source is missing, or the target exists"
            )

    def write(self, path: str, source: BinaryIO) -> None:
        """Write a file, replacing an existing one; parent folders are made."""
        with self._connected(self._host, self._port) as connection:
            connection.request("PUT", self._target(path, "CREATE", "&overwrite=true"))
            where = self._checked(connection.getresponse(), path, 307).getheader("Location", "")
        parts = urlsplit(where)
        with self._connected(parts.hostname or "", parts.port or 80) as connection:
            connection.request(
                "PUT",
                f"{parts.path}?{parts.query}",
                body=source,
                headers={"Content-Type": "application/octet-stream"},
            )
            self._checked(connection.getresponse(), path, 201)

    def read(self, path: str, offset: int = 0) -> Generator[bytes, None, None]:
        """Yield the bytes of a file from an offset, in blocks; if a server fails, use another.

        Raises:
            InputError: A block could not be read in `ATTEMPTS` attempts.
        """
        failures = 0
        gone: set[str] = set()
        while True:
            try:
                with self.opened(path, offset, gone) as response:
                    while block := response.read(BLOCK):
                        if len(block) < BLOCK and response.length:
                            raise http.client.IncompleteRead(block, response.length)
                        yield block
                        offset += len(block)
                        failures = 0
                return
            except _LOST as error:
                failures += 1
                if failures == ATTEMPTS:
                    raise InputError(
                        f"{path} in HDFS cannot be read at byte {offset}: {error}"
                    ) from error
                time.sleep(PAUSE * 2 ** (failures - 1))

    @contextmanager
    def opened(
        self, path: str, offset: int, gone: set[str] | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        """Yield the HTTP response whose body is a file from an offset on.

        Args:
            path: Path of the file.
            offset: In bytes.
            gone: DataNodes to avoid. A node that fails here is added. If no other node has the
                block, the set becomes empty.
        """
        gone = set() if gone is None else gone
        excluded = f"&excludedatanodes={','.join(sorted(gone))}" if gone else ""
        with self._connected(self._host, self._port) as connection:
            connection.request("GET", self._target(path, "OPEN", f"&offset={offset}{excluded}"))
            redirect = connection.getresponse()
            if excluded and redirect.status != http.client.TEMPORARY_REDIRECT:
                gone.clear()
                raise http.client.HTTPException("no other DataNode has the block")
            where = self._checked(redirect, path, 307).getheader("Location", "")
        parts = urlsplit(where)
        try:
            with self._connected(parts.hostname or "", parts.port or 80) as connection:
                connection.request("GET", f"{parts.path}?{parts.query}")
                yield self._checked(connection.getresponse(), path, 200)
        except _LOST:
            gone.add(parts.hostname or "")
            raise

    def _ask(
        self,
        method: str,
        path: str,
        operation: str,
        parameters: str = "",
        missing: bytes | None = None,
    ) -> bytes:
        """Return the NameNode's answer; ``missing`` if there is no such path."""
        try:
            with self._connected(self._host, self._port) as connection:
                connection.request(method, self._target(path, operation, parameters))
                response = connection.getresponse()
                if response.status == http.client.NOT_FOUND and missing is not None:
                    return missing
                return self._checked(response, path, 200).read()
        except _LOST as error:
            raise InputError(
                f"HDFS at {self._host}:{self._port} does not answer ({error}); check that it is running, and check {ADDRESS}"
            ) from error

    def _target(self, path: str, operation: str, parameters: str) -> str:
        return f"/webhdfs/v1{quote(path)}?op={operation}&user.name={quote(self._user)}{parameters}"

    def _checked(
        self, response: http.client.HTTPResponse, path: str, status: int
    ) -> http.client.HTTPResponse:
        if response.status == status:
            return response
        said = response.read()
        try:
            message = orjson.loads(said)["RemoteException"]["message"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            message = f"{response.status} {response.reason}"
        if response.status in (
            http.client.NOT_FOUND,
            http.client.FORBIDDEN,
            http.client.UNAUTHORIZED,
        ):
            raise InputError(f"{path} in HDFS at {self._host}:{self._port}: {message}")
        raise http.client.HTTPException(message)

    @contextmanager
    def _connected(self, host: str, port: int) -> Iterator[http.client.HTTPConnection]:
        connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
        try:
            yield connection
        finally:
            connection.close()


class HdfsBytes:
    """A file in HDFS, read by offset; cheapest forwards.

    One request is used as long as the reader goes forwards; a gap of more than `LARGEST_GAP` needs
    a new one.

    Args:
        url: Its address.

    Attributes:
        size: Size of the file in bytes.
        requests: Number of requests for the file.

    Raises:
        InputError: The file does not exist, or HDFS does not answer.
    """

    def __init__(self, url: str) -> None:
        self._system, self._path = WebHdfs.of(url)
        self.name = url
        status = self._system.status(self._path)
        if status is None or status.is_folder:
            kind = InputError if status else MissingFileError
            raise kind(
                f"archive file cannot be read: {url}: {'a folder' if status else 'no such file'} in HDFS; check its path"
            )
        self.size = status.size
        self.requests = 0
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._stream: Generator[bytes, None, None] | None = None
        self._next = 0  # offset of the block that the stream gives next

    def read(self, offset: int, count: int) -> bytes:
        """Return up to ``count`` bytes from ``offset``; fewer only at the end of the file.

        Raises:
            InputError: HDFS failed, or the file became shorter.
        """
        end = min(offset + count, self.size)
        if offset >= end:
            return b""
        first = offset // BLOCK
        blocks = [self._block(number) for number in range(first, (end - 1) // BLOCK + 1)]
        start = offset - first * BLOCK
        return (blocks[0] if len(blocks) == 1 else b"".join(blocks))[start : start + end - offset]

    def close(self) -> None:
        """Close the open request. May be called again."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _block(self, number: int) -> bytes:
        kept = self._blocks.get(number)
        if kept is not None:
            return kept
        block = b""
        start = number * BLOCK
        if self._stream is None or not 0 <= start - self._next <= LARGEST_GAP:
            self._stream = self._system.read(self._path, start)
            self._next = start
            self.requests += 1
        while self._next <= start:
            block = next(self._stream, b"")
            if len(block) < min(BLOCK, self.size - self._next):
                raise InputError(
                    f"{self.name} became shorter while it was read: it ends at byte {self._next + len(block)}"
                )
            self._blocks[self._next // BLOCK] = block
            self._next += BLOCK
            if len(self._blocks) > KEPT:
                self._blocks.popitem(last=False)
        return block


def webhdfs_address(url: str) -> str:
    """Return the HTTP address of an address's NameNode: the value of `ADDRESS` for tasks.

    Raises:
        InputError: It is not known.
    """
    return WebHdfs.of(url)[0].address


def _entry(status: dict[str, str | int]) -> HdfsEntry:
    return HdfsEntry(
        str(status["pathSuffix"]), status["type"] == "DIRECTORY", int(status["length"])
    )
