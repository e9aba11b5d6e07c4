"""Where the links of a page lead, and whether the archive has their targets at a time.

A target that was captured later was not necessarily absent before: an archive has what it happened
to collect. So there are three answers, none of which means "did not exist": captured then, captured
only later, and never captured. A crawl takes days, and reads a page before the pages that it links
to. So a target that was captured up to `_CRAWL` after the time also counts as captured then.
"""

from collections.abc import Iterable
from datetime import timedelta
from enum import Enum
from itertools import islice
from typing import NamedTuple

from arclink.access.kinds import KindGroup, group_of
from arclink.access.members import Member
from arclink.access.replay import moment_of
from arclink.model import Memento, Span, Surt, Timestamp, UriR
from arclink.store.protocols import Answers

_MOST_TARGET_MEMENTOS = 1_000
"""Number of mementos of one target that are read to find the one in force."""

_CRAWL = timedelta(days=30)

_SCHEMES = ("http:", "https:")


class Held(Enum):
    """What the archive has of a link's target."""

    THEN = "captured then"
    LATER = "captured only later"
    NEVER = "never captured"


class Destination(NamedTuple):
    """One target of a page's links.

    Attributes:
        uri: As the first link to it has it.
        texts: The words of the links to it, distinct, in page order; without empty ones.
        is_resource: Whether a browser loads it by itself to show the page, such as an image.
        held: What the archive has of it.
        capture: Its newest memento by then, or else its first one after; None if it was not
            captured then.
        first: Its first capture of all times; None if it was never captured.
    """

    uri: UriR
    texts: tuple[str, ...]
    is_resource: bool
    held: Held
    capture: Memento | None
    first: Timestamp | None


def destinations_of(
    store: Answers, outlinks: Iterable[Member], at: Timestamp
) -> tuple[Destination, ...]:
    """Return the targets of links, distinct by SURT, in page order; only http and https.

    Args:
        store: Where captures of the targets are looked up.
        outlinks: Links of one page.
        at: The time that "then" means.

    Raises:
        StoreError: The store cannot be reached.
    """
    by_surt: dict[Surt, list[Member]] = {}
    for member in outlinks:
        if member.uri.startswith(_SCHEMES):
            by_surt.setdefault(member.surt, []).append(member)
    return tuple(_destination(store, surt, members, at) for surt, members in by_surt.items())


def _destination(store: Answers, surt: Surt, members: list[Member], at: Timestamp) -> Destination:
    then = list(islice(store.mementos(surt, Span(last=_after(at, _CRAWL))), _MOST_TARGET_MEMENTOS))
    oldest = then[0] if then else next(store.mementos(surt), None)
    capture = next((one for one in reversed(then) if one.timestamp <= at), oldest)
    return Destination(
        members[0].uri,
        tuple(dict.fromkeys(member.text for member in members if member.text)),
        all(group_of(member.kind) is KindGroup.RESOURCES for member in members),
        Held.THEN if then else Held.NEVER if oldest is None else Held.LATER,
        capture if then else None,
        None if oldest is None else oldest.timestamp,
    )


def _after(timestamp: Timestamp, time: timedelta) -> Timestamp:
    try:
        moment = moment_of(timestamp) + time
    except (OverflowError, ValueError):  # the end of all time is no date
        return timestamp
    return Timestamp(f"{moment.year:04}{moment:%m%d%H%M%S}")
