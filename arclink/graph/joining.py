"""Join: links as written become links, once for each place where they lead somewhere else.

Strategy. Pages arrive grouped by the SURT of their first original, so the pages of a site come one after the other and
most of their links are the same template links. A link that depends on nothing but the page's origin is resolved once
per origin; one that depends on the directory, once per directory; what depends on more is resolved each time. A link
that was seen before costs one look-up of its string and two appends.

Postings (target → contents) are collected for some ten thousand links and then written, one line per target: never a
line per link, and never more in memory than that.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import orjson

from arclink.errors import UriError
from arclink.graph.pages import Page, parse_link, parse_page
from arclink.graph.relations import OUTLINKS, PAYLOADS, POSTINGS, Groups, Row, format_groups, format_payload, target_key
from arclink.model import Kind, Payload, Scope, UriR
from arclink.reasons import Reason
from arclink.uris.resolving import Base, content_id, cut
from arclink.uris.surts import surt_of, surt_or_none


class _Link:
    """A link resolved in one place, with the contents that hold it since the last flush."""

    __slots__ = ("contents", "key", "row", "scope", "words")

    def __init__(self, target: "_Target", words: tuple[Kind, str, str | None]) -> None:
        self.key, json, self.scope = target
        self.words = words
        self.row = b"[" + json + b"," + orjson.dumps(words)[1:]
        self.contents: list[str] = []


_Target = tuple[bytes, bytes, Scope]
"""A reference resolved: shuffle key, JSON of the target, and how much of the page's URI that depends on."""


class _Place:
    """What was resolved so far where it leads to the same targets: on one origin, or in one directory of it.

    Attributes:
        links: By the whole link as written: the same words again cost one look-up.
        targets: By its reference: the same reference with other words need not be resolved again.
    """

    __slots__ = ("links", "name", "targets")

    def __init__(self, name: tuple[str | None, ...]) -> None:
        self.name = name
        self.links: dict[str, _Link | Reason] = {}
        self.targets: dict[str, _Target | tuple[Reason, Scope]] = {}


class Joiner:
    """Joins the pages of one task.

    Attributes:
        counts: The links of every payload, once however often they are resolved.

    Args:
        flush_at: How many postings to hold before they are written.
        remember: How many resolved links of one place to hold.
    """

    def __init__(self, flush_at: int = 30_000, remember: int = 200_000) -> None:
        self.counts: Counter[Reason] = Counter()
        self._flush_at = flush_at
        self._remember = remember
        self._postings = 0
        self._used: list[_Link] = []  # those with contents
        self._origin = _Place(())
        self._directory = _Place(())
        self._payload: str | None = None  # checksum of the page before
        self._cuts: set[str] = set()  # what was written of that payload

    def join(self, place: bytes, pages: Iterable[bytes]) -> Iterator[Row]:
        """Yield what the pages under one key become.

        Args:
            place: SURT of the pages' first original.
            pages: As `arclink.graph.pages.format_page` writes them; the chunks of one payload one after the other.

        Yields:
            ``payloads`` and ``outlinks`` rows (docs/graph-files.md), and from time to time ``postings``.
        """
        for line in pages:
            yield from self._join_page(place, parse_page(line))

    def flush(self) -> Iterator[Row]:
        """Yield the postings held, by target; a target may come again after the next flush."""
        targets: dict[bytes, Groups] = {}
        for link in self._used:
            targets.setdefault(link.key, []).append((*link.words, link.contents))
            link.contents = []
        self._used = []
        self._postings = 0
        # Unsorted: the shuffle sorts them.
        for key, groups in targets.items():
            yield POSTINGS, key + b"\t" + format_groups(groups)

    def _join_page(self, place: bytes, page: Page) -> Iterator[Row]:
        links, refused = self._resolve(page, page.originals[0])
        scope = max({link.scope for link in links}, default=Scope.NONE)
        if page.chunk == 0 or page.checksum != self._payload:
            self._payload, self._cuts = page.checksum, set()
        if page.chunk == 0:
            yield PAYLOADS, format_payload(self._count(page, scope, len(links), refused))
        for number, original in enumerate(page.originals if scope else page.originals[:1]):
            where = cut(original, scope)
            if where in self._cuts:
                continue
            self._cuts.add(where)
            if number:
                links, _ = self._resolve(page, original)
            content = content_id(page.checksum, original, scope)
            for link in links:
                contents = link.contents
                if not contents:
                    self._used.append(link)
                elif contents[-1] is content:
                    continue
                contents.append(content)
            self._postings += len(links)
            yield OUTLINKS, place + b"\t" + content.encode() + b"\t[" + b",".join([link.row for link in links]) + b"]"
            if self._postings >= self._flush_at:
                yield from self.flush()

    def _count(self, page: Page, scope: Scope, kept: int, refused: Counter[Reason]) -> Payload:
        """Count the links of a payload; return its row."""
        counts = Counter(refused)
        counts.update({Reason[name]: count for name, count in page.counts.items()})
        if kept:
            counts[Reason.LINK_KEPT] += kept
        self.counts.update(counts)
        named = tuple(sorted((reason.name, count) for reason, count in counts.items()))
        return Payload(page.checksum, scope, page.charset, page.file, page.offset, Reason.PAYLOAD_READ.name, named)

    def _resolve(self, page: Page, original: UriR) -> tuple[list[_Link], Counter[Reason]]:
        """Return the links of a page as captured at ``original``, in page order, and what became of the others."""
        origin = self._origin = self._enter(self._origin, (cut(original, Scope.ORIGIN), page.charset, page.base))
        directory = self._directory = self._enter(self._directory, (cut(original, Scope.DIRECTORY), page.charset, page.base))
        known, known_here = origin.links.get, directory.links.get
        base: Base | None = None
        links: list[_Link] = []
        refused: Counter[Reason] = Counter()
        for written in page.links:
            link = known(written) or known_here(written)
            if link is None:
                base = base or Base(original, page.base, page.charset)
                link = self._resolve_link(base, written, origin, directory)
            if link.__class__ is _Link:
                links.append(link)
            else:
                refused[link] += 1  # type: ignore[index]  # a reason, if it is no link
        return links, refused

    def _resolve_link(self, base: Base, written: str, origin: _Place, directory: _Place) -> _Link | Reason:
        """Return a link that was not seen here before, and remember it where it would be the same."""
        kind, reference, text, rel = parse_link(written)
        target = origin.targets.get(reference) or directory.targets.get(reference)
        if target is None:
            target = self._resolve_reference(base, reference)
        link = target[0] if len(target) == 2 else _Link(target, (Kind(kind), text, rel))
        scope = target[-1]
        if scope <= Scope.DIRECTORY:
            place = origin if scope <= Scope.ORIGIN else directory
            place.targets[reference] = target
            place.links[written] = link
        return link

    def _enter(self, place: _Place, name: tuple[str | None, ...]) -> _Place:
        """Return the place of this name: the one we are in, or a new one that knows nothing yet."""
        return place if place.name == name and len(place.links) <= self._remember else _Place(name)

    def _resolve_reference(self, base: Base, reference: str) -> _Target | tuple[Reason, Scope]:
        """Return where a reference leads, or what it is counted as, and how much of the page's URI that depends on."""
        try:
            target, scope = base.follow(reference)
        except UriError as error:
            return error.reason, base.class_of(reference)
        surt = surt_or_none(target)
        if surt is None:
            self.counts[Reason.NOTE_SURT_REFUSED] += 1
            surt = surt_of(target)
        return target_key(surt, target), orjson.dumps(target), scope
