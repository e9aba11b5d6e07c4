"""Link decay: the share of links that still exist after n months, with censored observations.

A *link* is a pair of page and target (`arclink.analysis.link_scope`). Its life starts when it is
first seen. It ends between the last capture of its page that has it and the first later capture
that is known not to have it (`arclink.analysis.page_histories`). Without such a capture, the link
is *censored*: it existed when last seen, and nothing is known after that. Three curves put the end
at the last capture with the link, in the middle, and at the first capture without it. The true end
of each life is between the first and the last. The middle is the estimate that is reported with its
confidence interval.

The estimate assumes that the times of captures do not depend on the life of links, and that links
end independently. Links of one page do not, so the interval is narrower than it should be.

A link that already exists in the first capture of its page is older than it appears; such lives can
be left out.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from functools import lru_cache

import numpy as np

from arclink.access.members import Validity
from arclink.analysis.link_scope import LinkScope
from arclink.analysis.page_histories import PageHistory, TargetsOf, validities
from arclink.analysis.survival import SurvivalCurve, kaplan_meier
from arclink.model import Timestamp

DAY = 86_400
DAYS_PER_MONTH = 30.436875
"""Mean length of a month in the Gregorian calendar: 146,097 days are 4,800 months."""


class Ending(Enum):
    """The assumed end of a link that is gone."""

    EARLIEST = "earliest"
    MIDDLE = "middle"
    LATEST = "latest"


@dataclass(slots=True)
class Lives:
    """The lives of the links of one cohort, counted by age in whole days.

    Memory does not grow with the number of links.

    Attributes:
        ends: Number of ended lives by age, for each assumed end.
        censored: Number of censored lives by age when last seen.
        gap_seconds: Sum of the times between the last capture with a link and the first without,
            over all links that are gone, in seconds.
        gone: Number of links that were seen to be gone.
    """

    ends: dict[Ending, Counter[int]] = field(
        default_factory=lambda: {ending: Counter() for ending in Ending}
    )
    censored: Counter[int] = field(default_factory=Counter)
    gap_seconds: int = 0

    @property
    def gone(self) -> int:
        return self.ends[Ending.MIDDLE].total()

    @property
    def links(self) -> int:
        """Number of all links, gone or not."""
        return self.gone + self.censored.total()

    def add(self, link: Validity) -> None:
        """Count the life of one link."""
        born, seen = seconds_of(link.first_with), seconds_of(link.last_with)
        if link.first_without is None:
            self.censored[(seen - born) // DAY] += 1
            return
        missed = seconds_of(link.first_without)
        self.gap_seconds += missed - seen
        for ending, end in (
            (Ending.EARLIEST, seen),
            (Ending.MIDDLE, (seen + missed) // 2),
            (Ending.LATEST, missed),
        ):
            self.ends[ending][(end - born) // DAY] += 1

    def curve(self, ending: Ending) -> SurvivalCurve:
        """Return the survival by age in days, up to the longest life."""
        days = 1 + max((*self.ends[ending], *self.censored), default=-1)
        deaths, censored = np.zeros(days, np.int64), np.zeros(days, np.int64)
        for counts, by_day in ((deaths, self.ends[ending]), (censored, self.censored)):
            for day, count in by_day.items():
                counts[day] = count
        return kaplan_meier(deaths, censored)


def lives_of_links(
    histories: Iterable[PageHistory],
    targets_of: TargetsOf,
    scope: LinkScope,
    cohorts: Callable[[Timestamp], Sequence[str]],
    *,
    only_new: bool = False,
) -> dict[str, Lives]:
    """Return the lives of links by cohort.

    Args:
        histories: The histories of the pages.
        targets_of: Returns the targets of contents, by the names of ``scope``.
        scope: The links that count.
        cohorts: Returns the names of the cohorts of a link that was first seen at a time; may be
            empty.
        only_new: Count only links whose page was captured before without them.
    """
    lives: dict[str, Lives] = {}
    for history in histories:
        for target, link in validities(history, targets_of):
            if scope.leads_out(history.surt, target) and not (
                only_new and link.last_without is None
            ):
                for cohort in cohorts(link.first_with):
                    lives.setdefault(cohort, Lives()).add(link)
    return lives


@lru_cache(maxsize=1 << 14)
def seconds_of(timestamp: Timestamp) -> int:
    """Return the number of seconds from 1970 to a time.

    >>> seconds_of(Timestamp("19700102000001"))
    86401
    """
    return int(datetime.strptime(timestamp + "+0000", "%Y%m%d%H%M%S%z").timestamp())
