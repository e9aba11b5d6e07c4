"""Rules: which captures are worth reading (paper, 3.1.1), and which are selected at all.

A rule never drops a memento; it decides whether its payload is read. The *selection* (SURT prefixes
and a time span) does drop captures: the user did not ask for those outside it. The order of the
rules is method, status, mime, extension, checksum; the first that fails is the reason. An empty
list switches its rule off.

- The method rule decides more than reading: an answer to another method is not a capture of the
  URI, so it gets a key of its own (`arclink.uris.surts`).

- Status and mime ``-`` mean that the row does not name one. By default that passes: reading a
  record without links costs a millisecond, but not reading a page loses its links. Revisits pass
  the mime rule: their rows say ``warc/revisit``. Of their statuses, 304 passes, because it says
  that the page has not changed; any other one is that of an answer with this payload.
- A mime type that names a page has priority over the extension: servers send HTML at
  ``/wiki/File:X.jpg``, and at ``.pdf``. The paper's rules did not have this exception: its Table 2
  is ``mime_before_extension=False``.
- ``text/plain`` and ``application/octet-stream`` do not pass by default: a browser shows no links
  there. The paper's "text/* only" is ``mimes=("text/*",)``; images only is ``mimes=("image/*",),
  extensions_excluded=()``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from fnmatch import translate
from functools import lru_cache
from typing import Protocol

import orjson

from arclink.errors import UsageError
from arclink.model import REVISIT, Span, Timestamp
from arclink.reasons import Reason
from arclink.rows.cdx import Capture, Details, What
from arclink.rows.pointers import PointerKind
from arclink.timestamps import TimestampError, first_of, last_of
from arclink.uris.surts import normal_method

# State of a filter task: its originals and rows, and the output that waits for the shuffle.

Seen = tuple[bytes, bytes, bytes, bytes, bytes]
"""A payload that may be read: timestamp, original, file, offset, length."""

Spans = Sequence[tuple[bytes, bytes]]
NO_SPANS: Spans = ()

About = tuple[bytes, bool, bool, bool, bool, Spans]
"""The facts that follow from an original.

