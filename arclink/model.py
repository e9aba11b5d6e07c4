"""The words of the field as types: URI-R, memento, payload, content, link.

This module holds values only: no I/O, no parsing. Each idea has one word; the table is in
``docs/explanation/data-model.md``. Values of which an answer has hundreds (mementos, links,
sightings) are named tuples, because creating a named tuple takes 20 % of the time of a dataclass.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import NamedTuple, NewType, TypeVar, cast

NO_LANGUAGE = "-"
"""The languages of a capture without a known one."""

REVISIT = "revisit"
"""The type of records that repeat the payload of another one (ISO 28500, 6.7)."""

UriR = NewType("UriR", str)
"""URI of an original resource, as captured or as a link resolves to (RFC 7089, terminology).

A captured URI is kept exactly as captured.
"""

UriM = NewType("UriM", str)
"""URI of one memento, resolvable in the archive (RFC 7089, terminology)."""

Surt = NewType("Surt", str)
"""Sort key form of a URI-R, shared by its variants: ``org,example)/path``. It is never a link."""

ALL_SURTS = Surt("")
"""The prefix of all SURTs."""

UriId = NewType("UriId", str)
"""128-bit SimHash of a SURT, 32 lower-case hex digits (paper, 3.2.1). Not unique by itself."""

Timestamp = NewType("Timestamp", str)
"""14 digits, UTC: ``YYYYMMDDhhmmss``."""

Checksum = NewType("Checksum", str)
"""Payload digest: base32 SHA-1, another algorithm with its name, or ``redirect:…``.

SHA-1 has no prefix; other algorithms have one (``sha256:…``).
"""

ContentId = NewType("ContentId", str)
"""Id of a content (a vertex): its checksum, or checksum, ``-`` and 16 hex digits of SHA-1(cut)."""

Kind = NewType("Kind", str)
"""Element and attribute a link was found in: ``a@href``, ``img@src``, ``http@location``."""

NO_CHECKSUM = "-"
"""Checksum of a CDX row that has none; ArcLink never joins on it."""

EMPTY_PAYLOAD = Checksum("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ")
"""SHA-1 of zero bytes. It does not identify a page, so ArcLink never joins on it."""


class Scope(IntEnum):
    """The part of the page's URI that a link depends on; for a content, the widest of its links.

    ``docs/explanation/data-model.md``, *Content*. The members are ordered from narrow to wide.
    """

    NONE = 0
    SCHEME = 1
    ORIGIN = 2
    DIRECTORY = 3
    PATH = 4
    DOCUMENT = 5


@dataclass(frozen=True, slots=True)
class Span:
    """A range of capture times; both ends are included."""

    first: Timestamp = Timestamp("0" * 14)
    last: Timestamp = Timestamp("9" * 14)

    def __contains__(self, timestamp: Timestamp) -> bool:
        return self.first <= timestamp <= self.last


ALL_TIME = Span()


_LABELS = re.compile("[^):/]*[^):/,]")
_ENDS_OF_LABEL = frozenset({")", ",", ":"})


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Captures that a graph must not have: one part of the web in one span of time.

    Attributes:
        prefix: Start of their SURT (``org,example)/``); not empty. A prefix that ends inside a host
            name (``org,example``) means whole labels: that host, its ports and its subdomains, but
            not ``org,example2``.
        span: Time range of the captures.
        has_targets: Whether links to that part of the web are forgotten, too; allowed only for all
            time.
    """

    prefix: Surt
    span: Span = ALL_TIME
    has_targets: bool = False

    @property
    def is_whole_labels(self) -> bool:
        """Whether the prefix ends inside a host name, so that it matches whole labels only."""
        return _LABELS.fullmatch(self.prefix) is not None

    def has(self, surt: str) -> bool:
        """Return whether a SURT belongs to that part of the web.

        >>> host = Forgotten(Surt("org,example"))
        >>> [host.has(f"org,{rest})/") for rest in ("example:8080", "example,sub", "example2")]
        [True, True, False]
        """
        return surt.startswith(self.prefix) and (
            not self.is_whole_labels
            or surt[len(self.prefix) : len(self.prefix) + 1] in _ENDS_OF_LABEL
        )

    def covers(self, surt: str, timestamp: str) -> bool:
        """Return whether the capture of ``surt`` at ``timestamp`` is one of these captures."""
        return self.has(surt) and self.span.first <= timestamp <= self.span.last


