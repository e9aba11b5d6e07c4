"""The time that a page shows, and the previous and next times at which something was seen."""

from collections.abc import Sequence
from dataclasses import dataclass

from arclink.access.chronicles import Chronicle
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
        number: Index of the axis' unit that contains it.
        earlier: Address of the same view at the last earlier time at which something was captured
            or seen; None if there is no such time.
        later: Likewise for the next later time.
        always: Address of the same view for all times.
        marks: The captures, each with the address of the same view at its time.
    """

    at: Timestamp | None
    words: str
    x: float | None
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
    last = max(len(axis.units) - 1, 0)
    return Moment(
        at=at,
        words="all times together" if at is None else _in_words(at, axis.unit),
        x=None if at is None or not axis.units else axis.x_of(at),
        number=last if at is None else _number(at, axis, last),
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


def _number(at: Timestamp, axis: Axis, last: int) -> int:
    """Return the index of the axis' unit that contains ``at``, or of the nearest unit."""
    return min(sum(1 for unit in axis.units if unit < axis.unit.of(at)), last)


def _in_words(at: Timestamp, unit: Period) -> str:
    """Return a time in words; a time chosen with the slider is the end of a unit."""
    return (
        f"the end of {in_words(unit.of(at))}"
        if pad_high(at[: unit.value]) == at
        else moment_in_words(at)
    )
