"""What each stage of a build costs on an engine: measured rates, from ``rates.json``.

``python -m benchmarks.run --only engine_builds`` measures builds and writes the file. A stage costs
some CPU seconds in every build, such as for starting tasks, and some for every capture, page or
link.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from arclink.errors import UsageError

ENGINE, TASKS = "engine", "tasks"

UNITS: Mapping[str, str] = {
    "share": "captures",
    "filter": "captures",
    "match": "captures",
    "extract": "pages",
    "find": "captures",
    "join": "links",
    "invert": "links",
    "load": "links",
    ENGINE: "captures",
}
"""Unit by stage: rows of the CDX, pages that are read, or links of these pages.

``load`` is the loading of a SQLite store by the driver; `ENGINE` are the processes of the engine
that belong to no task, and on an engine the driver.
"""

MEASURED_ON = 2
"""Processors of the measured builds, and reduce tasks of each of their jobs."""

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
        start: CPU seconds in every build, with `MEASURED_ON` reduce tasks per job.
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


def per_further_task(few: MeasuredBuild, many: MeasuredBuild, further: int) -> Rates:
    """Return the rate of `TASKS`: the cost of one more reduce task in every job of a build.

    Args:
        few: A build with `MEASURED_ON` reduce tasks per job.
        many: The same build with more.
        further: The number of tasks that each job of it has more.
    """
    more = sum(many.seconds.values()) - sum(few.seconds.values())
    return {TASKS: Rate(0.0, max(more, 0.0) / further)}


def starting(rates: Rates, tasks: int = MEASURED_ON) -> float:
    """Return the CPU seconds that every batch takes, whatever its size.

    Args:
        rates: Those of an engine.
        tasks: Number of reduce tasks per job.
    """
    return sum(
        rate.seconds(tasks - MEASURED_ON if stage == TASKS else 0.0)
        for stage, rate in rates.items()
    )


def working(rates: Rates, amounts: Amounts) -> dict[str, float]:
    """Return the CPU seconds by stage that captures, pages and links take, without starts."""
    return {
        stage: rate.each * amounts.of(UNITS[stage])
        for stage, rate in rates.items()
        if stage != TASKS
    }


def predicted(rates: Rates, amounts: Amounts, batches: int = 1) -> float:
    """Return the CPU seconds of a build with `MEASURED_ON` reduce tasks per job."""
    return batches * starting(rates) + sum(working(rates, amounts).values())


def measured_rates(path: Path | None = None) -> dict[str, Rates]:
    """Return the measured rates by engine: ``local``, ``hadoop``, ``spark``.

    Args:
        path: A file that the benchmark wrote; None for that of this package.

    Raises:
        UsageError: There is no such file, or it has something else.
    """
    try:
        text = (path or files("arclink.pipeline").joinpath(FILE)).read_text("utf-8")
        return {
            engine: {stage: Rate(*map(float, rate)) for stage, rate in rates.items()}
            for engine, rates in json.loads(text)["engines"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path or FILE}: no measured rates ({error}); write the file with "
            "python -m benchmarks.run --only engine_builds"
        ) from error


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
