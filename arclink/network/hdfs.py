"""HDFS over HTTP (WebHDFS): addresses, listings and files.

Tasks read files, and a build manages its folders.

A JVM for each file (``hadoop fs -cat``) costs a second and half a gigabyte; HTTP costs two round
trips. Addresses are ``webhdfs://namenode:9870/path``, ``swebhdfs://namenode:9871/path`` (HTTPS), or
Hadoop's ``hdfs://…/path``; for the latter, the variable ``ARCLINK_WEBHDFS`` names the NameNode's
HTTP address. Reading follows docs/decisions/20261121-reading-from-hdfs.md, secured clusters
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
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import quote, urlsplit

import orjson

from arclink.closing import Closing
from arclink.errors import InputError, MissingFileError, NetworkError, NetworkFailure
from arclink.network.addresses import parse_server_address
from arclink.network.hadoop_tokens import HOW, read_token, ticket_header
from arclink.network.retries import TemporaryError, retried

if TYPE_CHECKING:
    from arclink.network.http import Response

ADDRESS = "ARCLINK_WEBHDFS"
"""The environment variable with the NameNode's HTTP address."""

AUTHORITY = "ARCLINK_WEBHDFS_CA"
"""The environment variable with a file of the certificates (PEM) that HTTPS servers are checked by.

Without it, they are checked by those of the system.
"""

SCHEMES = ("hdfs://", "webhdfs://", "swebhdfs://")
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


class _RefusalError(Exception):
    """A server of HDFS answers that it cannot do what was requested."""


_LOST = (NetworkError, _RefusalError)

_tokens: dict[str, str] = {}
"""The delegation tokens of this process by address of the NameNode."""


class FileEntry(NamedTuple):
    """A file or folder in a folder; size in bytes."""

    name: str
    is_folder: bool
    size: int


def uses_webhdfs(place: str) -> bool:
    """Return whether a place is in HDFS and is read over HTTP.

    Without the variable that names the NameNode's HTTP address, fsspec's driver reads ``hdfs://``.
    """
    scheme = place.partition("://")[0].lower()
    return scheme in ("webhdfs", "swebhdfs") or (scheme == "hdfs" and ADDRESS in os.environ)


