"""Answers the queries of a store from its packed rows: the algorithms that every store shares.

A *keeper* has the rows (`BlockAnswers` names what it provides). A payload has a key, bytes that
name it in the rows of its sightings, and a content has a load and a number.
"""

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

from arclink.checksums import parse_name
from arclink.errors import UsageError
from arclink.model import (
    ALL_SURTS,
    ALL_TIME,
    Checksum,
    ContentId,
    Inlink,
    Kind,
    Memento,
    Outlink,
    Payload,
    Scope,
    ShownInlink,
    Sighting,
    Source,
    Span,
    Surt,
    UriR,
    maker,
)
from arclink.portions import portions
from arclink.progress import watched
from arclink.store.blocks.byte_layouts import split_content, uri_form, uri_of_form
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.relations import (
    Names,
    Posting,
    distinct_mementos,
    in_order,
    kinds_of,
    memento_of,
    mementos_of,
    pack_head,
    pages_of,
    scope_of_outcome,
    sorted_copies,
    title_of_outcome,
    united_pages,
    unpack_head,
    unpack_outcome,
)
from arclink.store.blocks.rows import Content, Relation, Row, memento_shown, not_modified_since
from arclink.store.protocols import WHOLE, ContentBlock, LoadMark, Share, WantsLink, WholeStore
from arclink.store.shown_inlinks import few_pages
from arclink.uris.resolution import content_id

if TYPE_CHECKING:
    from arclink.store.blocks.cuts import CapturesByCut

AT_ONCE = 128
"""Number of inlinks whose contents are looked up together, and of checksums in one query."""

_LINKS_AT_ONCE = 512
"""Number of inlinks whose pages are looked up together, without names of contents."""

FEW_CAPTURES = 500
"""Limit of captures of a payload that are scanned per content; more are sorted by cut first."""

_CACHED_BY_CUT = 4

_BEGIN = LoadMark(0, 0)
"""The mark before the first batch."""

_inlink = maker(Inlink)
_shown_inlink = maker(ShownInlink)


Captures = tuple[Sequence[Scope], Iterable[Row]]
"""The captures of a payload: the possible scopes of its links, and its rows of sightings, by key.

A payload that was not read has no scope. The rows are a list if all of them are in memory.
"""


