"""Captures and pages that links lead to: ``links-to``, ``linked-from`` and ``within``.

A page is a SURT, so all variants of its URI. With a time, the links are those in force at its end,
with the meaning of ``at`` in a link query (`arclink.access.reader`).
"""

import sys
from array import array
from collections.abc import Iterable, Iterator

from arclink.access.kinds import ALL_KINDS, NAVIGATION, Kinds
from arclink.access.queries import URI, LinkQuery, requested_kinds
from arclink.access.reader import Reading
from arclink.captures.subsets.capture_sets import CaptureSet, capture_number
from arclink.captures.subsets.fields import kinds_of
from arclink.captures.subsets.language import Condition, text_of
from arclink.errors import UsageError
from arclink.model import ContentId, Source, Surt, Timestamp
from arclink.store.protocols import Answers
from arclink.timestamps import last_of
from arclink.uris.resolution import checksum_of
from arclink.uris.surts import surt_of

_AT_ONCE = 128


class SubsetCostError(UsageError):
    """A subset takes more look-ups than the caller allows."""


def captures_linking_to(
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
            _check_cost(condition, len(surts), most)
    return CaptureSet(numbers), surts


def pages_linked_from(store: Answers, condition: Condition) -> set[Surt]:
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
            _check_cost(condition, len(reached) + len(found), most)
        edge = found - reached
        reached |= edge
        if not edge:
            break
    return reached


def _check_cost(condition: Condition, pages: int, most: int) -> None:
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
