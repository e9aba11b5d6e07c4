"""An empty store, for running a stage on its own."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Self

from arclink.model import ALL_TIME, Checksum, Memento, Payload, Span, Surt, UriR
from arclink.store.protocols import KnownFile


class EmptyStore:
    """A `KnownPayloads` that knows no file and no payload."""

    replaces_links = False
    shared_url: str | None = None

    def snapshot(self) -> AbstractContextManager[None]:
        return nullcontext()

    def files(self) -> Iterator[KnownFile]:
        return iter(())

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        return ((None, originals) for _, originals in wanted)

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        return iter(())

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        return iter(())

    def named_payloads(self) -> Iterator[tuple[Checksum, Checksum]]:
        return iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...