class BlockAnswers(WholeStore):
    """The queries of a store; a subclass reads the rows that they need.

    Attributes:
        names: Numbers for words that many rows repeat.
    """

    names: Names

    def __init__(self) -> None:
        self._by_cut: OrderedDict[Checksum, CapturesByCut] = OrderedDict()

    # What a keeper provides

    @abstractmethod
    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        """Yield the SURTs of captures and links that begin with a prefix (`OpenStore`)."""

    @abstractmethod
    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        """Yield the SURTs of captures that begin with a prefix (`OpenStore`)."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """Answer all queries inside the block from one state of the store (`OpenStore`)."""

    @property
    @abstractmethod
    def layout(self) -> int:
        """The number of the store's layout (`GraphStore`)."""

    @abstractmethod
    def setting(self, name: str) -> str | None:
        """Return a setting of the store (`OpenStore`)."""

    @abstractmethod
    def last_batch(self) -> int:
        """Return the number of the batch that was loaded last (`OpenStore`)."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[None]:
        """Read the present state inside the block: caches of an earlier one are cleared first."""

    @abstractmethod
    def rows(self, relation: Relation, key: bytes) -> Iterator[Row]:
        """Return the rows of a SURT or payload, by key; those of inlinks in any order."""

    @abstractmethod
    def rows_by_surt(self, prefix: Surt) -> Iterator[tuple[Surt, Iterator[Row]]]:
        """Yield the captured SURTs with a prefix, sorted, each with its rows of mementos."""

    @abstractmethod
    def rows_after(self, mark: LoadMark) -> Iterator[tuple[Surt, list[Row], list[Row]]]:
        """Yield the SURTs that have rows of mementos loaded after a mark, sorted.

        Each comes with its rows up to the mark, and all its rows.
        """

    @abstractmethod
    def mark(self) -> LoadMark:
        """Return the mark of the present state (`Additions`)."""

    @abstractmethod
    def key_of(self, checksum: Checksum) -> bytes:
        """Return the key of a payload by its checksum; b"" if the store lacks the payload."""

    @abstractmethod
    def outcomes(self, checksums: Sequence[Checksum]) -> list[bytes | None]:
        """Return the packed outcome of each payload; None if it was never to be read."""

    def outcomes_and_contents(
        self, checksums: Sequence[Checksum]
    ) -> Iterator[tuple[bytes | None, ContentId | None]]:
        """Yield the outcome of each payload, and one of its contents if that needs no more reading.

        Most payloads have one content only.
        """
        return zip(self.outcomes(checksums), repeat(None))

    @abstractmethod
    def named(self) -> Iterator[tuple[Checksum, bytes | None]]:
        """Yield the names of payloads (`arclink.checksums.name_of_payload`), each with its outcome.

        Only those that name a capture of another URI.
        """

    @abstractmethod
    def numbers(self, contents: Sequence[ContentId]) -> list[Content | None]:
        """Return the number of each content; None if the store has no such content."""

    def numbers_of(self, contents: Iterable[ContentId]) -> dict[ContentId, Content]:
        """Return the numbers of those contents that the store has."""
        distinct = list(dict.fromkeys(contents))
        numbers = zip(distinct, self.numbers(distinct), strict=True)
        return {content: number for content, number in numbers if number is not None}

    @abstractmethod
    def contents(self, load: int, numbers: Sequence[int]) -> list[ContentId | None]:
        """Return contents by number; None for one that was removed since the number was read."""

    @abstractmethod
    def block(self, load: int, content: int) -> OutlinkBlock:
        """Return the block with the links of a content, by its number."""

    def drop_caches(self) -> None:
        """Clear the caches, because the store has changed."""
        self._by_cut.clear()

    @abstractmethod
    def _scope(self, checksum: Checksum, memento: Memento) -> Scope | None:
        """Return the scope of the payload that a memento shows; None if it was not read."""

    @abstractmethod
    def _number(self, content: ContentId) -> Content | None:
        """Return the number of a content, perhaps from a cache."""

    @abstractmethod
    def _block_with(self, content: ContentId) -> tuple[OutlinkBlock, int] | None:
        """Return the block with the links of a content, and its number; None without it."""

    @abstractmethod
    def rows_of_share(self, share: Share) -> Iterator[tuple[Surt, Iterable[Row]]]:
        """Yield the SURTs of a share, each with all its mementos' rows."""

    @abstractmethod
    def _blocks(
        self, mark: LoadMark, share: Share = WHOLE
    ) -> Iterator[tuple[OutlinkBlock, Sequence[ContentId | None]]]:
        """Yield blocks of outlinks loaded after a mark, with contents; None for removed ones.

        Only those of one share of the store.
        """

    @abstractmethod
    def _count_contents(self) -> int:
        """Return about how many contents the store has."""

    @abstractmethod
    def _postings(
        self, target: Surt, load: int, last: Posting | None
    ) -> Iterator[tuple[int, Iterator[Posting]]]:
        """Yield the inlinks of each load from ``load`` on, of it only those after ``last``."""

    @abstractmethod
    def _captures(self, checksums: Sequence[Checksum]) -> Iterator[Captures]:
        """Yield the captures of each payload; read them before you take the next ones."""

    @abstractmethod
    def _refers(self) -> bool:
        """Return whether some revisits name a capture instead of a checksum."""

    # Mementos and their payloads

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        with self._reading():
            for item in distinct_mementos(
                self.rows(Relation.MEMENTOS, surt.encode()), self.names, span
            ):
                yield memento_of(surt, item)

    def mementos_of_each(
        self, surts: Sequence[Surt], span: Span = ALL_TIME
    ) -> Iterator[Iterator[Memento]]:
        """Yield the `mementos` of each SURT; read them before you take the next ones."""
        return (self.mementos(surt, span) for surt in surts)

    def scan_mementos(self, span: Span = ALL_TIME, prefix: Surt = ALL_SURTS) -> Iterator[Memento]:
        mementos = self._scan_mementos(span, prefix)
        return watched(mementos, "reading captures", lambda: self.known().captures or 0)

    def _scan_mementos(self, span: Span, prefix: Surt) -> Iterator[Memento]:
        with self._reading():
            for surt, rows in self.rows_by_surt(prefix):
                for item in distinct_mementos(rows, self.names, span):
                    yield memento_of(surt, item)

    def mementos_after(self, mark: LoadMark) -> Iterator[tuple[Memento, bool]]:
        with self._reading():
            for surt, earlier, rows in self.rows_after(mark):
                shown = {item[:3]: item for item in distinct_mementos(earlier, self.names)}
                for item in distinct_mementos(rows, self.names):
                    before = shown.get(item[:3])
                    if before != item:
                        yield memento_of(surt, item), before is not None

    def share_of_mementos(self, share: Share) -> Iterator[Memento]:
        with self._reading():
            for surt, rows in self.rows_of_share(share):
                for item in distinct_mementos(rows, self.names):
                    yield memento_of(surt, item)

    def copies(self, surt: Surt) -> Iterator[Memento]:
        with self._reading():
            rows = self.rows(Relation.MEMENTOS, surt.encode())
            items = in_order(rows, lambda row: mementos_of(row, self.names))
            for item in sorted_copies(items):
                yield memento_of(surt, item)

    def payload(self, checksum: Checksum) -> Payload | None:
        with self._reading():
            outcome = self.outcomes([checksum])[0]
            return None if outcome is None else unpack_outcome(checksum, outcome, self.names)

    def content_of(self, memento: Memento) -> ContentId | None:
        with self._reading():
            shown = memento_shown(self, memento)
            scope = None if shown is None else self._scope(shown.checksum, memento)
            content = _content_named(shown, scope)
            # The payload may have been read for other originals only; for this one, it may not
            # have been available any more.
            return None if content is None or self._number(content) is None else content

    def shown(self, mementos: Iterable[Memento]) -> Iterator[tuple[ContentId | None, str | None]]:
        for portion in portions(mementos, AT_ONCE):
            with self._reading():
                shown = self._shown(portion)
            yield from shown

    def _shown(self, mementos: Sequence[Memento]) -> list[tuple[ContentId | None, str | None]]:
        shown = [memento_shown(self, memento) for memento in mementos]
        checksums = [None if one is None else one.checksum for one in shown]
        wanted = [checksum for checksum in dict.fromkeys(checksums) if checksum is not None]
        outcomes: dict[Checksum | None, bytes | None] = {None: None}
        known: set[ContentId | None] = set()
        for checksum, (outcome, content) in zip(
            wanted, self.outcomes_and_contents(wanted), strict=True
        ):
            outcomes[checksum] = outcome
            known.add(content)
        named = [
            _content_named(one, scope_of_outcome(outcomes[checksum]))
            for one, checksum in zip(shown, checksums, strict=True)
        ]
        known.update(self.numbers_of(one for one in named if one is not None and one not in known))
        return [
            (content if content in known else None, title_of_outcome(outcomes[checksum]))
            for content, checksum in zip(named, checksums, strict=True)
        ]

    def pages(self, checksum: Checksum) -> Iterable[Source]:
        """Return the pages that show a payload, by original."""
        key = self.key_of(checksum)
        return pages_of(self.rows(Relation.SIGHTINGS, key)) if key else ()

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        with self._reading():
            for original, _ in self.pages(checksum):
                yield original

    # Links

    def outlinks(self, content: ContentId) -> Iterator[Outlink]:
        with self._reading():
            found = self._block_with(content)
            links = found[0].links(found[1]) if found is not None else iter(())
        yield from links

    def scan_contents(self) -> Iterator[ContentBlock]:
        blocks = self.contents_after(_BEGIN)
        return watched(
            blocks, "reading links", self._count_contents, lambda block: len(block.contents)
        )

    def contents_after(self, mark: LoadMark) -> Iterator[ContentBlock]:
        return _contents_in(self._blocks(mark))

    def share_of_contents(self, share: Share) -> Iterator[ContentBlock]:
        return _contents_in(self._blocks(_BEGIN, share))

    def outlink_kinds(self, content: ContentId) -> Iterator[tuple[Kind, int]]:
        with self._reading():
            found = self._block_with(content)
            if found is not None:
                yield from found[0].kinds(found[1])

    def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
        with self._reading():
            begin = (0, None) if after is None else self._posting(target, after)
            for load, postings in self._postings(target, *begin):
                for portion in portions(postings, AT_ONCE):
                    contents = self.contents(load, [posting.content for posting in portion])
                    uris = {
                        form: uri_of_form(target, form)
                        for form in {posting.form for posting in portion}
                    }
                    heads = {
                        head: unpack_head(head) for head in {posting.head for posting in portion}
                    }
                    for (form, _, head), content in zip(portion, contents, strict=True):
                        if content is not None:
                            yield _inlink((uris[form], *heads[head], content))

    def shown_inlinks(
        self, target: Surt, span: Span = ALL_TIME, wants: WantsLink = lambda *_: True
    ) -> Iterator[ShownInlink | None]:
        with self._reading():
            for load, postings in self._postings(target, 0, None):
                for portion in portions(postings, _LINKS_AT_ONCE):
                    uris = {
                        form: uri_of_form(target, form)
                        for form in {posting.form for posting in portion}
                    }
                    heads = {
                        packed: head if wants(*head) else None
                        for packed in {posting.head for posting in portion}
                        for head in (unpack_head(packed),)
                    }
                    numbers = [
                        *dict.fromkeys(
                            [number for _, number, head in portion if heads[head] is not None]
                        )
                    ]
                    of_each = map(few_pages, self._pages_by_number(load, numbers, span))
                    pages: dict[int, Iterable[Source] | None] = dict(
                        zip(numbers, of_each, strict=True)
                    )
                    for form, number, packed in portion:
                        head = heads[packed]
                        if head is None:
                            yield None
                            continue
                        shown = pages[number]
                        if shown is None:
                            shown = next(self._pages_by_number(load, [number], span))
                        yield _shown_inlink((uris[form], *head, (load, number), shown))

    def _pages_by_number(
        self, load: int, numbers: Sequence[int], span: Span
    ) -> Iterator[Iterable[Source]]:
        """Yield the pages that show each content within ``span``, as `sources` does by name."""
        contents = self.contents(load, numbers)
        of_each = self.sources([content for content in contents if content is not None], span)
        return (() if content is None else next(of_each) for content in contents)

    def _posting(self, target: Surt, inlink: Inlink) -> tuple[int, Posting]:
        """Return the load of an inlink, and its stored form."""
        found = self._number(inlink.content)
        if found is None:
            raise UsageError(
                f"cannot continue after an inlink of {inlink.content}: the store has no such "
                "content"
            )
        load, number = found
        head = pack_head(inlink.kind, inlink.text, inlink.rel)
        return load, Posting(uri_form(target, inlink.target), number, head)

    def inlink_kinds(self, target: Surt) -> Iterator[tuple[Kind, int]]:
        with self._reading():
            for row in self.rows(Relation.INLINKS, target.encode()):
                yield from kinds_of(row)

    # The pages that show a content

    def sightings(self, content: ContentId, span: Span = ALL_TIME) -> Iterator[Sighting]:
        for pages in self.sources([content], span):
            for original, timestamps in pages:
                yield from (Sighting(original, timestamp) for timestamp in timestamps)

    def sources(
        self, contents: Iterable[ContentId], span: Span = ALL_TIME
    ) -> Iterator[Iterator[Source]]:
        for portion in portions(contents, AT_ONCE):
            with self._reading():
                refers = self._refers()
                checksums = [split_content(content)[0] for content in portion]
                captures = self._captures(checksums)
                for content, checksum, (scopes, rows) in zip(
                    portion, checksums, captures, strict=True
                ):
                    if isinstance(rows, list) and lines_in(rows) < FEW_CAPTURES:  # the usual case
                        pages = pages_of_content(content, checksum, scopes, rows)
                        yield iter([*self._within(pages, span, refers)])
                    else:
                        pages = self._pages_with(content, checksum, scopes, rows)
                        yield self._sources(pages, span, refers)

    def _sources(self, pages: Iterable[Source], span: Span, refers: bool) -> Iterator[Source]:
        with self._reading():
            yield from self._within(pages, span, refers)

    def _within(self, pages: Iterable[Source], span: Span, refers: bool) -> Iterator[Source]:
        """Yield pages with their timestamps inside ``span``; pages without any are left out.

        If ``refers`` is true, revisits that refer to these captures are added, also those of the
        URI in its form with or without the default port.
        """
        for original, timestamps in self._with_revisits(pages) if refers else pages:
            if timestamps[0] < span.first or timestamps[-1] > span.last:
                timestamps = [
                    timestamp for timestamp in timestamps if span.first <= timestamp <= span.last
                ]
            if timestamps:
                yield original, timestamps

    def _with_revisits(self, pages: Iterable[Source]) -> Iterator[Source]:
        """Yield pages with the revisits that refer to them; very many of them are in no order."""
        found = self._and_revisits(pages)
        first = list(islice(found, FEW_CAPTURES))
        yield from united_pages(first) if len(first) < FEW_CAPTURES else chain(first, found)

    def _and_revisits(self, pages: Iterable[Source]) -> Iterator[Source]:
        for original, timestamps in pages:
            times = {original: {*timestamps}}
            for form, revisit in not_modified_since(self, self.pages, original, timestamps):
                times.setdefault(form, set()).add(revisit)
            yield from ((form, sorted(of_form)) for form, of_form in times.items())

    def _pages_with(
        self,
        content: ContentId,
        checksum: Checksum,
        scopes: Sequence[Scope],
        rows: Iterable[Row],
    ) -> Iterator[Source]:
        """Yield the pages that show one content of a payload.

        If the payload has very many captures, they are sorted once for all its contents.
        """
        rest = iter(rows)
        first: list[Row] = []
        lines = 0
        while lines < FEW_CAPTURES and (row := next(rest, None)) is not None:
            first.append(row)
            lines += lines_in([row])
        captures: Iterable[Row] = first if lines < FEW_CAPTURES else chain(first, rest)
        if captures is first or len(scopes) != 1 or scopes[0] is Scope.NONE:
            yield from pages_of_content(content, checksum, scopes, captures)
            return
        by_cut = self._by_cut.get(checksum)
        if by_cut is None:
            from arclink.store.blocks.cuts import CapturesByCut

            by_cut = self._by_cut[checksum] = CapturesByCut(checksum, scopes[0], pages_of(captures))
            if len(self._by_cut) > _CACHED_BY_CUT:
                self._by_cut.popitem(last=False)  # its file is deleted after its last reader
        yield from by_cut.of(split_content(content)[1])

    # Queries of a build

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        for portion in portions(wanted, AT_ONCE):
            with self.snapshot(), self._reading():
                answers = self._known(portion)
            yield from answers

    def _known(
        self, wanted: Sequence[tuple[Checksum, Sequence[UriR]]]
    ) -> list[tuple[Payload | None, Sequence[UriR]]]:
        outcomes = self.outcomes([checksum for checksum, _ in wanted])
        contents = [
            [content_id(checksum, original, scope) for original in originals]
            if (scope := scope_of_outcome(outcome)) is not None
            else []
            for (checksum, originals), outcome in zip(wanted, outcomes, strict=True)
        ]
        known = self.numbers_of(chain.from_iterable(contents))
        return [
            (
                None if outcome is None else unpack_outcome(checksum, outcome, self.names),
                [
                    original
                    for original, content in zip(originals, ids, strict=True)
                    if content not in known
                ]
                if ids
                else originals,
            )
            for (checksum, originals), outcome, ids in zip(wanted, outcomes, contents, strict=True)
        ]

    def named_payloads(self) -> Iterator[tuple[Checksum, Checksum]]:
        with self._reading():
            for name, outcome in self.named():
                checksum, reference = parse_name(name)
                if checksum != name:
                    outcome = self.outcomes([checksum])[0]
                if scope_of_outcome(outcome) is None:
                    yield checksum, reference


