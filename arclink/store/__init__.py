"""A store is the questions it answers: `GraphStore`, and `open_store` to get one from a path or URL."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from arclink.model import (
    ALL_TIME,
    Batch,
    Checksum,
    ContentId,
    Forgotten,
    Inlink,
    Kind,
    Memento,
    Outlink,
    Payload,
    Sighting,
    Source,
    Span,
    Surt,
    UriR,
)


@dataclass(frozen=True, slots=True)
class ArchiveFile:
    """An archive file that a store knows.

    Attributes:
        name: As mementos name it.
        path: Where it was when it was read; absolute path or URL.
        size: Bytes.
        fingerprint: What tells it from another file of that name (`arclink.pipeline.inputs`).
    """

    name: str
    path: str
    size: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class StoreSums:
    """What a store adds up while it is loaded, so that it can be told at once, however large the store."""

    batches: int
    files: int
    payloads: int
    contents: int
    links: int
    first: str
    last: str
    bytes: int


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Counts over the whole store, in the order they are shown."""

    batches: int
    files: int
    mementos: int
    originals: int
    payloads: int
    contents: int
    links: int
    targets: int
    first: str
    last: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken invariant: its name, and where it was found."""

    invariant: str
    detail: str


@dataclass(frozen=True, slots=True)
class Takedown:
    """A request that a store forgets something, as it is recorded.

    Attributes:
        what: Which captures.
        reason: Why, in the words of who asked; may be empty.
        time: When it was recorded: UTC, ``2026-11-21T20:00:00Z``.
    """

    what: Forgotten
    reason: str
    time: str


@dataclass(frozen=True, slots=True)
class Removed:
    """How much was removed from a store, in the order it is shown.

    Attributes:
        mementos: Distinct captures.
        payloads: Payloads that no capture shows any more.
        contents: Contents that no capture shows any more.
        links: Outlinks, repeated ones included.
        inlinks: Of these, distinct links to what was forgotten that pages which stay had.
    """

    mementos: int = 0
    payloads: int = 0
    contents: int = 0
    links: int = 0
    inlinks: int = 0


@dataclass(frozen=True, slots=True)
class StoreState:
    """What tells one state of a store from others; both are 16 hex digits that say nothing else.

    Attributes:
        version: Another one whenever an answer may be another one: after a batch, a takedown, the midnight of an embargo.
        places: The same as long as links are only added: then what stood behind another link in store order still does.
    """

    version: str
    places: str

    @classmethod
    def of(cls, version: Sequence[object], places: Sequence[object]) -> Self:
        """Return the state that these facts tell."""
        return cls(*(hashlib.sha1(repr(facts).encode(), usedforsecurity=False).hexdigest()[:16] for facts in (version, places)))


class ContentBlock(NamedTuple):
    """Some contents that stand together, as a whole scan tells them: what many of them link to is named once.

    Attributes:
        contents: At least one.
        links: Their links; each is there once or a few times, and some may belong to none of them.
        lists: For each content the places of its links in ``links``, in page order, repeated ones included; may be empty.
    """

    contents: Sequence[ContentId]
    links: Sequence[Outlink]
    lists: Sequence[npt.NDArray[np.int64]]


class GraphStore(Protocol):
    """A temporal link graph. Loading the same batch twice changes nothing.

    A reader sees whole batches only: a memento that can be seen always has its links. Every iterator is lazy and
    holds memory for one block, never for a whole answer; it stays right while another process loads.
    """

    def snapshot(self) -> AbstractContextManager[None]:
        """Have all that is asked inside of the block answered from one state of the store, whatever is loaded meanwhile.

        For seconds, not minutes: a SQLite store's log grows as long as somebody reads an old state. Iterators that are read
        on behind the block go on as if there had been none.
        """

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        """Yield the mementos of one SURT within ``span``, by timestamp, original, checksum; each key once."""

    def payload(self, checksum: Checksum) -> Payload | None:
        """Return what became of the payload with this checksum; None if none was ever to be read."""

    def content_of(self, memento: Memento) -> ContentId | None:
        """Return the vertex that holds the outlinks of ``memento``; None if its payload was not read."""

    def outlinks(self, content: ContentId) -> Iterator[Outlink]:
        """Yield the links of one content, in page order."""

    def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
        """Yield the links to ``target`` in store order, each once; from behind ``after`` on if given.

        Raises:
            UsageError: The store has no such content as ``after`` names.
        """

    def inlink_kinds(self, target: Surt) -> Iterator[tuple[Kind, int]]:
        """Yield how many links of which kind lead to ``target``, in parts and no order; much cheaper than the links."""

    def sightings(self, content: ContentId, span: Span = ALL_TIME) -> Iterator[Sighting]:
        """Yield the mementos that show ``content`` within ``span``, by original, timestamp; each once."""

    def sources(self, contents: Iterable[ContentId], span: Span = ALL_TIME) -> Iterator[Iterator[Source]]:
        """Yield for each content, in the order asked, the pages that show it within ``span``, by original; read each before the next.

        They are its `sightings`, and cheaper than asking for those one content after the other: neighbours are read together.
        """

    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        """Yield the SURTs of mementos and targets that start with ``prefix``, sorted, each once."""

    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        """Yield those of the `surts` that have a memento, likewise."""

    # Everything, in the order in which it is stored: for analysis and export.

    def scan_mementos(self, span: Span = ALL_TIME) -> Iterator[Memento]:
        """Yield the mementos of all SURTs within ``span``, by SURT, timestamp, original, checksum; each key once."""

    def scan_contents(self) -> Iterator[ContentBlock]:
        """Yield every content with its links, each content once, in the order in which `sources` is cheapest."""

    # What was loaded.

    def batches(self) -> Iterator[Batch]:
        """Yield the batches that were loaded, in that order."""

    def last_batch(self) -> int:
        """Return the number of the batch that was loaded last; 0 if there is none."""

    def state(self) -> StoreState:
        """Return what tells this state of the store from others, at the cost of a few rows."""

    def files(self) -> Iterator[ArchiveFile]:
        """Yield the archive files that the store knows, by name."""

    def setting(self, name: str) -> str | None:
        """Return a setting the store was built with (extractor version, rules); None if it was never set."""

    def sums(self) -> StoreSums:
        """Return the counts that need no look at what is stored."""

    def stats(self) -> StoreStats:
        """Return counts over the whole store; takes as long as reading much of it."""

    def verify(self) -> Iterator[Violation]:
        """Yield every broken invariant of the store; nothing when all hold. Reads the whole store, in order."""

    # What a build asks before it reads payloads.

    def known_contents(self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        """Yield, for each checksum and the originals captured with it, what the store has, in the order asked.

        Yields:
            The payload (None if it was never read) and those of the originals whose content the store lacks.
        """

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        """Yield the distinct originals of mementos with this checksum, sorted; without those that a rule kept from being read."""

    # What a build writes.

    def load(
        self, graph: Path, files: Sequence[ArchiveFile], settings: Mapping[str, str], manifest: str, cores: int | None = None
    ) -> Batch:
        """Add the graph files of one batch (``docs/graph-files.md``) as one step: all of it is seen, or nothing.

        Args:
            graph: Folder of the graph files.
            files: Of the batch.
            settings: What it was made with.
            manifest: JSON.
            cores: Processes that may work at a time; as many as there are processors if not given.

        Raises:
            StoreError: The store is locked by another build, full, or of another version.
        """

    def trim(self) -> None:
        """Give the disk back what loading took and the store does not need any more; called when a build ends."""

    # What an archive must be able to take back.

    def forget(self, takedown: Takedown, *, is_trial: bool = False) -> Removed:
        """Remove captures and all that only they show, as one step, and record it: what is loaded later is forgotten, too.

        The store answers afterwards as one that was built without them. Forgetting the same twice changes nothing.

        Args:
            takedown: What, and why; recorded once.
            is_trial: Tell how much would be removed, and change nothing.

        Raises:
            StoreError: The store is locked by a build, or full.
        """

    def forgotten(self) -> Iterator[tuple[Takedown, Removed]]:
        """Yield what the store was told to forget and how much that was, later builds included, in the order it was told."""

    def clean(self) -> None:
        """Leave no byte of what was removed in what the store keeps on disk; takes as long as copying the store.

        Raises:
            StoreError: The store is locked or full.
        """

    def close(self) -> None:
        """Give back what the store holds open."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


@runtime_checkable
class LoadsByJob(Protocol):
    """A store that tasks on other machines can load."""

    def load_by_job(
        self,
        graph: Path,
        files: Sequence[ArchiveFile],
        settings: Mapping[str, str],
        manifest: str,
        cores: int,
        place: Callable[[Path], str],
        run: Callable[[Sequence[Path], Mapping[str, object]], None],
    ) -> Batch:
        """Do what `GraphStore.load` does, by tasks of a job.

        Args:
            graph: Folder of the graph files.
            files: Of the batch.
            settings: What it was made with.
            manifest: JSON.
            cores: Tasks at a time.
            place: Returns where a task finds a file.
            run: Runs the job on manifests of tasks, with its settings; returns when all are done.
        """
