"""Link churn: how many links the pages of a host gain and lose between consecutive captures.

Each capture with known links is compared with the one before it of the same page
(`arclink.analysis.page_histories`); an error or a redirect is a capture without links. Other
captures that were not read are in no comparison. A comparison belongs to the window of its later
capture; its earlier capture may be before that window. The average time between the two is reported
next to the counts.
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
    """Sums over comparisons of two captures.

    Attributes:
        pages: Number of distinct pages that were compared.
        comparisons: Number of pairs of captures.
        seconds: Sum of the times between the two captures, in seconds.
        before: Number of links of the earlier captures.
        added: Number of links that only the later capture has.
        removed: Number of links that only the earlier capture has.
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
    """Return the gained and lost links, by window and group of pages.

    Args:
        histories: The histories of the pages.
        targets_of: Returns the targets of contents, by the names of ``scope``.
        scope: The links that count.
        windows: Returns the names of the windows that a time is in; may be empty.
        group_of: Returns the group that a page belongs to, such as its host.
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
                before, after = (
                    frozenset(one for one in targets if scope.leads_out(history.surt, one))
                    for targets in (before, after)
                )
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
