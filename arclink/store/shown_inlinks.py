"""Joins inlinks with the pages that show them, for stores and answers that have inlinks by name."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from operator import attrgetter

from arclink.model import ContentId, Inlink, ShownInlink, Source, maker
from arclink.portions import portions
from arclink.store.protocols import WantsLink

AT_ONCE = 128
"""Number of inlinks whose pages are looked up together."""

_KEPT_PAGES = 1_000
"""Largest number of pages of a content that are kept in memory for all its links."""

PagesOf = Callable[[Iterable[ContentId]], Iterator[Iterable[Source]]]
"""Yields, for each content, the pages that show it, as `Answers.sources`."""

_shown = maker(ShownInlink)


def with_pages(
    inlinks: Iterable[Inlink], pages_of: PagesOf
) -> Iterator[tuple[Inlink, Iterable[Source]]]:
    """Yield each inlink with the pages that show its content.

    Read the pages before the next inlink.
    """
    for portion in portions(inlinks, AT_ONCE):
        by_content = [
            (content, list(same)) for content, same in groupby(portion, attrgetter("content"))
        ]
        of_each = pages_of([content for content, _ in by_content])
        for (content, same), pages in zip(by_content, of_each, strict=True):
            kept = few_pages(pages)
            for inlink in same:  # two links of a page to one target are adjacent
                yield inlink, next(pages_of([content])) if kept is None else kept


def few_pages(pages: Iterable[Source]) -> list[Source] | None:
    """Return the pages of a content; None if they are too many to keep."""
    if isinstance(pages, list) and len(pages) <= _KEPT_PAGES:
        return pages
    kept = list(islice(pages, _KEPT_PAGES + 1))
    return kept if len(kept) <= _KEPT_PAGES else None


def shown_inlinks(
    inlinks: Iterable[Inlink], pages_of: PagesOf, wants: WantsLink
) -> Iterator[ShownInlink | None]:
    """Yield what `Answers.shown_inlinks` yields, of inlinks that are read by name."""
    for portion in portions(inlinks, AT_ONCE):
        are_wanted = [wants(inlink.kind, inlink.text, inlink.rel) for inlink in portion]
        wanted = [
            inlink for inlink, is_wanted in zip(portion, are_wanted, strict=True) if is_wanted
        ]
        found = with_pages(wanted, pages_of)
        for is_wanted in are_wanted:
            if is_wanted:
                inlink, pages = next(found)
                yield _shown((*inlink, pages))
            else:
                yield None
