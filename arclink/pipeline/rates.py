"""What each stage of a build costs on an engine: measured rates, from ``rates.json``.

``python -m benchmarks.run --only engine_builds`` measures builds of two sizes and writes the file.
A stage costs some CPU seconds in every build, such as for starting tasks, and some for every
capture, page or link.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
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

FILE = "rates.json"


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


def measured_rates() -> dict[str, Rates]:
    """Return the measured rates by engine: ``local``, ``hadoop``, ``spark``."""
    text = files("arclink.pipeline").joinpath(FILE).read_text("utf-8")
    return {
        engine: {stage: Rate(*rate) for stage, rate in rates.items()}
        for engine, rates in json.loads(text)["engines"].items()
    }


def format_rates(engines: Mapping[str, Rates], source: Sequence[str]) -> str:
    """Return the text of the file.

    Args:
        engines: Rates by engine.
        source: Machine, versions and command of the measurement.
    """
    return (
        json.dumps(
            {
                "source": list(source),
                "engines": {
                    engine: {
                        stage: [float(f"{number:.4g}") for number in rate]
                        for stage, rate in rates.items()
                    }
                    for engine, rates in engines.items()
                },
            },
            indent=1,
        )
        + "\n"
    )
