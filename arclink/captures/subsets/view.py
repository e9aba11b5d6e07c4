"""`SubsetStore`: the captures of a subset as a store, which every query and analysis takes.

A link is in a subset if a capture of the subset shows it. So the outlinks of a page are those of
its selected captures, and the links to a page are those that selected captures of other pages show.
"""

import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, TypedDict

import numpy as np

from arclink.access.capabilities import Capability, ColumnKind, RowColumn, ToAnswer
from arclink.access.chronicles import units_known
from arclink.access.declarations import SUBSET_FIRST, DeclaredQuery, Parameter, named
from arclink.access.formats.rows import Row, RowAnswer
from arclink.access.tallies import PERIODS
from arclink.access.texts import counted, printable
from arclink.captures.subsets.evaluation import CaptureSet, Evaluation, ReadLimit, capture_number
from arclink.captures.subsets.fields import END, UNKNOWN, SurtRanges
from arclink.files.spill import Sorted
from arclink.known import KnownLinks
from arclink.model import (
    ALL_SURTS,
    ALL_TIME,
    NO_LANGUAGE,
    Checksum,
    ContentId,
    Memento,
    Payload,
    Source,
    Span,
    Surt,
    Timestamp,
    UriR,
)
from arclink.store.blocks.rows import checksum_shown
from arclink.store.filtered import FilteredStore
from arclink.store.protocols import ContentBlock, Scans
from arclink.timestamps import month_of
from arclink.uris.hosts import domain_of, host_of
from arclink.uris.resolution import checksum_of
from arclink.uris.surts import method_of_key, surt_of

_SURTS_KEPT = 10_000
"""Number of SURTs whose selected captures are cached."""


