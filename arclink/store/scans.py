"""The progress of scans of a whole store, for both stores."""

from collections.abc import Callable, Iterator, Mapping

from arclink.model import Memento
from arclink.progress import watched
from arclink.store.protocols import ContentBlock


def watched_mementos(
    mementos: Iterator[Memento], months: Callable[[], Mapping[str, int] | None]
) -> Iterator[Memento]:
    """Yield the mementos of a scan, and note the progress.

    Args:
        mementos: Of the whole store, or a part of it.
        months: Returns the number of captures by month (`OpenStore.months`).
    """
    return watched(mementos, "reading captures", lambda: sum((months() or {}).values()))


def watched_contents(
    blocks: Iterator[ContentBlock], contents: Callable[[], int]
) -> Iterator[ContentBlock]:
    """Yield the blocks of a scan, and note the progress; ``contents`` returns their number."""
    return watched(blocks, "reading links", contents, lambda block: len(block.contents))
