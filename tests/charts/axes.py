"""Axes for the tests, without a store."""

from arclink.access.chronicles import Chronicle, SeenLinks, unit_for
from arclink.access.reader import MementoSummary
from arclink.analysis.charts.svg import Axis
from arclink.model import Timestamp


def axis_of(first: str, last: str) -> Axis:
    """Return the axis from one time to another."""
    begins, ends = Timestamp(first), Timestamp(last)
    return Axis.of(
        Chronicle(
            mementos=MementoSummary(),
            captures=(),
            inlinks={},
            outlinks={},
            seen=SeenLinks(),
            first=begins,
            last=ends,
            unit=unit_for(begins, ends, None),
            days=None,
        ),
    )
