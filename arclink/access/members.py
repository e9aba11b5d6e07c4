"""One link of an answer, and what it is grouped by."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from arclink.access.archives import InArchives
from arclink.access.queries import Direction
from arclink.model import Kind, Sighting, Surt, Timestamp, UriR
from arclink.tuples import maker
from arclink.uris.surts import surt_of

if TYPE_CHECKING:
    from arclink.access.evidence import Evidence

MemberKey = tuple[UriR, Kind, str, str | None]
"""What makes two links one member: the URI at the other end, kind, text, rel."""


class Validity(NamedTuple):
    """The mementos of its page between which a link came and went (`arclink.access.validity`).

    Attributes:
        last_without: None if no memento before tells.
        first_without: None if no memento behind tells.
    """

    last_without: Timestamp | None
    first_with: Timestamp
    last_with: Timestamp
    first_without: Timestamp | None


class Member(NamedTuple):
    """One link through time, as the URI asked for sees it.

    Attributes:
        uri: The other end: the target of an outlink, the page that holds an inlink.
        surt: Its SURT.
        text: As in `arclink.model.Outlink`; ``rel`` too.
        timestamps: The mementos that show it, distinct, sorted.
        variants: The URIs really used on this end, distinct, sorted: sources of an outlink, targets of an inlink. All
            have the SURT asked for.
        archives: Where it was seen, if the answers of several archives were merged.
        shown: Which variant shows it at which time, by time and URI, where that is not plain: several variants show an outlink.
        evidence: Its mementos, if they were asked for and the request could afford it.
        validity: When it came and went, likewise.
    """

    uri: UriR
    surt: Surt
    kind: Kind
    text: str
    rel: str | None
    timestamps: tuple[Timestamp, ...]
    variants: tuple[UriR, ...]
    archives: InArchives | None = None
    shown: tuple[Sighting, ...] = ()
    evidence: "tuple[Evidence, ...] | None" = None
    validity: Validity | None = None


def member_of(key: MemberKey, timestamps: Iterable[Timestamp], variants: Iterable[UriR]) -> Member:
    """Return the member ``key`` with these timestamps and variants, both in any order, repeated or not."""
    return ordered_member(key, tuple(sorted(set(timestamps))), tuple(sorted(set(variants))))


def ordered_member(key: MemberKey, timestamps: tuple[Timestamp, ...], variants: tuple[UriR, ...]) -> Member:
    """Return the member ``key`` with these timestamps and variants, both distinct and sorted."""
    uri, kind, text, rel = key
    return _member((uri, _surt_of(uri), kind, text, rel, timestamps, variants, None, (), None, None))


_member = maker(Member)


def sightings_of(member: Member, direction: Direction) -> tuple[Sighting, ...]:
    """Return the mementos that show ``member``, by time and URI; none if archives were merged, which do not tell that."""
    if member.archives is not None or member.shown:
        return member.shown
    page = member.uri if direction is Direction.IN else member.variants[0]
    return tuple(Sighting(page, timestamp) for timestamp in member.timestamps)


def by_page(members: Iterable[Member]) -> Iterator[tuple[UriR, Surt, Iterator[Member]]]:
    """Yield the members of an answer about many pages, page by page, with its URI and SURT; read each before the next.

    A page may come again, in another of its contents.
    """
    for page, of_page in groupby(members, lambda member: member.variants[0]):
        yield page, _surt_of(page), of_page


_surt_of = lru_cache(maxsize=1 << 14)(surt_of)  # the pages of a site link to the same menus, with several words
