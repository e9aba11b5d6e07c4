"""The words of the field as types: URI-R, memento, content, link.

Values only: no I/O, no parsing. One word per idea; ``docs/data-model.md`` has the table. What an answer has hundreds of
(links, sightings) are named tuples: those are made in a fifth of the time.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, NewType

UriR = NewType("UriR", str)
"""URI of an original resource, exactly as captured or as a link resolves to (RFC 7089, terminology)."""

UriM = NewType("UriM", str)
"""URI of one memento, resolvable in the archive (RFC 7089, terminology)."""

Surt = NewType("Surt", str)
"""Sort key form of a URI-R: ``org,example)/path``. Variants of a URI-R meet under it; it is never a link."""

UriId = NewType("UriId", str)
"""128-bit SimHash of a SURT, 32 lower-case hex digits (paper, 3.2.1). Never an identity by itself."""

Timestamp = NewType("Timestamp", str)
"""14 digits, UTC: ``YYYYMMDDhhmmss``."""

Checksum = NewType("Checksum", str)
"""Payload digest: base32 SHA-1 without prefix, any other algorithm with its name (``sha256:…``), or ``redirect:…``."""

ContentId = NewType("ContentId", str)
"""A vertex: the checksum, or checksum, ``-`` and 16 hex digits of SHA-1(cut)."""

Kind = NewType("Kind", str)
"""Element and attribute a link was found in: ``a@href``, ``img@src``, ``http@location``."""

NO_CHECKSUM = "-"
"""A CDX row without checksum; never joined on."""

EMPTY_PAYLOAD = Checksum("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ")
"""SHA-1 of no bytes at all; says nothing, never joined on."""


class Scope(IntEnum):
    """How much of the page's URI a link depends on; of a content, the widest of its links.

    ``docs/data-model.md``, *Content*. The order is the order of width.
    """

    NONE = 0
    SCHEME = 1
    ORIGIN = 2
    DIRECTORY = 3
    PATH = 4
    DOCUMENT = 5


@dataclass(frozen=True, slots=True)
class Span:
    """Observed in this range; both ends belong to it."""

    first: Timestamp = Timestamp("0" * 14)
    last: Timestamp = Timestamp("9" * 14)

    def __contains__(self, timestamp: Timestamp) -> bool:
        return self.first <= timestamp <= self.last


ALL_TIME = Span()


_LABELS = re.compile("[^):/]*[^):/,]")
_ENDS_OF_LABEL = frozenset({")", ",", ":"})


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Captures that a graph must not have: those of a part of the web, from a span of time.

    Attributes:
        prefix: What their SURT starts with (``org,example)/``); not empty. One that ends inside of a host name (``org,example``) means
            whole labels: that host, its ports and what is below it, but not ``org,example2``.
        span: When they were made.
        has_targets: Whether links to that part of the web are forgotten, too; only for all time.
    """

    prefix: Surt
    span: Span = ALL_TIME
    has_targets: bool = False

    @property
    def is_whole_labels(self) -> bool:
        """Whether the prefix ends inside of a host name: then a label ends behind it."""
        return _LABELS.fullmatch(self.prefix) is not None

    def has(self, surt: str) -> bool:
        """Tell whether a SURT belongs to that part of the web.

        >>> host = Forgotten(Surt("org,example"))
        >>> host.has("org,example:8080)/"), host.has("org,example,sub)/"), host.has("org,example2)/")
        (True, True, False)
        """
        return surt.startswith(self.prefix) and (
            not self.is_whole_labels or surt[len(self.prefix) : len(self.prefix) + 1] in _ENDS_OF_LABEL
        )

    def covers(self, surt: str, timestamp: str) -> bool:
        """Tell whether a capture is one of them."""
        return self.has(surt) and self.span.first <= timestamp <= self.span.last


@dataclass(frozen=True, slots=True)
class Memento:
    """One capture of a URI-R at a time: facts that never change.

    Key: surt, timestamp, original, checksum. It does not hold its content: that follows from checksum and original.

    Attributes:
        mime: As the CDX row or record says, ``-`` if it does not.
        status: HTTP status as text, ``-`` if there is none (revisits in some CDX files).
        record_type: ``response``, ``revisit`` or ``resource``.
        file: Name of the archive file.
        offset: Bytes into the file as stored (compressed).
        length: Bytes of the record as stored; -1 if unknown.
        reason: Name of the `Reason` member if a rule about its own row kept it from being read, else ``-``.
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


@dataclass(frozen=True, slots=True)
class Payload:
    """What became of one payload: read, with the scope of its links, or not, with the reason.

    Attributes:
        scope: The widest class of its links; None when it was not read.
        charset: WHATWG name of the charset it was decoded with; ``-`` when it was not read.
        file: Name of the archive file it was read from, or was to be read from.
        reason: ``PAYLOAD_READ`` or the name of the `Reason` member that says why not.
        counts: Links of the page by name of their `Reason` member; only reasons that occur.
    """

    checksum: Checksum
    scope: Scope | None
    charset: str
    file: str
    offset: int
    reason: str
    counts: tuple[tuple[str, int], ...] = ()


class Outlink(NamedTuple):
    """One link of a content, in page order.

    Attributes:
        target: Absolute URI without fragment.
        text: White space folded; the alternate text for images; may be empty.
        rel: The ``rel`` attribute, white space folded and lower case; None if there is none.
    """

    target: UriR
    kind: Kind
    text: str
    rel: str | None


class Inlink(NamedTuple):
    """A link seen from its target: one distinct (target URI, kind, text, rel, content).

    Attributes:
        target: The URI really used, one of the variants of the SURT asked for.
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
"""A page that shows a content: its original, and when; distinct, sorted, at least one. A plain tuple: a hub has millions."""

RawLink = tuple[str, str, str, str | None]
"""A link as written: (kind, reference, text, rel). A plain tuple: there are billions."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Archive files that went through all stages together.

    Attributes:
        number: 1, 2, … in the order they were loaded.
        files: Names of the archive files, distinct.
        manifest: JSON text: settings, versions, counts per reason (``docs/manifest.md``).
    """

    number: int
    files: Sequence[str]
    manifest: str
