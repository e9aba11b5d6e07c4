"""The protocols of a store, and the values that it takes and returns.

A store keeps a temporal link graph. Five protocols say what it can do; a caller names the smallest
one that it needs::

    OpenStore ─┬─▶ Answers ──▶ Scans ──▶ Additions ─┐
               ├─▶ Builds ──────────────────────────┼─▶ GraphStore
               └─▶ Takedowns ───────────────────────┘

`arclink.store.location.open_store` opens a `GraphStore`. A `arclink.store.filtered.FilteredStore`
wraps one for reading and shows some of its captures: it has `Scans` only.
"""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import astuple, dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from arclink.closing import Closing
from arclink.errors import OvertakenError
from arclink.known import NOT_COUNTED, KnownLinks, known_in
from arclink.model import (
    ALL_SURTS,
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
    ShownInlink,
    Sighting,
    Source,
    Span,
    Surt,
    UriR,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class KnownFile:
    """An archive file that a store knows.

    Attributes:
        name: The file name that mementos use.
        path: Absolute path or URL of the file when it was read.
        size: Bytes.
        fingerprint: Distinguishes the file from others of that name (`arclink.pipeline.inputs`).
    """

    name: str
    path: str
    size: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class StoreSums:
    """Totals that a store maintains while it is loaded, so that reading them needs no scan."""

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
    """A recorded request that a store forgets some captures.

    Attributes:
        what: The captures to forget.
        reason: Why, in the words of the requester; may be empty.
        time: When it was recorded: UTC, ``2026-11-21T20:00:00Z``.
    """

    what: Forgotten
    reason: str
    time: str


@dataclass(frozen=True, slots=True)
class Removed:
    """Numbers of removed items, in the order they are shown.

    Attributes:
        mementos: Distinct captures.
        payloads: Payloads that no capture shows any more.
        contents: Contents that no capture shows any more.
        links: Outlinks, repeated ones included.
        inlinks: The distinct links, among ``links``, from remaining pages to forgotten targets.
    """

    mementos: int = 0
    payloads: int = 0
    contents: int = 0
    links: int = 0
    inlinks: int = 0


def sum_of(removed: Iterable[Removed]) -> Removed:
    """Return the sums of the numbers of several takedowns.

    >>> sum_of([Removed(1, 2), Removed(3)])
    Removed(mementos=4, payloads=2, contents=0, links=0, inlinks=0)
    """
    return Removed(*map(sum, zip(*map(astuple, removed), strict=True)))


def removed_in_all(takedowns: Iterable[tuple[Takedown, Removed]]) -> Removed:
    """Return the numbers of items that all takedowns of a store removed."""
    return sum_of(removed for _, removed in takedowns)


def check_not_overtaken(
    takedowns: Iterable[tuple[Takedown, Removed]], removed: Removed | None
) -> None:
    """Check that takedowns have removed nothing since a batch was read.

    Args:
        takedowns: Those of the store now.
        removed: As for `Builds.load`.

    Raises:
        OvertakenError: They have.
    """
    if removed is not None and removed_in_all(takedowns) != removed:
        raise OvertakenError(
            "captures were forgotten since this batch was read; read it again with the same command"
        )


@dataclass(frozen=True, slots=True)
class StoreState:
    """Two identifiers of a state of a store, each 16 hex digits without further meaning.

    Attributes:
        version: Changes whenever an answer may change: after a batch, a takedown, or the midnight
            of an embargo.
        order: Stays the same while links are only added. Then a link that came after another one
            in store order still does.
    """

    version: str
    order: str

    @classmethod
    def of(cls, version: Sequence[object], order: Sequence[object]) -> Self:
        """Return the state that these facts identify."""
        return cls(
            *(
                hashlib.sha1(repr(facts).encode(), usedforsecurity=False).hexdigest()[:16]
                for facts in (version, order)
            )
        )


class ContentBlock(NamedTuple):
    """Neighbouring contents, as a full scan returns them; links they share are listed once.

    Attributes:
        contents: At least one.
        links: Links of these contents; each occurs once or a few times, and some may belong to no
            content here.
        lists: For each content, the indexes of its links in ``links``, in page order, with repeats;
            may be empty.
    """

    contents: Sequence[ContentId]
    links: Sequence[Outlink]
    lists: Sequence["npt.NDArray[np.int64]"]


class LoadMark(NamedTuple):
    """A moment in the life of a store: what was loaded before it.

    The numbers mean something to the store that gave the mark, and grow with each batch.
    """

    batch: int
    content: int


class Share(NamedTuple):
    """One of some shares of a store, which together have each row once.

    Attributes:
        number: From 0 on.
        of: Number of shares.
    """

    number: int
    of: int


WHOLE = Share(0, 1)


class Cluster(NamedTuple):
    """An engine that can run the tasks of a load on other machines.

    Attributes:
        task_address: Returns the path or address at which a task finds a file.
        run: Runs a job on manifests of tasks, with its settings; returns when all tasks are done.
        sizes: Returns the parts in a folder, in order, with their sizes in bytes. A part may be
            stored on the engine only.
        checksum: Returns a checksum of a part that is stored on the engine only; None for a part
            that is a file of this machine.
    """

    task_address: Callable[[Path], str]
    run: Callable[[Sequence[Path], Mapping[str, object]], None]
    sizes: Callable[[Path], Mapping[Path, int]]
    checksum: Callable[[Path], bytes | None]


WantsLink = Callable[[Kind, str, str | None], bool]
"""Returns whether links with this kind, text and rel are wanted."""


class OpenStore(Protocol):
    """An open store: facts about its loaded data, and when to close it.

    A reader sees whole batches only: a visible memento always has its links. Every iterator of a
    store is lazy and holds memory for one block, never for a whole answer; it stays correct while
    another process loads.

    Attributes:
        whole: The store with all captures, for uses whose results no reader sees.
        identity: The identity of the subset that this store shows: equal subsets have equal ones.
            It is empty if no capture is left out, or only those that an embargo hides.
    """

    @property
    def whole(self) -> "OpenStore": ...

    @property
    def identity(self) -> str: ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Answer all queries inside the block from one state of the store, even during a load.

        Hold it for seconds, not minutes: the log of a SQLite store grows while a reader uses an old
        state. Iterators that are read after the block continue as if there had been no snapshot.
        """

    def batches(self) -> Iterator[Batch]:
        """Yield the batches in the order they were loaded."""

    def last_batch(self) -> int:
        """Return the number of the batch that was loaded last; 0 if the store has no batch."""

    def state(self) -> StoreState:
        """Return the identifiers of this state of the store; reads a few rows only."""

    def files(self) -> Iterator[KnownFile]:
        """Yield the archive files that the store knows, by name."""

    def setting(self, name: str) -> str | None:
        """Return a setting of the store (extractor version, rules); None if it was never set."""

    def tables_at(self) -> Sequence[str]:
        """Return the addresses where tasks may have written relations of the store, sorted."""

    def sums(self) -> StoreSums:
        """Return the totals that need no scan of the stored data."""

    def days(self, span: Span = ALL_TIME) -> Mapping[str, KnownLinks] | None:
        """Return the `KnownLinks` of all captures of each day (``2010-02-17``), oldest first.

        No scan of the mementos: a row per day with captures is read. The first and the last day
        have only the captures within ``span``. None: the store does not know its captures by time,
        because another version of ArcLink has loaded it.
        """

    def known(self, span: Span = ALL_TIME) -> KnownLinks:
        """Return the `KnownLinks` of all captures together, within an exact span."""

    def forgotten(self) -> Iterator[tuple[Takedown, Removed]]:
        """Yield the takedowns in the order recorded, each with the numbers it removed.

        The numbers include items of later builds.
        """

    def close(self) -> None:
        """Release the resources that the store holds open."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class HasFiles(Protocol):
    """A list of archive files, which grows."""

    def state(self) -> StoreState:
        """Return the state of the store that has this list."""

    def files(self) -> Iterator[KnownFile]:
        """Yield the archive files, by name."""


class Captures(Protocol):
    """The queries with which the records of a capture are found.

    Attributes:
        whole: The archive files, with the paths at which they were read.
    """

    @property
    def whole(self) -> HasFiles: ...

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        """Yield the mementos of one SURT within ``span``, each key once.

        Order: timestamp, original, checksum.
        """

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        """Yield the distinct originals of mementos with this checksum, sorted.

        Mementos that a rule kept from being read are left out.
        """


class Answers(OpenStore, Captures, Protocol):
    """Queries about one SURT, one content or one payload."""

    def payload(self, checksum: Checksum) -> Payload | None:
        """Return the state of the payload with this checksum; None if it was never to be read."""

    def content_of(self, memento: Memento) -> ContentId | None:
        """Return the vertex with the outlinks of ``memento``; None if its payload was not read."""

    def shows_payload(self, memento: Memento) -> bool:
        """Return whether ``memento``, which the store shows, shows its payload, if it was read."""

    def outlinks(self, content: ContentId) -> Iterator[Outlink]:
        """Yield the links of one content, in page order."""

    def outlink_kinds(self, content: ContentId) -> Iterator[tuple[Kind, int]]:
        """Yield the number of distinct links of one content by kind; cheaper than the links."""

    def inlinks(self, target: Surt, after: Inlink | None = None) -> Iterator[Inlink]:
        """Yield the links to ``target`` in store order, each once.

        Args:
            target: SURT of the linked page.
            after: The link to continue after; from the first link on if not given.

        Raises:
            UsageError: The store does not have the content of ``after``.
        """

    def shown_inlinks(
        self, target: Surt, span: Span = ALL_TIME, wants: WantsLink = lambda *_: True
    ) -> Iterator[ShownInlink | None]:
        """Yield each link to ``target`` with the pages that show it within ``span``.

        This is `inlinks` with `sources`, in the same order, but a store need not look up the names
        of contents. Read the pages of each link before you take the next one.

        Yields:
            The link, perhaps without a page; None for a link that is not wanted, whose pages are
            not looked up.
        """

    def inlink_kinds(self, target: Surt) -> Iterator[tuple[Kind, int]]:
        """Yield the number of links to ``target`` by kind; much cheaper than the links.

        A kind may occur several times, in any order; its counts add up.
        """

    def sightings(self, content: ContentId, span: Span = ALL_TIME) -> Iterator[Sighting]:
        """Yield the mementos that show ``content`` within ``span``, each once.

        Order: original, timestamp.
        """

    def sources(
        self, contents: Iterable[ContentId], span: Span = ALL_TIME
    ) -> Iterator[Iterator[Source]]:
        """Yield, for each content in the given order, the pages that show it within ``span``.

        The pages are the `sightings` of the content, by original. This is cheaper than one call per
        content, because neighbours are read together. Read the pages of each content before you
        take the next content.
        """

    def surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        """Yield the SURTs of mementos and targets that start with ``prefix``, sorted, each once."""

    def captured_surts(self, prefix: Surt, after: Surt | None = None) -> Iterator[Surt]:
        """Yield the SURTs of mementos that start with ``prefix``, sorted, each once."""


class Scans(Answers, Protocol):
    """Reads of the whole store in storage order, for analysis, export, counts and checks.

    Attributes:
        unselected: The store with all captures that a reader may see, also outside the subset.
        selection: The subset that this store shows, as canonical text; empty like `identity`.
    """

    @property
    def whole(self) -> "Additions": ...

    @property
    def unselected(self) -> "Scans": ...

    @property
    def selection(self) -> str: ...

    def scan_mementos(self, span: Span = ALL_TIME, prefix: Surt = ALL_SURTS) -> Iterator[Memento]:
        """Yield the mementos within ``span`` of SURTs that start with ``prefix``, each key once.

        Order: SURT, timestamp, original, checksum.
        """

    def copies(self, surt: Surt) -> Iterator[Memento]:
        """Yield the mementos of one SURT as each batch brought them: of one key, several addresses.

        Order: as `Answers.mementos`; of one key, its memento there comes first.
        """

    def scan_contents(self) -> Iterator[ContentBlock]:
        """Yield every content with its links, each once, in the cheapest order for `sources`."""

    def stats(self) -> StoreStats:
        """Return counts over the whole store; this reads much of it."""

    def verify(self) -> Iterator[Violation]:
        """Yield every broken invariant of the store. Reads the whole store, in order."""


class KnownPayloads(Protocol):
    """The queries that extract sends to a store before it reads.

    Attributes:
        replaces_links: Whether the store replaces links that it has from a poorer source
            (`arclink.rows.pages`), such as a WAT; otherwise it keeps what it has.
        shared_url: URL at which tasks on other machines open the store; None if they cannot.
    """

    @property
    def replaces_links(self) -> bool: ...

    @property
    def shared_url(self) -> str | None: ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Answer all queries inside the block from one state of the store, even during a load.

        Hold it for seconds, not minutes: the log of a SQLite store grows while a reader uses an old
        state. Iterators that are read after the block continue as if there had been no snapshot.
        """

    def files(self) -> Iterator[KnownFile]:
        """Yield the archive files that the store knows, by name."""

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        """Yield the stored state of each payload, in the order of ``wanted``.

        Args:
            wanted: Checksums, each with the originals captured with it.

        Yields:
            The payload (None if it was never read) and those of the originals whose content the
            store lacks.
        """

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        """Yield the distinct originals of mementos with this checksum, sorted.

        Mementos that a rule kept from being read are left out.
        """

    def mementos(self, surt: Surt, span: Span = ALL_TIME) -> Iterator[Memento]:
        """Yield the mementos of one SURT within ``span``, as `Answers.mementos`."""

    def named_payloads(self) -> Iterator[tuple[Checksum, Checksum]]:
        """Yield the payloads that were not read and whose revisits name a capture.

        Yields:
            The checksum of the payload and the reference to the capture; of one payload, perhaps
            several references. A payload that is known by its reference has this as its checksum.
        """


class Builds(KnownPayloads, OpenStore, Protocol):
    """Loads of batches. Loading the same batch twice changes nothing."""

    def load(
        self,
        graph: Path,
        files: Sequence[KnownFile],
        settings: Mapping[str, str],
        manifest: str,
        cores: int | None = None,
        cluster: Cluster | None = None,
        removed: Removed | None = None,
    ) -> Batch:
        """Add the graph files of one batch as one step: readers see all of it or nothing.

        A store in a file leaves out mementos that an earlier batch has, from the same place in the
        same file. Other stores keep each, and answers show one of them.

        ``docs/reference/graph-files.md`` describes the files.

        Args:
            graph: Folder of the graph files.
            files: Archive files of the batch.
            settings: Settings the batch was made with.
            manifest: JSON text.
            cores: Greatest number of processes or tasks at a time; one per processor if not given.
            cluster: Runs the tasks of the load elsewhere, if the store can be loaded that way.
            removed: What all takedowns had removed (`removed_in_all`) when the batch was read; None
                if it was read without the store.

        Raises:
            OvertakenError: Takedowns have removed more since. The batch may lack payloads that the
                store had when it was read, and have contents that no capture shows any more.
            StoreError: The store is locked by another build, full, or old
                (`arclink.store.layouts`).
        """

    def trim(self) -> None:
        """Return disk space that loading took and the store no longer needs.

        A build calls this when it ends.
        """


class Takedowns(OpenStore, Protocol):
    """Removal of captures, and of everything that only they show."""

    def forget(self, takedown: Takedown, *, is_trial: bool = False) -> Removed:
        """Apply one takedown; see `forget_each`."""

    def forget_each(
        self, takedowns: Sequence[Takedown], *, is_trial: bool = False
    ) -> list[Removed]:
        """Remove captures and all that only they show, and record the takedowns.

        A store in one file applies all of them as one step, a store in Cassandra a thousand as one.

        Afterwards the store answers as if it had been built without these captures, and it forgets
        them in later batches too. Applying the same takedown twice changes nothing.

        Args:
            takedowns: The captures to forget, and the reasons; each is recorded once.
            is_trial: Return the numbers that would be removed, and change nothing.

        Returns:
            The numbers of items that each takedown removes after those before it.

        Raises:
            StoreError: The store is locked by a build, or full.
        """

    def clean(self) -> None:
        """Erase every removed byte from the store's files; takes as long as copying the store.

        Raises:
            StoreError: The store is locked or full.
        """

    def note_tables(self, address: str, *, are_there: bool) -> None:
        """Note that tasks may write relations of the store at an address, or that none are there.

        A takedown must find all copies.

        Raises:
            StoreError: The store is locked by a build, or full.
        """


class Additions(Scans, Protocol):
    """Reads of what batches added since a mark, for copies of the data in another form.

    They are right as long as nothing was forgotten or replaced since (`StoreState.places`, and the
    takedowns).
    """

    def mark(self) -> LoadMark:
        """Return the mark of the present state."""

    def contents_after(self, mark: LoadMark) -> Iterator[ContentBlock]:
        """Yield the contents that were loaded after the mark, as `scan_contents`."""

    def mementos_after(self, mark: LoadMark) -> Iterator[tuple[Memento, bool]]:
        """Yield the mementos that the store shows since the mark, in the order of `scan_mementos`.

        Each comes with whether it replaces one of the same key that was shown before. The keys of
        all captures are read.
        """

    def share_of_mementos(self, share: Share) -> Iterator[Memento]:
        """Yield the mementos of a share, as `scan_mementos`; SURTs come in any order.

        All mementos of a SURT are in one share.
        """

    def share_of_contents(self, share: Share) -> Iterator[ContentBlock]:
        """Yield the contents of a share, as `scan_contents`."""

    def shown(self, mementos: Iterable[Memento]) -> Iterator[tuple[ContentId | None, str | None]]:
        """Yield the `content_of` each memento, and the title of its payload (`Payload.title`).

        This is cheaper than one call each.
        """


class GraphStore(Additions, Builds, Takedowns, Protocol):
    """A temporal link graph that can be built, read and corrected.

    Attributes:
        layout: The number of its layout (`arclink.store.layouts`).
    """

    @property
    def layout(self) -> int: ...

    def upgrade(self) -> None:
        """Make keys and layout of the store the present ones, as one step.

        Raises:
            StoreError: Another process is loading, or the disk is full. The store is unchanged.
        """


class WholeStore(Closing):
    """Base of stores that show all their captures."""

    identity = selection = ""

    @property
    def whole(self) -> Self:
        return self

    unselected = whole

    @abstractmethod
    def days(self, span: Span = ALL_TIME) -> Mapping[str, KnownLinks] | None:
        """Return the `KnownLinks` of all captures of each day (`OpenStore`)."""

    def known(self, span: Span = ALL_TIME) -> KnownLinks:
        days = self.days(span)
        return NOT_COUNTED if days is None else known_in(days.values())

    def shows_payload(self, memento: Memento) -> bool:
        return True


# An empty store, for running a stage on its own.


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
