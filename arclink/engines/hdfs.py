"""HDFS over HTTP (WebHDFS): addresses, listings and files.

Tasks read files, and a build manages its folders.

A JVM for each file (``hadoop fs -cat``) costs a second and half a gigabyte; HTTP costs two round
trips. Addresses are ``webhdfs://namenode:9870/path``, ``swebhdfs://namenode:9871/path`` (HTTPS), or
Hadoop's ``hdfs://…/path`` (`arclink.engines.name_nodes`). Every request is repeated while it may
succeed (docs/decisions/20261125-hdfs-that-fails.md): at another NameNode, through another DataNode,
or later. Reading follows docs/decisions/20261121-reading-from-hdfs.md, secured clusters
docs/decisions/20261124-secured-clusters.md.

Source: https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html
"""

import getpass
import os
from collections import OrderedDict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from glob import has_magic
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import quote, urlsplit
from uuid import uuid4

import orjson

from arclink.closing import Closing
from arclink.engines.name_nodes import (
    ADDRESS,
    HOW,
    name_nodes,
    read_token,
    ticket_header,
    uses_webhdfs,
)
from arclink.errors import InputError, MissingFileError, NetworkError, NetworkFailure
from arclink.network.addresses import names_of
from arclink.network.engine_files import FileEntry
from arclink.network.retries import TemporaryError, doubled, retried

if TYPE_CHECKING:
    from arclink.network.http import Response

AUTHORITY = "ARCLINK_WEBHDFS_CA"
"""The environment variable with a file of the certificates (PEM) that HTTPS servers are checked by.

Without it, they are checked by those of the system.
"""

BLOCK = 256 << 10
"""Bytes per read."""

KEPT = 16
"""Number of blocks kept in memory: a reader steps back a little from one record to the next."""

LARGEST_GAP = 1 << 20
"""Maximum bytes that are read and dropped; a larger gap is skipped by a new request."""

SECONDS = 60.0
"""Maximum seconds to wait for a server."""

LARGEST_ANSWER = 1 << 30
"""Maximum bytes of an answer of the NameNode; a folder's listing has about 300 bytes per file."""

PATIENCE = doubled(0.5, 8)
"""Seconds before further attempts at the NameNodes, and at writing; two minutes in total.

A failover takes some seconds, the start of a NameNode with its safe mode a minute or more.
"""

_FIRST_ATTEMPTS = 2
"""Further attempts at NameNodes that never answered this process: their address may be wrong."""

IN_A_TASK = "CONTAINER_ID"
"""Variable that YARN sets for tasks. The process that started them has tried the address."""

_HOPELESS = (NetworkFailure.NO_TLS, NetworkFailure.TOO_LARGE)
"""Failures that no further attempt avoids."""

_AWAY = (
    "StandbyException",
    "RetriableException",
    "SafeModeException",
    "ObserverRetryOnActiveException",
)
"""Exceptions of a NameNode that another one replaces, or that will answer later."""

_LASTING = (
    "AccessControlException",
    "SecurityException",
    "QuotaExceededException",
    "FileAlreadyExistsException",
    "ParentNotDirectoryException",
    "IllegalArgumentException",
    "UnsupportedOperationException",
)
"""Ends the exceptions that no further attempt avoids."""


class _Reply(NamedTuple):
    """A response that was read to its end."""

    status: int
    phrase: str
    headers: Mapping[str, str]
    body: bytes

    def problem(self, name: str) -> str:
        """Return a field of the error in the body: ``message`` or ``exception``; maybe empty."""
        try:
            return str(orjson.loads(self.body)["RemoteException"][name])
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return ""

    def words(self) -> str:
        """Return the error in the words of the server."""
        return self.problem("message") or f"{self.status} {self.phrase}"


class _RefusalError(Exception):
    """A server of HDFS answers that it cannot do now what was requested."""


_LOST = (NetworkError, _RefusalError)

_tokens: dict[str, str] = {}
"""The delegation tokens of this process by addresses of the NameNodes."""

_active: dict[str, int] = {}
"""The number of the NameNode that is asked next, by addresses of the NameNodes."""

_reached: set[str] = set()
"""Addresses of NameNodes of which one has answered this process."""


