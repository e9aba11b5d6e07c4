"""Windows: the spans of time that a graph is divided into."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple, Self

from arclink.access.declarations import ConflictError, Form
from arclink.access.parameters import PERIODS
from arclink.access.tallies import Period
from arclink.model import ALL_TIME, Span, Timestamp
from arclink.timestamps import PATTERN as TIME
from arclink.timestamps import NotATimeError, TimestampError, first_of, last_of, pad_high, pad_low

_MOST_WINDOWS = 5_000
"""Largest number of windows of a graph: about thirteen years of days."""


_MOST_NAMES = 12
"""Largest number of names of windows in one sentence."""


class Window(NamedTuple):
    """One span of time, and its name for users."""

    name: str
    span: Span


WHOLE = Window("all", ALL_TIME)
"""The window of the first slice in every set of slices."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The division of time: by a period of the calendar, or into listed windows.

    Attributes:
        period: The period; None if windows are listed.
        listed: The windows in the user's order; they may overlap and leave gaps. Empty without a
            period: only the whole.
    """

    period: Period | None = None
    listed: tuple[Window, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the windows in a user's text.

        Args:
            text: ``month``, ``year``, ``day``; ``all`` for the whole only; or times and ranges of
                them, separated by commas: ``2009-11,2010-01/2010-03``. Both ends of a range are
                included.

        Raises:
            ValueError: It is something else, a range ends before it begins, or a window is
                repeated.

        >>> [window.span.last for window in Windows.parse("2009-11,2010-01/20100215").listed]
        ['20091130235959', '20100215235959']
        """
        if text == "all":
            return cls()
        if text in PERIODS:
            return cls(PERIODS[text])
        windows = []
        for name in (part.strip(" \t\r\n") for part in text.split(",")):
            begin, slash, end = name.partition("/")
            try:
                span = Span(first_of(begin), last_of(end if slash else begin))
            except NotATimeError as error:
                raise ValueError from error
            except TimestampError as error:
                raise ValueError(f"{name!r}: {error}") from error
            if span.first > span.last:
                raise ValueError(f"{name!r} ends before it begins; write the earlier time first")
            windows.append(Window(name, span))
        if len(set(windows)) < len(windows):
            raise ValueError("a window is named twice; name each once")
        return cls(None, tuple(windows))

    @property
    def written(self) -> str:
        """The windows as users write them.

        >>> Windows.parse("2009-11, 2010-01/2010-03").written
        '2009-11,2010-01/2010-03'
        """
        if self.period is not None:
            return self.period.name.lower()
        return ",".join(name for name, _ in self.listed) or WHOLE.name

    @property
    def values(self) -> Mapping[str, object]:
        """The variables of texts of SQL that say the windows."""
        return {
            "digits": self.period and len(self.period.of(WHOLE.span.first)),
            "windows": [
                {"name": name, "first": span.first, "last": span.last}
                for name, span in self.listed or (WHOLE,)
            ],
        }

    def _refuse_outside(self, first: Timestamp, last: Timestamp) -> None:
        """Check that at least one window meets the time range of a graph.

        ``first`` and ``last`` are the times of its first and its last memento.

        Raises:
            ConflictError: No listed window does.
        """
        if self.listed and not any(
            window.span.first <= last and first <= window.span.last for window in self.listed
        ):
            names = ", ".join(window.name for window in self.listed)
            why = f"{names}: there are no captures in them; the captures are from {first} to {last}"
            raise ConflictError("by", names, why)

    def between(self, first: Timestamp, last: Timestamp) -> list[Window]:
        """Return the windows of a graph with mementos from ``first`` to ``last``, oldest first.

        Listed windows keep their order. Periods in between without mementos are included.

        Raises:
            ConflictError: There are more than `_MOST_WINDOWS`, or no listed one meets that range.
        """
        if self.period is None:
            self._refuse_outside(first, last)
            return list(self.listed)
        digits = list(_periods(self.period, first, last))
        if len(digits) > _MOST_WINDOWS:
            name = self.period.name.lower()
            why = (
                f"{name} makes more than {_MOST_WINDOWS:,} windows: the captures are from {first} "
                f"to {last}. Use a longer period (month, year), or list windows "
                "(2009-11,2010-01/2010-03)"
            )
            raise ConflictError("by", name, why)
        return [
            Window(self.period.of(Timestamp(day)), Span(pad_low(day), pad_high(day)))
            for day in digits
        ]


EVER = Windows()
"""All time as one window."""

_RANGE = f"(?:{TIME})(?:/(?:{TIME}))?"

WINDOWS: Form[Windows] = Form(
    "day, month, year, all, or times and ranges of them such as 2009-11,2010-01/2010-03",
    {"type": "string", "pattern": f"^(?:{'|'.join(PERIODS)}|all|{_RANGE}(?:,{_RANGE})*)$"},
    Windows.parse,
)
"""Reads windows as users write them."""


def shorten(names: Sequence[str]) -> str:
    """Return names of windows for a sentence: the first ones, and the number of others.

    >>> shorten(["2009-11", "2009-12"])
    '2009-11, 2009-12'
    """
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more windows" if more > 0 else "")


def _periods(period: Period, first: Timestamp, last: Timestamp) -> Iterator[str]:
    """Yield the digits of each period from ``first`` to ``last``, at most one too many."""
    now = first[: period.value]
    for _ in range(_MOST_WINDOWS + 1):
        if now > last[: period.value]:
            return
        yield now
        now = _next(now)


def _next(digits: str) -> str:
    year = int(digits[:4])
    if len(digits) == Period.YEAR.value:
        return f"{year + 1:04}"
    month = int(digits[4:6])
    if len(digits) == Period.MONTH.value:
        return f"{year + month // 12:04}{month % 12 + 1:02}"
    try:
        return f"{date(year, month, int(digits[6:])) + timedelta(days=1):%Y%m%d}".rjust(8, "0")
    except OverflowError:  # the day after 9999-12-31
        return "99999999"
