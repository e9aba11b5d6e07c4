"""Merging of archives' links, link by link.

Two links are the same if source SURT, target SURT, kind and text are equal. Every part of a merge
is a union: the order of archives and repetitions do not matter, and an answer merged with itself
does not change.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from arclink.access.reader import MementoSummary
from arclink.known import KnownLinks, known_in
from arclink.model import Kind, Span, Surt, Timestamp, UriR

LinkKey = tuple[Surt, Surt, Kind, str]
"""The key of a link: source SURT, target SURT, kind, text."""


Captured = tuple[UriR, Timestamp]
"""A capture: two archives that have the same URI and time have the same capture."""


@dataclass(frozen=True, slots=True)
class SeenLink:
    """One link as archives show it.

    Attributes:
        rel: The values of its ``rel`` attributes; None is among them if the link was seen without
            one.
        timestamps: The mementos that show it, by archive.
    """

    sources: frozenset[UriR]
    targets: frozenset[UriR]
    rel: frozenset[str | None]
    timestamps: Mapping[str, frozenset[Timestamp]]


@dataclass(frozen=True, slots=True)
class SeenInForce:
    """A memento that an archive reports to be in force at the queried time."""

    archive: str
    uri: UriR
    timestamp: Timestamp
    status: str
    is_known: bool


@dataclass(frozen=True, slots=True)
class Findings:
    """The knowledge of archives about one URI.

    Attributes:
        links: The links by key.
        mementos: The counts of mementos, by archive.
        in_force: The mementos in force.
        captures: All captures, by archive; an archive that did not list them is missing.
        inlinks_known: What is known of the inlinks, by archive; one that does not say is missing.
    """

    links: Mapping[LinkKey, SeenLink] = field(default_factory=dict)
    mementos: Mapping[str, MementoSummary] = field(default_factory=dict)
    in_force: frozenset[SeenInForce] = frozenset()
    captures: Mapping[str, frozenset[Captured]] = field(default_factory=dict)
    inlinks_known: Mapping[str, KnownLinks] = field(default_factory=dict)

    def known_inlinks(self) -> KnownLinks:
        """Return the `KnownLinks` of the inlinks.

        If all archives tell the numbers of their captures, these are their sums. They are not told
        if archives are seen to have a capture in common.
        """
        known = self.inlinks_known.values()
        is_told_by_all = bool(self.mementos) and self.mementos.keys() <= self.inlinks_known.keys()
        listed = self.captures.values()
        is_disjoint = sum(map(len, listed)) == len(frozenset[Captured]().union(*listed))
        total = known_in(known)
        if is_told_by_all and is_disjoint and total.captures is not None:
            return total
        if any(one.is_known for one in known):
            return KnownLinks.said(True)
        return KnownLinks.said(False if is_told_by_all else None)


def merge(found: Iterable[Findings]) -> Findings:
    """Return the union of ``found``: commutative, associative, idempotent; may be empty."""
    links: dict[LinkKey, SeenLink] = {}
    mementos: dict[str, MementoSummary] = {}
    in_force: frozenset[SeenInForce] = frozenset()
    captures: dict[str, frozenset[Captured]] = {}
    inlinks_known: dict[str, KnownLinks] = {}
    for one in found:
        for key, link in one.links.items():
            links[key] = one_link(links[key], link) if key in links else link
        for archive, summary in one.mementos.items():
            mementos[archive] = (
                _one_summary(mementos[archive], summary) if archive in mementos else summary
            )
        in_force |= one.in_force
        for archive, listed in one.captures.items():
            captures[archive] = captures.get(archive, frozenset()) | listed
        for archive, known in one.inlinks_known.items():
            inlinks_known[archive] = max(inlinks_known.get(archive, known), known, key=_knowing)
    return Findings(links, mementos, in_force, captures, inlinks_known)


def united_mementos(found: Findings, span: Span | None) -> MementoSummary:
    """Return the counts over several archives; a capture that several of them have counts once.

    If an archive did not list its captures, they count as captures that no other archive has.

    With ``span`` None, captures are those in force at a time: a newer one in another archive may
    have replaced each of them.

    Archives do not say *which* captures of a span they have read. So the number of captures with
    known links is a range, unless only one archive has captures: two archives that each read two of
    the same three captures may have read the same two.
    """
    known = {name: summary for name, summary in found.mementos.items() if summary.count}
    sums = _summed(known.values())
    if len(known) < 2:
        return sums
    listed = {name: found.captures[name] for name in known if name in found.captures}
    in_span = {
        name: frozenset(one for one in captures if one[1] in span)
        for name, captures in listed.items()
        if span is not None
    }
    holders = Counter(chain.from_iterable(in_span.values()))
    repeated = sum(map(len, listed.values())) - len(frozenset[Captured]().union(*listed.values()))
    asked = sums.asked - (sum(holders.values()) - len(holders))
    at_least = _least_known(known, in_span, holders) if span is not None else 0
    at_most = min(sums.links_known, asked)
    return MementoSummary(
        sums.count - repeated, sums.first, sums.last, asked, at_least, at_most - at_least
    )


def _least_known(
    known: Mapping[str, MementoSummary],
    in_span: Mapping[str, frozenset[Captured]],
    holders: Counter[Captured],
) -> int:
    """Return how many captures at least have known links, whichever each archive has read.

    That are all of one archive, and of each other one those that it must have read among the
    captures that no other archive has.

    Args:
        known: The counts of each archive with captures.
        in_span: The captures of those that list them.
        holders: The number of archives with each of these captures.
    """
    alone = dict.fromkeys(known, 0)  # what an archive does not list may be what others have
    if in_span.keys() == known.keys():
        for name, captures in in_span.items():
            own = sum(holders[one] == 1 for one in captures)
            alone[name] = max(0, known[name].links_known - (known[name].asked - own))
    total = sum(alone.values())
    return max(total - alone[name] + known[name].links_known for name in known)


def _summed(known: Collection[MementoSummary]) -> MementoSummary:
    """Return the sums over several archives, as if no two of them had the same capture."""
    return MementoSummary(
        sum(summary.count for summary in known),
        min((summary.first for summary in known if summary.first is not None), default=None),
        max((summary.last for summary in known if summary.last is not None), default=None),
        sum(summary.asked for summary in known),
        sum(summary.links_known for summary in known),
    )


def _knowing(known: KnownLinks) -> tuple[bool, int, int]:
    """Return a key that orders what an archive said of itself; the greatest knows most."""
    counted = -1 if known.captures is None else known.captures
    return bool(known.is_known), counted, known.read or 0


def one_link(one: SeenLink, other: SeenLink) -> SeenLink:
    """Return the union of two records of one link."""
    archives = one.timestamps.keys() | other.timestamps.keys()
    nothing: frozenset[Timestamp] = frozenset()
    return SeenLink(
        one.sources | other.sources,
        one.targets | other.targets,
        one.rel | other.rel,
        {
            archive: one.timestamps.get(archive, nothing) | other.timestamps.get(archive, nothing)
            for archive in archives
        },
    )


def _one_summary(one: MementoSummary, other: MementoSummary) -> MementoSummary:
    """Return the union of two answers of one archive; one may be newer, or cover only a part."""
    firsts = [summary.first for summary in (one, other) if summary.first is not None]
    lasts = [summary.last for summary in (one, other) if summary.last is not None]
    return MementoSummary(
        max(one.count, other.count),
        min(firsts, default=None),
        max(lasts, default=None),
        max(one.asked, other.asked),
        max(one.links_known, other.links_known),
    )
