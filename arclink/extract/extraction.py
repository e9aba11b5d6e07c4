"""Extract: reads the records that the pointers of one manifest name, and writes their links.

A manifest is sorted by file and offset, so each archive file is opened once and read forward. Every
pointer ends in exactly one ``payloads`` reason, or in a retry from another capture of its payload.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from arclink.archives.payloads import decode_payload, payload_checksum, redirect_checksum
from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.archives.records import HttpHeaders
from arclink.archives.wat import Described, describe, is_described
from arclink.checksums import EMPTY_CHECKSUMS, is_own_reference, is_reference
from arclink.errors import InputError, MissingFileError, PayloadError, RecordError
from arclink.extract.charsets import decode_html
from arclink.extract.feeds import is_feed, links_of, unpacked
from arclink.extract.header_links import add_header_links, links_in_headers, wat_links
from arclink.extract.heritrix import add_outlinks, find_metadata
from arclink.extract.html import DEFAULT_KINDS, OPTIONAL_KINDS, Limits, PageLinks
from arclink.extract.page_text import ReadText, plain_text, read_parsed
from arclink.extract.replay_markup import without_insertions
from arclink.extract.settings import ExtractSettings
from arclink.extract.xhtml import XML_MIMES, as_html
from arclink.filter.rules import DEFAULT_RULES, PLAIN_TEXT, Rules
from arclink.model import EMPTY_PAYLOAD, NO_CHECKSUM, REVISIT, Checksum, Kind, Memento, Surt
from arclink.reasons import Reason
from arclink.rows.cdx import CAPTURES
from arclink.rows.file_ranges import FINDINGS, Finding, format_finding
from arclink.rows.pages import Page, format_link, format_page, format_shuffle_key, parse_link
from arclink.rows.pointers import (
    ABSENT,
    NAMED,
    NO_FILE,
    REFERRING,
    RETRIES,
    WAITING,
    Pointer,
    PointerKind,
    directed,
    format_absent,
    format_pointer,
    parse_pointer,
)
from arclink.rows.relations import (
    DIGESTED,
    MEMENTOS,
    Row,
    format_memento,
    parse_memento,
    reference_of,
    reference_to,
)
from arclink.rows.texts import TEXTS, TextParts, format_text
from arclink.uris.resolution import Base
from arclink.uris.surts import surt_of

if TYPE_CHECKING:
    from arclink.extract.isolation import IsolatedExtractor

PAGES = b"pages"

_WAYBACK_HEADERS = frozenset({"link", "refresh"})
_ORIGINAL_HEADERS = frozenset(f"x-archive-orig-{name}" for name in _WAYBACK_HEADERS)
"""Names under which a Wayback Machine repeats the headers of the original server."""

_LOCATION = "http@location"

_BY_CHECKSUM = frozenset(
    {
        PointerKind.PAYLOAD,
        PointerKind.REPEATED,
        PointerKind.LAST_RESORT,
        PointerKind.RECORDED,
    }
)


def extract_pointers(
    lines: Iterable[bytes],
    settings: ExtractSettings,
    counts: Counter[Reason],
    *,
    is_isolated: bool = False,
    is_skipped: Callable[[bytes], bool] = lambda record: False,
    rules: Rules = DEFAULT_RULES,
) -> Iterator[Row]:
    """Yield the rows for the pointers of one manifest.

    Args:
        lines: ``paths TAB pointer``, sorted by the first path and offset. ``paths`` is a JSON
            string, ``"-"`` if the file is not known, or a list: the path of the capture to read,
            then the paths of its fall-backs, which are tried at once.
        settings: Limits.
        counts: Gets the payloads, the notes and the number of opened files.
        is_isolated: Parse in a child process, so that a crash of the parser costs one page only.
        is_skipped: Called with file and offset of each page before it is read; returns whether to
            pass over the page, because earlier attempts died at it.
        rules: The rules for revisits whose recorded links are read, and for records that only rows
            of revisits name. Filter already applied them to all other captures.

    Raises:
        InputError: A file exists but cannot be read.

    Yields:
        ``pages`` rows (SURT of the first original, tab, page); ``texts`` rows, if they are wanted;
        ``mementos`` rows of captures whose
        CDX row did not name their payload; ``retries`` (pointers to the next capture of a payload),
        ``waiting``, ``named`` and ``absent`` (pointers without a further capture); ``referring``
        (pointers to captures that records of revisits name); at the end ``findings`` (how much of
        each file was read).
    """
    with _Extraction(
        settings, counts, is_isolated=is_isolated, is_skipped=is_skipped, rules=rules
    ) as extraction:
        for line in lines:
            paths, _, pointer = line.partition(b"\t")
            found = orjson.loads(paths)
            yield from extraction.follow(
                found if isinstance(found, list) else [found], parse_pointer(pointer)
            )
        for finding in extraction.findings.values():
            yield FINDINGS, format_finding(finding)


class _Extraction:
    """The state of one task: the open file, and the payload that was parsed last."""

    def __init__(
        self,
        settings: ExtractSettings,
        counts: Counter[Reason],
        *,
        is_isolated: bool,
        is_skipped: Callable[[bytes], bool],
        rules: Rules,
    ) -> None:
        self._is_skipped = is_skipped
        self._rules = rules
        self._settings = settings
        self._counts = counts
        self._limits = Limits(settings.links, settings.text)
        self._kinds = DEFAULT_KINDS | OPTIONAL_KINDS if settings.lazy else DEFAULT_KINDS
        self._isolated = _isolated(self._limits, self._kinds) if is_isolated else None
        self._path: str | None = None
        self._archive: ArchiveFile | None = None
        self._refusal: InputError = MissingFileError("no file yet")  # why no file is open
        self._last: tuple[Page, Surt] | None = None  # with the key of its row
        self._unwrapper = settings.unwrapper()
        self.findings: dict[str, Finding] = {}  # by name of the archive file

    def __enter__(self) -> "_Extraction":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        if self._isolated is not None:
            self._isolated.close()

    def _close(self) -> None:
        if self._archive is not None:
            self._archive.__exit__(None, None, None)
            self._archive = None
        self._path = None

    def follow(self, paths: Sequence[str], pointer: Pointer) -> Iterator[Row]:
        """Yield the rows for one pointer, from the first capture that can be read.

        Args:
            paths: Path of the capture to read, then those of its fall-backs.
            pointer: Its address, and its fall-backs.
        """
        if pointer.chunk and self._last is not None and pointer.kind is not PointerKind.RECORDED:
            page, key = self._last
            if page.checksum == pointer.checksum:
                page = replace(page, chunk=pointer.chunk, originals=pointer.originals, counts={})
                yield PAGES, _page_row(page, key, pointer.part)
                return
        for path in paths[:-1]:
            try:
                yield from self._rows_of(path, pointer)
            except (RecordError, PayloadError) as error:
                pointer = _next_capture(pointer, error.reason)
            else:
                return
        try:
            yield from self._rows_of(paths[-1], pointer)
        except (RecordError, PayloadError) as error:
            yield self._give_up(pointer, error.reason)

    def _rows_of(self, path: str, pointer: Pointer) -> list[Row]:
        """Return the rows for the record at a pointer, and count it.

        Raises:
            RecordError: As `_read`.
            PayloadError: As `_read`; also if memory is too short for this page
                (``PAYLOAD_MEMORY``), or if earlier attempts died at it (``PAYLOAD_CRASHED``).
        """
        if self._is_skipped(f"{pointer.file}, offset {pointer.offset}".encode()):
            raise PayloadError(Reason.PAYLOAD_CRASHED, "", pointer.file, pointer.offset)
        try:
            rows = self._read(path, pointer)
        except (MemoryError, SelectolaxError) as error:  # the latter: lexbor got no memory
            self._close()  # the file must be opened again: its reader may be in any state
            raise PayloadError(
                Reason.PAYLOAD_MEMORY, file=pointer.file, offset=pointer.offset
            ) from error
        if pointer.kind is PointerKind.RECORDED:
            self._counts[Reason.PAYLOAD_RECORDED] += 1
        elif not rows:
            self._counts[Reason.PAYLOAD_NOT_A_CAPTURE] += 1
        elif pointer.chunk == 0:
            relations = {relation for relation, _ in rows}
            if PAGES in relations:
                self._counts[Reason.PAYLOAD_READ] += 1
            elif REFERRING not in relations:  # else the pointer in it is counted
                self._counts[Reason.PAYLOAD_NOT_MODIFIED] += 1
            self._counts[Reason.NOTE_FALL_BACK] += bool(pointer.reason)
        return rows

    def _open(self, path: str, pointer: Pointer) -> ArchiveFile:
        """Return the open file of a pointer; consecutive pointers to a file open it once.

        A last resort may be a file of an earlier batch, on a machine that no longer exists. A build
        continues without it.

        Raises:
            RecordError: The file is not among the input, no longer exists, or is a last resort that
                cannot be read.
            InputError: The file exists but cannot be read. Its content is not the cause, so nothing
                is counted and the user has to repair the access.
        """
        if path != self._path:
            self._close()
            try:
                if path == NO_FILE:
                    raise MissingFileError("not among the archive files given")
                self._archive = ArchiveFile(path)
                self._counts[Reason.FILE_OPENED] += 1
            except InputError as error:
                self._refusal = error
            self._path = path
        if self._archive is not None:
            return self._archive
        if isinstance(self._refusal, MissingFileError) or pointer.kind is PointerKind.LAST_RESORT:
            if pointer.kind is not PointerKind.LAST_RESORT:
                self._finding_of(pointer).is_missing = True
            raise RecordError(Reason.PAYLOAD_FILE_MISSING, file=path) from self._refusal
        raise self._refusal

    def _finding_of(self, pointer: Pointer) -> Finding:
        return self.findings.setdefault(pointer.file, Finding(pointer.file, "extract"))

    def _read(self, path: str, pointer: Pointer) -> list[Row]:
        """Return the rows for the record at a pointer.

        Raises:
            RecordError: The file has no such record.
            PayloadError: The payload of the record cannot be used.
        """
        if pointer.kind is PointerKind.NOT_MODIFIED and pointer.refers_to_timestamp:
            reference = reference_to(
                pointer.original, pointer.refers_to_uri, pointer.refers_to_timestamp
            )
            if reference is not None:
                return _referring(pointer, reference)
        if pointer.kind is PointerKind.REDIRECT and pointer.location:
            return self._redirect(parse_memento(pointer.memento), pointer.location, pointer)
        archive = self._open(path, pointer)
        finding = self._finding_of(pointer)
        try:
            record, described = self._record(archive, pointer)
        except RecordError as error:
            finding.fail(pointer.offset, error.detail, error.reason.name)
            raise
        finding.read += 1
        if record.record_type not in CAPTURES:
            if pointer.memento:
                return []
            # Its memento is written already.
            raise PayloadError(Reason.PAYLOAD_NOT_A_CAPTURE, "", pointer.file, pointer.offset)
        if pointer.kind is PointerKind.NOT_MODIFIED:
            return _referring(pointer, _reference_in(record, pointer))
        if pointer.kind is PointerKind.REDIRECT:
            refresh = PageLinks() if record.location else links_in_headers(record)
            if record.record_type == REVISIT and not record.location and not refresh.written:
                return _referring(pointer, _reference_in(record, pointer))
            return self._redirect(
                parse_memento(pointer.memento), record.location, pointer, refresh.written
            )
        if pointer.kind is PointerKind.RECORDED:
            return [self._recorded_page(record, pointer)]
        if pointer.kind is PointerKind.REPEATED and not self._passes_the_rules(record):
            raise PayloadError(Reason.PAYLOAD_LEFT_OUT, "", pointer.file, pointer.offset)
        if is_reference(pointer.checksum) and record.location:
            return [self._redirect_page(record, pointer)]
        if pointer.kind in _BY_CHECKSUM:
            return self._page(record, pointer, pointer.checksum, described)
        memento = parse_memento(pointer.memento)
        if memento.reason != "-":  # read only to see whether it is a capture
            return [(MEMENTOS, pointer.memento)]
        if not self._rules.checksum or pointer.checksum in (NO_CHECKSUM, *EMPTY_CHECKSUMS):
            checksum = payload_checksum(record) if described is None else _digest_in(described)
            if checksum == EMPTY_PAYLOAD:
                raise PayloadError(Reason.PAYLOAD_EMPTY, file=pointer.file, offset=pointer.offset)
            memento = memento._replace(checksum=checksum)
        return [
            (DIGESTED, format_memento(memento)),
            *self._page(record, pointer, memento.checksum, described),
        ]

    def _record(
        self, archive: ArchiveFile, pointer: Pointer
    ) -> tuple[ArchiveRecord, Described | None]:
        """Return the record at a pointer, and its description if the file is a WAT.

        Raises:
            RecordError: The file has no such record.
        """
        record = archive.record_at(pointer.offset, pointer.length)
        described = _described(record)
        if described is not None:
            record = described.capture
        record = self._original(record)
        if not _is_indexed_capture(record, pointer):
            raise RecordError(Reason.PAYLOAD_OTHER_RECORD, record.uri, pointer.file, pointer.offset)
        return record, described

    def _original(self, record: ArchiveRecord) -> ArchiveRecord:
        """Return a capture of a Wayback Machine as a capture of the original page.

        Other captures are returned unchanged.
        """
        wrapped = self._unwrapper.unwrap(record.uri) if self._unwrapper else None
        if self._unwrapper is None or wrapped is None:
            return record
        earlier = self._unwrapper.unwrap(record.refers_to_uri)
        fields = {
            **record.fields,
            "warc-date": wrapped.timestamp,
            "warc-refers-to-target-uri": earlier.original if earlier else "",
            "warc-refers-to-date": earlier.timestamp if earlier else "",
        }
        # The Wayback Machine's own Link header names its captures, not links of the page.
        headers = tuple(
            (name.lower().removeprefix("x-archive-orig-"), value)
            if name.lower() in _ORIGINAL_HEADERS
            else (name, value)
            for name, value in record.http_headers.fields
            if name.lower() not in _WAYBACK_HEADERS
        )
        return record._replace(
            uri=wrapped.original, fields=fields, http_headers=HttpHeaders(headers)
        )

    def _unwrap(self, links: PageLinks) -> None:
        """Replace links into a Wayback Machine by links to the original pages."""
        if self._unwrapper is None:
            return
        unwrapped = self._unwrapper.link
        if links.base is not None:
            links.base = unwrapped(links.base)
        for index, written in enumerate(links.written):
            kind, reference, text, rel = parse_link(written)
            original = unwrapped(reference)
            if original is not reference:
                links.written[index] = format_link((kind, original, text, rel))

    def _page(
        self,
        record: ArchiveRecord,
        pointer: Pointer,
        checksum: Checksum,
        described: Described | None,
    ) -> list[Row]:
        links, charset, text = (
            self._links_of(record) if described is None else (*self._listed_links(described), None)
        )
        add_header_links(links, record, charset, self._limits)
        recorded = self._recorded_with(record) if described is None else None
        if recorded is not None:
            add_outlinks(links, recorded, Base(record.uri, links.base, charset), self._limits)
        page = self._page_with(links, charset, pointer, checksum)
        key = surt_of(pointer.original or page.originals[0])
        self._last = page, key
        rows = [(PAGES, _page_row(page, key, pointer.part))]
        return rows if text is None else [*rows, (TEXTS, format_text((checksum, *text)))]

    def _recorded_page(self, record: ArchiveRecord, pointer: Pointer) -> Row:
        """Return the page with the links that the crawler recorded for a revisit.

        Raises:
            PayloadError: The rules exclude the revisit, or the crawler recorded no links for it.
        """
        is_revisit = record.record_type == REVISIT and record.status != "-"
        passes = is_revisit and self._passes_the_rules(record)
        recorded = self._recorded_with(record) if passes else None
        if recorded is None:
            raise PayloadError(Reason.PAYLOAD_NOT_AT_HAND, "", pointer.file, pointer.offset)
        links = PageLinks()
        add_header_links(links, record, "utf-8", self._limits)
        add_outlinks(links, recorded, Base(record.uri, None, "utf-8"), self._limits)
        page = self._page_with(links, "utf-8", pointer, pointer.checksum)
        # Chunk 0, so that join counts the links of each original.
        page = replace(page, chunk=0, reason=Reason.PAYLOAD_RECORDED.name)
        # Recorded links are those of one original, and rows of its payload are written with each:
        # so they have no part.
        return PAGES, _page_row(page, surt_of(pointer.original), "")

    def _passes_the_rules(self, record: ArchiveRecord) -> bool:
        """Return whether the own HTTP headers of a record pass the rules of filter.

        Filter does not apply them to revisits, because their rows do not show these headers, and to
        records that only the rows of revisits name.
        """
        return (
            not self._rules.fails_status(record.status, record.record_type)
            and not self._rules.fails_mime(record.mime)
            and not self._rules.fails_extension(record.uri, record.mime)
        )

    def _page_with(
        self, links: PageLinks, charset: str, pointer: Pointer, checksum: Checksum
    ) -> Page:
        """Return the page with these links, and count the notes about them."""
        self._unwrap(links)
        counts = {}
        for reason, count in links.counts.items():
            if reason.group == "links":
                counts[reason.name] = count
            else:
                self._counts[reason] += count
        return Page(
            checksum,
            pointer.chunk,
            pointer.file,
            pointer.offset,
            charset,
            links.base,
            pointer.originals,
            links.written,
            counts,
            title=links.title,
        )

    def _links_of(self, record: ArchiveRecord) -> tuple[PageLinks, str, TextParts | None]:
        """Return the links of a page, its charset, and its text if it is wanted."""
        payload = unpacked(
            decode_payload(record, self._settings.payload_bytes), self._settings.payload_bytes
        )
        if payload.cut:
            self._counts[Reason.NOTE_PAYLOAD_CUT] += 1
        if payload.truncated:
            self._counts[Reason.NOTE_PAYLOAD_TRUNCATED] += 1
        body = payload.body if self._unwrapper is None else without_insertions(payload.body)
        html = decode_html(body, record.http_charset)
        self._counts.update(html.notes)
        text = html.text
        if record.mime in XML_MIMES and not is_feed(text):
            text = as_html(text, self._counts)
        reads: list[ReadText] = []
        # Plain text is read for its words only, and has no links.
        is_plain = self._settings.texts and record.mime == PLAIN_TEXT
        links = PageLinks(title="") if is_plain else self._extract(text, reads)
        # A page at which a parser died is read in another process, and its text later.
        if not self._settings.texts or self._isolated is not None:
            return links, html.charset, None
        language = record.http_headers.first("content-language")
        is_cut = bool(payload.cut)
        return links, html.charset, plain_text(record.mime, text, language, *reads, is_cut=is_cut)

    def _recorded_with(self, record: ArchiveRecord) -> ArchiveRecord | None:
        """Return the metadata record with the links that the crawler recorded for a capture.

        None if the option is off or the file has no such record.
        """
        if not self._settings.heritrix_outlinks or self._archive is None:
            return None
        return find_metadata(self._archive, record)

    def _listed_links(self, described: Described) -> tuple[PageLinks, str]:
        """Return the links of a page as its WAT lists them, and the page's charset."""
        if described.capture.truncated:
            self._counts[Reason.NOTE_PAYLOAD_TRUNCATED] += 1
        return wat_links(described, self._limits)

    def _extract(self, html: bytes | str, reads: list[ReadText]) -> PageLinks:
        """Return the links of a page, and add its text to a list, if it is wanted."""
        if self._isolated is not None:
            return self._isolated.extract(html)

        def read(parser: LexborHTMLParser, is_cut: bool) -> None:
            reads.append(read_parsed(parser, is_cut=is_cut))

        return links_of(html, self._limits, self._kinds, read if self._settings.texts else None)

    def _redirect(
        self, memento: Memento, location: str, pointer: Pointer, refresh: Sequence[str] = ()
    ) -> list[Row]:
        """Return the rows of a redirect.

        Args:
            memento: Its memento, without checksum.
            location: The ``Location`` as written; empty if it has none.
            pointer: Its address.
            refresh: Links of its ``Refresh`` header, used if it has no location.
        """
        if self._unwrapper is not None:
            location = self._unwrapper.link(location)
        checksum = redirect_checksum(memento.status, location, "\n".join(refresh))
        links = [format_link((_LOCATION, location, "", None))] if location else refresh
        page = Page(
            checksum, 0, pointer.file, pointer.offset, "utf-8", None, [pointer.original], links, {}
        )
        return [
            (MEMENTOS, format_memento(memento._replace(checksum=checksum))),
            # The key is the checksum: redirects share no template links, so no site is needed.
            (PAGES, checksum.encode() + b"\t" + format_page(page)),
        ]

    def _redirect_page(self, record: ArchiveRecord, pointer: Pointer) -> Row:
        """Return the page of a redirect that a revisit of another URI names."""
        links = PageLinks(written=[format_link((_LOCATION, record.location, "", None))])
        page = self._page_with(links, "utf-8", pointer, pointer.checksum)
        return PAGES, _page_row(page, surt_of(pointer.original), pointer.part)

    def _give_up(self, pointer: Pointer, reason: Reason) -> Row:
        if pointer.fall_backs:
            return RETRIES, format_pointer(_next_capture(pointer, reason))
        if pointer.kind is PointerKind.RECORDED:
            return WAITING, format_pointer(replace(pointer, kind=PointerKind.GIVEN_UP))
        if pointer.kind is PointerKind.REPEATED:  # then the revisits are all that the batch has
            why = "" if reason is Reason.PAYLOAD_FILE_MISSING else reason.name
            nowhere = replace(pointer, file=NO_FILE, offset=0, length=-1, reason=why)
            nowhere = replace(nowhere, kind=PointerKind.UNREAD)
            if pointer.names:
                return NAMED, format_pointer(nowhere)
            return ABSENT, format_absent(nowhere)
        if pointer.kind in _BY_CHECKSUM:
            is_last = pointer.kind is PointerKind.LAST_RESORT
            kind = PointerKind.PASSED if is_last else PointerKind.UNREAD
            return WAITING, format_pointer(replace(pointer, kind=kind, reason=reason.name))
        self._counts[reason] += 1
        memento = parse_memento(pointer.memento)
        if memento.reason == "-":
            memento = memento._replace(reason=reason.name)
        return MEMENTOS, format_memento(memento)


