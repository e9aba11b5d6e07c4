"""The rows of a whole store, for counting and verification; each store has its own reader."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from arclink.model import Checksum, Forgotten, Scope, Surt
from arclink.store.blocks.answers import BlockAnswers
from arclink.store.blocks.byte_layouts import Numbers
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.relations import MementoItem


class StoredPayload(NamedTuple):
    """What the check of mementos needs to know of a payload.

    Attributes:
        key: Names the payload in its sightings; a number or a checksum.
        bucket: A small number that follows from the key; many payloads share it.
        scope: None if the payload was not read, or if only the crawler's list of its links is
            known, which belongs to some of its originals only.
    """

    key: int | str
    bucket: int
    scope: Scope | None


class PayloadSighting(NamedTuple):
    """One sighting of a payload: key and bucket as in `StoredPayload`.

    The bucket is None if the store has no payload with this key.
    """

    key: int | str
    bucket: int | None
    original: str
    timestamp: str


class ContentLinks(NamedTuple):
    """One block of outlinks.

    Attributes:
        load: With the numbers of its contents it identifies them; 0 if numbers alone do.
        contents: Numbers of the contents of the block that the store has, sorted.
    """

    load: int
    block: OutlinkBlock
    contents: Sequence[int]


class TargetLinks(NamedTuple):
    """One row of inlinks: heads, counts and numbers are those of `groups_of`; load as above."""

    load: int
    surt: Surt
    target: str
    heads: Sequence[str]
    counts: Numbers
    numbers: Numbers


class VerifiedRows(Protocol):
    """The rows that counting and verification read.

    Each method can be called again and yields the same.
    """

    @property
    def answers(self) -> BlockAnswers:
        """The store."""

    def mementos(self) -> Iterator[tuple[Surt, MementoItem]]:
        """Yield every memento once; those of one SURT follow each other, sorted."""

    def count_targets(self) -> int:
        """Return the number of distinct targets of inlinks."""

    def sightings(self) -> Iterator[PayloadSighting]:
        """Yield every sighting of every payload once; those of one payload follow each other."""

    def outlinks(self) -> Iterator[ContentLinks]:
        """Yield every block of outlinks once."""

    def inlinks(self) -> Iterator[TargetLinks]:
        """Yield every row of inlinks once; those of one target follow each other."""

    def payloads(self, checksums: Sequence[Checksum]) -> list[StoredPayload | None]:
        """Return each payload; None if the store should have it and does not."""

    def greatest_content(self) -> int | None:
        """Return the greatest number of a content; None if numbers are not dense."""

    def name_of(self, load: int, content: int) -> str:
        """Return a name of a content for messages."""

    def takedowns(self) -> Iterable[Forgotten]:
        """Return the takedowns of the store."""

    def mementos_within(self, what: Forgotten) -> Iterator[tuple[Surt, MementoItem]]:
        """Yield the mementos of the SURTs that a takedown has."""

    def targets_within(self, what: Forgotten) -> Iterator[str]:
        """Yield the SURTs of targets that a takedown has."""
