"""Whether links are known: the captures of a part of the web in a period, and how many were read.

No link does not mean "none" unless a capture that could show one was read. So each count of links
comes with a `KnownLinks` of the part that could link: for links *to* a page, all that was captured
in the period (or the host, site or page in question); for links *on* a page, the page's own
captures. This module alone decides between a count, none, and unknown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Self, TypedDict

from arclink.model import Span, Timestamp

_MOST_TOLD = 10**15
"""No archive has as many captures."""

NOT_MODIFIED = "304"
"""Status of a revisit after the server answered "not modified": the page existed."""


class ReadCapturesFields(TypedDict):
    """Captures that links are known from."""

    captures: Annotated[int, "All of that time."]
    read: Annotated[int, "Those with known links: they were read, or cannot have any."]
    first: Timestamp | None
    last: Timestamp | None


@dataclass(frozen=True, slots=True)
class KnownLinks:
    """The captures of one part of the web in one exact period.

    Attributes:
        captures: Their number, each capture once; None if it is not known.
        read: Number of those whose links are known (`arclink.store.known_captures`): they were
            read, or they are errors or redirects, which have none; but not redirects to a variant
            of their own URI. None if it is not known.
        first: Timestamp of the first of these; None if no links are known, or if that is not known.
        last: Timestamp of the last of these.
    """

    captures: int | None = 0
    read: int | None = 0
    first: Timestamp | None = None
    last: Timestamp | None = None

    @property
    def is_known(self) -> bool | None:
        """Whether no link means "none"; False: it means "unknown". None if that is not known."""
        if self.captures == 0 or self.read == 0:
            return False
        return None if self.read is None else True

    def count(self, links: int | None) -> int | None:
        """Return a number of links, with 0 only for none; None if there may be some.

        >>> KnownLinks(3, 1).count(0), KnownLinks(3, 0).count(0), KnownLinks(3, 0).count(2)
        (0, None, 2)
        """
        return links or (0 if self.is_known else None)

    @classmethod
    def said(cls, is_known: bool | None) -> Self:
        """Return the `KnownLinks` of an answer of another archive, without numbers of captures."""
        return cls(None, None if is_known is None else int(is_known))

    @classmethod
    def told(cls, is_known: object, captures: object, read: object) -> Self | None:
        """Return the answer of another archive, without wrong numbers; None if it does not say so.

        >>> KnownLinks.told(True, 3, 2), KnownLinks.told(True, "3", 2) == KnownLinks.said(True)
        (KnownLinks(captures=3, read=2, first=None, last=None), True)
        """
        if not isinstance(is_known, bool):
            return None
        if type(captures) is type(read) is int and 0 <= read <= captures < _MOST_TOLD:
            found = cls(captures, read)
            if found.is_known is is_known:
                return found
        return cls.said(is_known)

    @property
    def read_from(self) -> str:
        """The captures that "none" was read from, in words; empty if they were not counted.

        >>> KnownLinks(2_000, 1_999).read_from
        'read from 1,999 of 2,000 captures'
        """
        if not self.captures or not self.read:
            return ""
        of_all = "" if self.read == self.captures else f"{self.read:,} of "
        return f"read from {of_all}{self.captures:,} capture{'' if self.captures == 1 else 's'}"

    def why_unknown(self, when: str) -> str:
        """Return why no link does not mean "none", in words; empty if it does.

        Args:
            when: The period in words, such as "at that time".

        >>> KnownLinks(2, 0).why_unknown("at that time")
        'the links of none of the 2 captures at that time are known'
        """
        if self.is_known:
            return ""
        if self.read is None:
            return "it is not known whether captures of that time were read"
        if not self.captures:
            return f"there are no captures to show {when}"
        if self.captures == 1:
            return f"the links of the only capture {when} are not known"
        return f"the links of none of the {self.captures:,} captures {when} are known"

    def none(self, when: str) -> str:
        """Return that there are no links, and what this was read from; or that it is unknown.

        >>> KnownLinks(3, 3).none("then"), KnownLinks().none("then")
        ('none (read from 3 captures)', 'unknown: there are no captures to show then')
        """
        if why := self.why_unknown(when):
            return f"unknown: {why}"
        return f"none ({self.read_from})" if self.captures else "none"

    @property
    def as_fields(self) -> ReadCapturesFields | None:
        """The numbers as members of JSON; None if they were not counted."""
        if self.captures is None or self.read is None:
            return None
        return {
            "captures": self.captures,
            "read": self.read,
            "first": self.first,
            "last": self.last,
        }

    def __add__(self, other: Self) -> "KnownLinks":
        """Return the `KnownLinks` of both together, if they have no capture in common."""
        return KnownLinks(
            _sum(self.captures, other.captures),
            _sum(self.read, other.read),
            min(filter(None, (self.first, other.first)), default=None),
            max(filter(None, (self.last, other.last)), default=None),
        )


Seconds = Mapping[Timestamp, tuple[int, int]]
"""The numbers of captures, and of those whose links are known, of each second with some."""

NOTHING = KnownLinks()
"""No capture at all."""

NOT_COUNTED = KnownLinks(None, None)
"""A store of an earlier layout does not know its captures by time."""


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def known_in(parts: Iterable[KnownLinks]) -> KnownLinks:
    """Return the `KnownLinks` of parts or periods together that have no capture in common."""
    known = NOTHING
    for part in parts:
        known += part
    return known


def known_by(days: Mapping[str, KnownLinks], letters: int) -> dict[str, KnownLinks]:
    """Return the `KnownLinks` of each period, from those of each day.

    Args:
        days: By day, ``2010-02-17``.
        letters: Number of letters of the name of a period: 7 of a month, ``2010-02``.
    """
    periods: dict[str, KnownLinks] = {}
    for day, known in days.items():
        periods[day[:letters]] = periods.get(day[:letters], NOTHING) + known
    return periods


def is_gone(status: str) -> bool:
    """Return whether the status of a capture that was not read says that it has no links.

    That of an error or a redirect does.

    >>> is_gone("404"), is_gone(NOT_MODIFIED), is_gone("-")
    (True, False, False)
    """
    return status[:1] in ("3", "4", "5") and status != NOT_MODIFIED


def within(seconds: Seconds, span: Span) -> KnownLinks:
    """Return the `KnownLinks` of the captures of these seconds in a span."""
    inside = {when: counts for when, counts in seconds.items() if when in span}
    read = [when for when, (_, of_known_links) in inside.items() if of_known_links]
    return KnownLinks(
        sum(captures for captures, _ in inside.values()),
        sum(of_known_links for _, of_known_links in inside.values()),
        min(read, default=None),
        max(read, default=None),
    )


def added(seconds: Seconds, changes: Seconds) -> Seconds:
    """Return the numbers of seconds after changes; seconds without captures are left out."""
    sums = dict(seconds)
    for when, (captures, read) in changes.items():
        counts = sums.get(when, (0, 0))
        sums[when] = counts[0] + captures, counts[1] + read
    return {when: counts for when, counts in sums.items() if counts[0]}