class SubsetStore(FilteredStore):
    """The `Scans` of the captures of a subset.

    Args:
        store: The store with all captures; it is closed with this one.
        identity: The identity of the subset: equal subsets have equal texts.
        evaluate: Evaluates the selection on the store; called again when the store has changed.
        text: The selection as text.
        texts: Identifies the texts of pages that it is evaluated on, now.
    """

    def __init__(
        self,
        store: Scans,
        identity: str,
        evaluate: Callable[[Scans], Evaluation],
        text: str = "",
        texts: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        super().__init__(store)
        base = store.selection
        self.identity, self.selection = identity, text
        if base:  # of another subset: what continues in one does not continue in the other
            self.selection = f"({base}) and ({text})"
            self.identity = sha256(self.selection.encode()).hexdigest()[:20]
        self._evaluate, self._texts = evaluate, texts
        self._known: Evaluation | None = None
        self._shown_captures: CaptureSet | None = None
        self._of_surt = lru_cache(_SURTS_KEPT)(self._shown_of_surt)

    @property
    def unselected(self) -> Scans:
        return self.base.unselected

    @property
    def filter_identity(self) -> str:
        return " ".join((self.identity, *self._texts()))

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation of the selection on the present state of the store."""
        self._drop_stale_caches()
        if self._known is None:
            self._known = self._evaluate(self.base)
        return self._known

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        return self.evaluation.mementos(surt, span)

    def scan_mementos(self, span: Span = ALL_TIME, prefix: Surt = ALL_SURTS) -> Iterator[Memento]:
        return self.evaluation.scan(span, prefix)

    def payload(self, checksum: Checksum) -> Payload | None:
        """Return the state of a payload that a selected capture shows.

        The payload may have been read from a capture that is not selected: a revisit comes with
        the record that it refers to.
        """
        if next(self._captures(checksum), None) is None:
            return None
        return self.base.payload(checksum)

    def content_of(self, memento: Memento) -> ContentId | None:
        return self.base.content_of(memento)

    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        if any(len(stem) <= len(prefix) for stem in self.evaluation.ranges.stems):
            return super().surts(prefix, after)
        return self._surts_of_captures(prefix, after)

    def _surts_of_captures(self, prefix: Surt, after: Surt | None) -> Iterator[Surt]:
        """Yield what `surts` yields; reads the captures of the subset, and no others.

        This is for prefixes that are shorter than the ranges of the selection: the store may have
        many SURTs with such a prefix that have nothing to do with the subset.
        """
        found = Sorted[str]()
        for surt in self.captured_surts(prefix, after):
            found.add(surt)
        for block in self.scan_contents():
            for link in block.links:
                surt = surt_of(link.target)
                if surt.startswith(prefix) and (after is None or surt > after):
                    found.add(surt)
        yield from map(Surt, found)

    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        for stem in (self.evaluation.ranges & SurtRanges((prefix,))).stems:
            exact = Surt(stem.removesuffix(END))
            surts = (
                self.base.captured_surts(exact, after)
                if exact == stem
                else (surt for surt in [exact] if after is None or surt > after)
            )
            for surt in surts:
                if next(self.mementos(surt), None) is not None:
                    yield surt

    def scan_contents(self) -> Iterator[ContentBlock]:
        if not self.evaluation.is_bounded:
            self._read_shown()
            yield from super().scan_contents()
            return
        seen: set[ContentId] = set()
        for memento in self.scan_mementos():
            content = self.content_of(memento)
            if content is not None and content not in seen:
                seen.add(content)
                links = list(self.base.outlinks(content))
                yield ContentBlock([content], links, [np.arange(len(links))])

    # Inside

    def _within(self, span: Span) -> Span:
        inside = self.evaluation.span
        return Span(max(span.first, inside.first), min(span.last, inside.last))

    def _store_changed(self) -> None:
        super()._store_changed()
        self._known = None
        self._shown_captures = None
        self._of_surt.cache_clear()

    def _visible_pages(self, content: ContentId, pages: Iterator[Source]) -> Iterator[Source]:
        evaluation = self._known or self.evaluation
        checksum = checksum_of(content)
        for original, timestamps in pages:
            surt = surt_of(original)
            if evaluation.ranges.has(surt):
                shown = self._visible_times(evaluation, surt, original, timestamps, checksum)
                if shown:
                    yield original, shown

    def _visible_times(
        self,
        evaluation: Evaluation,
        surt: Surt,
        original: UriR,
        timestamps: list[Timestamp],
        checksum: Checksum,
    ) -> list[Timestamp]:
        if evaluation.is_of_uri_and_time:
            return [time for time in timestamps if evaluation.is_selected_at(surt, original, time)]
        if self._shown_captures is not None:
            numbers = self._shown_captures
            return [
                time for time in timestamps if capture_number(original, time, checksum) in numbers
            ]
        selected = self._of_surt(surt)
        return [time for time in timestamps if (original, time, checksum) in selected]

    def _shown_of_surt(self, surt: Surt) -> frozenset[tuple[UriR, Timestamp, Checksum]]:
        """Return the selected captures of a SURT that show a payload, by the payload's checksum."""
        evaluation = self._known or self.evaluation
        return frozenset(
            (memento.original, memento.timestamp, checksum)
            for memento in evaluation.mementos(surt)
            if (checksum := checksum_shown(self.base, memento)) is not None
        )

    def _read_shown(self) -> None:
        """Read all selected captures once, so that no look-ups are needed: 8 bytes for each.

        This is for reads of the whole store, if URI and time of a capture do not decide.
        """
        evaluation = self.evaluation
        if self._shown_captures is None and not evaluation.is_of_uri_and_time:
            numbers = array("Q")
            for memento in evaluation.scan():
                checksum = checksum_shown(self.base, memento)
                if checksum is not None:
                    numbers.append(capture_number(memento.original, memento.timestamp, checksum))
            self._shown_captures = CaptureSet(numbers)

    def _of_payload(self, original: UriR, checksum: Checksum) -> Iterator[Memento]:
        return (
            memento
            for memento in self.mementos(surt_of(original))
            if memento.original == original and checksum_shown(self.base, memento) == checksum
        )


# Counts of captures: by year, status, host, and other properties.

BY: Mapping[str, Callable[[Memento], str]] = {
    "year": lambda memento: memento.timestamp[:4],
    "month": lambda memento: month_of(memento.timestamp),
    "status": lambda memento: memento.status,
    "mime": lambda memento: memento.mime,
    "host": lambda memento: host_of(memento.surt),
    "domain": lambda memento: domain_of(host_of(memento.surt)),
    "lang": lambda memento: UNKNOWN if memento.languages == NO_LANGUAGE else memento.languages,
    "type": lambda memento: memento.record_type,
    "method": lambda memento: method_of_key(memento.surt) or "GET",
    "file": lambda memento: memento.file,
}
"""The properties that captures are counted by."""

_PROPERTY = Parameter(
    "by",
    "Count captures by this property.",
    named({name: name for name in BY}),
    otherwise="totals only",
)


@dataclass(frozen=True, slots=True)
class CountQuery(DeclaredQuery):
    """A query for counts of captures.

    Attributes:
        by: A name in `BY`; empty for totals only.
    """

    DECLARED = (_PROPERTY,)

    by: str = ""


@dataclass(frozen=True, slots=True)
class CaptureCounts:
    """Counts of captures.

    Attributes:
        captures: All captures.
        uris: Distinct SURTs.
        groups: Numbers of captures by a property; None if they were not counted by one.
    """

    captures: int
    uris: int
    groups: Mapping[str, int] | None = None


def count_captures(mementos: Iterable[Memento], by: str = "") -> CaptureCounts:
    """Count captures.

    Args:
        mementos: In store order: those of one SURT follow each other.
        by: A name in `BY`; empty for totals only.

    Returns:
        The counts. Groups by time and status are in the order of their names, others have the
        largest first. Years and months without captures, between those with some, are groups, too.
    """
    captures = uris = 0
    last = None
    groups: Counter[str] = Counter()
    property_of = BY.get(by)
    for memento in mementos:
        captures += 1
        if memento.surt != last:
            last = memento.surt
            uris += 1
        if property_of is not None:
            groups[property_of(memento)] += 1
    if property_of is None:
        return CaptureCounts(captures, uris)
    if by in PERIODS:
        found = {name: KnownLinks(number) for name, number in groups.items()}
        known = units_known(PERIODS[by], found, ALL_TIME)
        return CaptureCounts(
            captures, uris, {name: one.captures or 0 for name, one in known.items()}
        )
    ordered = sorted(
        groups.items(), key=lambda group: group[0] if by == "status" else (-group[1], group[0])
    )
    return CaptureCounts(captures, uris, dict(ordered))


class CountFields(TypedDict):
    """The captures of a subset."""

    by: Annotated[str | None, "The property that captures are counted by."]
    captures: int
    uris: int
    complete: Annotated[
        bool, "Whether all captures of the subset were counted; if not, there are more."
    ]
    unknown: Annotated[
        int | None,
        "Captures of the store whose title or text is not known, or not to its end, if the subset "
        "asks for words of it: more of them may belong to it. Null if it asks for none, or if "
        "captures of the store are hidden.",
    ]


def _as_rows(
    counts: CaptureCounts, by: str, unknown: int | None, *, is_complete: bool = True
) -> RowAnswer:
    """Return counts for all formats of rows.

    Args:
        counts: The counts.
        by: The property; empty for totals only.
        unknown: See `CountFields`.
        is_complete: Whether all captures of the subset were counted.
    """
    rows: list[Row] = [
        {"value": printable(name), "captures": number}
        for name, number in (counts.groups or {}).items()
    ]
    about: CountFields = {
        "by": by or None,
        "captures": counts.captures,
        "uris": counts.uris,
        "complete": is_complete,
        "unknown": unknown,
    }
    lines = [f"{counted(counts.captures, 'capture')} of {counted(counts.uris, 'URI')}"]
    if unknown:
        lines.append(unknown_words(unknown))
    lines += [""] if rows else []
    return RowAnswer(about, lines, [one.name for one in _COLUMNS], {"counts": rows})


_COLUMNS = (
    RowColumn("value", ColumnKind.TEXT, "The value of the property."),
    RowColumn("captures", ColumnKind.NUMBER, "Number of captures with it."),
)


def unknown_words(unknown: int) -> str:
    """Return the note that the words of some captures are not known."""
    return (
        f"The words of {counted(unknown, 'capture')} of the store are not known, or not to their "
        "end: more of these may belong here."
    )


def _answer(asked: ToAnswer[CountQuery]) -> RowAnswer:
    """Count; at most as many captures are read as the budget allows."""
    graph, by = asked.graph, asked.query.by
    limit = ReadLimit(asked.budget.rows if asked.budget else sys.maxsize)
    with graph.snapshot():
        counts = count_captures(
            # What a selection does not select was read, too.
            graph.evaluation.scan(limit=limit)
            if isinstance(graph, SubsetStore)
            else limit.of(graph.scan_mementos()),
            by,
        )
        unknown = graph.evaluation.unknown_words if isinstance(graph, SubsetStore) else None
    return _as_rows(counts, by, unknown, is_complete=not limit.is_reached)


COUNT = Capability(
    "count",
    "The number of captures and URIs of a subset, and of captures by a property.",
    "Count the captures and URIs of a store or a subset, and the captures by a property.",
    CountQuery,
    _answer,
    CountFields,
    {"counts": _COLUMNS},
    examples=(
        "arclink count --store links.db --by mime",
        "arclink count gov --store links.db --by year",
        "arclink count 'links-to:example.org and status:200' --store links.db --by host",
    ),
    subset=SUBSET_FIRST,
)
