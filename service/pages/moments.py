"""The time that a page is looked at, and the times before and behind it that are worth a look."""

from collections.abc import Sequence
from dataclasses import dataclass

from arclink.access.chronicles import Chronicle
from arclink.access.tallies import Period
from arclink.model import Timestamp
from arclink.timestamps import pad_high
from service.pages.asking import Asked
from service.pages.drawing import Axis, Mark, in_words, moment_in_words


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a page stands in time.

    Attributes:
        at: The time asked for; None for all times together.
        words: The same for people.
        x: Its place on the axis, percent; None for all times.
        number: Which of the axis' units it is in.
        earlier: Address of the same view at the last time before at which something was captured or seen; None if there is none.
        later: Likewise behind.
        always: Address of the same view of all times.
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
    """Return where the view that is asked for stands in time."""
    stops = {Timestamp(one.memento.timestamp): str(one.memento.timestamp) for one in chronicle.captures}
    if not stops:
        stops = {pad_high(unit.replace("-", "")): unit for unit in chronicle.inlinks}
    # One step back leads before what is in force, not to where it began.
    in_force = None if at is None else max((stop for stop in stops if stop <= at), default=at)
    before = [stop for stop in sorted(stops) if in_force is None or stop < in_force]
    behind = [] if at is None else [stop for stop in sorted(stops) if stop > at]
    last = max(len(axis.units) - 1, 0)
    return Moment(
        at=at,
        words="all times together" if at is None else _in_words(at, axis.unit),
        x=None if at is None or not axis.units else axis.x_of(at),
        number=last if at is None else _number(at, axis, last),
        earlier=asked.changed({"at": stops[before[-1]], "from": None, "to": None}) if before else None,
        later=asked.changed({"at": stops[behind[0]], "from": None, "to": None}) if behind else None,
        always=asked.changed({"at": None}),
        marks=[(mark, asked.changed({"at": mark.at, "from": None, "to": None})) for mark in axis.marks(chronicle.captures)],
    )


def _number(at: Timestamp, axis: Axis, last: int) -> int:
    """Return which unit of the axis ``at`` is in, or the nearest."""
    return min(sum(1 for unit in axis.units if unit < axis.unit.of(at)), last)


def _in_words(at: Timestamp, unit: Period) -> str:
    """Return a time for people; a slider asks for the end of a unit."""
    return f"the end of {in_words(unit.of(at))}" if pad_high(at[: unit.value]) == at else moment_in_words(at)
