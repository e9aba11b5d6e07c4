"""Join: links as written become links with targets, once for each cut where targets differ.

Strategy. Pages arrive grouped by the SURT of their first original, so the pages of a site are
adjacent, and most of their links are the same template links. A link that depends only on the
page's origin is resolved once per origin; one that depends on the directory, once per directory;
one that depends on more is resolved each time. Contents are written in blocks. A link that is
already in the block costs one look-up of its string.

Postings (target → contents) are collected for some blocks and then written, one line per target,
never one line per link. A hub has several lines, for several tasks
(docs/decisions/20261124-skew.md).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha1

import orjson

from arclink.errors import UriError
from arclink.files.spill import DistinctSet
from arclink.graph.block_links import (
    Link,
    Postings,
    Refused,
    Target,
    TargetCache,
    hold_postings,
    number_links,
    positions_of,
    posting_rows,
)
from arclink.model import ContentId, Payload, Scope, Surt, UriR
from arclink.reasons import Reason
from arclink.rows.pages import Page, parse_link, parse_page, parse_shuffle_key
from arclink.rows.pointers import FIRST_PART
from arclink.rows.relations import OUTLINKS, PAYLOADS, POSTINGS, Row, format_payload, target_key
from arclink.uris.resolution import SPECIAL_SCHEMES, Base, content_id, cut, fields_of
from arclink.uris.surts import surt_of, surt_or_none

# Blocks of contents: each ``outlinks`` row holds one block.
#
# Pages of one site share most of their links. So a row holds the contents of some dozen pages,
# their distinct links once, and a list of link numbers for each content. The source of a link is
# named by the block and the position of the content in it. Thus a link that a thousand pages repeat
# is written, sorted, parsed and stored once per block, and each further occurrence is a small
# number.

BLOCK_LINKS = 2500
"""Approximate number of distinct links per block.

