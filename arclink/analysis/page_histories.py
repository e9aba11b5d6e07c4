"""Page histories: the captures of a page with known links, in order of time.

All analyses of links through time read them. A page is one URI-R; variants of its URI are other
pages. A capture is in the history if its links are known, or if it is an error or a redirect that
was not read: then the page had no links (`arclink.access.link_states`). A capture that was not read
and a time without captures are not in the history. They never count as "no link".
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from arclink.access.link_states import State, state_of
from arclink.access.members import Validity
from arclink.model import ContentId, Memento, Outlink, Surt, Timestamp, UriR
from arclink.store.protocols import Answers

_KEPT_CONTENTS = 256
"""Largest number of contents whose targets are cached; most captures repeat an earlier content."""

Targets = frozenset[str]


class CapturedContents(NamedTuple):
    """The contents that a page showed at one time.

    Attributes:
        contents: Distinct, sorted; empty if the page did not exist. There are several if captures
            of the same second differ.
    """

    timestamp: Timestamp
    contents: tuple[ContentId, ...]


@dataclass(frozen=True, slots=True)
class PageHistory:
    """The history of one page.

    Attributes:
        captures: Captures with known links or without page, oldest first, one per second; at least
            one.
    """

    surt: Surt
    original: UriR
    captures: tuple[CapturedContents, ...]


def page_histories(store: Answers, mementos: Iterable[Memento]) -> Iterator[PageHistory]:
    """Yield the history of each page, in the order of SURT and original.

    Args:
        store: The store, which returns the content of a memento.
        mementos: All mementos of each SURT, sorted by SURT.
    """
    for surt, of_surt in groupby(mementos, attrgetter("surt")):
        pages: dict[UriR, dict[Timestamp, set[ContentId]]] = {}
        for memento in of_surt:
            content = store.content_of(memento)
            if state_of(memento, is_known=content is not None) is not State.NOT_READ:
                shown = pages.setdefault(memento.original, {}).setdefault(memento.timestamp, set())
                shown.update(() if content is None else (content,))
        for original, captures in sorted(pages.items()):
            yield PageHistory(
                surt,
                original,
                tuple(
                    CapturedContents(time, tuple(sorted(captures[time])))
                    for time in sorted(captures)
                ),
            )


class TargetsOf:
    """The targets of the contents of captures.

    Args:
        store: The store with the links.
        name_of: Returns the name of the node that a link leads to; empty for a link that does not
            count.
    """

    def __init__(self, store: Answers, name_of: Callable[[Outlink], str]) -> None:
        self._store = store
        self._name_of = name_of
        self._of_content = lru_cache(maxsize=_KEPT_CONTENTS)(self._read)

    def of(self, contents: tuple[ContentId, ...]) -> Targets:
        """Return the distinct targets of the links of these contents."""
        if len(contents) == 1:
            return self._of_content(contents[0])
        return frozenset().union(*map(self._of_content, contents))

    def _read(self, content: ContentId) -> Targets:
        return frozenset(filter(None, map(self._name_of, self._store.outlinks(content))))


def validities(history: PageHistory, targets_of: TargetsOf) -> Iterator[tuple[str, Validity]]:
    """Yield each target that the page ever led to, with its validity, in no order.

    A link that was missing in between counts as one link, from the first capture with it to the
    last.
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
    for target, index in first.items():
        ended = last[target]
        yield (
            target,
            Validity(
                captures[index - 1].timestamp if index else None,
                captures[index].timestamp,
                captures[ended].timestamp,
                captures[ended + 1].timestamp if ended + 1 < len(captures) else None,
            ),
        )