class WebHdfs:
    """A file system in HDFS.

    Args:
        addresses: The HTTP addresses of its NameNodes.
    """

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses
        self._user = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
        self._lost = 0  # requests of which it is not known whether they were executed

    @property
    def address(self) -> str:
        """The HTTP addresses of the NameNodes: the value of `ADDRESS` for tasks."""
        return ",".join(self._addresses)

    @property
    def _host(self) -> str:
        """The host of the NameNode that is asked next."""
        return urlsplit(self._next()).hostname or ""

    @property
    def _names(self) -> str:
        return "HDFS at " + ", ".join(urlsplit(address).netloc for address in self._addresses)

    @classmethod
    def of(cls, url: str) -> tuple["WebHdfs", str]:
        """Return the file system of an address, and the path in it.

        Raises:
            InputError: As for `name_nodes`.
        """
        path = url.partition("://")[2].partition("/")[2]
        return cls(*name_nodes(url)), "/" + path.strip("/")

    def path_of(self, url: str) -> str:
        """Return the path for an address."""
        return self.of(url)[1]

    def found_at(self, url: str) -> str:
        """Return the address: in HDFS, tasks find a file under the name that it has."""
        return url

    def status(self, path: str) -> FileEntry | None:
        """Return the file or folder at a path; None if missing."""
        reply = self._ask("GET", path, "GETFILESTATUS", missing=b"")
        return _entry(orjson.loads(reply)["FileStatus"]) if reply else None

    def entries(self, path: str) -> list[FileEntry]:
        """Return the entries of a folder, by name; an empty list if the folder does not exist."""
        reply = self._ask("GET", path, "LISTSTATUS", missing=b'{"FileStatuses":{"FileStatus":[]}}')
        return sorted(
            _entry(status) for status in orjson.loads(reply)["FileStatuses"]["FileStatus"]
        )

    def names_in(self, path: str) -> set[str]:
        """Return the names of the files that a job reads if the folder is its input.

        Hadoop passes over names that begin with an underscore or a dot.
        """
        return {one.name for one in self.entries(path) if not one.name.startswith(("_", "."))}

    def checksum(self, path: str) -> bytes:
        """Return the checksum of a file, which a DataNode makes of the checksums of its blocks.

        Files with the same bytes have the same checksum if their blocks have the same size.

        Raises:
            InputError: The file does not exist, or no server answers.
        """
        gone: set[str] = set()

        def ask() -> bytes:
            try:
                with self._redirected("GET", path, "GETFILECHECKSUM", gone) as response:
                    return response.body(LARGEST_ANSWER)
            except _LOST as error:
                what = f"{path} in HDFS has no checksum: {error}"
                raise TemporaryError(InputError(what)) from error

        return str(orjson.loads(retried(ask))["FileChecksum"]["bytes"]).encode()

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
        lost = self._lost
        reply = self._ask("PUT", path, "RENAME", f"&destination={quote(target)}")
        if orjson.loads(reply)["boolean"]:
            return
        # An attempt whose response was lost may have moved it.
        if self._lost == lost or self.status(path) is not None or self.status(target) is None:
            raise InputError(
                f"{path} cannot be moved to {target} in HDFS: the source is missing, or the "
                "target exists"
            )

    def move_folder(self, path: str, target: str, last: str) -> None:
        """Move a folder, in place of an existing one: all files at once, so that none is last."""
        self.make_folder(target.rpartition("/")[0])
        self.remove(target)
        self.rename(path, target)

    def write(self, path: str, source: BinaryIO) -> None:
        """Write a file, replacing an existing one; parent folders are made.

        If a server fails, all bytes are written again through another DataNode.

        Raises:
            InputError: It cannot be written, however often it was attempted.
        """
        self._write(path, source, "&overwrite=true")

    def write_whole(self, path: str, source: BinaryIO) -> None:
        """Write a file that a reader finds complete or not at all, or replace an existing one.

        Raises:
            InputError: It cannot be written, however often it was attempted.
        """
        folder, _, name = path.rpartition("/")
        work = f"{folder}/.{name}.{uuid4().hex}"  # no job reads a file with such a name
        self.write(work, source)
        lost = self._lost
        try:
            parameters = f"&destination={quote(path)}&renameoptions=OVERWRITE"
            self._ask("PUT", work, "RENAME", parameters)
        except InputError:
            # An attempt whose response was lost may have moved it.
            if self._lost == lost or self.status(work) is not None or self.status(path) is None:
                self.remove(work)
                raise

    def create(self, path: str, data: bytes) -> bool:
        """Write a file if the path has none; return whether this call wrote it."""
        try:
            self._write(path, BytesIO(data), "&overwrite=false")
        except InputError:
            if self.status(path) is None:
                raise
            # An attempt whose response was lost may have written it.
            return b"".join(self.read(path)) == data
        return True

    def _write(self, path: str, source: BinaryIO, parameters: str) -> None:
        begin, gone = source.tell(), set[str]()

        def attempt() -> None:
            source.seek(begin)
            try:
                with self._redirected("PUT", path, "CREATE", gone, parameters, source):
                    pass
            except _LOST as error:
                what = f"{path} in HDFS cannot be written: {error}"
                raise TemporaryError(InputError(what)) from error

        retried(attempt, PATIENCE)

    def read(self, path: str, offset: int = 0) -> Generator[bytes, None, None]:
        """Yield the bytes of a file from an offset, in blocks; if a server fails, use another.

        Raises:
            InputError: A block could not be read, however often it was requested.
        """
        gone: set[str] = set()
        blocks: Generator[bytes, None, None] | None = None

        def next_block() -> bytes:
            nonlocal blocks
            try:
                blocks = blocks or self._blocks(path, offset, gone)
                return next(blocks, b"")
            except _LOST as error:
                blocks = None
                what = f"{path} in HDFS cannot be read at byte {offset}: {error}"
                raise TemporaryError(InputError(what)) from error

        try:
            while block := retried(next_block):
                yield block
                offset += len(block)
        finally:
            if blocks is not None:
                blocks.close()

    def _blocks(self, path: str, offset: int, gone: set[str]) -> Generator[bytes, None, None]:
        with self.opened(path, offset, gone) as response:
            while block := response.read(BLOCK):
                yield block

    @contextmanager
    def opened(self, path: str, offset: int, gone: set[str] | None = None) -> Iterator["Response"]:
        """Yield the HTTP response whose body is a file from an offset on.

        Args:
            path: Path of the file.
            offset: In bytes.
            gone: DataNodes to avoid. A node that fails here is added. If no other node has the
                block, the set becomes empty.
        """
        gone = set() if gone is None else gone
        with self._redirected("GET", path, "OPEN", gone, f"&offset={offset}") as response:
            yield response

    @contextmanager
    def _redirected(
        self,
        method: str,
        path: str,
        operation: str,
        gone: set[str],
        parameters: str = "",
        source: BinaryIO | None = None,
    ) -> Iterator["Response"]:
        """Yield the response of the DataNode to which the NameNode redirects a request.

        Args:
            method: HTTP method.
            path: Path of the file.
            operation: Operation of WebHDFS.
            gone: Addresses of DataNodes to avoid. Those of a node that fails here are added. If
                the NameNode has no other node, the set becomes empty.
            parameters: Parameters of the operation.
            source: File to send.
        """
        excluded = f"&excludedatanodes={','.join(sorted(gone))}" if gone else ""
        redirect = self._named(method, path, operation, parameters + excluded)
        if excluded and redirect.status != HTTPStatus.TEMPORARY_REDIRECT:
            gone.clear()
            raise _RefusalError("no other DataNode has the block, or takes one")
        self._check(redirect, path, HTTPStatus.TEMPORARY_REDIRECT)
        where = redirect.headers.get("Location", "")
        expected = HTTPStatus.OK if source is None else HTTPStatus.CREATED
        try:
            with _exchange(method, where, None, source) as response:
                if response.status != expected:
                    self._check(_read(response), path, expected)
                yield response
        except _LOST:
            # The NameNode knows a node by its IP address only.
            gone.update(
                name for name in names_of(urlsplit(where).hostname or "") if ":" not in name
            )
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
        reply = self._named(method, path, operation, parameters)
        if reply.status == HTTPStatus.NOT_FOUND and missing is not None:
            return missing
        if reply.status != HTTPStatus.OK:
            raise InputError(f"{path} in {self._names}: {reply.words()}")
        return reply.body

    def _named(self, method: str, path: str, operation: str, parameters: str = "") -> _Reply:
        """Return the response of the active NameNode; if none is active, wait for one.

        Raises:
            InputError: None answers, or there is no ticket and no token, or they are refused.
        """

        def attempt() -> _Reply:
            try:
                reply = self._identified(method, path, operation, parameters)
                if _is_away(reply):
                    raise _RefusalError(reply.words())
            except _LOST as error:
                failure = InputError(
                    f"{self._names} does not answer "
                    f"({error.detail if isinstance(error, NetworkError) else error}); check that "
                    f"it is running, and check {ADDRESS}{_of_certificates(error)}"
                )
                if isinstance(error, NetworkError) and error.failure in _HOPELESS:
                    raise failure from error
                self._lost += 1
                self._turn()
                raise TemporaryError(failure) from error
            return reply

        return retried(attempt, self._pauses())

    def _pauses(self) -> Iterator[float]:
        """Yield the seconds before each further attempt at the NameNodes."""
        first = max(_FIRST_ATTEMPTS, len(self._addresses))
        for number, pause in enumerate(PATIENCE):
            if number == first and self.address not in _reached and IN_A_TASK not in os.environ:
                return
            yield pause

    def _next(self) -> str:
        return self._addresses[_active.get(self.address, 0) % len(self._addresses)]

    def _turn(self) -> None:
        """Ask the next NameNode from now on, if there is another one."""
        if len(self._addresses) > 1:
            _active[self.address] = (_active.get(self.address, 0) + 1) % len(self._addresses)

    def _identified(self, method: str, path: str, operation: str, parameters: str) -> _Reply:
        """Return the response of a NameNode to a user that it knows.

        If it requires Kerberos, the request is repeated with a delegation token, which this process
        keeps; if it refuses the token, with a new one.

        Raises:
            InputError: There is no ticket and no token, or they are refused.
        """
        token = _tokens.get(self.address)
        reply = self._sent(method, path, operation, parameters, token)
        if reply.status == HTTPStatus.UNAUTHORIZED or (
            token and _is_refused(reply) and not _is_away(reply)
        ):
            token = self._new_token(token)
            reply = self._sent(method, path, operation, parameters, token)
            if _is_refused(reply) and not _is_away(reply):
                raise self._ended(reply.problem("message"))
            _tokens[self.address] = token
        return reply

    def _sent(
        self, method: str, path: str, operation: str, parameters: str, token: str | None
    ) -> _Reply:
        identity = f"delegation={token}" if token else f"user.name={quote(self._user)}"
        url = f"{self._next()}/webhdfs/v1{quote(path)}?op={operation}&{identity}{parameters}"
        reply = _reply(method, url)
        _reached.add(self.address)
        return reply

    def _new_token(self, refused: str | None) -> str:
        """Return a token: that of the token file, or one that the NameNode gives for a ticket.

        Args:
            refused: The token that the NameNode no longer accepts.
        """
        if (token := read_token(self._host)) and token != refused:
            return token
        url = f"{self._next()}/webhdfs/v1/?op=GETDELEGATIONTOKEN"
        try:
            header = ticket_header(self._host)
        except InputError as error:
            if refused is None:
                raise
            raise self._ended(str(error)) from error
        reply = _reply("GET", url, {"Authorization": header})
        if _is_away(reply):
            raise _RefusalError(reply.words())
        if reply.status != HTTPStatus.OK:
            raise InputError(f"{self._names} refuses the Kerberos ticket: {reply.words()}; {HOW}")
        return str(orjson.loads(reply.body)["Token"]["urlString"])

    def _ended(self, detail: str) -> InputError:
        return InputError(
            f"{self._names} no longer accepts the delegation token of this process; a token ends "
            "with its job, and at the latest after the NameNode's "
            f"dfs.namenode.delegation.token.max-lifetime: {HOW} ({detail})"
        )

    def _check(self, reply: _Reply, path: str, status: HTTPStatus) -> None:
        """Raise an error if a response has another status than the expected one."""
        if reply.status == status:
            return
        is_lasting = reply.problem("exception").endswith(_LASTING)
        if is_lasting or reply.status in (HTTPStatus.NOT_FOUND, HTTPStatus.UNAUTHORIZED):
            raise InputError(f"{path} in {self._names}: {reply.words()}")
        raise _RefusalError(reply.words())


