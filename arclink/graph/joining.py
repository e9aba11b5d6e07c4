"""Join: links as written become links, once for each place where they lead somewhere else.

Strategy. Pages arrive grouped by the SURT of their first original, so the pages of a site come one after the other and
most of their links are the same template links. A link that depends on nothing but the page's origin is resolved once
per origin; one that depends on the directory, once per directory; what depends on more is resolved each time. Contents
are written in blocks (`arclink.graph.blocks`), and a link that was seen before in the block costs one look-up of its string.

Postings (target → contents) are collected for some blocks and then written, one line per target: never a line per link.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import orjson

from arclink.errors import UriError
from arclink.graph.blocks import Block
from arclink.graph.distinct import Distinct
from arclink.graph.pages import Page, parse_link, parse_page
from arclink.graph.relations import OUTLINKS, PAYLOADS, POSTINGS, Row, format_payload, target_key
from arclink.model import Payload, Scope, UriR
from arclink.native import native
from arclink.reasons import Reason
from arclink.uris.resolving import Base, content_id, cut
from arclink.uris.surts import surt_of, surt_or_none

_Target = tuple[bytes, bytes, Scope]
"""A reference resolved: JSON of the target, its shuffle key, and how much of the page's URI that depends on."""

_Link = tuple[bytes, bytes, bytes, Scope]
"""A link resolved: JSON of target, kind, text, rel; JSON of the last three, without the last bracket; key; scope."""

_Refused = tuple[int, Scope]
"""A reference that leads nowhere: the number of the reason, and how much of the page's URI that depends on."""

_Postings = dict[bytes, dict[bytes, list[bytes]]]
"""Blocks and positions in them, as JSON, by the key of a target, then by JSON of kind, text and rel without the last bracket."""

# The code of a link as it stands in a page: its number in the block and, in the last bits, its scope; inverted, the number of a reason.
_SCOPE_BITS = 3
_SCOPE = (1 << _SCOPE_BITS) - 1
_REASONS = tuple(Reason)


class _Place:
    """What was resolved so far where it leads to the same targets: on one origin, or in one directory of it.

    Attributes:
        links: By the whole link as written: the same words again cost one look-up.
        targets: By its reference: the same reference with other words need not be resolved again.
    """

    __slots__ = ("links", "name", "targets")

    def __init__(self, name: tuple[str | None, ...]) -> None:
        self.name = name
        self.links: dict[str, _Link | _Refused] = {}
        self.targets: dict[str, _Target | _Refused] = {}


class Joiner:
    """Joins the pages of one task.

    Attributes:
        counts: The links of every payload, once however often they are resolved.

    Args:
        flush_at: How many postings to hold before they are written.
        remember: How many resolved links of one place to hold.
    """

    def __init__(self, flush_at: int = 200_000, remember: int = 200_000) -> None:
        self.counts: Counter[Reason] = Counter()
        self._flush_at = flush_at
        self._remember = remember
        self._postings: _Postings = {}
        self._held = 0  # of these, the innermost
        self._block = Block()
        self._links: list[_Link] = []  # of the block, by number
        self._first_place = b""  # of the block
        self._codes: dict[str, int] = {}  # of links in the block that lead to the same target on the whole origin
        self._origin = _Place(())
        self._directory = _Place(())
        self._payload: str | None = None  # checksum of the page before
        self._cuts = Distinct()  # what was written of that payload

    def join(self, place: bytes, pages: Iterable[bytes]) -> Iterator[Row]:
        """Yield what the pages under one key become.

        Args:
            place: SURT of the pages' first original.
            pages: As `arclink.graph.pages.format_page` writes them; the chunks of one payload one after the other.

        Yields:
            ``payloads`` rows (docs/graph-files.md), and from time to time ``outlinks`` and ``postings``.
        """
        for line in pages:
            yield from self._join_page(place, parse_page(line))

    def flush(self) -> Iterator[Row]:
        """Yield the block and the postings held, by target; a target may come again after the next flush."""
        yield from self._write_block()
        for row in _posting_rows(self._postings):
            yield POSTINGS, row
        self._postings = {}
        self._held = 0

    def _write_block(self) -> Iterator[Row]:
        """Yield the block, hold its postings, and begin another."""
        block = self._block
        if not len(block):
            return
        yield OUTLINKS, block.row(self._first_place.decode())
        _hold_postings(self._postings, self._links, block.positions(), orjson.dumps(block.name))
        self._held += len(self._links)
        self._block = Block()
        self._links = []
        self._codes.clear()

    def _join_page(self, place: bytes, page: Page) -> Iterator[Row]:
        if page.checksum != self._payload:
            self._payload = page.checksum
            self._cuts.clear()
        numbers, scope, refused = self._resolve(page, page.originals[0])
        if page.chunk == 0:
            yield PAYLOADS, format_payload(self._count(page, scope, len(numbers), refused))
        for place_in_page, original in enumerate(page.originals if scope else page.originals[:1]):
            if not self._cuts.add(cut(original, scope)):
                continue
            if place_in_page:
                numbers, _, _ = self._resolve(page, original)
            if not len(self._block):
                self._first_place = place
            self._block.add(content_id(page.checksum, original, scope), numbers)
            if self._block.is_full:
                yield from self._write_block()
                if self._held >= self._flush_at:
                    yield from self.flush()

    def _count(self, page: Page, scope: Scope, kept: int, refused: Counter[Reason]) -> Payload:
        """Count the links of a payload; return its row."""
        counts = dict(page.counts)
        if kept:
            counts["LINK_KEPT"] = counts.get("LINK_KEPT", 0) + kept
        for reason, count in refused.items():
            counts[reason.name] = counts.get(reason.name, 0) + count
        for name, count in counts.items():
            self.counts[Reason[name]] += count
        return Payload(page.checksum, scope, page.charset, page.file, page.offset, "PAYLOAD_READ", tuple(sorted(counts.items())))

    def _resolve(self, page: Page, original: UriR) -> tuple[list[int], Scope, Counter[Reason]]:
        """Return the links of a page as captured at ``original``: numbers in the block, in page order; their scope; the others."""
        self._enter(page, original)
        follow = _Follow(page, original, self.counts)
        numbers, scope, refused = _number_links(
            page.links, self._codes, self._block.number_of, self._links, self._origin, self._directory, follow
        )
        return numbers, Scope(scope), Counter(map(_REASONS.__getitem__, refused))

    def _enter(self, page: Page, original: UriR) -> None:
        """Go to where the links of a page resolve; what is known there stays known as long as the next pages are there too."""
        origin = (cut(original, Scope.ORIGIN), page.charset, page.base)
        if self._origin.name != origin or len(self._origin.links) > self._remember:
            self._origin = _Place(origin)
            self._codes.clear()
        directory = (cut(original, Scope.DIRECTORY), page.charset, page.base)
        if self._directory.name != directory or len(self._directory.links) > self._remember:
            self._directory = _Place(directory)


