"""The texts of links to a part of the web, per window, weighted against the whole store.

There is one row per term and window, with the counts of `arclink.access.tallies`. The weight is
tf-idf. The *document* is all texts of links to the target in the window. *tf* of a term is its
number of occurrences in the texts of these links (distinct page, target, kind, text and rel). *df*
is the number of targets of the same level to which the term ever led
(`arclink.analysis.frequencies`). So the weights of one term in several windows differ by its use,
not by the collection.

Source: the paper, section 5.3.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from arclink.access.groups import UNLIMITED
from arclink.access.queries import LinkQuery
from arclink.access.reader import Reading
from arclink.access.tallies import Counts, Extent, Tally, sighted_inlinks
from arclink.analysis.frequencies import Frequencies, Term
from arclink.analysis.slices import Level
from arclink.analysis.targets import Target
from arclink.analysis.windows import Windows
from arclink.model import Inlink, Kind, Sighting, Timestamp, UriR
from arclink.store.protocols import Answers
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of


@dataclass(frozen=True, slots=True)
class AnchorTextQuery:
    """A query for the texts of links to a target.

    Attributes:
        links: The time and the kinds; its URI and SURT are those of ``target``.
        is_external: Leave out links from within the target: from its host or domain, at that level;
            for a URI, from its host.
        windows: The windows in which terms are counted; one time may be in several windows, or in
            none.
    """

    target: Target
    links: LinkQuery
    term: Term
    windows: Windows
    is_external: bool = False


class WeighedTerm(NamedTuple):
    """One term that led to the target, in one window.

    Attributes:
        window: The name of the window.
        counts: Counts of the links with the term. ``links`` counts a link once, even if the term
            occurs several times in its text.
        occurrences: Number of occurrences of the term in these links: tf.
        documents: Number of targets of the collection to which the term led: df.
        tf_idf: The weight; 0 if every target has the term.
    """

    window: str
    term: str
    counts: Counts
    occurrences: int
    documents: int
    tf_idf: float


@dataclass(slots=True)
class TextCounts:
    """Counts of what was read for an answer.

    Attributes:
        links: Number of links of contents.
        inner: Number of links from within the target that were left out.
        targets: Number of SURTs of the target that a link led to.
        captured: Number of those with a memento.
        textless: Number of links without text, which were left out.
    """

    links: int = 0
    inner: int = 0
    targets: int = 0
    captured: int = 0
    textless: int = 0


_Link = tuple[UriR, UriR, Kind, str, str | None]
"""Source, target, kind, text, rel."""


@dataclass(slots=True)
class _Use:
    """The use of a term: occurrences by link, and a tally."""

    occurrences: dict[_Link, int] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)


def anchor_texts(
    store: Answers, query: AnchorTextQuery, frequencies: Frequencies
) -> tuple[list[WeighedTerm], TextCounts]:
    """Return the terms that led to the target, and counts of what was read.

    Terms are sorted by window, then largest weight first, then by occurrences and term.

    Raises:
        StoreError: The store cannot be reached.
    """
    found = TextCounts()
    uses: dict[tuple[str, str], _Use] = {}
    for inlink, source, timestamps in _sighted(store, query, found):
        occurrences = Counter(query.term.of(inlink.text))
        found.textless += not occurrences
        link = (source, inlink.target, inlink.kind, inlink.text, inlink.rel)
        for window, sightings in _by_window(source, timestamps, query.windows).items():
            for term, count in occurrences.items():
                use = uses.setdefault((window, term), _Use())
                use.occurrences[link] = count
                use.tally.add((), inlink.content, sightings, [host_of(surt_of(source))])
    return sorted(
        _weighed(uses, frequencies),
        key=lambda one: (one.window, -one.tf_idf, -one.occurrences, one.term),
    ), found


def _sighted(
    store: Answers, query: AnchorTextQuery, found: TextCounts
) -> Iterator[tuple[Inlink, UriR, Sequence[Timestamp]]]:
    """Yield each link to the target with each page that shows it and its times."""
    target = query.target
    inside = Level.HOST if target.level is Level.URI else target.level
    inside_name = inside.name_of(target.surt)
    for surt in target.surts(store):
        reading = Reading(store, replace(query.links, surt=surt))
        led_to = False
        for inlink, source, timestamps in sighted_inlinks(reading, UNLIMITED, Extent()):
            if query.is_external and inside.name_of(surt_of(source)) == inside_name:
                found.inner += 1
                continue
            led_to = True
            found.links += 1
            yield inlink, source, timestamps
        if led_to:
            found.targets += 1
            found.captured += next(store.mementos(surt), None) is not None


def _by_window(
    source: UriR, timestamps: Sequence[Timestamp], windows: Windows
) -> Mapping[str, list[Sighting]]:
    seen: dict[str, list[Sighting]] = {}
    for time in timestamps:
        for window in windows.names_at(time):
            seen.setdefault(window, []).append(Sighting(source, time))
    return seen


def _weighed(
    uses: Mapping[tuple[str, str], _Use], frequencies: Frequencies
) -> Iterator[WeighedTerm]:
    for (window, term), use in uses.items():
        tf = sum(use.occurrences.values())
        counts = use.tally.counts()._replace(links=len(use.occurrences))
        yield WeighedTerm(
            window, term, counts, tf, frequencies.of(term), frequencies.tf_idf(tf, term)
        )
