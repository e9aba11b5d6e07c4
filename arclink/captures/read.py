"""A capture as recorded: status, archived headers and body, streamed.

`PageReader` finds the records of a capture in its archive files and checks that each is the one
that the store means, because files move, change, and share names. A body is never held in memory as
a whole if it is larger than a megabyte.

A revisit has its own head, and the payload of another capture. If its record has no HTTP head, the
head of that capture is used.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from arclink.archives.payloads import (
    DEFAULT_LIMIT,
    codings_of,
    payload_checksum,
    stream_decoded,
    stream_without_chunks,
)
from arclink.archives.reader import ArchiveFile, RecordParts
from arclink.archives.records import ArchiveRecord, HttpHeaders, mime_in
from arclink.archives.segments import GZIP
from arclink.archives.wat import describe, is_described
from arclink.archives.writing import END_OF_RECORD, head_as_warc, head_of_response, packed
from arclink.captures.locate import (
    capture_shown,
    holders_of_payload,
    not_at_hand,
)
from arclink.closing import Closing
from arclink.errors import (
    ArclinkError,
    CaptureError,
    DataError,
    InputError,
    MissingFileError,
    RecordError,
)
from arclink.model import EMPTY_PAYLOAD, NO_CHECKSUM, REVISIT, Memento, maker
from arclink.reasons import Reason
from arclink.rows.cdx import CAPTURES
from arclink.store.archive_paths import ArchivePaths, OpenFiles, RecordedPaths
from arclink.store.protocols import Captures
from arclink.uris.surts import surt_of
from arclink.uris.wrapped import Unwrapper

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from warcio.recordloader import ArcWarcRecord  # type: ignore[import-untyped]

IN_MEMORY = 1 << 20
"""Maximum bytes of a record that are held in memory; longer bodies are streamed."""

_ANY_ARCHIVE = Unwrapper()


@contextmanager
def one_capture(memento: Memento) -> Iterator[None]:
    """Make a `CaptureError` with a reason of whatever fails while one capture is read.

    So a caller that reads many captures loses this one only, counts it, and reads the next.
    Errors of the store, and of files that do not belong to the capture, are not changed.

    Raises:
        CaptureError: The capture cannot be read.
    """
    try:
        yield
    except InputError as error:
        raise _unreadable(error, memento.file) from error
    except DataError as error:
        raise _lost(memento, str(error), error.reason) from error
    except MemoryError as error:
        raise _lost(memento, Reason.PAYLOAD_MEMORY.text, Reason.PAYLOAD_MEMORY) from error
    except (ArclinkError, OSError):
        raise
    except Exception as error:
        detail = f"{Reason.PAYLOAD_FAILED.text}: {type(error).__name__}: {error}"
        raise _lost(memento, detail, Reason.PAYLOAD_FAILED) from error


def most_bytes(stored: int, limit: int = DEFAULT_LIMIT) -> int:
    """Return the number of bytes that a capture may become: a few may decode to gigabytes.

    Bodies that are stored uncompressed stay whole, and an attack gets little for its bytes.

    Args:
        stored: Bytes of its record in the archive file; negative if unknown.
        limit: Number of bytes that any capture may become.
    """
    return max(limit, 2 * stored)


def too_long(memento: Memento) -> CaptureError:
    """Return the error for a capture that may become more bytes than `most_bytes`."""
    return _lost(memento, Reason.PAYLOAD_TOO_LONG.text, Reason.PAYLOAD_TOO_LONG)


def _lost(memento: Memento, detail: str, reason: Reason) -> CaptureError:
    return CaptureError(f"archive file {memento.file}: {detail}", reason, memento.file)


def reason_of(error: CaptureError) -> Reason:
    """Return the reason under which a capture that cannot be read is counted."""
    return error.reason or Reason.PAYLOAD_NOT_AT_HAND


class RecordHolder(NamedTuple):
    """An archive file that is open, with the record that was read from it.

    Attributes:
        path: Path or URL of the file.
        archive: The file; in use until `PageReader.release`.
        record: The record; its body may be longer than the bytes in memory.
        memento: Its capture, with the address of the record. This differs from the address of the
            requested memento if that one is the description of a record in a WAT.
    """

    path: str
    archive: ArchiveFile
    record: ArchiveRecord
    memento: Memento


_holder = maker(RecordHolder)


class CapturedPage(Closing):
    """A capture as recorded. Close it, or use ``with``.

    Attributes:
        memento: The requested capture.
        shown: The capture whose page this is: ``memento``, or the one that it refers to.
        status: Three digits of HTTP; ``-`` if the record has no HTTP.
        headers: The archived HTTP header fields, in their order; empty if there is no HTTP.
        body_memento: The capture whose record holds the body.
        head_memento: The capture whose record holds status and headers.
        body_length: Bytes of the body as recorded, with its codings.
    """

    def __init__(
        self,
        memento: Memento,
        shown: Memento,
        head: ArchiveRecord,
        holder: RecordHolder | None,
        reader: "PageReader",
        head_memento: Memento | None = None,
    ) -> None:
        self.memento = memento
        self.shown = shown
        self.status = head.status
        self.headers: HttpHeaders = head.http_headers
        self.body_memento = holder.memento if holder else shown
        self._head = head
        is_whole = holder is not None and holder.record is head
        self.head_memento = head_memento or (self.body_memento if is_whole else shown)
        self._record = holder.record if holder else None
        self.body_length = self._record.body_length if self._record else 0
        self._holder = None if self.is_in_memory else holder
        self._reader = reader
        if holder is not None and self._holder is None:
            reader.release(holder)

    @property
    def content_type(self) -> str:
        """The media type as written; empty if it is not known."""
        return self._head.content_type

    @property
    def mime(self) -> str:
        """The media type in lower case, without parameters; empty if it is not known."""
        mime = mime_in(self.content_type)
        # An HTTP head without a field, or one that says so.
        return "" if mime in ("-", "application/http") else mime

    @property
    def is_in_memory(self) -> bool:
        """Whether the whole body is in memory, so that nothing must be closed."""
        return self._record is None or self._record.rest is None

    @property
    def codings(self) -> list[str]:
        """Names of the codings of the body that the headers declare, in the order of their use.

        They are the content codings, and transfer codings other than chunks.
        """
        return codings_of(self._record)[1] if self._record else []

    @property
    def is_chunked(self) -> bool:
        """Whether the headers declare chunks."""
        return self._record is not None and codings_of(self._record)[0]

    def recorded(self) -> Iterator[bytes]:
        """Return the pieces of the body exactly as recorded.

        Raises:
            CaptureError: The body breaks off (``PAYLOAD_DAMAGED``); after the last piece.
        """
        record = self._record
        if record is None:
            return iter(())
        if record.rest is None and len(record.body) >= record.body_length:
            return iter((record.body,))
        return self._guarded(self._pieces_of(record))

    def _pieces_of(self, record: ArchiveRecord) -> Iterator[bytes]:
        size = 0
        for piece in record.body_pieces():
            size += len(piece)
            yield piece
        if size < record.body_length:
            raise RecordError(
                Reason.PAYLOAD_DAMAGED,
                record.damage or "the record breaks off",
                self.body_memento.file,
                self.body_memento.offset,
            )

    def sent(self) -> Iterator[bytes]:
        """Return the pieces of the body without chunks, with its codings, as a client saves it.

        Raises:
            CaptureError: See `recorded`.
        """
        if self.is_chunked:
            return self._guarded(stream_without_chunks(self.recorded()))
        return self.recorded()

    def decoded(self, limit: int | None = None) -> Iterator[bytes]:
        """Return the pieces of the body as a browser reads it, without codings.

        Args:
            limit: Maximum bytes; also between two codings. None: no limit.

        Raises:
            CaptureError: See `recorded`. A coding cannot be undone (``PAYLOAD_CODING``), or the
                body is longer than ``limit`` (``PAYLOAD_TOO_LONG``, after that number of bytes).
        """
        return self._guarded(stream_decoded(self.sent(), self.codings, limit))

    def soup(self, limit: int = DEFAULT_LIMIT) -> "BeautifulSoup":
        """Return the page as parsed by Beautiful Soup, decoded like pages of which links are read.

        Its ``original_encoding`` is the charset.

        Args:
            limit: Maximum bytes of the body, without codings.

        Raises:
            CaptureError: See `decoded`. The capture is not HTML or XML (``MEMENTO_MIME``), or
                Beautiful Soup cannot parse it (``PAYLOAD_FAILED``).
            UsageError: Beautiful Soup is not installed.
        """
        from arclink.captures.libraries import is_html, soup_of

        is_xml, mime = self.mime.endswith(("/xml", "+xml")), self.mime
        is_page = not mime or is_xml or is_html(mime)
        body = b"".join(self.decoded(limit)) if is_page else b""
        if not is_page or (body and not mime and not is_html(mime, body)):
            text = f"is {mime or 'not typed'}, not HTML or XML; read it with decoded()"
            raise CaptureError(
                f"{self.memento.original} at {self.memento.timestamp} {text}",
                Reason.MEMENTO_MIME,
                self.memento.file,
            )
        with one_capture(self.memento):
            return soup_of(body, self.content_type)

    def record(self) -> "ArcWarcRecord":
        """Return the capture as a record of warcio; read its stream before the page is closed.

        It is a WARC record, also if the archive file is an ARC file. A revisit, which repeats
        another capture, is the response that it stands for: with its own URI and time, and the
        payload of the other capture. `memento` and `body_memento` say which these are.

        Raises:
            CaptureError: The record cannot be read. Reading its stream raises it, too: see
                `recorded`.
        """
        from arclink.captures.libraries import record_of

        memento = self.memento
        with one_capture(memento), self._reader.open_record(memento, self.head_memento) as opened:
            http_head = opened.http_head()
            if self.is_own_record:
                head = head_as_warc(opened.parts, memento)
            else:
                content_type = "" if http_head else self.content_type or "application/octet-stream"
                with_payload = memento._replace(checksum=self.shown.checksum)
                size = len(http_head) + self.body_length
                head = head_of_response(with_payload, content_type, size)
        fields = self.headers.fields
        return record_of(head, http_head, fields, self.recorded(), self.body_length)

    @property
    def is_own_record(self) -> bool:
        """Whether head and body are those of the record of the capture, not of another one."""
        about = (self.memento.original, self.memento.timestamp)
        return (
            self._record is self._head
            and self.head_memento is self.body_memento
            and (self.body_memento.original, self.body_memento.timestamp) == about
        )

    def _guarded(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        with one_capture(self.memento):
            yield from pieces

    def close(self) -> None:
        """Release the archive file; long bodies cannot be read after this."""
        if self._holder is not None:
            self._reader.release(self._holder)
            self._holder = None


class OpenRecord(Closing):
    """A record in its parts; its archive file is in use until they are read or it is closed.

    Attributes:
        parts: The parts of the record.
    """

    def __init__(
        self, memento: Memento, parts: RecordParts, release: Callable[[], None] | None = None
    ) -> None:
        self._memento = memento
        self.parts = parts._replace(block=self._released(memento, parts.block))
        self._release = release

    def http_head(self) -> bytes:
        """Return the HTTP head as recorded; empty if the record has none. Call it first."""
        head = b""
        while len(head) < self.parts.http_length:
            head += next(self.parts.block)
        return head[: self.parts.http_length]

    def as_warc(self, further: Mapping[str, str] | None = None) -> Iterator[bytes]:
        """Yield the record as one of a WARC file, whose head has the further fields, too.

        Raises:
            RecordError: See `head_as_warc`; before the first piece.
        """
        yield head_as_warc(self.parts, self._memento, further)
        yield from self.parts.block
        yield END_OF_RECORD

    def _released(self, memento: Memento, pieces: Iterator[bytes]) -> Iterator[bytes]:
        try:
            with one_capture(memento):
                yield from pieces
        finally:
            self.close()

    def close(self) -> None:
        if self._release is not None:
            self._release()
            self._release = None


class Rewritten(Enum):
    """Why a record was rewritten instead of copied; the value says what it is now stored as."""

    ARC = "a record of an ARC file"
    PLAIN = "a record of an uncompressed file"
    COMPRESSION = "a record of a file with another compression than gzip"
    SHARED = "one of several records in one gzip member"
    SEGMENTS = "a record of several segments, joined"
    LENGTH = "a record whose head states a wrong length"
    DATE = "a record without a usable date"


class WarcMember(NamedTuple):
    """A record as a gzip member of a WARC file.

    Attributes:
        record: The record as it is in its archive file; its body may not be read any more.
        pieces: The member, to be read before the next record.
        rewritten: Why it is rewritten; None if it is copied byte for byte.
    """

    record: ArchiveRecord
    pieces: Iterator[bytes]
    rewritten: Rewritten | None = None


class PageReader(Closing):
    """Reads captures of one store. Use it only in the thread that uses the store.

    Args:
        store: The store that names the captures.
        archive_paths: Where their archive files are; by default only the recorded paths.
    """

    def __init__(self, store: Captures, archive_paths: ArchivePaths | None = None) -> None:
        self.store = store
        self._recorded = RecordedPaths(store)
        self._archive_paths = archive_paths or ArchivePaths()
        self._open = OpenFiles()

    def read(self, memento: Memento) -> CapturedPage:
        """Return a capture.

        Args:
            memento: A memento of the store of this reader.

        Raises:
            CaptureError: Its archive file or its payload is not available, or is damaged; the text
                names the file.
        """
        with one_capture(memento):
            shown = capture_shown(self.store, memento)
            own = self.find(shown)
            if own.record.record_type != REVISIT:
                head, head_memento = own.record, own.memento
                if shown is not memento and (other := self._own_head(memento)):
                    head, head_memento = other, memento
                return CapturedPage(memento, shown, head, own, self, head_memento)
            self.release(own)
            if shown.checksum == EMPTY_PAYLOAD or own.record.status.startswith("3"):
                # The payload of a redirect is not shown, and its revisit often names no capture.
                return CapturedPage(memento, shown, own.record, None, self)
            holder = self._find_payload(shown, own.record)
            head = own.record if own.record.http_headers.fields else holder.record
            return CapturedPage(memento, shown, head, holder, self)

    def _own_head(self, revisit: Memento) -> ArchiveRecord | None:
        """Return the record of a revisit that names another capture, if its head is of the page.

        It is not if the server sent "not modified", or a redirect whose target is not recorded.
        """
        if revisit.status[:1] == "3" or revisit.status == "-":
            return None
        own = self._record_of(revisit)
        return own if own.http_headers.fields else None

    def _record_of(self, memento: Memento) -> ArchiveRecord:
        """Return the record of a memento, of which only the head is read."""
        found = self.find(memento)
        self.release(found)
        return found.record

    def record(self, memento: Memento, *, is_checked: bool = False) -> OpenRecord:
        """Return the record of a memento, decompressed. Close it, or use ``with``.

        Args:
            memento: A memento of the store of this reader.
            is_checked: Whether a long record is read to its end first, to see that it is whole.

        Raises:
            CaptureError: See `read`. Reading the parts of a long record raises it, too.
        """
        with one_capture(memento):
            return self.open_record(memento, memento, is_checked=is_checked)

    def open_record(
        self, memento: Memento, source: Memento, *, is_checked: bool = False
    ) -> OpenRecord:
        """Return the record of ``source``, of which `memento` needs a part; see `record`."""
        found = self.find(source)
        try:
            limit = None if is_checked else DEFAULT_LIMIT
            source = found.memento
            parts = found.archive.parts_at(source.offset, source.length, limit, found.record)
        except BaseException:
            self.release(found)
            raise
        return OpenRecord(memento, parts, partial(self.release, found))

    def member(
        self, memento: Memento, *, is_checked: bool = False, limit: int | None = None
    ) -> WarcMember:
        """Return the record of a memento as a gzip member.

        A member with one WARC record is copied byte for byte. Any other record is rewritten, with
        the same payload and the head that `arclink.archives.writing` makes.

        Args:
            memento: A memento of the store of this reader.
            is_checked: Whether the record is decompressed in any case, so that its CRC is checked.
            limit: Number of bytes that a rewritten record may become (`most_bytes`); None for any.

        Raises:
            CaptureError: See `read`; also if the record breaks off.
        """
        with one_capture(memento):
            return self._copied(memento, is_checked=is_checked) or self._packed(
                memento, is_checked=is_checked, limit=limit
            )

    def _copied(self, memento: Memento, *, is_checked: bool) -> WarcMember | None:
        """Return the member in the first file with its name; None if it must be looked for."""
        for path in self.paths(memento.file):
            try:
                with self._open.use(path) as archive:
                    stored = archive.member_at(
                        memento.offset, memento.length, is_checked=is_checked
                    )
            except InputError:
                continue
            except RecordError:
                return None  # the search for another copy of the file will say what is wrong
            if stored is None or not stored.record.timestamp:
                return None
            is_capture = stored.record.record_type in CAPTURES and is_meant(stored.record, memento)
            return WarcMember(*stored) if is_capture else None
        return None

    def _packed(self, memento: Memento, *, is_checked: bool, limit: int | None) -> WarcMember:
        """Return the member of a record that `find` finds, which may be rewritten."""
        found = self.find(memento)
        try:
            source, archive = found.memento, found.archive
            stored = archive.member_at(source.offset, source.length, is_checked=is_checked)
            if stored is not None and stored.record.timestamp:
                return WarcMember(*stored)
            if limit is not None and found.record.body_length > most_bytes(source.length, limit):
                raise too_long(memento)
            parts = archive.parts_at(source.offset, source.length, None, found.record)
            pieces = packed(OpenRecord(memento, parts).as_warc())
            return WarcMember(found.record, pieces, _why_rewritten(found))
        finally:
            self.release(found)

    def http_head(self, memento: Memento) -> bytes:
        """Return the HTTP head of a capture as recorded; empty if its record has none.

        Raises:
            CaptureError: See `read`.
        """
        with one_capture(memento):
            with self.read(memento) as page:
                head_memento = page.head_memento
            with self.open_record(memento, head_memento) as record:
                return record.http_head()

    def evidence(self, file: str, offset: int) -> Memento:
        """Return the memento of a record, by archive file and offset.

        Args:
            file: Name of the archive file, as in mementos; from any client.
            offset: Bytes into the file as stored.

        Raises:
            CaptureError: No capture of the store has this address, or its file cannot be read.
        """
        if not self._recorded.path(file):
            raise CaptureError(f"the graph has no archive file {file!r}")
        problem: ArchiveError | None = None
        for path in self.paths(file):
            try:
                record = self._any_record(path, offset)
            except (InputError, RecordError) as error:
                problem = problem or error
                continue
            uris = [record.uri]
            wrapped = _ANY_ARCHIVE.unwrap(record.uri)
            uris += [wrapped.original] if wrapped else []
            for surt in map(surt_of, uris):
                for memento in self.store.mementos(surt):
                    if (memento.file, memento.offset) == (file, offset):
                        return memento
        if isinstance(problem, InputError):
            raise _unreadable(problem, file)
        raise CaptureError(f"the graph has no capture at byte {offset} of {file!r}")

    def _any_record(self, path: str, offset: int) -> ArchiveRecord:
        with self._open.use(path) as archive:
            record = archive.record_at(offset, limit=IN_MEMORY)
            return describe(record).capture if is_described(record) else record

    def close(self) -> None:
        """Close all archive files."""
        self._open.close()

    def release(self, holder: RecordHolder) -> None:
        """Return the archive file of a record to the reader."""
        self._open.give_back(holder.path, holder.archive)

    def _find_payload(self, memento: Memento, revisit: ArchiveRecord) -> RecordHolder:
        """Return the record that holds the payload of a revisit."""
        problem: CaptureError | None = None
        for holder in holders_of_payload(
            self.store, memento, revisit.refers_to_uri, revisit.refers_to_timestamp
        ):
            try:
                return self.find(holder)
            except CaptureError as error:
                problem = problem or error
        raise problem or not_at_hand(memento, "no capture of the graph holds it")

    def find(self, memento: Memento) -> RecordHolder:
        """Return the record of a memento, from the first path where it is.

        Raises:
            CaptureError: It is at no path.
        """
        problem: ArchiveError | None = None
        for path in self.paths(memento.file):
            try:
                return self._read_at(path, memento)
            except (InputError, RecordError) as error:
                # A damaged record says more than a file that is not there.
                if problem is None or isinstance(problem, MissingFileError):
                    problem = error
        if problem is None:
            text = (
                f"archive file {memento.file}: the store does not say where it is; name its "
                "folder with --archives"
            )
            raise CaptureError(text, Reason.PAYLOAD_FILE_MISSING, memento.file)
        if isinstance(problem, RecordError):
            raise CaptureError(
                f"archive file {memento.file}: {problem}", problem.reason, memento.file
            ) from problem
        raise _unreadable(problem, memento.file) from problem

    def sources(self, memento: Memento) -> list[Memento]:
        """Return the captures whose records a memento needs to be read, without its own.

        They are the capture that a "not modified" refers to, and the one with the payload of a
        revisit. A redirect and an empty page can be read without the latter, which is returned if
        it is found.

        Raises:
            CaptureError: See `read`.
        """
        with one_capture(memento):
            shown = capture_shown(self.store, memento)
            sources = [] if shown is memento else [shown]
            own = self._record_of(shown)
            if own.record_type != REVISIT:
                return sources
            try:
                holder = self._find_payload(shown, own)
            except CaptureError:
                if shown.checksum == EMPTY_PAYLOAD or own.status.startswith("3"):
                    return sources
                raise
            self.release(holder)
            return [*sources, holder.memento]

    def paths(self, name: str) -> Iterator[str]:
        """Yield the paths at which an archive file may be, each once."""
        recorded = self._recorded.path(name)
        if recorded:
            yield recorded
        yield from (path for path in self._archive_paths.paths(name) if path != recorded)

    def _read_at(self, path: str, memento: Memento) -> RecordHolder:
        archive = self._open.take(path)
        try:
            record = archive.record_at(memento.offset, memento.length, IN_MEMORY)
            described = describe(record) if is_described(record) else None
            capture = record if described is None else described.capture
            if not is_meant(capture, memento):
                raise RecordError(Reason.PAYLOAD_OTHER_RECORD, capture.uri, path, memento.offset)
        except BaseException:
            self._open.give_back(path, archive)
            raise
        if described is None:
            return _holder((path, archive, record, memento))
        self._open.give_back(path, archive)
        if described.container in ("", memento.file):
            raise RecordError(
                Reason.PAYLOAD_NOT_AT_HAND, "a WAT names no file", path, memento.offset
            )
        # A WAT has no bodies; it names the archive file that it describes.
        return self.find(
            memento._replace(file=described.container, offset=described.offset, length=-1)
        )


ArchiveError = InputError | RecordError


def _unreadable(problem: InputError, file: str) -> CaptureError:
    return CaptureError(
        f"archive file {file}: {problem}; if it was moved, name its folder with --archives",
        Reason.PAYLOAD_FILE_MISSING,
        file,
    )


def is_meant(record: ArchiveRecord, memento: Memento) -> bool:
    """Return whether a record is the one that the store means: by URI and time, or digest."""
    uri, timestamp = record.uri, record.timestamp
    if uri == memento.original and timestamp == memento.timestamp:
        return True
    wrapped = None if is_of_uri(uri, memento) else _ANY_ARCHIVE.unwrap(uri)
    if wrapped is not None:
        uri, timestamp = wrapped.original, wrapped.timestamp
    if not is_of_uri(uri, memento):
        return False
    if timestamp in ("", memento.timestamp):  # the index dates a record without a date
        return True
    if ":" in memento.checksum or memento.checksum == NO_CHECKSUM:  # nothing else identifies it
        return True
    if record.checksum == memento.checksum:
        return True
    with suppress(DataError):
        return payload_checksum(record) == memento.checksum
    return False


def is_of_uri(uri: str, memento: Memento) -> bool:
    """Return whether a record's URI is that of a capture, in any of its variants."""
    return uri == memento.original or surt_of(uri) == surt_of(memento.original)


def _why_rewritten(holder: RecordHolder) -> Rewritten:
    """Return why a record cannot be copied."""
    compression = holder.archive.compression
    if "warc-type" not in holder.record.fields:
        return Rewritten.ARC
    if holder.record.is_joined:
        return Rewritten.SEGMENTS
    if compression is None:
        return Rewritten.PLAIN
    if compression is not GZIP:
        return Rewritten.COMPRESSION
    if holder.record.damage:
        return Rewritten.LENGTH
    return Rewritten.SHARED if holder.record.timestamp else Rewritten.DATE
