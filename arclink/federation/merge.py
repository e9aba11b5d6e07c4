"""Merging of archives' links, link by link.

Two links are the same if source SURT, target SURT, kind and text are equal. Every part of a merge
is a union: the order of archives and repetitions do not matter, and an answer merged with itself
does not change.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from arclink.access.reader import MementoSummary
from arclink.model import Kind, Surt, Timestamp, UriR

LinkKey = tuple[Surt, Surt, Kind, str]
"""The key of a link: source SURT, target SURT, kind, text."""


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
    """

    links: Mapping[LinkKey, SeenLink] = field(default_factory=dict)
    mementos: Mapping[str, MementoSummary] = field(default_factory=dict)
    in_force: frozenset[SeenInForce] = frozenset()


def merge(found: Iterable[Findings]) -> Findings:
    """Return the union of ``found``: commutative, associative, idempotent; may be empty."""
    links: dict[LinkKey, SeenLink] = {}
    mementos: dict[str, MementoSummary] = {}
    in_force: frozenset[SeenInForce] = frozenset()
    for one in found:
        for key, link in one.links.items():
            links[key] = one_link(links[key], link) if key in links else link
        for archive, summary in one.mementos.items():
            mementos[archive] = (
                _one_summary(mementos[archive], summary) if archive in mementos else summary
            )
        in_force |= one.in_force
    return Findings(links, mementos, in_force)


def summed(mementos: Iterable[MementoSummary]) -> MementoSummary:
    """Return the sums over several archives, whose mementos are distinct."""
    known = [summary for summary in mementos if summary.count]
    return MementoSummary(
        sum(summary.count for summary in known),
        min((summary.first for summary in known if summary.first is not None), default=None),
        max((summary.last for summary in known if summary.last is not None), default=None),
        sum(summary.asked for summary in known),
        sum(summary.links_known for summary in known),
    )


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
