"""One link of an answer, and the key by which links are grouped."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from arclink.access.queries import Direction
from arclink.model import Kind, Memento, Sighting, Surt, Timestamp, UriR, maker
from arclink.uris.resolution import serialised
from arclink.uris.surts import surt_of

if TYPE_CHECKING:
    from arclink.access.archives import InArchives

MemberKey = tuple[UriR, Kind, str, str | None]
"""The key of a member: URI at the other end, kind, text, rel."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One memento that shows a link (`arclink.access.validity` gathers them).

    Attributes:
        memento: Its record: file, offset, length, checksum. For a revisit, this is the revisit
            record itself, which repeats the payload of another record.
        file: Name of the archive file that the payload was read from. It can differ from the file
            of the memento: a revisit, or any capture with an equal payload, is not read again.
        offset: Bytes into that file.
    """

    memento: Memento
    file: str
    offset: int


class Validity(NamedTuple):
    """Mementos between which a link appeared and disappeared (`arclink.access.validity`).

    Attributes:
        last_without: The last memento before that is known not to show the link, if there is one.
        first_with: The first memento that shows it.
        last_with: The last memento that shows it.
        first_without: The first memento after that is known not to show it, if there is one.
    """

    last_without: Timestamp | None
    first_with: Timestamp
    last_with: Timestamp
    first_without: Timestamp | None


class Member(NamedTuple):
    """One link through time, seen from the queried URI.

    Attributes:
        uri: The other end: the target of an outlink, or the page that holds an inlink.
        text: As in `arclink.model.Outlink`; likewise ``rel``.
        timestamps: The times of the mementos that show it, distinct, sorted.
        variants: The URIs on this end, as captured or as written in links; distinct, sorted:
            sources of an outlink, targets of an inlink. All have the queried SURT.
        archives: The archives in which it was seen, if answers of several archives were merged.
        shown: The variant that shows it at each time, ordered by time and URI. Filled only if
            several variants show an outlink.
        evidence: Its mementos, if the query requests them and the budget is sufficient.
        validity: When it appeared and disappeared, likewise.
    """

    uri: UriR
    kind: Kind
    text: str
    rel: str | None
    timestamps: tuple[Timestamp, ...]
    variants: tuple[UriR, ...]
    archives: "InArchives | None" = None
    shown: tuple[Sighting, ...] = ()
    evidence: tuple[Evidence, ...] | None = None
    validity: Validity | None = None

    @property
    def surt(self) -> Surt:
        """The SURT of ``uri``, which few formats show."""
        return _surt_of(self.uri)

    @property
    def serialised(self) -> UriR:
        """``uri`` as targets of links are serialised; for an outlink it is ``uri`` itself."""
        return serialised(self.uri)


def member_of(key: MemberKey, timestamps: Iterable[Timestamp], variants: Iterable[UriR]) -> Member:
    """Return the member ``key`` from timestamps and variants in any order, repeated or not."""
    return ordered_member(key, tuple(sorted(set(timestamps))), tuple(sorted(set(variants))))


def ordered_member(
    key: MemberKey, timestamps: tuple[Timestamp, ...], variants: tuple[UriR, ...]
) -> Member:
    """Return the member ``key`` from timestamps and variants that are distinct and sorted."""
    return _member((*key, timestamps, variants, None, (), None, None))


_member = maker(Member)


def sightings_of(member: Member, direction: Direction) -> tuple[Sighting, ...]:
    """Return the mementos that show ``member``, by time and URI.

    The result is empty for merged answers of archives, which do not contain that information.
    """
    if member.archives is not None or member.shown:
        return member.shown
    page = member.uri if direction is Direction.IN else member.variants[0]
    return tuple(Sighting(page, timestamp) for timestamp in member.timestamps)


def by_page(members: Iterable[Member]) -> Iterator[tuple[UriR, Surt, Iterator[Member]]]:
    """Yield the members of an answer about many pages as (URI of the page, its SURT, its members).

    Read the members of each page before the next page. A page may come again with another content.
    """
    for page, of_page in groupby(members, lambda member: member.variants[0]):
        yield page, _surt_of(page), of_page


# The pages of a site link to the same menu targets with several texts.
_surt_of = lru_cache(maxsize=1 << 14)(surt_of)