def _is_away(reply: _Reply) -> bool:
    """Return whether a NameNode is not active, or not ready: another one may be, or it is later."""
    said = f"{reply.problem('exception')} {reply.problem('message')}"
    return reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR or (
        reply.status == HTTPStatus.FORBIDDEN and any(name in said for name in _AWAY)
    )


def _is_refused(reply: _Reply) -> bool:
    """Return whether the NameNode does not accept the token: it expired or was cancelled."""
    return reply.status in (
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
    ) and "InvalidToken" in reply.problem("message")


def _of_certificates(error: BaseException) -> str:
    """Return the advice for a certificate that is not accepted; empty for other errors."""
    if not isinstance(error, NetworkError) or error.failure is not NetworkFailure.NO_TLS:
        return ""
    return f"; name the file (PEM) of the authority that signed its certificate in {AUTHORITY}"


def _read(response: "Response") -> _Reply:
    body = response.body(LARGEST_ANSWER)
    return _Reply(response.status, response.phrase, response.headers, body)


def _reply(method: str, url: str, headers: Mapping[str, str] | None = None) -> _Reply:
    """Return the response of a server of HDFS."""
    with _exchange(method, url, headers) as response:
        return _read(response)


@contextmanager
def _exchange(
    method: str,
    url: str,
    headers: Mapping[str, str] | None = None,
    source: BinaryIO | None = None,
) -> Iterator["Response"]:
    """Yield the response of a server of HDFS, on a connection of its own."""
    # Tasks that read local files import this module for its addresses alone.
    from arclink.network.http import HttpClient

    fields = dict(headers or {})
    if source is not None:
        fields["Content-Type"] = "application/octet-stream"
    authority = os.environ.get(AUTHORITY)
    if authority and not os.access(authority, os.R_OK):
        raise InputError(f"{AUTHORITY}: the file {authority} cannot be read")
    try:
        with (
            HttpClient(SECONDS, authority=authority) as client,
            client.exchange(method, url, fields, source) as response,
        ):
            yield response
    except NetworkError as error:
        # The parameters of a URL have a token, and messages are written to logs.
        raise NetworkError(error.failure, url.partition("?")[0], error.detail) from error.__cause__