Its SURT, whether it is selected, whether its extension is excluded, whether it is an attachment if
it is in a WACZ, whether ``surt`` refused it, and the time spans in which it is forgotten.
"""


@dataclass(slots=True)
class Verdict:
    """The result of the rules for one `What`, and the number of captures it was used for.

    Attributes:
        columns: Status, mime and record type in the form of a ``mementos`` row.
        of_method: The end of the keys of these captures (`arclink.uris.surts.key_of_answer`);
            empty for captures of the URI itself.
        reason: Name of the first of the rules about method, status and mime that it fails; empty
            if it passes.
        is_untyped: Whether each record must be read, because it may not be a capture.
        is_doubtful: Whether it must be read even if a rule leaves it out.
        names_page: Whether the mime type names a page, so that the extension does not count.
        kept: Captures inside the selection.
        failing_extension: Number of these that fail the extension rule, too.
    """

    columns: bytes
    of_method: bytes
    reason: bytes
    fails_method: bool
    fails_status: bool
    fails_mime: bool
    is_redirect: bool
    is_revisit: bool
    is_untyped: bool
    is_doubtful: bool
    names_page: bool
    kept: int = 0
    failing_extension: int = 0


class FilterTask(Protocol):
    """State that `arclink.filter.shuffle.take` reads and changes, kept by the `Mapper`.

    Attributes:
        counts: Gets a reason for each row.
        block: Number of rows of a block.
        cached: Number of checksums in ``unread`` that end a block.
        first: First timestamp of the selection.
        last: Last timestamp of the selection.
        is_trusted: Whether equal checksums mean equal payloads.
        run: Payloads of the current run.
        revisits: Timestamps of the revisits of the current run; after each, if it names a capture,
            the time of that, as written, and its URI, or nothing if it is that of the run.
        original: Original of the run.
        checksum: Checksum of the run.
        mementos: Rows of the current block.
        first_surt: SURT of the first of these rows.
        unread: Checksums of captures that are not candidates.
        left_out: Checksums of those of them that fail a rule.
    """

    counts: Counter[Reason]
    block: int
    cached: int
    first: bytes
    last: bytes
    is_trusted: bool
    run: list[Seen]
    revisits: list[bytes]
    original: bytes
    checksum: bytes
    mementos: list[bytes]
    first_surt: bytes
    unread: list[bytes]
    left_out: list[bytes]

    def about(self, original: bytes) -> About:
        """Return the facts that follow from an original."""

    def verdict(self, what: What) -> Verdict:
        """Return the result of the rules for a mime type, status and record type."""

    def forgets(self, key: bytes, timestamp: bytes) -> bool:
        """Return whether a capture is forgotten, by the key that it gets because of its method."""

    def is_key_of_others(self, key: bytes, original: bytes) -> bool:
        """Return whether a key is that which other tools give to an original in CDX files."""

    def unsaid(
        self, kind: PointerKind, memento: bytes, details: Details | None
    ) -> tuple[bytes, bytes]:
        """Return a pointer to a record that has the facts missing in its row; count its memento."""

    def reference_in(self, original: bytes, details: Details | None) -> bytes:
        """Return the reference of a revisit without a usable digest to a capture of another URI.

        Empty if its row names none.
        """

    def end_run(self) -> Iterable[tuple[bytes, bytes]]:
        """Yield the run as a candidate, if it has captures, and begin the next."""

    def spill(self) -> Iterable[tuple[bytes, bytes]]:
        """Yield a memento block, and per checksum the number of captures that are no candidates.

        Then both are empty again.
        """


METHODS = ("GET",)

STATUSES = ("-", "200")

MIMES = (
    "-",
    "application/atom+xml",
    "application/gzip",  # compressed sitemaps; the first bytes show whether it is one
    "application/http",  # the record's own type: the row's writer did not read the payload's
    "application/rdf+xml",
    "application/rss+xml",
    "application/vnd.wap.xhtml+xml",
    "application/x-gzip",
    "application/x-rss+xml",
    "application/xhtml+xml",
    "application/xml",
    "no-type",
    "text/html",
    "text/rss+xml",
    "text/xml",
    "unk",
    "unknown",
)
"""HTML, feeds, sitemaps (often called ``text/xml``), and the values of CDX writers for unknown."""

PLAIN_TEXT = "text/plain"

PAGE_MIMES = (
    "application/atom+xml",
    "application/rdf+xml",
    "application/rss+xml",
    "application/vnd.wap.xhtml+xml",
    "application/x-rss+xml",
    "application/xhtml+xml",
    "text/html",
    "text/rss+xml",
)
"""Mime types that name a page or a feed, so that the extension is not needed.

They do not include values for unknown types and types that do not show the content: ``-``, ``unk``,
``application/http``, ``application/octet-stream``, ``text/plain``, ``application/xml``,
``text/xml`` (SVG uses it, too), gzip, and ``warc/revisit``, which is the type of the record.
"""

_EXTENSION_GROUPS = {
    "images": (
        "apng avif bmp cur eps gif heic ico jfif jp2 jpe jpeg jpg pbm pcx pgm png pnm ppm psd "
        "svg svgz tga tif tiff webp xbm xpm"
    ),
    "sound": (
        "aac ac3 aif aiff au flac m3u m3u8 m4a mid midi mka mp2 mp3 oga ogg opus ra ram wav weba "
        "wma"
    ),
    "moving pictures": "3gp asf asx avi flv m4v mkv mov mp4 mpe mpeg mpg ogv rm rmvb swf webm wmv",
    "styles, scripts, fonts": "css eot js less mjs otf scss ttf woff woff2",
    "archives": (
        "7z ace apk arj bz2 cab deb dmg gz img iso jar lha lzh msi pkg rar rpm sit sitx tar tbz "
        "tgz wasm xz zip zst"
    ),
    "documents": "djvu doc docx dvi epub kmz mobi odp ods odt pdf ppt pptx ps rtf xls xlsx",
}

EXTENSIONS = tuple(
    sorted(extension for group in _EXTENSION_GROUPS.values() for extension in group.split())
)
"""Extensions of files without HTML links.