Measured in docs/decisions/20261121-blocks-of-contents.md.
"""

BLOCK_CONTENTS = 4096
"""Maximum contents per block; it matters for error pages, which have few links."""

_BLOCK_NUMBERS = 200_000
"""Maximum links per block, with repetitions: one link may be on a page a hundred thousand times."""


class Block:
    """A block in the making.

    Attributes:
        number_of: Numbers of the distinct links, by their JSON ``[target, kind, text, rel]``.
            Before a caller adds a content, it gives the content's new links the next numbers.
    """

    __slots__ = ("_contents", "_lists", "_numbers", "number_of")

    def __init__(self) -> None:
        self.number_of: dict[bytes, int] = {}
        self._contents: list[ContentId] = []
        self._lists: list[list[int]] = []
        self._numbers = 0

    def __len__(self) -> int:
        return len(self._contents)

    @property
    def is_full(self) -> bool:
        """Whether this block should be written and another one begun."""
        return (
            len(self.number_of) >= BLOCK_LINKS
            or len(self._contents) >= BLOCK_CONTENTS
            or self._numbers >= _BLOCK_NUMBERS
        )

    def add(self, content: ContentId, numbers: list[int]) -> None:
        """Add a content with the numbers of its links, in page order."""
        self._contents.append(content)
        self._lists.append(numbers)
        self._numbers += len(numbers)

    @property
    def name(self) -> str:
        """The block's name: 20 hex digits of SHA-1 over its content ids.

        Blocks with the same name hold the same contents.
        """
        return sha1("\n".join(self._contents).encode(), usedforsecurity=False).hexdigest()[:20]

    def row(self, first_surt: Surt | str) -> bytes:
        """Return the ``outlinks`` row of this block."""
        links = b"[" + b",".join(self.number_of) + b"]"
        return b"\t".join(
            (
                first_surt.encode(),
                self.name.encode(),
                orjson.dumps(self._contents),
                links,
                orjson.dumps(self._lists),
            )
        )

    def positions(self) -> list[list[int]]:
        """Return, for each distinct link, the sorted positions of the contents that hold it.

        The links are in the order of their numbers.
        """
        return positions_of(self._lists, len(self.number_of))


_REASONS = tuple(Reason)

MOST_RESOLVED = 128 << 20
"""Links of one page times the characters of its address and base: each target may repeat these."""

_ANY_PAGE = UriR("http://page.invalid/")
"""An original at which the references of a page are relative or absolute as at any other."""


class Joiner:
    """Joins the pages of one task.

    Attributes:
        counts: The links of every payload, counted once even if they are resolved several times.

    Args:
        flush_at: Number of postings to hold before they are written.
        remember: Maximum number of resolved links of one origin or directory to hold.
    """

    def __init__(self, flush_at: int = 200_000, remember: int = 200_000) -> None:
        self.counts: Counter[Reason] = Counter()
        self._flush_at = flush_at
        self._remember = remember
        self._postings: Postings = {}
        self._held = 0  # their number, counted per link and block
        self._block = Block()
        self._links: list[Link] = []  # of the block, by number
        self._first_surt = b""  # of the block
        # Of links in the block with the same target on the whole origin.
        self._codes: dict[str, int] = {}
        self._origin = TargetCache(())
        self._directory = TargetCache(())
        self._payload: str | None = None  # checksum of the page before
        self._cuts = DistinctSet()  # those already written for that payload

    def join(self, key: bytes, pages: Iterable[bytes]) -> Iterator[Row]:
        """Yield the rows for the pages under one key.

        Args:
            key: From `arclink.rows.pages.format_shuffle_key`.
            pages: Lines of `arclink.rows.pages.format_page`; the chunks of one payload are
                adjacent.

        Yields:
            ``payloads`` rows (docs/reference/graph-files.md), and from time to time ``outlinks``
            and ``postings``.
        """
        surt, part = parse_shuffle_key(key)
        for line in pages:
            yield from self._join_page(surt, parse_page(line), part)

    def flush(self) -> Iterator[Row]:
        """Yield the current block and the postings in memory, by target.

        A target may occur again after the next flush.
        """
        yield from self._write_block()
        for row in posting_rows(self._postings):
            yield POSTINGS, row
        self._postings = {}
        self._held = 0

    def _write_block(self) -> Iterator[Row]:
        """Yield the block, keep its postings in memory, and begin another."""
        block = self._block
        if not len(block):
            return
        yield OUTLINKS, block.row(self._first_surt.decode())
        hold_postings(self._postings, self._links, block.positions(), orjson.dumps(block.name))
        self._held += len(self._links)
        self._block = Block()
        self._links = []
        self._codes.clear()

    def _join_page(self, surt: bytes, page: Page, part: str) -> Iterator[Row]:
        if page.checksum != self._payload:
            self._payload = page.checksum
            self._cuts.clear()
        links = len(self._links)
        numbers, scope, refused = self._resolve(page, page.originals[0])
        if fields_of(page.originals[0])[0] not in SPECIAL_SCHEMES:
            # Relative links do not resolve here, but they do at other originals of the payload.
            scope = max(scope, _scope_at_any_page(page))
        if page.reason == Reason.PAYLOAD_RECORDED.name:
            # The crawler recorded where the links led from this original only.
            scope = Scope.DOCUMENT
        if page.chunk == 0:
            yield PAYLOADS, format_payload(self._count(page, scope, len(numbers), refused))
        if part and _is_of_another_task(page.chunk, part, scope):
            self._take_back(links)
            return
        for index, original in enumerate(page.originals if scope else page.originals[:1]):
            if not self._cuts.add(cut(original, scope)):
                if not index:
                    self._take_back(links)
                continue
            if index:
                numbers, _, _ = self._resolve(page, original)
            if not len(self._block):
                self._first_surt = surt
            self._block.add(content_id(page.checksum, original, scope), numbers)
            if self._block.is_full:
                yield from self._write_block()
                if self._held >= self._flush_at:
                    yield from self.flush()

    def _take_back(self, links: int) -> None:
        """Remove the links of the block from a number on: no content has them.

        A takedown rewrites only the blocks of the contents that it removes, so a link of such a
        content must not be in any other block.
        """
        if len(self._links) > links:
            for json, *_ in self._links[links:]:
                del self._block.number_of[json]
            del self._links[links:]
            self._codes.clear()

    def _count(self, page: Page, scope: Scope, kept: int, refused: Counter[Reason]) -> Payload:
        """Count the links of a payload; return its row."""
        counts = dict(page.counts)
        if kept:
            counts["LINK_KEPT"] = counts.get("LINK_KEPT", 0) + kept
        for reason, count in refused.items():
            counts[reason.name] = counts.get(reason.name, 0) + count
        for name, count in counts.items():
            self.counts[Reason[name]] += count
        return Payload(
            page.checksum,
            scope,
            page.charset,
            page.file,
            page.offset,
            page.reason,
            tuple(sorted(counts.items())),
            page.title,
        )

    def _resolve(self, page: Page, original: UriR) -> tuple[list[int], Scope, Counter[Reason]]:
        """Return the links of a page as captured at ``original``.

        The first value is the links as numbers in the block, in page order; the second is their
        scope; the third counts the other links by reason.
        """
        self._enter(page, original)
        follow = _Follow(page, original, self.counts)
        links = _resolved_links(page, original)
        numbers, scope, refused = number_links(
            links,
            self._codes,
            self._block.number_of,
            self._links,
            self._origin,
            self._directory,
            follow,
        )
        reasons = Counter(map(_REASONS.__getitem__, refused))
        if len(links) < len(page.links):
            reasons[Reason.LINK_TOO_MANY] += len(page.links) - len(links)
        return numbers, Scope(scope), reasons

    def _enter(self, page: Page, original: UriR) -> None:
        """Select the origin and directory in which the links of a page resolve.

        The results of an origin or directory are kept as long as the next pages have the same one.
        """
        origin = (cut(original, Scope.ORIGIN), page.charset, page.base)
        if self._origin.name != origin or len(self._origin.links) > self._remember:
            self._origin = TargetCache(origin)
            self._codes.clear()
        directory = (cut(original, Scope.DIRECTORY), page.charset, page.base)
        if self._directory.name != directory or len(self._directory.links) > self._remember:
            self._directory = TargetCache(directory)


def _is_of_another_task(chunk: int, part: str, scope: Scope) -> bool:
    """Return whether another task writes the one content that several parts of a payload share."""
    if scope is Scope.NONE:
        return chunk > 0
    return scope is Scope.SCHEME and not part.endswith(FIRST_PART)


def _resolved_links(page: Page, original: UriR) -> Sequence[str]:
    """Return the links of a page that are resolved at an original (`MOST_RESOLVED`)."""
    most = MOST_RESOLVED // (len(original) + len(page.base or "") + 1)
    return page.links if len(page.links) <= most else page.links[:most]


def _scope_at_any_page(page: Page) -> Scope:
    """Return the scope that the links of a page have at any original with a usual scheme."""
    base = Base(_ANY_PAGE, page.base, page.charset)
    scope = Scope.NONE
    for link in _resolved_links(page, _ANY_PAGE):
        with suppress(UriError):
            scope = max(scope, base.follow(parse_link(link)[1])[1])
    return scope


class _Follow:
    """Resolves the references of one page.

    It is called only for references that were not seen on its origin or in its directory.
    """

    __slots__ = ("_base", "_base_arguments", "_counts")

    def __init__(self, page: Page, original: UriR, counts: Counter[Reason]) -> None:
        self._base_arguments = original, page.base, page.charset
        self._base: Base | None = None
        self._counts = counts

    def __call__(self, reference: str) -> Target | Refused:
        """Return the target of a reference, or the reason to count, with the reference's scope."""
        base = self._base
        if base is None:
            base = self._base = Base(*self._base_arguments)
        try:
            target, scope = base.follow(reference)
        except UriError as error:
            return _REASONS.index(error.reason), base.class_of(reference)
        surt = surt_or_none(target)
        if surt is None:
            self._counts[Reason.NOTE_SURT_REFUSED] += 1
            surt = surt_of(target)
        # A copy: what orjson returns keeps its first buffer of 1 KB, and targets are held by
        # thousands.
        return bytes(bytearray(orjson.dumps(target))), target_key(surt, target), scope
