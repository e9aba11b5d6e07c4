"""Link decay: the share of links that still exist after n months, with censored observations.

A *link* is a pair of page and target (`arclink.analysis.link_scope`). Its life starts when it is
first seen. It ends between the last capture of its page that has it and the first later capture
that is known not to have it (``relations/questions/lives.sql``). Without such a capture, the link
is *censored*: it existed when last seen, and nothing is known after that. Three curves put the end
at the last capture with the link, in the middle, and at the first capture without it. The true end
of each life is between the first and the last. The middle is the estimate that is reported with its
confidence interval.

The estimate assumes that the times of captures do not depend on the life of links, and that links
end independently. Links of one page do not, so the interval is narrower than it should be.

A link that already exists in the first capture of its page is older than it appears; such lives can
be left out.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from arclink.analysis.link_scope import LinkScope, ask_about_links
from arclink.analysis.survival import SurvivalCurve, kaplan_meier
from arclink.analysis.windows import Windows
from arclink.relations.parts import ARCHIVE, WebPart

if TYPE_CHECKING:
    from arclink.relations.database import RelationsDatabase

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

    ends: dict[Ending, dict[int, int]] = field(
        default_factory=lambda: {ending: {} for ending in Ending}
    )
    censored: dict[int, int] = field(default_factory=dict)
    gap_seconds: int = 0

    @property
    def gone(self) -> int:
        return sum(self.ends[Ending.MIDDLE].values())

    @property
    def links(self) -> int:
        """Number of all links, gone or not."""
        return self.gone + sum(self.censored.values())

    def curve(self, ending: Ending) -> SurvivalCurve:
        """Return the survival by age in days, up to the longest life."""
        days = 1 + max((*self.ends[ending], *self.censored), default=-1)
        deaths, censored = np.zeros(days, np.int64), np.zeros(days, np.int64)
        for counts, by_day in ((deaths, self.ends[ending]), (censored, self.censored)):
            for day, count in by_day.items():
                counts[day] = count
        return kaplan_meier(deaths, censored)


def lives_of_links(
    database: "RelationsDatabase",
    scope: LinkScope,
    cohorts: Windows,
    pages: WebPart = ARCHIVE,
    *,
    only_new: bool = False,
) -> dict[str, Lives]:
    """Return the lives of links by cohort.

    Args:
        database: The relations.
        scope: The links that count.
        cohorts: The windows in which links were first seen.
        pages: The pages.
        only_new: Count only links whose page was captured before without them.

    Raises:
        OperatorError: The files of the relations cannot be read.
    """
    lives: dict[str, Lives] = defaultdict(Lives)
    for row in ask_about_links(
        database,
        *("lives", "decay"),
        scope=scope,
        part=pages,
        windows=cohorts,
        only_new=only_new,
    ):
        lived = lives[row["cohort"]]
        is_censored = row["ending"] == "censored"
        counts = lived.censored if is_censored else lived.ends[Ending(row["ending"])]
        counts[row["days"]] = row["links"]
        lived.gap_seconds += row["gap_seconds"]
    return dict(lives)