class HdfsBytes(Closing):
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
                f"archive file cannot be read: {url}: "
                f"{'a folder' if status else 'no such file'} in HDFS; check its path"
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

    def _block(self, number: int) -> bytes:
        cached = self._blocks.get(number)
        if cached is not None:
            return cached
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
                    f"{self.name} became shorter while it was read: it ends at byte "
                    f"{self._next + len(block)}"
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
    return files_in_hdfs(url).address


def _entry(status: dict[str, str | int]) -> FileEntry:
    return FileEntry(
        str(status["pathSuffix"]), status["type"] == "DIRECTORY", int(status["length"])
    )


def files_in_hdfs(url: str) -> WebHdfs:
    """Return the file system of an address.

    Raises:
        InputError: The HTTP address of its NameNode is not known.
    """
    return WebHdfs.of(url)[0]


class HdfsReader:
    """Reads archive files in HDFS over HTTP (`arclink.network.engine_files.Reader`)."""

    def reads(self, location: str) -> bool:
        return uses_webhdfs(location)

    def opened(self, location: str) -> HdfsBytes:
        return HdfsBytes(location)

    def found(self, location: str, suffixes: Sequence[str]) -> list[str]:
        system, path = WebHdfs.of(location)
        folder, _, pattern = path.rpartition("/")
        if has_magic(pattern):
            above = location.rpartition("/")[0]
            found = [
                f"{above}/{entry.name}"
                for entry in system.entries(folder)
                if fnmatch(entry.name, pattern) and not entry.is_folder
            ]
            if not found:
                raise InputError(
                    f"no file matches {location!r}: check the pattern, and quote it so that the "
                    "shell does not expand it"
                )
            return found
        status = system.status(path)
        if status is None:
            raise InputError(f"{location}: no such file or folder in HDFS")
        if not status.is_folder:
            return [location]
        found = sorted(_search(location.rstrip("/"), system, path, tuple(suffixes)))
        if not found:
            raise InputError(
                f"{location}: no archive file in this folder (expected names: "
                f"{', '.join(suffixes)})"
            )
        return found


def _search(url: str, system: WebHdfs, path: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    for entry in system.entries(path):
        if entry.is_folder:
            yield from _search(
                f"{url}/{entry.name}", system, f"{path.rstrip('/')}/{entry.name}", suffixes
            )
        elif entry.name.lower().endswith(suffixes):
            yield f"{url}/{entry.name}"