class Memento(NamedTuple):
    """One capture of a URI-R at a time: facts that never change.

    Key: surt, timestamp, original, checksum. A memento does not hold its content, because the
    content follows from checksum and original.

    Attributes:
        surt: SURT of the original; for an answer to another method than GET, with the
            method after it (`arclink.uris.surts`).
        mime: As in the CDX row or record; ``-`` if it has none.
        status: HTTP status as text; ``-`` if missing (revisits in some CDX files).
        record_type: ``response``, ``revisit`` or ``resource``.
        file: Name of the archive file.
        offset: Bytes into the file as stored (compressed).
        length: Bytes of the record as stored; -1 if unknown.
        reason: Name of the `Reason` member if a rule about its own row excluded it from reading,
            else ``-``.
        languages: Sorted codes with commas between them, as `arclink.languages` writes them; ``-``
            if none is known.
    """

    surt: Surt
    timestamp: Timestamp
    original: UriR
    checksum: Checksum
    status: str
    mime: str
    record_type: str
    file: str
    offset: int
    length: int
    reason: str = "-"
    languages: str = NO_LANGUAGE

    @property
    def key(self) -> tuple[Surt, Timestamp, UriR, Checksum]:
        """The facts that no other memento of a store has."""
        return self.surt, self.timestamp, self.original, self.checksum


@dataclass(frozen=True, slots=True)
class Payload:
    """The result for one payload: read, with the scope of its links, or not read, with the reason.

    Attributes:
        scope: The widest scope of its links; None if it was not read.
        charset: WHATWG name of the charset it was decoded with; ``-`` if it was not read.
        file: Name of the archive file it was read from, or should have been read from.
        reason: ``PAYLOAD_READ``, ``PAYLOAD_RECORDED`` if only the crawler's list of links was read,
            or the name of the `Reason` member that says why it was not read.
        counts: Links of the page by name of their `Reason` member; only reasons that occur.
        title: The page's title, empty if it has none; None if it is not known: the payload was not
            read, or was read by a version that kept no titles.
    """

    checksum: Checksum
    scope: Scope | None
    charset: str
    file: str
    offset: int
    reason: str
    counts: tuple[tuple[str, int], ...] = ()
    title: str | None = None


class Outlink(NamedTuple):
    """One link of a content. The links of a content are in page order.

    Attributes:
        target: Absolute URI without fragment.
        text: White space folded; the alternate text for images; may be empty.
        rel: The ``rel`` attribute, white space folded and lower case; None if missing.
    """

    target: UriR
    kind: Kind
    text: str
    rel: str | None


class Inlink(NamedTuple):
    """A link seen from its target: one distinct (target URI, kind, text, rel, content).

    Attributes:
        target: The URI used by the link, one of the variants of the requested SURT.
        content: The vertex that holds the link.
    """

    target: UriR
    kind: Kind
    text: str
    rel: str | None
    content: ContentId


class Sighting(NamedTuple):
    """A memento that shows a content: where and when its payload was captured."""

    original: UriR
    timestamp: Timestamp


Source = tuple[UriR, list[Timestamp]]
"""A page that shows a content: its original, and its capture times.

The times are distinct and sorted; there is at least one. A plain tuple, because a hub has millions.
"""


class ShownInlink(NamedTuple):
    """An inlink with the pages that show it.

    Attributes:
        target: As in `Inlink`; likewise kind, text and rel.
        content: Identifies the vertex that holds the link among those of one answer; a store need
            not know its name.
        pages: The pages that show it, by original.
    """

    target: UriR
    kind: Kind
    text: str
    rel: str | None
    content: Hashable
    pages: Iterable[Source]


RawLink = tuple[str, str, str, str | None]
"""A link as written: (kind, reference, text, rel). A plain tuple: there are billions."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Archive files that went through all stages together.

    Attributes:
        number: 1, 2, … in the order they were loaded.
        files: Names of the archive files, distinct.
        manifest: JSON text: settings, versions, counts per reason (``docs/reference/manifest.md``).
    """

    number: int
    files: Sequence[str]
    manifest: str


_Kind = TypeVar("_Kind", bound=tuple[object, ...])


def maker(kind: type[_Kind]) -> Callable[[tuple[object, ...]], _Kind]:
    """Return a fast constructor for a `NamedTuple` class.

    The constructor takes all fields as one tuple and does not check their number. It takes 33 %
    of the time of a call of the class, which runs a function in Python.
    """
    return cast("Callable[[tuple[object, ...]], _Kind]", partial(tuple.__new__, kind))