class _Follow:
    """Tells where references of one page lead; is called only for those not seen on its origin or in its directory."""

    __slots__ = ("_base", "_counts", "_place")

    def __init__(self, page: Page, original: UriR, counts: Counter[Reason]) -> None:
        self._place = original, page.base, page.charset
        self._base: Base | None = None
        self._counts = counts

    def __call__(self, reference: str) -> _Target | _Refused:
        """Return where a reference leads, or what it is counted as, and how much of the page's URI that depends on."""
        base = self._base
        if base is None:
            base = self._base = Base(*self._place)
        try:
            target, scope = base.follow(reference)
        except UriError as error:
            return _REASONS.index(error.reason), base.class_of(reference)
        surt = surt_or_none(target)
        if surt is None:
            self._counts[Reason.NOTE_SURT_REFUSED] += 1
            surt = surt_of(target)
        return orjson.dumps(target), target_key(surt, target), scope


@native
def _number_links(
    written_links: Sequence[str],
    codes: dict[str, int],
    number_of: dict[bytes, int],
    links: list[_Link],
    of_origin: _Place,
    of_directory: _Place,
    follow: Callable[[str], _Target | _Refused],
) -> tuple[list[int], int, list[int]]:
    """Return the links of a page: their numbers in the block, in page order; their scope; the others, as numbers of reasons.

    Args:
        written_links: As `arclink.graph.pages.format_link` writes them.
        codes: Of links in the block that lead to the same target on the whole origin; grows.
        number_of: Numbers of the block's distinct links by their JSON; grows.
        links: The block's distinct links; grows.
        of_origin: What was resolved on this origin; grows.
        of_directory: What was resolved in this directory; grows.
        follow: Tells where a reference leads.
    """
    numbers: list[int] = []
    refused: list[int] = []
    widest = 0
    link: _Link | _Refused | None
    target: _Target | _Refused | None
    for written in written_links:
        code = codes.get(written)
        if code is None:
            # A fifth of all links come by here, and cost more than all others together.
            link = of_origin.links.get(written) or of_directory.links.get(written)
            if link is None:
                kind, reference, text, rel = parse_link(written)
                target = of_origin.targets.get(reference) or of_directory.targets.get(reference)
                if target is None:
                    target = follow(reference)
                scope = target[-1]
                if len(target) == 2:
                    link = target
                else:
                    json, key, _ = target
                    head = orjson.dumps((kind, text, rel))[:-1]
                    link = b"[%b,%b]" % (json, head[1:]), head, key, scope
                if scope <= Scope.DIRECTORY:
                    where = of_origin if scope <= Scope.ORIGIN else of_directory
                    where.targets[reference] = target
                    where.links[written] = link
            scope = link[-1]
            if len(link) == 2:
                code = ~link[0]
            else:
                number = number_of.setdefault(link[0], len(links))
                if number == len(links):
                    links.append(link)
                code = number << _SCOPE_BITS | scope
            if scope <= Scope.ORIGIN:
                codes[written] = code
        if code < 0:
            refused.append(~code)
        else:
            numbers.append(code >> _SCOPE_BITS)
            widest = max(widest, code & _SCOPE)
    return numbers, widest, refused


@native
def _hold_postings(postings: _Postings, links: list[_Link], positions: list[list[int]], name: bytes) -> None:
    """Add the links of a block to the postings that are held.

    Args:
        postings: Grows.
        links: The block's distinct links.
        positions: For each link, the positions of the contents that hold it.
        name: JSON of the block's name.
    """
    alone: dict[int, bytes] = {}
    for (_, head, key, _), places in zip(links, positions, strict=True):
        if len(places) == 1:
            place = places[0]
            posting = alone.get(place)
            if posting is None:
                posting = alone[place] = b"[%b,[%d]]" % (name, place)
        else:
            posting = b"[%b,%b]" % (name, orjson.dumps(places))
        of_target = postings.get(key)
        if of_target is None:
            postings[key] = {head: [posting]}
        elif head in of_target:
            of_target[head].append(posting)
        else:
            of_target[head] = [posting]


@native
def _posting_rows(postings: _Postings) -> Iterator[bytes]:
    """Yield the ``postings`` rows of what is held; unsorted, for the shuffle sorts them."""
    for key, groups in postings.items():
        links = b",".join([b"%b,[%b]]" % (head, b",".join(blocks)) for head, blocks in groups.items()])
        yield b"%b\t[%b]" % (key, links)
