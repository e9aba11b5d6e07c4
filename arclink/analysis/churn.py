"""How many links the pages of a host gain and lose: each capture compared with the one before it of the same page.

Compared are captures that tell (`arclink.analysis.page_histories`), so a page that was not captured, or not read, is in no
comparison. A comparison belongs to the window of its later capture, and may reach back behind its beginning: how far the
two are apart on average is told beside the counts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from arclink.analysis.decay import seconds_of
from arclink.analysis.link_scope import LinkScope
from arclink.analysis.page_histories import PageHistory, TargetsOf
from arclink.model import Surt, Timestamp


@dataclass(slots=True)
class Churn:
    """Comparisons, added up.

    Attributes:
        pages: Distinct pages that were compared.
        comparisons: Pairs of captures.
        seconds: Sum of the times between the two.
        before: Links of the earlier captures.
        added: Links that only the later capture has.
        removed: Links that only the earlier capture has.
    """

    pages: int = 0
    comparisons: int = 0
    seconds: int = 0
    before: int = 0
    added: int = 0
    removed: int = 0


def churn_of_links(
    histories: Iterable[PageHistory],
    targets_of: TargetsOf,
    scope: LinkScope,
    windows: Callable[[Timestamp], Sequence[str]],
    group_of: Callable[[Surt], str],
) -> dict[tuple[str, str], Churn]:
    """Return what was gained and lost, by window and group of pages.

    Args:
        histories: Of the pages.
        targets_of: By the names of ``scope``.
        scope: Which links count.
        windows: The names of the windows a time is in; it may be in none.
        group_of: The group that a page belongs to, such as its host.
    """
    found: dict[tuple[str, str], Churn] = {}
    for history in histories:
        group = group_of(history.surt)
        compared: set[str] = set()
        for earlier, later in pairwise(history.captures):
            names = windows(later.timestamp)
            if not names:
                continue
            before, after = targets_of.of(earlier.contents), targets_of.of(later.contents)
            if scope.is_external:
                before, after = (frozenset(one for one in targets if scope.leads_out(history.surt, one)) for targets in (before, after))
            for window in names:
                churn = found.setdefault((window, group), Churn())
                churn.pages += window not in compared
                churn.comparisons += 1
                churn.seconds += seconds_of(later.timestamp) - seconds_of(earlier.timestamp)
                churn.before += len(before)
                churn.added += len(after - before)
                churn.removed += len(before - after)
            compared.update(names)
    return found
