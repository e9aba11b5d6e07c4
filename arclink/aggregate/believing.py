"""Of what an instance tells, what can be an answer to the question; the rest is counted and passed over.

An instance may be wrong, old, or hostile. So nothing is taken over that this side can know better: SURTs are computed
here, links outside of what was asked are dropped, times must be times, and texts and URIs are cleaned and cut as in
answers of this service. What an archive says of its own captures cannot be checked, and stands under its name.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from arclink.access.queries import LONGEST_URI, Direction, LinkQuery
from arclink.access.reading import MementoSummary
from arclink.access.texts import printable, printable_uri
from arclink.aggregate.merging import Findings, LinkKey, SeenInForce, SeenLink, one_link
from arclink.aggregate.told import ToldAnswer, ToldInForce, ToldLink
from arclink.errors import InstanceError
from arclink.model import Kind, Surt, Timestamp, UriR
from arclink.reasons import Reason
from arclink.timestamps import TimestampError, normal_timestamp
from arclink.uris.surts import surt_of

LONGEST_TEXT = 1_000
"""Characters; the text of a link is cut there when it is extracted."""
MOST_MEMENTOS = 10**12
"""Of one URI in one archive; who tells more is not believed."""

_KIND = re.compile(r"[a-z][a-z0-9:_-]{0,50}(@[a-z][a-z0-9:_-]{0,50})?")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def believe(told: ToldAnswer, query: LinkQuery, archive: str) -> tuple[Findings, int]:
    """Return what ``archive`` can have meant, and how many links were passed over.

    Raises:
        InstanceError: The answer is about another URI, or about another time.
    """
    if surt_of(printable_uri(told.uri)) != query.surt:
        raise InstanceError(f"it answers about {printable_uri(told.uri)[:200]}, not about what was asked")
    if query.at is not None and told.at != query.at:
        raise InstanceError("its answer does not say what was in force at a time; ask without at, or for a range")
    links: dict[LinkKey, SeenLink] = {}
    passed_over = told.malformed
    for link in told.links:
        found = _link(link, query, archive)
        if found is None:
            passed_over += 1
        else:
            key, seen = found
            links[key] = one_link(links[key], seen) if key in links else seen
    summary = _summary(told, (link for (source, *_), link in links.items() if source == query.surt), archive)
    in_force = (_in_force(memento, query, archive) for memento in told.in_force)
    return Findings(links, {archive: summary}, frozenset(memento for memento in in_force if memento is not None)), passed_over


def _link(link: ToldLink, query: LinkQuery, archive: str) -> tuple[LinkKey, SeenLink] | None:
    """Return a link with its key; None if it is none, or none that was asked for."""
    is_out = link.direction is Direction.OUT
    is_asked = query.direction.is_out if is_out else query.direction.is_in
    if not is_asked or not _KIND.fullmatch(link.kind) or not query.wants(Kind(link.kind)):
        return None
    if len(link.uri) > LONGEST_URI or not _ABSOLUTE.match(link.uri):
        return None
    timestamps = frozenset(_times(link.timestamps, query))
    if not timestamps:
        return None
    uri, text = printable_uri(link.uri), printable(link.text[:LONGEST_TEXT])
    here = frozenset(_variants(link.variants, query)) or frozenset((query.uri,))
    there, surt = frozenset((uri,)), surt_of(uri)
    rel = frozenset[str | None](printable((link.rel or "")[:LONGEST_TEXT]).lower().split()) or frozenset((None,))
    source, target = (query.surt, surt) if is_out else (surt, query.surt)
    seen = SeenLink(here if is_out else there, there if is_out else here, rel, {archive: timestamps})
    return (source, target, Kind(link.kind), text), seen


def _times(timestamps: tuple[str, ...], query: LinkQuery) -> Iterator[Timestamp]:
    for text in timestamps:
        timestamp = _timestamp(text)
        if timestamp is not None and timestamp in query.span and (query.at is None or timestamp <= query.at):
            yield timestamp


def _timestamp(text: str) -> Timestamp | None:
    """Return 14 digits; None for what is no point in time. An instance of others may know the day only."""
    return _normal(text) if len(text) <= 18 else None  # nothing long is remembered


@lru_cache(maxsize=1 << 14)
def _normal(text: str) -> Timestamp | None:
    try:
        timestamp, note = normal_timestamp(text)
    except TimestampError:
        return None
    return None if note is Reason.NOTE_TIMESTAMP_MOVED else timestamp


def _variants(uris: tuple[str, ...], query: LinkQuery) -> Iterator[UriR]:
    for text in uris:
        uri = printable_uri(text)
        if len(uri) <= LONGEST_URI and _surt_of(uri) == query.surt:
            yield uri


@lru_cache(maxsize=64)
def _surt_of(uri: str) -> Surt:
    return surt_of(uri)


def _summary(told: ToldAnswer, outlinks: Iterable[SeenLink], archive: str) -> MementoSummary:
    """Return what the archive says of its mementos; where it says nothing, those that show outlinks are known at least."""
    known = told.mementos
    if known is not None and known.count == 0:
        return known
    if known is not None and known.first is not None and known.last is not None:
        first, last = _timestamp(known.first), _timestamp(known.last)
        is_in_order = 0 <= known.links_known <= known.asked <= known.count <= MOST_MEMENTOS
        if is_in_order and first is not None and last is not None and first <= last:
            return replace(known, first=first, last=last)
    times = {timestamp for link in outlinks for timestamp in link.timestamps[archive]}
    return MementoSummary(len(times), min(times, default=None), max(times, default=None), len(times), len(times))


def _in_force(memento: ToldInForce, query: LinkQuery, archive: str) -> SeenInForce | None:
    timestamp, uri = _timestamp(memento.timestamp), printable_uri(memento.uri)
    if timestamp is None or query.at is None or timestamp > query.at or _surt_of(uri) != query.surt:
        return None
    return SeenInForce(archive, uri, timestamp, printable(memento.status[:20]), memento.is_known)
