"""Files of a build in an object store: S3, or a server that speaks its protocol.

An object store has no folders and cannot rename. A folder is what the names of objects begin with.
A new name is kept in memory by `ObjectStore`: every reader asks it for the address of a file. Files
that remain after a build are copied to their final names by the store itself.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
"""

import errno
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

from arclink.errors import InputError
from arclink.network.engine_files import FileEntry

SCHEMES = ("s3://", "s3a://")
"""The addresses; Hadoop's own driver has the second name, Amazon EMR uses the first."""

_RANGE = 8 << 20
"""Bytes per request when a file is read."""

_MOST_DELETED = 1000
"""Greatest number of objects that one request may delete."""


def is_object_store(url: str) -> bool:
    """Return whether an address is in an object store.

    >>> is_object_store("s3a://bucket/graph"), is_object_store("hdfs:///graph")
    (True, False)
    """
    return url.startswith(SCHEMES)


class _Object(NamedTuple):
    """An object: its path, ``BUCKET/KEY``, its size in bytes and its entity tag."""

    path: str
    size: int
    tag: str


class ObjectStore:
    """The files of a build in one bucket; see `arclink.network.engine_files.EngineFiles`.

    Paths are ``BUCKET/KEY``. Names that `rename` gave are known to this object only, and end with
    the process.

    Args:
        url: Address of any object in the bucket.

    Raises:
        InputError: The driver is not installed.
    """

    def __init__(self, url: str) -> None:
        # Tasks that read local files import this module for its addresses alone.
        from arclink.network.drivers import driver_of

        self._scheme = url.partition("://")[0]
        # A cached listing would lack what tasks have written since.
        self._system, path = driver_of(url, use_listings_cache=False)
        self._bucket = path.partition("/")[0]
        self._sources: dict[str, str] = {}  # path of the object, by the name that it was given
        self._known: dict[str, _Object] = {}  # what listings said of objects

    def path_of(self, url: str) -> str:
        """Return the path for an address."""
        return url.partition("://")[2].strip("/")

    def found_at(self, url: str) -> str:
        """Return the address at which tasks find a file, whatever name it was given."""
        path = self.path_of(url)
        return f"{self._scheme}://{self._sources.get(path, path)}"

    def status(self, path: str) -> FileEntry | None:
        """Return the file at a path; None if missing."""
        source = self._sources.get(path, path)
        found = self._answer(source, lambda: self._system.info(source))
        if found is None or found["type"] == "directory":
            return None
        return FileEntry(_name(path), False, int(found["size"]))

    def entries(self, path: str) -> list[FileEntry]:
        """Return the files and folders in a folder, by name; the list may be empty."""
        start, moved = path + "/", set(self._sources.values())
        listed = {one.path: one for one in self._listed(start, "/")}
        self._known.update(listed)
        for name, source in self._sources.items():
            if name.startswith(start) and "/" not in name.removeprefix(start):
                listed[name] = self._object(source)
        return sorted(
            FileEntry(_name(name), one.path.endswith("/"), one.size)
            for name, one in listed.items()
            if name not in moved
        )

    def names_in(self, path: str) -> set[str]:
        """Return the names of the files that a job reads if the folder is its input.

        They are those of the objects, whatever names `rename` gave them. Hadoop passes over names
        that begin with an underscore or a dot.
        """
        listed = (_name(one.path) for one in self._listed(path + "/", "/"))
        return {name for name in listed if not name.startswith(("_", "."))}

    def checksum(self, path: str) -> bytes:
        """Return the entity tag of a file.

        Files with the same bytes have the same tag if they were written in parts of one size,
        unless the bucket is encrypted with keys of a key server.

        Raises:
            InputError: The file does not exist, or the store does not answer.
        """
        return self._object(self._sources.get(path, path)).tag.encode()

    def make_folder(self, path: str) -> None:
        """Do nothing: a folder exists as soon as a file is in it."""

    def remove(self, path: str) -> None:
        """Remove a file or folder, if it exists; but not files that have a name elsewhere."""
        start = path + "/"
        gone = {name for name in self._sources if name == path or name.startswith(start)}
        sources = {self._sources.pop(name) for name in gone}
        below = {one.path for one in self._listed(start)}
        objects = sorted((below | sources | {path}) - set(self._sources.values()))
        self._delete(objects)
        for one in objects:
            self._known.pop(one, None)

    def rename(self, path: str, target: str) -> None:
        """Give a file another name, which this object knows. No byte is copied."""
        self._sources[target] = self._sources.pop(path, path)

    def move_folder(self, path: str, target: str, last: str) -> None:
        """Move a folder for good, in place of an existing one: the store copies each file.

        Args:
            path: The folder.
            target: Its new path.
            last: Name of the file that is copied last: where it is, the folder is complete.
        """
        self.remove(target)
        start, moved = path + "/", set(self._sources.values())
        copies = {
            one.path: f"{target}/{one.path.removeprefix(start)}"
            for one in self._listed(start)
            if one.path not in moved and not one.path.endswith("/")
        }
        for name, source in self._sources.items():
            if name.startswith(start):
                copies[source] = f"{target}/{name.removeprefix(start)}"
        final = {source: name for source, name in copies.items() if name == f"{target}/{last}"}
        self._copy({source: name for source, name in copies.items() if source not in final})
        self._copy(final)
        self.remove(path)

    def write(self, path: str, source: BinaryIO) -> None:
        """Write a file, replacing an existing one; it appears when it is complete."""

        def send() -> None:
            source.seek(0)
            file = self._system.open(path, "wb")
            try:
                shutil.copyfileobj(source, file, _RANGE)
            except BaseException:
                file.discard()
                raise
            file.close()

        self._sources.pop(path, None)
        self._known.pop(path, None)
        self._answer(path, send, is_needed=True)

    write_whole = write

    def create(self, path: str, data: bytes) -> bool:
        """Write a file if the path has none; return whether this call wrote it."""
        key = path.partition("/")[2]
        try:
            self._call(path, "put_object", Key=key, Body=data, IfNoneMatch="*")
        except InputError:
            if self.status(path) is None:
                raise
            # An attempt whose response was lost may have written it.
            return b"".join(self.read(path)) == data
        return True

    def read(self, path: str, offset: int = 0) -> Generator[bytes, None, None]:
        """Yield the bytes of a file from an offset, in blocks.

        Raises:
            InputError: A block could not be read, however often it was requested.
        """
        source = self._sources.get(path, path)
        size = self._object(source).size
        while offset < size:
            yield self._range(source, offset, min(offset + _RANGE, size))
            offset += _RANGE

    def _range(self, path: str, start: int, end: int) -> bytes:
        block = self._answer(
            path, lambda: self._system.cat_file(path, start=start, end=end), is_needed=True
        )
        if len(block) != end - start:
            raise InputError(f"{self._shown(path)} became shorter while it was read")
        return bytes(block)

    def _object(self, path: str) -> _Object:
        """Return size and tag of an object, from its last listing if it was listed.

        Raises:
            InputError: It does not exist, or the store does not answer.
        """
        if (known := self._known.get(path)) is not None:
            return known
        found = self._answer(path, lambda: self._system.info(path), is_needed=True)
        return _Object(path, int(found["size"]), str(found["ETag"]).strip('"'))

    def _listed(self, start: str, delimiter: str = "") -> Iterator[_Object]:
        """Yield the objects whose paths begin with a text.

        With a delimiter, all objects with the same path up to the next delimiter are one entry: a
        folder. Some tools write an empty object for a folder, whose name ends in a slash. Such
        objects are listed, too; with a delimiter, that of the folder itself is not.
        """
        prefix = start.partition("/")[2]
        more: dict[str, object] = {}
        while True:
            page = self._call(start, "list_objects_v2", Prefix=prefix, Delimiter=delimiter, **more)
            for folder in page.get("CommonPrefixes", ()):
                yield _Object(f"{self._bucket}/{folder['Prefix']}", 0, "")
            for one in page.get("Contents", ()):
                if not (delimiter and one["Key"] == prefix):
                    name, tag = f"{self._bucket}/{one['Key']}", one["ETag"].strip('"')
                    yield _Object(name, int(one["Size"]), tag)
            if not page.get("IsTruncated"):
                return
            more = {"ContinuationToken": page["NextContinuationToken"]}

    def _delete(self, paths: list[str]) -> None:
        for first in range(0, len(paths), _MOST_DELETED):
            portion = paths[first : first + _MOST_DELETED]
            keys = [{"Key": path.partition("/")[2]} for path in portion]
            done = self._call(portion[0], "delete_objects", Delete={"Objects": keys, "Quiet": True})
            for refused in done.get("Errors", ()):
                raise InputError(
                    f"{self._shown(self._bucket + '/' + refused['Key'])} cannot be deleted: "
                    f"{refused.get('Message') or refused.get('Code')}"
                )

    def _copy(self, copies: Mapping[str, str]) -> None:
        """Copy objects within the store, several at a time."""
        if copies:
            self._answer(
                next(iter(copies)),
                lambda: self._system.copy(list(copies), list(copies.values())),
                is_needed=True,
            )

    def _call(self, path: str, method: str, **arguments: object) -> Any:  # Any: as above
        """Return the answer to one request of S3 for objects of the bucket."""

        def request() -> Any:  # Any: as above
            return self._system.call_s3(method, Bucket=self._bucket, **arguments)

        return self._answer(path, request, is_needed=True)

    def _answer(self, path: str, request: Callable[[], Any], *, is_needed: bool = False) -> Any:
        """Return the store's answer; None if the object is missing and not needed.

        Raises:
            InputError: The store refuses the request, or does not answer.
        """
        from arclink.network.drivers import patiently

        try:
            return patiently(request)
        except OSError as error:
            if error.errno == errno.ENOENT and not is_needed:
                return None
            raise InputError(
                f"{self._shown(path)}: {error.strerror or error}; check the address, its bucket, "
                "the credentials, and AWS_ENDPOINT_URL if the store is not Amazon's"
            ) from error

    def _shown(self, path: str) -> str:
        return f"{self._scheme}://{path}"


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
