"""Evaluation: the captures of a store that a selection selects.

`Evaluation` first asks the store for what links, batches and words decide (`ConditionFacts`). Then
each capture is tested on its own, or, if the selection has a ``pick``, together with all captures
of its SURT. Only the ranges of SURTs in which selected captures can be are read.

A condition on words has three values: a capture whose text is not known is neither in it nor
outside it (Kleene's logic). So ``not`` asks the parts below it what is outside them.
"""

import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from operator import attrgetter, gt, or_
from typing import NamedTuple, Self
from zlib import crc32

import numpy as np

from arclink.access.kinds import ALL_KINDS, NAVIGATION, Kinds
from arclink.access.queries import URI, LinkQuery, requested_kinds
from arclink.access.reader import Reading
from arclink.access.replay import moment_of
from arclink.captures.subsets.fields import (
    ANY_WORD,
    END,
    EVERYWHERE,
    FIELDS,
    NOWHERE,
    URI_AND_TIME,
    CaptureTest,
    SurtRanges,
    kinds_of,
    numbers_of,
    test_of,
    wide_ranges,
)
from arclink.captures.subsets.language import (
    KEPT,
    AllOf,
    AnyOf,
    Condition,
    Except,
    Selection,
    conditions_in,
    text_of,
)
from arclink.errors import UsageError
from arclink.model import (
    ALL_SURTS,
    ALL_TIME,
    Checksum,
    ContentId,
    Memento,
    Source,
    Span,
    Surt,
    Timestamp,
    UriR,
)
from arclink.rooms import WORDS, taken
from arclink.store.blocks.rows import checksum_shown
from arclink.store.protocols import Answers, Scans
from arclink.timestamps import first_of, last_of
from arclink.uris.resolution import checksum_of
from arclink.uris.surts import surt_of

# Sets of captures: 8 bytes for each, sorted.
#
# A capture is kept as a 64-bit hash of its key. Two of 100 million captures share a hash with a
# probability of 0.03 %.


def capture_number(original: UriR, timestamp: Timestamp, checksum: Checksum) -> int:
    """Return the 64-bit hash of the key of a capture: the same on every machine."""
    data = f"{original}\n{timestamp}\n{checksum}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def number_of(memento: Memento) -> int:
    """Return the `capture_number` of a memento."""
    return capture_number(memento.original, memento.timestamp, memento.checksum)


