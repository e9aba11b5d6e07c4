"""An empty store, for running a stage on its own, and the protocol that extract needs."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, Self

from arclink.model import Checksum, Payload, UriR
from arclink.store.protocols import ArchiveFile


class KnownPayloads(Protocol):
    """The queries that extract sends to a store before it reads; a `GraphStore` answers them.

    A store may replace a payload that it knows from a WAT by the same payload read from an archive
    file. Such a store has an attribute ``replaces_what_wats_say`` that is true; a store without it
    keeps the payload it has.
    """

    def snapshot(self) -> AbstractContextManager[None]:
        """Answer all queries inside the block from one state of the store (`GraphStore.snapshot`).

        Thousands of queries are also faster inside it.
        """

    def files(self) -> Iterator[ArchiveFile]:
        """Yield the archive files that the store knows."""

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        """Yield the stored state of each payload (`GraphStore.known_contents`)."""

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        """Yield the originals that a payload was captured at (`GraphStore.originals_of`)."""


class EmptyStore:
    """A store that knows no file and no payload."""

    def snapshot(self) -> AbstractContextManager[None]:
        return nullcontext()

    def files(self) -> Iterator[ArchiveFile]:
        return iter(())

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        return ((None, originals) for _, originals in wanted)

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        return iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...
