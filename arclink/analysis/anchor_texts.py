"""The words that led to a part of the web, by window, weighed against the collection (paper, section 5.3).

One row per term and window. What is counted is what `arclink.access.tallies` counts; the weight is tf-idf: the *document* is all
texts that led to the target in the window, and *tf* of a term the number of links (distinct page, kind, text and rel) it
stands in, as often as it does; *df* is how many targets of the same level the term ever led to (`arclink.analysis.frequencies`). So
the weights of one term in several windows differ by its use, not by the collection.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from arclink.access.grouping import Budget
from arclink.access.queries import LinkQuery
from arclink.access.reading import Reading
from arclink.access.tallies import Counts, Extent, Tally, sighted_inlinks
from arclink.analysis.frequencies import Frequencies, Term
from arclink.analysis.slices import Level
from arclink.analysis.targets import Target
from arclink.analysis.windows import Windows
from arclink.model import Inlink, Kind, Sighting, Timestamp, UriR
from arclink.store import GraphStore
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of

EVERYTHING = Budget(rows=1 << 62, look_ups=1 << 62)
"""No limit: this is no request of somebody else."""


@dataclass(frozen=True, slots=True)
class AnchorTextQuery:
    """Which words led to what.

    Attributes:
        links: When, and which kinds; its URI and SURT are those of ``target``.
        is_external: Without links from within the target: from its host or domain, at that level; from the host of a URI.
        windows: In which terms are counted; those of one time may be several, or none.
    """

    target: Target
    links: LinkQuery
    term: Term
    windows: Windows
    is_external: bool = False


class WeighedTerm(NamedTuple):
    """One term that led to the target.

    Attributes:
        window: Its name.
        counts: Of the links with the term; ``links`` counts one once, however often the term stands in its text.
        occurrences: How often the term stands in these links: tf.
        documents: Targets of the collection that the term led to: df.
        tf_idf: 0 where every target has the term.
    """

    window: str
    term: str
    counts: Counts
    occurrences: int
    documents: int
    tf_idf: float


@dataclass(slots=True)
class Found:
    """What was read for an answer.

    Attributes:
        links: Links of contents.
        inner: Those from within the target that were left out.
        targets: URIs of the target, by SURT, that a link led to.
        captured: Those of them that have a memento.
        textless: Links without any text, left out.
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
    """Where a term was used: occurrences by link; the rest as a tally."""

    occurrences: dict[_Link, int] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)


def anchor_texts(store: GraphStore, query: AnchorTextQuery, frequencies: Frequencies) -> tuple[list[WeighedTerm], Found]:
    """Return the terms that led to the target, by window, the largest weight first, then by term; and what was read.

    Raises:
        StoreError: The store is away.
    """
    found = Found()
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
    return sorted(_weighed(uses, frequencies), key=lambda one: (one.window, -one.tf_idf, -one.occurrences, one.term)), found


def _sighted(store: GraphStore, query: AnchorTextQuery, found: Found) -> Iterator[tuple[Inlink, UriR, Sequence[Timestamp]]]:
    """Yield each link to the target with each page that shows it and when."""
    target = query.target
    inside = Level.HOST if target.level is Level.URI else target.level
    inside_name = inside.name_of(target.surt)
    for surt in target.surts(store):
        reading = Reading(store, replace(query.links, surt=surt))
        led_to = False
        for inlink, source, timestamps in sighted_inlinks(reading, EVERYTHING, Extent()):
            if query.is_external and inside.name_of(surt_of(source)) == inside_name:
                found.inner += 1
                continue
            led_to = True
            found.links += 1
            yield inlink, source, timestamps
        if led_to:
            found.targets += 1
            found.captured += next(store.mementos(surt), None) is not None


def _by_window(source: UriR, timestamps: Sequence[Timestamp], windows: Windows) -> Mapping[str, list[Sighting]]:
    seen: dict[str, list[Sighting]] = {}
    for time in timestamps:
        for window in windows.names_at(time):
            seen.setdefault(window, []).append(Sighting(source, time))
    return seen


def _weighed(uses: Mapping[tuple[str, str], _Use], frequencies: Frequencies) -> Iterator[WeighedTerm]:
    for (window, term), use in uses.items():
        tf = sum(use.occurrences.values())
        counts = use.tally.counts()._replace(links=len(use.occurrences))
        yield WeighedTerm(window, term, counts, tf, frequencies.of(term), frequencies.tf_idf(tf, term))
