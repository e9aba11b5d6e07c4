"""What each stage of a build costs on an engine: rates from measured builds of two sizes.

A stage costs some CPU seconds in every build, such as for starting tasks, and some for every
capture, page or link.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

UNITS: Mapping[str, str] = {
    "share": "captures",
    "filter": "captures",
    "choose": "captures",
    "extract": "pages",
    "sort": "captures",
    "join": "links",
    "invert": "links",
    "load": "links",
    "engine": "captures",
}
"""Unit by stage: rows of the CDX, pages that are read, or links of these pages.

``load`` is the loading of a SQLite store by the driver; ``engine`` are the processes of the engine
that belong to no task, and on an engine the driver.
"""


class Amounts(NamedTuple):
    """The size of a collection, by unit."""

    captures: float
    pages: float
    links: float

    def of(self, unit: str) -> float:
        """Return the amount of one of the `UNITS`."""
        return float(getattr(self, unit))


class Rate(NamedTuple):
    """The cost of a stage.

    Attributes:
        start: CPU seconds in every build, on two processors.
        each: CPU seconds for each capture, page or link (`UNITS`).
    """

    start: float
    each: float

    def seconds(self, amount: float) -> float:
        """Return the CPU seconds for an amount."""
        return self.start + self.each * amount


@dataclass(frozen=True, slots=True)
class MeasuredBuild:
    """A build whose cost was measured.

    Attributes:
        amounts: What it read.
        seconds: CPU seconds by stage (`UNITS`).
    """

    amounts: Amounts
    seconds: Mapping[str, float]


Rates = Mapping[str, Rate]
"""Rate by stage."""


def fit(small: MeasuredBuild, large: MeasuredBuild) -> Rates:
    """Return the rates that give the cost of two builds.

    If the larger build was the cheaper one, or the smaller build too cheap for a start, a stage
    costs nothing for each, or nothing in every build.

    >>> small = MeasuredBuild(Amounts(100, 10, 1000), {"extract": 3.0})
    >>> large = MeasuredBuild(Amounts(300, 30, 3000), {"extract": 5.0})
    >>> fit(small, large)
    {'extract': Rate(start=2.0, each=0.1)}
    """
    rates = {}
    for stage in sorted({*small.seconds, *large.seconds}, key=list(UNITS).index):
        few, many = (build.amounts.of(UNITS[stage]) for build in (small, large))
        cheap, dear = (build.seconds.get(stage, 0.0) for build in (small, large))
        each = max((dear - cheap) / (many - few), 0.0)
        start = max(cheap - each * few, 0.0)
        rates[stage] = Rate(start, each if start else dear / many)
    return rates


def predicted(rates: Rates, amounts: Amounts) -> dict[str, float]:
    """Return the CPU seconds by stage of a build in one batch on two processors."""
    return {stage: rate.seconds(amounts.of(UNITS[stage])) for stage, rate in rates.items()}