class WebHdfs:
    """A file system in HDFS.

    Args:
        host: Host of the NameNode's HTTP server.
        port: Port of that server.
        is_encrypted: Whether it speaks HTTPS.
    """

    def __init__(self, host: str, port: int, *, is_encrypted: bool = False) -> None:
        self._host = host
        self._port = port
        self._is_encrypted = is_encrypted
        self._user = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()

    @property
    def address(self) -> str:
        """The NameNode's HTTP address."""
        return f"http{'s' if self._is_encrypted else ''}://{self._host}:{self._port}"

    @classmethod
    def of(cls, url: str) -> tuple["WebHdfs", str]:
        """Return the file system of an address, and the path in it.

        Raises:
            InputError: It is no address; or it begins with ``hdfs://``, and the variable does not
                name its HTTP address.
        """
        is_indirect = url.partition("://")[0].lower() == "hdfs"
        try:
            address = parse_server_address(os.environ.get(ADDRESS, "") if is_indirect else url)
        except ValueError as error:
            if is_indirect:
                wrong = f"{ADDRESS} is not the HTTP address of its NameNode ({error})"
                advice = "set it to one such as http://namenode:9870"
            else:
                wrong, advice = f"not an address: {error}", "use webhdfs://namenode:9870/path"
            raise InputError(f"{url}: {wrong}; {advice}") from error
        path = url.partition("://")[2].partition("/")[2]
        is_encrypted = address.scheme in ("https", "swebhdfs")
        port = address.port or (9871 if is_encrypted else 9870)
        return cls(address.host, port, is_encrypted=is_encrypted), "/" + path.strip("/")

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

    def checksum(self, path: str) -> bytes:
        """Return the checksum of a file, which a DataNode makes of the checksums of its blocks.

        Files with the same bytes have the same checksum if their blocks have the same size.

        Raises:
            InputError: The file does not exist, or no server answers.
        """

        def ask() -> bytes:
            try:
                redirect = self._named("GET", path, "GETFILECHECKSUM")
                self._check(redirect, path, HTTPStatus.TEMPORARY_REDIRECT)
                reply = _reply("GET", redirect.headers.get("Location", ""))
                self._check(reply, path, HTTPStatus.OK)
                return reply.body
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
        reply = self._ask("PUT", path, "RENAME", f"&destination={quote(target)}")
        if not orjson.loads(reply)["boolean"]:
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
        """Write a file, replacing an existing one; parent folders are made."""
        redirect = self._named("PUT", path, "CREATE", "&overwrite=true")
        self._check(redirect, path, HTTPStatus.TEMPORARY_REDIRECT)
        reply = _reply("PUT", redirect.headers.get("Location", ""), source=source)
        self._check(reply, path, HTTPStatus.CREATED)

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
        excluded = f"&excludedatanodes={','.join(sorted(gone))}" if gone else ""
        redirect = self._named("GET", path, "OPEN", f"&offset={offset}{excluded}")
        if excluded and redirect.status != HTTPStatus.TEMPORARY_REDIRECT:
            gone.clear()
            raise _RefusalError("no other DataNode has the block")
        self._check(redirect, path, HTTPStatus.TEMPORARY_REDIRECT)
        where = redirect.headers.get("Location", "")
        try:
            with _exchange("GET", where) as response:
                if response.status != HTTPStatus.OK:
                    self._check(_read(response), path, HTTPStatus.OK)
                yield response
        except _LOST:
            gone.add(urlsplit(where).hostname or "")
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
            reply = self._named(method, path, operation, parameters)
            if reply.status == HTTPStatus.NOT_FOUND and missing is not None:
                return missing
            self._check(reply, path, HTTPStatus.OK)
            return reply.body
        except _LOST as error:
            raise InputError(
                f"HDFS at {self._host}:{self._port} does not answer "
                f"({error.detail if isinstance(error, NetworkError) else error}); "
                f"check that it is running, and check {ADDRESS}{_of_certificates(error)}"
            ) from error

    def _named(self, method: str, path: str, operation: str, parameters: str = "") -> _Reply:
        """Return the NameNode's response.

        If it requires Kerberos, the request is repeated with a delegation token, which this process
        keeps; if it refuses the token, with a new one.

        Raises:
            InputError: There is no ticket and no token, or they are refused.
        """
        token = _tokens.get(self.address)
        reply = self._sent(method, path, operation, parameters, token)
        if reply.status == HTTPStatus.UNAUTHORIZED or (token and _is_refused(reply)):
            token = self._new_token(token)
            reply = self._sent(method, path, operation, parameters, token)
            if _is_refused(reply):
                raise self._ended(reply.problem("message"))
            _tokens[self.address] = token
        return reply

    def _sent(
        self, method: str, path: str, operation: str, parameters: str, token: str | None
    ) -> _Reply:
        identity = f"delegation={token}" if token else f"user.name={quote(self._user)}"
        url = f"{self.address}/webhdfs/v1{quote(path)}?op={operation}&{identity}{parameters}"
        return _reply(method, url)

    def _new_token(self, refused: str | None) -> str:
        """Return a token: that of the token file, or one that the NameNode gives for a ticket.

        Args:
            refused: The token that the NameNode no longer accepts.
        """
        if (token := read_token(self._host)) and token != refused:
            return token
        url = f"{self.address}/webhdfs/v1/?op=GETDELEGATIONTOKEN"
        try:
            header = ticket_header(self._host)
        except InputError as error:
            if refused is None:
                raise
            raise self._ended(str(error)) from error
        reply = _reply("GET", url, {"Authorization": header})
        if reply.status != HTTPStatus.OK:
            raise InputError(
                f"HDFS at {self._host}:{self._port} refuses the Kerberos ticket: "
                f"{reply.problem('message') or f'{reply.status} {reply.phrase}'}; {HOW}"
            )
        return str(orjson.loads(reply.body)["Token"]["urlString"])

    def _ended(self, detail: str) -> InputError:
        return InputError(
            f"HDFS at {self._host}:{self._port} no longer accepts the delegation token of this "
            "process; a token ends with its job, and at the latest after the NameNode's "
            f"dfs.namenode.delegation.token.max-lifetime: {HOW} ({detail})"
        )

    def _check(self, reply: _Reply, path: str, status: HTTPStatus) -> None:
        """Raise an error if a response has another status than the expected one."""
        if reply.status == status:
            return
        message = reply.problem("message") or f"{reply.status} {reply.phrase}"
        if reply.status in (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN, HTTPStatus.UNAUTHORIZED):
            raise InputError(f"{path} in HDFS at {self._host}:{self._port}: {message}")
        raise _RefusalError(message)


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


def _reply(
    method: str,
    url: str,
    headers: Mapping[str, str] | None = None,
    source: BinaryIO | None = None,
) -> _Reply:
    """Return the response of a server of HDFS."""
    with _exchange(method, url, headers, source) as response:
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
    return WebHdfs.of(url)[0].address


def _entry(status: dict[str, str | int]) -> FileEntry:
    return FileEntry(
        str(status["pathSuffix"]), status["type"] == "DIRECTORY", int(status["length"])
    )


def find_in_hdfs(url: str, suffixes: Sequence[str]) -> list[str]:
    """Return the addresses of the files that an address names, sorted.

    Args:
        url: A file, a folder that is searched with its subfolders, or a pattern for the files of
            one folder (``hdfs:///crawl/*.warc.gz``).
        suffixes: Suffixes of the files that are searched for in folders.

    Raises:
        InputError: The place does not exist, or has no such file.
    """
    system, path = WebHdfs.of(url)
    folder, _, pattern = path.rpartition("/")
    if has_magic(pattern):
        above = url.rpartition("/")[0]
        found = [
            f"{above}/{entry.name}"
            for entry in system.entries(folder)
            if fnmatch(entry.name, pattern) and not entry.is_folder
        ]
        if not found:
            raise InputError(
                f"no file matches {url!r}: check the pattern, and quote it so that the shell "
                "does not expand it"
            )
        return found
    status = system.status(path)
    if status is None:
        raise InputError(f"{url}: no such file or folder in HDFS")
    if not status.is_folder:
        return [url]
    found = sorted(_search(url.rstrip("/"), system, path, tuple(suffixes)))
    if not found:
        raise InputError(
            f"{url}: no archive file in this folder (expected names: {', '.join(suffixes)})"
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