def _content_named(shown: Memento | None, scope: Scope | None) -> ContentId | None:
    """Return the content of a memento that is shown (`memento_shown`); None if it was not read."""
    if shown is None or scope is None:
        return None
    return content_id(shown.checksum, shown.original, scope)


def _contents_in(
    blocks: Iterable[tuple[OutlinkBlock, Sequence[ContentId | None]]],
) -> Iterator[ContentBlock]:
    """Yield the contents of blocks that were not removed, with their links."""
    import numpy as np

    for block, contents in blocks:
        remaining = {
            number: content
            for number, content in enumerate(contents, block.first)
            if content is not None
        }
        if remaining:
            yield ContentBlock(
                list(remaining.values()),
                block.all_links(),
                [np.asarray(block.numbers(number), np.int64) for number in remaining],
            )


def lines_in(rows: Iterable[Row]) -> int:
    """Return the number of originals in rows of sightings."""
    return sum(row.values[0].count(b"\n") + 1 for row in rows)


def pages_of_content(
    content: ContentId, checksum: Checksum, scopes: Sequence[Scope], rows: Iterable[Row]
) -> Iterator[Source]:
    """Yield the pages that show a content, from all rows of its payload."""
    for original, times in pages_of(rows) if scopes else ():
        for scope in scopes:
            if content_id(checksum, original, scope) == content:
                yield original, times
                break