class CaptureSet:
    """A set of captures.

    Args:
        numbers: Hashes of the captures, in any order; they may repeat.
    """

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        unsorted = numbers if isinstance(numbers, array) else array("Q", numbers)
        distinct = np.unique(np.frombuffer(unsorted, np.uint64))
        self._numbers = array("Q", distinct.tobytes())

    def __contains__(self, number: int) -> bool:
        index = bisect_left(self._numbers, number)
        return index < len(self._numbers) and self._numbers[index] == number

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def crc(self) -> str:
        """8 hex digits that identify the set."""
        return f"{crc32(self.to_bytes()):08x}"

    def to_bytes(self) -> bytes:
        """Return the set as bytes: 8 for each capture, little-endian, sorted."""
        return np.frombuffer(self._numbers, np.uint64).astype("<u8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the set that `to_bytes` wrote."""
        found = cls()
        found._numbers = array("Q", np.frombuffer(data, "<u8").astype(np.uint64).tobytes())
        return found


# Captures and pages that links lead to: ``links-to``, ``linked-from`` and ``within``.
#
# A page is a SURT, so all variants of its URI. With a time, the links are those in force at its
# end, with the meaning of ``at`` in a link query (`arclink.access.reader`).

_AT_ONCE = 128


class SubsetCostError(UsageError):
    """A subset takes more look-ups than the caller allows."""


def _captures_linking_to(
    store: Answers, condition: Condition, most: int = sys.maxsize
) -> tuple[CaptureSet, set[Surt]]:
    """Return the captures that show a link to a URI, by shown checksum, and their SURTs.

    Args:
        store: The store.
        condition: A condition with the field ``links-to``.
        most: Largest number of pages that show such a link.

    Raises:
        SubsetCostError: There are more.
    """
    query = _query(condition.value, condition, ALL_KINDS)
    numbers, surts = array("Q"), set()
    for content, pages in _sources(store, _contents_linking_to(store, query, query.surt)):
        checksum = checksum_of(content)
        for original, timestamps in pages:
            surts.add(surt_of(original))
            numbers.extend(capture_number(original, time, checksum) for time in timestamps)
            check_cost(condition, len(surts), most)
    return CaptureSet(numbers), surts


def _pages_linked_from(store: Answers, condition: Condition) -> set[Surt]:
    """Return the pages that a URI links to in any of its captures."""
    query = _query(condition.value, condition, ALL_KINDS)
    return _linked_from(Reading(store, query), set())


def pages_within(store: Answers, condition: Condition, most: int = sys.maxsize) -> set[Surt]:
    """Return the pages that a number of links or fewer lead to, by breadth-first search.

    The page at which the search begins is one of them.

    Args:
        store: The store.
        condition: A condition with the field ``within``.
        most: Largest number of pages.

    Raises:
        SubsetCostError: There are more.
    """
    qualifiers = dict(condition.qualifiers)
    query = _query(qualifiers["of"], condition, NAVIGATION)
    direction = qualifiers.get("direction", "out")
    reading = Reading(store, query)
    read: set[ContentId] = set()
    reached = {query.surt}
    edge = {query.surt}
    for _ in range(int(condition.value)):
        found: set[Surt] = set()
        for surt in sorted(edge):
            here = reading.of_surt(surt)
            if direction != "in":
                found |= _linked_from(here, read)
            if direction != "out":
                found |= _linking_to(here)
            check_cost(condition, len(reached) + len(found), most)
        edge = found - reached
        reached |= edge
        if not edge:
            break
    return reached


def check_cost(condition: Condition, pages: int, most: int) -> None:
    """Check that a condition selects no more pages than the caller allows.

    Raises:
        SubsetCostError: It does.
    """
    if pages > most:
        raise SubsetCostError(
            f"{text_of(condition)} selects more than {most:,} pages, too many for one request; "
            "use the command line, or select less"
        )


def _query(uri: str, condition: Condition, kinds: Kinds) -> LinkQuery:
    """Return a link query with the kinds and the time of a condition."""
    qualifiers = dict(condition.qualifiers)
    written, surt = URI.form.read(uri)
    at: Timestamp | None = last_of(qualifiers["at"]) if "at" in qualifiers else None
    if "kinds" in qualifiers:
        kinds = requested_kinds(kinds_of(qualifiers["kinds"]))
    return LinkQuery(written, surt, at=at, kinds=kinds)


def _linked_from(reading: Reading, read: set[ContentId]) -> set[Surt]:
    """Return the pages that the contents of a page link to; skip contents in ``read``."""
    found: set[Surt] = set()
    for (content, _), _ in reading.vertices():
        if content not in read:
            read.add(content)
            targets = {
                link.target
                for link in reading.store.outlinks(content)
                if reading.query.wants(link.kind)
            }
            found.update(map(surt_of, targets))
    return found


def _linking_to(reading: Reading) -> set[Surt]:
    contents = _contents_linking_to(reading.store, reading.query, reading.query.surt)
    found: set[Surt] = set()
    for portion in _in_steps(contents):
        for pages in reading.pages(portion):
            found.update(surt_of(original) for original, _ in pages)
    return found


def _contents_linking_to(store: Answers, query: LinkQuery, target: Surt) -> Iterator[ContentId]:
    """Yield the contents that link to a page; a content may come more than once."""
    last: ContentId | None = None
    for inlink in store.inlinks(target):
        if inlink.content != last and query.wants(inlink.kind):
            last = inlink.content
            yield last


def _sources(
    store: Answers, contents: Iterable[ContentId]
) -> Iterator[tuple[ContentId, Iterator[Source]]]:
    for portion in _in_steps(contents):
        yield from zip(portion, store.sources(portion), strict=True)


def _in_steps(contents: Iterable[ContentId]) -> Iterator[list[ContentId]]:
    portion: list[ContentId] = []
    for content in contents:
        portion.append(content)
        if len(portion) == _AT_ONCE:
            yield portion
            portion = []
    if portion:
        yield portion


_FLAGS = Callable[[Sequence[Memento]], list[bool]]
"""Returns, for each capture of one SURT in store order, whether it is selected."""


@dataclass(frozen=True, slots=True)
class KeptList:
    """A stored list of captures.

    Attributes:
        captures: The captures.
        ranges: Ranges of SURTs that hold them all.
    """

    captures: CaptureSet
    ranges: SurtRanges


@dataclass(frozen=True, slots=True)
class ConditionFacts:
    """What the store says about one condition.

    Attributes:
        test: The test of a capture.
        ranges: Where selected captures are.
        lacks: The test that a capture is outside; None if all are that the condition does not
            select.
    """

    test: CaptureTest
    ranges: SurtRanges
    lacks: CaptureTest | None = None


class AskedWords(NamedTuple):
    """Conditions on words, and where they are asked.

    Attributes:
        where: Path or URL of the store; empty if it has none.
        store: The store.
        conditions: With the fields ``text``, ``title`` and ``anchor``.
        has_outside: Whether the captures outside them matter.
        most_pages: Largest number of pages that are looked up for one.
    """

    where: str
    store: Scans
    conditions: Sequence[Condition]
    has_outside: bool
    most_pages: int


class FoundWords(NamedTuple):
    """What `AskedWords` found.

    Attributes:
        facts: By condition.
        unknown: Number of captures of the store of which text or title, as asked for, is not wholly
            known; None if the store shows some captures only.
    """

    facts: Mapping[Condition, ConditionFacts]
    unknown: int | None


_MOST_WITH_WORDS = 20
"""Largest number of conditions on words: each takes up to seconds in a large store."""


class ReadLimit:
    """The largest number of captures that an answer reads.

    Args:
        most: The number.

    Attributes:
        is_reached: Whether there were more captures to read.
    """

    def __init__(self, most: int) -> None:
        self._left = most
        self.is_reached = False

    def of(self, mementos: Iterator[Memento]) -> Iterator[Memento]:
        """Yield captures up to the limit."""
        for memento in mementos:
            if not self._left:
                self.is_reached = True
                return
            self._left -= 1
            yield memento


class Evaluation:
    """A selection, evaluated on one state of a store.

    Args:
        store: The store.
        selection: The selection, without ``subset``.
        lists: Stored lists by the value of their ``kept`` conditions.
        most_pages: Largest number of pages that a condition on links may lead to.
        where: Path or URL of the store, next to which it has the words of pages; empty if it has
            none.

    Attributes:
        unknown_words: Number of captures of which the selection asks for words that are not wholly
            known (`FoundWords.unknown`).

    Raises:
        SubsetCostError: A condition leads to more pages, or too many ask for words.
        UsageError: A condition asks for texts, and none were read.
        OperatorError: The words cannot be read.
    """

    def __init__(
        self,
        store: Scans,
        selection: Selection,
        lists: Mapping[str, KeptList] | None = None,
        most_pages: int = sys.maxsize,
        where: str = "",
    ) -> None:
        self._store = store
        self._lists = lists or {}
        self._most_pages = most_pages
        self.selection = selection
        conditions = dict.fromkeys(conditions_in(selection))
        words = [*conditions_on_words(selection)]
        found = self._find(where, words) if words else FoundWords({}, None)
        self.unknown_words = found.unknown
        self._facts = {one: found.facts.get(one) or self._ask(one) for one in conditions}
        self.ranges = self._ranges_of(selection)
        self._has_pick = _has_pick(selection)
        self.span = ALL_TIME if self._has_pick else _span_of(selection)
        self._flags = self._flags_of(selection)
        self._test = None if self._has_pick else self._test_of(selection)
        self._is_here = self.ranges.test()

    @property
    def is_of_uri_and_time(self) -> bool:
        """Whether URI and time of a capture alone decide."""
        return not self._has_pick and all(
            condition.field in URI_AND_TIME for condition in conditions_in(self.selection)
        )

    @property
    def is_bounded(self) -> bool:
        """Whether only a part of the SURTs can have selected captures."""
        return self.ranges != EVERYWHERE

    def is_selected_at(self, surt: Surt, original: str, timestamp: Timestamp) -> bool:
        """Return whether captures of an original at a time are selected.

        This is defined only if `is_of_uri_and_time`.
        """
        assert self._test is not None
        return self._is_here(surt) and self._test(
            Memento(surt, timestamp, original, "-", "-", "-", "", "", 0, -1)  # type: ignore[arg-type]
        )

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        """Yield the selected captures of one SURT within ``span``, in store order."""
        if not self._is_here(surt):
            return iter(())
        if self._test is not None:
            return filter(self._test, self._store.mementos(surt, _common(span, self.span)))
        of_surt = list(self._store.mementos(surt))
        return (
            memento
            for memento, is_selected in zip(of_surt, self._flags(of_surt), strict=True)
            if is_selected and memento.timestamp in span
        )

    def scan(
        self,
        span: Span = ALL_TIME,
        prefix: Surt = ALL_SURTS,
        limit: ReadLimit | None = None,
    ) -> Iterator[Memento]:
        """Yield the selected captures within ``span`` of SURTs with a prefix, in store order.

        Args:
            span: The times of the captures.
            prefix: The beginning of their SURTs.
            limit: How many captures may be read, selected or not; by default all.
        """
        inside = _common(span, self.span) if self._test is not None else ALL_TIME
        if inside.first > inside.last:
            return
        for stem in (self.ranges & SurtRanges((prefix,))).stems:
            captures = (
                self._store.mementos(Surt(stem[:-1]), inside)
                if stem.endswith(END)
                else self._store.scan_mementos(inside, Surt(stem))
            )
            if limit is not None:
                captures = limit.of(captures)
            if self._test is not None:
                yield from filter(self._test, captures)
            else:
                for _, same in groupby(captures, attrgetter("surt")):
                    of_surt = list(same)
                    yield from (
                        memento
                        for memento, is_selected in zip(of_surt, self._flags(of_surt), strict=True)
                        if is_selected and memento.timestamp in span
                    )

    def _find(self, where: str, conditions: Sequence[Condition]) -> FoundWords:
        """Find what conditions on words select."""
        if len(conditions) > _MOST_WITH_WORDS:
            raise SubsetCostError(
                f"a selection has at most {_MOST_WITH_WORDS} conditions on words (text, title, "
                f"anchor), not {len(conditions):,}; several words are in brackets: text:(one two)"
            )
        excluded = [*_excluded(self.selection)]
        has_outside = any(one in excluded and one.value != ANY_WORD for one in conditions)
        asked = AskedWords(where, self._store, conditions, has_outside, self._most_pages)
        found: FoundWords = taken(WORDS)(asked)
        return found

    def _ask(self, condition: Condition) -> ConditionFacts:
        """Return the facts about a condition; some need queries to the store."""
        name, value = condition.field, condition.value
        test = test_of(name, value, dict(condition.qualifiers))
        if test is not None:
            return ConditionFacts(test, wide_ranges(name, value))
        match name:
            case "batch":
                files = self._files_of(numbers_of(value))
                return ConditionFacts(lambda memento: memento.file in files, EVERYWHERE)
            case "links-to":
                captures, surts = _captures_linking_to(self._store, condition, self._most_pages)
                return ConditionFacts(self._shown_in(captures), SurtRanges.of_surts(surts))
            case "linked-from":
                return _of_pages(_pages_linked_from(self._store, condition))
            case "within":
                return _of_pages(pages_within(self._store, condition, self._most_pages))
        assert name == KEPT, name
        stored_list = self._lists[value]
        numbers = stored_list.captures
        return ConditionFacts(lambda memento: number_of(memento) in numbers, stored_list.ranges)

    def _files_of(self, numbers: Iterable[int]) -> frozenset[str]:
        # An embargo hides the files of batches, but not which files its visible captures are in.
        return frozenset(
            file
            for batch in self._store.batches()
            if batch.number in numbers
            for file in batch.files
        )

    def _shown_in(self, captures: CaptureSet) -> CaptureTest:
        def test(memento: Memento) -> bool:
            checksum = checksum_shown(self._store, memento)
            return (
                checksum is not None
                and capture_number(memento.original, memento.timestamp, checksum) in captures
            )

        return test

    def _ranges_of(self, selection: Selection) -> SurtRanges:
        match selection:
            case Condition():
                return self._facts[selection].ranges
            case AllOf(parts):
                found = EVERYWHERE
                for part in parts:
                    found &= self._ranges_of(part)
                return found
            case AnyOf(parts):
                found = NOWHERE
                for part in parts:
                    found |= self._ranges_of(part)
                return found
            case Except():
                return EVERYWHERE

    def _test_of(self, selection: Selection, *, is_outside: bool = False) -> CaptureTest:
        """Return the test of a selection without ``pick``, or of what is outside it."""
        match selection:
            case Condition():
                facts = self._facts[selection]
                if not is_outside:
                    return facts.test
                test = facts.test
                return facts.lacks or (lambda memento: not test(memento))
            case AllOf(parts) | AnyOf(parts):
                tests = [self._test_of(part, is_outside=is_outside) for part in parts]
                is_all = isinstance(selection, AllOf) is not is_outside
                return _both(tests) if is_all else _either(tests)
            case Except(part):
                return self._test_of(part, is_outside=not is_outside)

    def _flags_of(self, selection: Selection, *, is_outside: bool = False) -> _FLAGS:
        match selection:
            case Condition():
                test = self._test_of(selection, is_outside=is_outside)
                return lambda captures: [test(memento) for memento in captures]
            case AllOf(parts, pick) if pick:
                inside = self._flags_of(AllOf(parts))
                choose = _pick_of(pick)
                if not is_outside:
                    return lambda captures: choose(captures, inside(captures))
                outside = self._flags_of(AllOf(parts), is_outside=True)

                def not_chosen(captures: Sequence[Memento]) -> list[bool]:
                    chosen = choose(captures, flags := inside(captures))
                    known = map(or_, flags, outside(captures))
                    return [*map(gt, known, chosen)]

                return not_chosen
            case AllOf(parts) | AnyOf(parts):
                every = [self._flags_of(part, is_outside=is_outside) for part in parts]
                join = all if isinstance(selection, AllOf) is not is_outside else any
                return lambda captures: [
                    join(flags) for flags in zip(*(one(captures) for one in every), strict=True)
                ]
            case Except(part):
                return self._flags_of(part, is_outside=not is_outside)


def conditions_on_words(selection: Selection) -> Iterator[Condition]:
    """Yield the conditions on words of a selection, each once."""
    for one in dict.fromkeys(conditions_in(selection)):
        if one.field in FIELDS and FIELDS[one.field].has_terms:
            yield one


def _excluded(selection: Selection) -> Iterator[Condition]:
    """Yield the conditions below a ``not``."""
    match selection:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _excluded(part)
        case Except(part):
            yield from conditions_in(part)


def _of_pages(surts: set[Surt]) -> ConditionFacts:
    return ConditionFacts(lambda memento: memento.surt in surts, SurtRanges.of_surts(surts))


def _both(tests: Sequence[CaptureTest]) -> CaptureTest:
    if len(tests) == 2:
        first, second = tests
        return lambda memento: first(memento) and second(memento)
    if len(tests) == 3:
        first, second, third = tests
        return lambda memento: first(memento) and second(memento) and third(memento)

    return lambda memento: all(one(memento) for one in tests)


def _either(tests: Sequence[CaptureTest]) -> CaptureTest:
    if len(tests) == 2:
        first, second = tests
        return lambda memento: first(memento) or second(memento)

    return lambda memento: any(one(memento) for one in tests)


def _pick_of(pick: str) -> Callable[[Sequence[Memento], list[bool]], list[bool]]:
    """Return the function that leaves one of the selected captures of a SURT selected."""
    which, _, time = pick.partition("@")

    def choose(captures: Sequence[Memento], flags: list[bool]) -> list[bool]:
        selected = [index for index, flag in enumerate(flags) if flag]
        if not selected:
            return flags
        if which == "latest":
            chosen = selected[-1]
        elif which == "first":
            chosen = selected[0]
        else:
            moment = moment_of(first_of(time))
            # Of equal distance, the older one, which comes first.
            chosen = min(
                selected, key=lambda index: abs(moment_of(captures[index].timestamp) - moment)
            )
        return [index == chosen for index in range(len(flags))]

    return choose


def _has_pick(selection: Selection) -> bool:
    match selection:
        case AllOf(parts, pick):
            return bool(pick) or any(map(_has_pick, parts))
        case AnyOf(parts):
            return any(map(_has_pick, parts))
        case Except(part):
            return _has_pick(part)
    return False


def _span_of(selection: Selection) -> Span:
    """Return a span that holds the times of all selected captures."""
    match selection:
        case Condition("from", value):
            return Span(first=first_of(value))
        case Condition("to", value):
            return Span(last=last_of(value))
        case AllOf(parts):
            found = ALL_TIME
            for part in parts:
                found = _common(found, _span_of(part))
            return found
    return ALL_TIME


def _common(one: Span, other: Span) -> Span:
    return Span(max(one.first, other.first), min(one.last, other.last))