def _described(record: ArchiveRecord) -> Described | None:
    """Return the capture that a WAT record describes; None if it is not a WAT record."""
    if not is_described(record):
        return None
    try:
        return describe(record)
    except RecordError as error:
        raise RecordError(Reason.PAYLOAD_DAMAGED, error.detail, offset=record.offset) from error


def _digest_in(described: Described) -> Checksum:
    """Return the digest of a payload from its WAT.

    Raises:
        PayloadError: The WAT has no digest, and no payload to compute it from.
    """
    checksum = described.capture.checksum
    if checksum == NO_CHECKSUM:
        raise PayloadError(
            Reason.PAYLOAD_NO_DIGEST, described.capture.uri, offset=described.capture.offset
        )
    return checksum


def _isolated(limits: Limits, kinds: frozenset[Kind]) -> "IsolatedExtractor":
    from arclink.extract.isolation import IsolatedExtractor  # imported here: very few tasks need it

    return IsolatedExtractor(limits, kinds)


def _is_indexed_capture(record: ArchiveRecord, pointer: Pointer) -> bool:
    """Return whether a record is the indexed capture: by URI and time, else by its checksum."""
    if pointer.original:
        if record.uri != pointer.original and surt_of(record.uri) != surt_of(pointer.original):
            return False
        if record.timestamp in ("", pointer.timestamp):  # the index dates a record without a date
            return True
    if pointer.kind not in _BY_CHECKSUM:
        return bool(pointer.original)
    return record.checksum == pointer.checksum or payload_checksum(record) == pointer.checksum