They do not include ``com`` (``/whois/example.com``), ``exe`` and ``dll`` (CGI programs answer in
HTML), ``xml``, ``txt`` and ``json``.
"""

_NAME = re.compile("(?:[^:/?#]*:(?://[^/?#]*)?)?(?:[^?#]*/)?([^?#;]*)")
_STATUS = re.compile("[0-9]{3}|-")


@dataclass(frozen=True, slots=True)
class Rules:
    """The captures to keep, and those to read. An empty list switches its rule off.

    Attributes:
        methods: HTTP methods whose answers are captures of the URI, in capitals; with GET, which
            is also taken for an unknown method. Answers to others are kept under a key of their
            own, and not read.
        statuses: HTTP statuses whose payload is read; ``-``: the row has no status.
        mimes: Mime types to read, ``*`` matches any text; compared in lower case without
            parameters.
        mimes_excluded: Mime types not to read even if ``mimes`` has them.
        extensions_excluded: Extensions of the path (never of the query) not to read.
        mime_before_extension: Whether a capture whose mime type names a page (`PAGE_MIMES`) passes
            the extension rule with any extension. Off, the extension decides, for every mime type.
        attachments: Whether captures at ``file:`` URIs in a WACZ are read. Scoop attaches the
            rendered page to each page, as ``file:///dom-snapshot.html``, with the same links.
        checksum: Whether a payload is read once for all of its captures. Off, each capture is read
            and digested: for collections with wrong checksums.
        read_redirects: Whether the record of a redirect is read for its ``Location``.
        prefixes: SURT prefixes (``org,example)/``, ``org,example``); any other memento is outside
            the selection.
        first: First timestamp of the selection, 14 digits.
        last: Last timestamp of the selection, 14 digits.
    """

    methods: tuple[str, ...] = METHODS
    statuses: tuple[str, ...] = STATUSES
    mimes: tuple[str, ...] = MIMES
    mimes_excluded: tuple[str, ...] = ()
    extensions_excluded: tuple[str, ...] = EXTENSIONS
    mime_before_extension: bool = True
    attachments: bool = False
    checksum: bool = True
    read_redirects: bool = True
    prefixes: tuple[str, ...] = ()
    first: Timestamp = Span().first
    last: Timestamp = Span().last

    def __post_init__(self) -> None:
        """Bring every list to its one form: lower case (methods: capitals), sorted, distinct.

        Raises:
            UsageError: A value is not valid for its rule.
        """
        for name in (
            "methods",
            "statuses",
            "mimes",
            "mimes_excluded",
            "extensions_excluded",
            "prefixes",
        ):
            values = getattr(self, name)
            if isinstance(values, str) or not all(isinstance(value, str) for value in values):
                raise UsageError(f"rule {name}: not a list of texts: {values!r}")
            if name != "prefixes":
                values = [value.strip().lower() for value in values]
            if name == "methods":
                values = [value.upper() for value in values]
            object.__setattr__(self, name, tuple(sorted({*values})))
        for name in ("mime_before_extension", "attachments", "checksum", "read_redirects"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"rule {name}: not true or false: {getattr(self, name)!r}")
        extensions = {extension.removeprefix(".") for extension in self.extensions_excluded}
        object.__setattr__(self, "extensions_excluded", tuple(sorted(extensions)))
        for method in self.methods:
            if method not in METHODS and not normal_method(method):
                raise UsageError(f"rule methods: not an HTTP method: {method!r}")
        if self.methods and "GET" not in self.methods:
            raise UsageError("rule methods: GET is missing; most captures answer it")
        for status in self.statuses:
            if not _STATUS.fullmatch(status):
                raise UsageError(f"rule statuses: not three digits or '-': {status!r}")
        if "" in self.prefixes:
            raise UsageError("rule prefixes: an empty prefix selects everything; leave it out")
        for extension in extensions:
            if not extension.isalnum():
                raise UsageError(f"rule extensions_excluded: not letters and digits: {extension!r}")
        for name in ("first", "last"):
            value = getattr(self, name)
            if value not in (Span().first, Span().last):
                try:
                    object.__setattr__(
                        self, name, first_of(value) if name == "first" else last_of(value)
                    )
                except TimestampError as error:
                    raise UsageError(f"rule {name}: {error}") from error
        if self.first > self.last:
            raise UsageError(
                f"rules: first ({self.first}) is after last ({self.last}): nothing is selected"
            )

    @property
    def span(self) -> Span:
        """The selected time span; both ends are included."""
        return Span(self.first, self.last)

    def to_json(self) -> str:
        """Return the rules as JSON; equal rules give equal text.

        `methods` is left out at its default, so that stores and downloads of versions without this
        rule have equal rules.
        """
        values = asdict(self)
        if self.methods == METHODS:
            del values["methods"]
        return orjson.dumps(values, option=orjson.OPT_SORT_KEYS).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> "Rules":
        """Return rules from a JSON object; missing members have their defaults.

        Raises:
            UsageError: The text is not a JSON object, names an unknown rule, or has an invalid
                value.
        """
        try:
            given = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise UsageError(f"rules are not JSON: {error}") from error
        known = [field.name for field in fields(cls)]
        if not isinstance(given, dict):
            raise UsageError(f"rules are not a JSON object but {given!r}")
        for name, value in given.items():
            if name not in known:
                raise UsageError(f"unknown rule {name!r}; known are {', '.join(known)}")
            if not isinstance(
                value,
                list
                if isinstance(getattr(DEFAULT_RULES, name), tuple)
                else type(getattr(DEFAULT_RULES, name)),
            ):
                raise UsageError(f"rule {name}: cannot be {value!r}")
        return cls(**given)

    def fails_method(self, method: str) -> bool:
        """Return whether an answer to a method is not a capture of its URI."""
        return bool(method and self.methods) and method not in self.methods

    def fails_status(self, status: str, record_type: str) -> bool:
        """Return whether the status rule excludes a payload from reading."""
        is_unmodified = status == "304" and record_type == REVISIT
        return bool(self.statuses) and status not in self.statuses and not is_unmodified

    def fails_mime(self, mime: str) -> bool:
        """Return whether the mime rule excludes a payload from reading."""
        mime = _plain(mime)
        return bool(self.mimes and not _any(self.mimes).fullmatch(mime)) or bool(
            self.mimes_excluded and _any(self.mimes_excluded).fullmatch(mime)
        )

    def fails_extension(self, original: str, mime: str) -> bool:
        """Return whether the extension rule excludes a payload from reading."""
        return (
            bool(self.extensions_excluded)
            and not self.names_page(mime)
            and extension_of(original) in self.extensions_excluded
        )

    def names_page(self, mime: str) -> bool:
        """Return whether a mime type names a page so clearly that the extension does not count."""
        return self.mime_before_extension and _plain(mime) in PAGE_MIMES

    def first_failing(self, capture: Capture) -> Reason | None:
        """Return the first rule about its own row that a capture fails.

        The rules are method, status, mime and extension. None if it passes. Redirects are not
        exempt here; reading their records for the ``Location`` depends on the method only.
        """
        if self.fails_method(capture.method):
            return Reason.MEMENTO_METHOD
        if self.fails_status(capture.status, capture.record_type):
            return Reason.MEMENTO_STATUS
        if capture.record_type != REVISIT and self.fails_mime(capture.mime):
            return Reason.MEMENTO_MIME
        fails = self.fails_extension(capture.original, capture.mime)
        return Reason.MEMENTO_EXTENSION if fails else None

    def selects(self, surt: str, timestamp: Timestamp) -> bool:
        """Return whether a capture is inside the selection."""
        return (
            not self.prefixes or surt.startswith(self.prefixes)
        ) and self.first <= timestamp <= self.last


DEFAULT_RULES = Rules()


def extension_of(original: str) -> str:
    """Return the extension of a URI's path in lower case, without its dot; empty if missing.

    Path parameters are not part of it. A host is not a path: ``http://example.zip`` has no
    extension. For a compressed sitemap (``.xml.gz``) it is ``xml``.

    >>> extension_of("http://example.org/a.b/c.JPG;v=2?x=1.css"), extension_of("http://example.org/sitemap.xml.gz")
    ('jpg', 'xml')
    """
    path, _, name = original.rpartition("/")
    if not path or path[-1] == "/" or "?" in original or "#" in original or ";" in name:
        found = _NAME.match(original)
        name = found[1] if found else ""
    stem, _, extension = name.lower().rpartition(".")
    if extension == "gz" and stem.endswith(".xml"):
        return "xml"
    return extension if stem else ""


def _plain(mime: str) -> str:
    """Return a mime type in lower case without parameters; ``-`` if it is empty."""
    return mime.partition(";")[0].strip().lower() or "-"


@lru_cache(maxsize=64)
def _any(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Return one regular expression for patterns in which only ``*`` is special."""
    return re.compile(
        "|".join(translate(pattern.replace("[", "[[]").replace("?", "[?]")) for pattern in patterns)
    )
