"""A store that has nothing: what a stage asks when it runs without one."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, Self

from arclink.model import Checksum, Payload, UriR
from arclink.store import ArchiveFile


class KnownPayloads(Protocol):
    """What extract asks a store before it reads; a `GraphStore` answers it.

    What a store has of a payload from a WAT gives way to what is read from an archive file, if it says so by an attribute
    ``replaces_what_wats_say`` that is true; a store without it keeps what it has.
    """

    def snapshot(self) -> AbstractContextManager[None]:
        """Answer from one state of the store inside (`GraphStore.snapshot`); thousands of questions are quicker so."""

    def files(self) -> Iterator[ArchiveFile]:
        """Yield the archive files that the store knows."""

    def known_contents(self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        """Yield what the store has of each payload (`GraphStore.known_contents`)."""

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        """Yield where it has seen a payload (`GraphStore.originals_of`)."""


class EmptyStore:
    """Knows no file and no payload."""

    def snapshot(self) -> AbstractContextManager[None]:
        return nullcontext()

    def files(self) -> Iterator[ArchiveFile]:
        return iter(())

    def known_contents(self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        return ((None, originals) for _, originals in wanted)

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        return iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...
