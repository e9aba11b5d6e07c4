"""The time that a page shows, and the previous and next times at which something was seen."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from arclink.access.chronicles import Chronicle, unit_for, units_between
from arclink.access.tallies import Period
from arclink.charts.time_axis import Axis, Mark, in_words, moment_in_words
from arclink.model import Timestamp
from arclink.service.pages.requests import Asked
from arclink.timestamps import pad_high


@dataclass(frozen=True, slots=True)
class Moment:
    """The time of a view.

    Attributes:
        at: The chosen time; None for all times together.
        words: The same in words.
        x: Its position on the axis in percent; None for all times.
        steps: The times that a slider can choose: the ends of these units, which are those of the
            axis or finer. Empty without an axis.
        ends: Positions of the first and the last step on the axis in percent.
        number: Index of the step that contains the chosen time.
        earlier: Address of the same view at the last earlier time at which something was captured
            or seen; None if there is no such time.
        later: Likewise for the next later time.
        always: Address of the same view for all times.
        marks: The captures, each with the address of the same view at its time.
    """

    at: Timestamp | None
    words: str
    x: float | None
    steps: Sequence[str]
    ends: Sequence[float]
    number: int
    earlier: str | None
    later: str | None
    always: str
    marks: Sequence[tuple[Mark, str]]


def moment_of_page(asked: Asked, at: Timestamp | None, chronicle: Chronicle, axis: Axis) -> Moment:
    """Return the time of the requested view."""
    stops = {
        Timestamp(captured.memento.timestamp): str(captured.memento.timestamp)
        for captured in chronicle.captures
    }
    if not stops:
        stops = {pad_high(unit.replace("-", "")): unit for unit in chronicle.inlinks}
    # One step back leads to before the state in force, not to the time at which it began.
    in_force = None if at is None else max((stop for stop in stops if stop <= at), default=at)
    before = [stop for stop in sorted(stops) if in_force is None or stop < in_force]
    later_stops = [] if at is None else [stop for stop in sorted(stops) if stop > at]
    unit, steps, ends = axis.unit, list[str](), list[float]()
    if chronicle.first and chronicle.last:
        # The state may change on any day, also if bars by day would be mostly unknown.
        unit = unit_for(chronicle.first, chronicle.last, None)
        steps = [*units_between(chronicle.first, chronicle.last, unit)]
        ends = [axis.x_of(pad_high(step.replace("-", ""))) for step in (steps[0], steps[-1])]
    return Moment(
        at=at,
        words="all times together" if at is None else _in_words(at, unit),
        x=None if at is None or not axis.units else axis.x_of(at),
        steps=steps,
        ends=ends,
        number=_number(at, unit, steps),
        earlier=asked.changed({"at": stops[before[-1]], "from": None, "to": None})
        if before
        else None,
        later=asked.changed({"at": stops[later_stops[0]], "from": None, "to": None})
        if later_stops
        else None,
        always=asked.changed({"at": None}),
        marks=[
            (mark, asked.changed({"at": mark.at, "from": None, "to": None}))
            for mark in axis.marks(chronicle.captures)
        ],
    )


def _number(at: Timestamp | None, unit: Period, steps: Sequence[str]) -> int:
    """Return the index of the step that contains ``at``, or of the nearest; the last without it."""
    last = max(len(steps) - 1, 0)
    return last if at is None else min(bisect_left(steps, unit.of(at)), last)


def _in_words(at: Timestamp, unit: Period) -> str:
    """Return a time in words; a time chosen with the slider is the end of a unit."""
    return (
        f"the end of {in_words(unit.of(at))}"
        if pad_high(at[: unit.value]) == at
        else moment_in_words(at)
    )