def _reference_in(record: ArchiveRecord, pointer: Pointer) -> Checksum:
    """Return the reference of a revisit to the capture that it repeats.

    Raises:
        PayloadError: It refers to no capture.
    """
    reference = reference_of(
        pointer.original,
        record.refers_to_uri,
        record.refers_to_timestamp,
        record.profile,
        record.status,
    )
    if reference is None:
        raise PayloadError(
            Reason.PAYLOAD_NOT_AT_HAND,
            "a revisit that names no capture",
            pointer.file,
            pointer.offset,
        )
    return reference


def _referring(pointer: Pointer, reference: Checksum) -> list[Row]:
    """Return the memento of a revisit with a reference, and a pointer to look for the capture.

    A capture of the same original has the same links, so a store finds them when it answers.
    """
    memento = parse_memento(pointer.memento)._replace(checksum=reference)
    rows = [(MEMENTOS, format_memento(memento))]
    if not is_own_reference(reference, pointer.original):
        sought = Pointer(
            PointerKind.REVISIT_ONLY,
            reference,
            NO_FILE,
            0,
            -1,
            pointer.timestamp,
            pointer.original,
            originals=(pointer.original,),
            names=(reference,),
        )
        rows.append((REFERRING, format_pointer(sought)))
    return rows


def _next_capture(pointer: Pointer, reason: Reason) -> Pointer:
    """Return the pointer to the next capture of the same payload.

    Args:
        pointer: To the capture that could not be read.
        reason: Why it could not be read.
    """
    return replace(
        directed(pointer, pointer.kind, pointer.fall_backs),
        # Without recorded links, the reason stays why the payload itself was not read.
        reason=pointer.reason if pointer.kind is PointerKind.RECORDED else reason.name,
    )


def _page_row(page: Page, key: Surt, part: str) -> bytes:
    """Return a page, keyed by the SURT that all pages of its payload share, and its part.

    All chunks have the SURT of the first one that was read: contents that they share must meet in
    one task of join.
    """
    return format_shuffle_key(key, part) + b"\t" + format_page(page)
