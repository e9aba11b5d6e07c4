"""How long links stay: the share that survives n months, with what was not seen to its end counted as just that.

A *link* is a page and a target (`arclink.analysis.link_scope`). Its life begins when it is first seen, and ends somewhere between
the last capture of its page that has it and the first one after that tells without it (`arclink.analysis.page_histories`);
without such a capture it is *censored*: alive when last seen, and nothing is known after. Three curves put the end
at the last sighting, in the middle, and at the first capture without: the truth of single lives lies between the first
and the last. The middle is the estimate that is told with its confidence interval.

Assumed is that pages are captured when they are for reasons that have nothing to do with how long their links live, and that
links end independently; those of one page do not, so the interval is narrower than it should be.

A link that was there when its page was captured for the first time is older than it looks: such lives can be left out.
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
"""Of the Gregorian calendar: 146,097 days are 4,800 months."""


class Ending(Enum):
    """When a link that is gone is taken to have ended."""

    EARLIEST = "earliest"
    MIDDLE = "middle"
    LATEST = "latest"


@dataclass(slots=True)
class Lives:
    """The lives of the links of one cohort, counted by age in whole days: memory does not grow with their number.

    Attributes:
        gone: How many links were seen to be gone.
        gap_seconds: Sum over these of the time between the last capture with the link and the first without.
    """

    ends: dict[Ending, Counter[int]] = field(default_factory=lambda: {ending: Counter() for ending in Ending})
    censored: Counter[int] = field(default_factory=Counter)
    gap_seconds: int = 0

    @property
    def gone(self) -> int:
        return self.ends[Ending.MIDDLE].total()

    @property
    def links(self) -> int:
        """All links, gone or not."""
        return self.gone + self.censored.total()

    def add(self, link: Validity) -> None:
        """Count the life of one link."""
        born, seen = seconds_of(link.first_with), seconds_of(link.last_with)
        if link.first_without is None:
            self.censored[(seen - born) // DAY] += 1
            return
        missed = seconds_of(link.first_without)
        self.gap_seconds += missed - seen
        for ending, end in ((Ending.EARLIEST, seen), (Ending.MIDDLE, (seen + missed) // 2), (Ending.LATEST, missed)):
            self.ends[ending][(end - born) // DAY] += 1

    def curve(self, ending: Ending) -> SurvivalCurve:
        """Return the survival by age in days, up to the oldest life."""
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
        histories: Of the pages.
        targets_of: By the names of ``scope``.
        scope: Which links count.
        cohorts: The names of the cohorts of a link that was first seen at a time; it may be in none.
        only_new: Only links whose page was captured before without them.
    """
    lives: dict[str, Lives] = {}
    for history in histories:
        for target, link in validities(history, targets_of):
            if scope.leads_out(history.surt, target) and not (only_new and link.last_without is None):
                for cohort in cohorts(link.first_with):
                    lives.setdefault(cohort, Lives()).add(link)
    return lives


@lru_cache(maxsize=1 << 14)
def seconds_of(timestamp: Timestamp) -> int:
    """Return the seconds from 1970 on to a time.

    >>> seconds_of(Timestamp("19700102000001"))
    86401
    """
    return int(datetime.strptime(timestamp + "+0000", "%Y%m%d%H%M%S%z").timestamp())
