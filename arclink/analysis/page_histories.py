"""The captures of a page that tell something of its links, in order of time: what all histories of links are read from.

A page is one original; variants of its URI are other pages. A capture *tells* if its links are known, or if it is an error or a
redirect that was not read: then it had none (`arclink.access.states`). One that was not read, and a time at which the page
was not captured, tell nothing: they are never taken for "no link".
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from arclink.access.members import Validity
from arclink.access.states import State, state_of
from arclink.model import ContentId, Memento, Outlink, Surt, Timestamp, UriR
from arclink.store import GraphStore

KEPT_CONTENTS = 256
"""Contents whose targets are remembered: a page mostly shows again what it showed before."""

Targets = frozenset[str]


class Capture(NamedTuple):
    """What a page showed at one time.

    Attributes:
        contents: Distinct, sorted; empty if the page was not there. Several if captures of the same second differ.
    """

    timestamp: Timestamp
    contents: tuple[ContentId, ...]


@dataclass(frozen=True, slots=True)
class PageHistory:
    """One page.

    Attributes:
        captures: Those that tell, oldest first, one for each second; at least one.
    """

    surt: Surt
    original: UriR
    captures: tuple[Capture, ...]


def page_histories(store: GraphStore, mementos: Iterable[Memento]) -> Iterator[PageHistory]:
    """Yield the history of each page, by SURT and original.

    Args:
        store: Tells what a memento shows.
        mementos: Sorted by SURT; all of each SURT.
    """
    for surt, of_surt in groupby(mementos, attrgetter("surt")):
        pages: dict[UriR, dict[Timestamp, set[ContentId]]] = {}
        for memento in of_surt:
            content = store.content_of(memento)
            if state_of(memento, is_known=content is not None) is not State.NOT_READ:
                shown = pages.setdefault(memento.original, {}).setdefault(memento.timestamp, set())
                shown.update(() if content is None else (content,))
        for original, captures in sorted(pages.items()):
            yield PageHistory(surt, original, tuple(Capture(time, tuple(sorted(captures[time]))) for time in sorted(captures)))


class TargetsOf:
    """Tells what the contents of captures lead to.

    Args:
        store: Has the links.
        name_of: What a link counts for: the name of its target's node; empty for a link that does not count.
    """

    def __init__(self, store: GraphStore, name_of: Callable[[Outlink], str]) -> None:
        self._store = store
        self._name_of = name_of
        self._of_content = lru_cache(maxsize=KEPT_CONTENTS)(self._read)

    def of(self, contents: tuple[ContentId, ...]) -> Targets:
        """Return the distinct targets of contents."""
        if len(contents) == 1:
            return self._of_content(contents[0])
        return frozenset().union(*map(self._of_content, contents))

    def _read(self, content: ContentId) -> Targets:
        return frozenset(filter(None, map(self._name_of, self._store.outlinks(content))))


def validities(history: PageHistory, targets_of: TargetsOf) -> Iterator[tuple[str, Validity]]:
    """Yield each target that the page ever led to with when it came and went, in no order.

    A link that was away in between counts as one: from the first capture with it to the last.
    """
    captures = history.captures
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    begin = 0
    for contents, same in groupby(captures, attrgetter("contents")):
        end = begin + sum(1 for _ in same)
        for target in targets_of.of(contents):
            first.setdefault(target, begin)
            last[target] = end - 1
        begin = end
    for target, place in first.items():
        ended = last[target]
        yield (
            target,
            Validity(
                captures[place - 1].timestamp if place else None,
                captures[place].timestamp,
                captures[ended].timestamp,
                captures[ended + 1].timestamp if ended + 1 < len(captures) else None,
            ),
        )
