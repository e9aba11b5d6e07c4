"""Checks the invariants that every store has, by reading its rows once or twice.

Memory does not grow with the number of links. Sets that are too large to hold are compared by sums:
each member gets a 128-bit hash, and the sum of the hashes does not depend on their order. There is
one sum per bucket; where two sums differ, these buckets are read again and the differing members
are named.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from arclink import progress
from arclink.errors import StoreError
from arclink.files.spill import Sorted
from arclink.model import Checksum, Forgotten, Payload, Scope, Surt, UriR
from arclink.portions import portions
from arclink.reasons import Reason
from arclink.store.blocks.answers import BlockAnswers
from arclink.store.blocks.byte_layouts import Numbers
from arclink.store.blocks.outlinks import OutlinkBlock
from arclink.store.blocks.relations import MementoItem, pack_head
from arclink.store.blocks.rows import shows_payload
from arclink.store.layouts import Keys, keys_of
from arclink.store.protocols import StoreStats, StoreSums, Violation
from arclink.store.seals import UNPACKING_ERRORS, explained
from arclink.uris.resolution import content_id
from arclink.uris.surts import without_method
from arclink.uris.uri_ids import uri_id

# Functions that both stores use to check themselves: sums of hashes, and colliding URI-IDs.
#
# Sets too large to hold are compared by sums: each member gets a 128-bit hash, and the sum of the
# hashes does not depend on their order.

COLLISION = "URI-IDs differ where SURTs do"
"""A harmless invariant: the store never merges anything by URI-ID."""

NAMED = 10
"""Number of violations of one kind that are named."""

Sums = npt.NDArray[np.uint64]
"""The sum of the member hashes of each bucket, in two halves of 64 bits."""


def uri_id_collisions(surts: Iterator[Surt]) -> Iterator[Violation]:
    """Yield a violation for each URI-ID that several SURTs share."""
    ids = Sorted[tuple[str, str]]()
    for surt in surts:
        ids.add((uri_id(surt), surt))
    for shared, same in groupby(ids, itemgetter(0)):
        _, first = next(same)
        for _, last in deque(same, 1):
            yield Violation(COLLISION, f"{shared}: {first} and {last}")


def _link_key(target: str, kind: str, text: str, rel: str | None) -> str:
    """Return a link as one string."""
    return f"{target}\0{pack_head(kind, text, rel)}"


def hashes_of(members: list[str]) -> Sums:
    """Return a hash of 128 bits for each member, in two halves."""
    digests = b"".join(blake2b(member.encode(), digest_size=16).digest() for member in members)
    return np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)


def _hashes_of_pairs(numbers: Numbers, hashes: Sums) -> Sums:
    """Return the hash of each (number, member) pair, from the hash of the member."""
    factors = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    factors = ((factors ^ (factors >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)) | np.uint64(
        1
    )
    return hashes * factors[:, np.newaxis]


# The rows of a whole store, for counting and verification; each store has its own reader.


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


# Counts the data of a whole store.


def count_rows(rows: VerifiedRows, sums: StoreSums) -> StoreStats:
    """Return the counts of a store. Reads its mementos and the targets of its inlinks.

    Args:
        rows: Of the store.
        sums: Its totals that need no scan.
    """
    mementos = originals = 0
    last: Surt | None = None
    distinct: set[str] = set()
    for surt, item in rows.mementos():
        if surt != last:
            originals += len(distinct)
            last, distinct = surt, set()
        mementos += 1
        distinct.add(item[1])
    originals += len(distinct)
    return StoreStats(
        batches=sums.batches,
        files=sums.files,
        mementos=mementos,
        originals=originals,
        payloads=sums.payloads,
        contents=sums.contents,
        links=sums.links,
        targets=rows.count_targets(),
        first=sums.first,
        last=sums.last,
        bytes=sums.bytes,
    )


READABLE = "what is stored can be read"

AT_ONCE = 200
"""Number of mementos whose payloads and contents are looked up together."""

_BUCKET_BITS = 8
"""256 contents share one sum of links."""

_PART_BITS = 29
"""The sums of this many contents are in one array, whose unused pages need no memory."""

_READ_AGAIN = 16
"""Number of differing buckets whose members are held in memory together."""

Check = Callable[[], Iterator[Violation]]

UNREADABLE = (StoreError, *UNPACKING_ERRORS)
"""Errors that reading a damaged row raises."""


def violations_of(
    checks: Iterable[Check],
    errors: tuple[type[Exception], ...] = UNREADABLE,
    notes: Check = lambda: iter(()),
) -> Iterator[Violation]:
    """Yield what each check finds, the first few; a check that cannot read on is a violation, too.

    Args:
        checks: To run, in order.
        errors: Errors that mean that the store cannot be read.
        notes: Called after each check; yields what was noted meanwhile.
    """
    every = tuple(checks)
    for number, check in enumerate(every):
        progress.note(f"checking the store, step {number + 1} of {len(every)}")
        found: list[Violation] = []
        try:
            found.extend(islice(check(), NAMED + 1))
        except errors as error:
            found.append(Violation(READABLE, f"{check.__name__.strip('_')}: {explained(error)}"))
        progress.clear()
        yield from notes()
        yield from found[:NAMED]
        if len(found) > NAMED:
            yield Violation(found[0].invariant, f"and more: only the first {NAMED} are named")


class BucketSums:
    """The sum of the member hashes of each bucket; buckets are small numbers."""

    def __init__(self) -> None:
        self._sums: Sums = np.zeros((1024, 2), np.uint64)

    def add(self, buckets: Numbers, hashes: Sums) -> None:
        """Add a member to each bucket."""
        size = int(buckets.max(initial=0)) + 1
        if size > len(self._sums):
            grown = np.zeros((max(size, 2 * len(self._sums)), 2), np.uint64)
            grown[: len(self._sums)] = self._sums
            self._sums = grown
        np.add.at(self._sums, buckets, hashes)

    def differing(self, other: "BucketSums") -> list[int]:
        """Return the buckets whose sums differ."""
        short, long = sorted((self._sums, other._sums), key=len)
        difference = long.copy()
        difference[: len(short)] -= short
        buckets: list[int] = np.flatnonzero(difference.any(axis=1)).tolist()
        return buckets


Part = tuple[int, int]
"""A load, and the number of a content in it without its last bits."""


class LinkSums:
    """The sums of (content, link) pairs: one per 256 contents of a load."""

    def __init__(self) -> None:
        self._sums: dict[Part, BucketSums] = {}

    def add(self, load: int, contents: Numbers, hashes: Sums) -> None:
        """Add pairs by the numbers of their contents, and the hash of each pair or sum of pairs."""
        if not len(contents):
            return
        low, high = int(contents.min()) >> _PART_BITS, int(contents.max()) >> _PART_BITS
        if low < high:
            parts = contents >> _PART_BITS
            for part in np.unique(parts).tolist():
                self.add(load, contents[parts == part], hashes[parts == part])
            return
        buckets = (contents & ((1 << _PART_BITS) - 1)) >> _BUCKET_BITS
        self._sums.setdefault((load, low), BucketSums()).add(buckets, hashes)

    def differing(self, other: "LinkSums") -> list[tuple[int, int]]:
        """Return the buckets whose sums differ, each as a load and the number of the bucket."""
        nothing = BucketSums()
        return [
            (load, part << (_PART_BITS - _BUCKET_BITS) | bucket)
            for load, part in sorted(self._sums.keys() | other._sums.keys())
            for bucket in self._sums.get((load, part), nothing).differing(
                other._sums.get((load, part), nothing)
            )
        ]


def _misplaced(keys: Keys, surt: Surt, uri: str) -> Iterator[Violation]:
    """Yield a violation if a URI is stored under another SURT than its own."""
    if keys.of(uri) not in (surt, without_method(surt)):
        yield Violation("SURTs belong to their URIs", f"{uri} is stored under {surt}")


def miscounted(checksum: Checksum, payload: Payload, links: int) -> Iterator[Violation]:
    """Yield a violation if the links of a content are not those that its payload counts."""
    kept = dict(payload.counts).get(Reason.LINK_KEPT.name, 0)
    if kept != links:
        yield Violation(
            "counts of a payload add up", f"{checksum}: {kept} links kept, but {links} outlinks"
        )


def _no_check(load: int, contents: Sequence[int], counts: Sequence[int]) -> Iterator[Violation]:
    return iter(())


class RowChecks:
    """The checks of the invariants that every store has.

    Args:
        rows: Of the store.
    """

    def __init__(self, rows: VerifiedRows) -> None:
        self._rows = rows
        self._keys = keys_of(rows.answers)

    # Mementos, their payloads and contents, and the sightings of payloads

    def mementos(self) -> Iterator[Violation]:
        """Check that mementos are in place, and that sightings are the mementos of a payload."""
        taken, shown = BucketSums(), BucketSums()
        for portion in portions(self._rows.mementos(), AT_ONCE):
            for surt, item in portion:
                yield from _misplaced(self._keys, surt, item[1])
            items = [item for _, item in portion if shows_payload(item[2], item[9])]
            yield from self._check_payloads(items, taken)
        for seen in portions(self._rows.sightings(), AT_ONCE):
            known = [one for one in seen if one.bucket is not None]
            _add_sightings(shown, known)
            for one in seen:
                if one.bucket is None:
                    yield Violation(
                        "each sighting has its payload",
                        f"{one.timestamp} {one.original}: payload number {one.key}",
                    )
        different = taken.differing(shown)
        for begin in range(0, len(different), _READ_AGAIN):
            yield from self._sighting_differences({*different[begin : begin + _READ_AGAIN]})

    def _check_payloads(
        self, items: Sequence[MementoItem], taken: BucketSums
    ) -> Iterator[Violation]:
        """Check that mementos have their payloads and contents; add them as sightings to sums."""
        checksums = [Checksum(checksum) for checksum in dict.fromkeys(item[2] for item in items)]
        payloads = dict(zip(checksums, self._rows.payloads(checksums), strict=True))
        sightings = []
        contents = []
        for timestamp, original, text, *_ in items:
            checksum = Checksum(text)
            payload = payloads[checksum]
            if payload is None:
                yield Violation(
                    "each memento has its payload", f"{timestamp} {original}: {checksum}"
                )
                continue
            sightings.append(PayloadSighting(payload.key, payload.bucket, original, timestamp))
            if payload.scope is not None:
                content = content_id(checksum, UriR(original), payload.scope)
                contents.append((timestamp, original, content))
        _add_sightings(taken, sightings)
        numbers = self._rows.answers.numbers([content for *_, content in contents])
        for (timestamp, original, content), number in zip(contents, numbers, strict=True):
            if number is None:
                yield Violation(
                    "each memento has its content", f"{timestamp} {original}: {content}"
                )

    def _sighting_differences(self, buckets: set[int]) -> Iterator[Violation]:
        shown = {
            (one.key, one.original, one.timestamp)
            for one in self._rows.sightings()
            if one.bucket in buckets
        }
        taken = set()
        for portion in portions(self._rows.mementos(), AT_ONCE):
            items = [item for _, item in portion if shows_payload(item[2], item[9])]
            payloads = self._rows.payloads([Checksum(item[2]) for item in items])
            taken |= {
                (payload.key, item[1], item[0])
                for item, payload in zip(items, payloads, strict=True)
                if payload is not None and payload.bucket in buckets
            }
        for missing, where in (
            (taken - shown, "not among its payload's sightings"),
            (shown - taken, "a sighting, but no memento"),
        ):
            for _, original, timestamp in sorted(missing):
                yield Violation(
                    "sightings are the mementos of a payload", f"{timestamp} {original} is {where}"
                )

    # Outlinks and inlinks hold the same (content, target, kind, text, rel)

    def links(
        self,
        check_block: Callable[[int, Sequence[int], Sequence[int]], Iterator[Violation]] = _no_check,
    ) -> Iterator[Violation]:
        """Check that outlinks and inlinks are the same links, and that targets are in place.

        Args:
            check_block: A further check of each block of outlinks, of its load, the numbers of its
                contents and the number of links of each.
        """
        out, back = LinkSums(), LinkSums()
        for load, block, contents in self._rows.outlinks():
            hashes = hashes_of([_link_key(*link) for link in block.distinct_links])
            counts = []
            sums: Sums = np.zeros((len(contents), 2), np.uint64)
            for index, content in enumerate(contents):
                links = block.numbers(content)
                counts.append(len(links))
                hashes[np.unique(np.asarray(links, np.int64))].sum(
                    axis=0, dtype=np.uint64, out=sums[index]
                )
            all_contents = np.array(contents, np.int64)
            # The hash of a pair is a multiple of the hash of the link, so sums can be multiplied.
            out.add(load, all_contents, _hashes_of_pairs(all_contents, sums))
            yield from check_block(load, contents, counts)
        last = ""
        greatest = self._rows.greatest_content()
        for row in self._rows.inlinks():
            if row.target != last:
                last = row.target
                yield from _misplaced(self._keys, row.surt, row.target)
            heads = hashes_of([f"{row.target}\0{head}" for head in row.heads])
            numbers = row.numbers
            pairs = _hashes_of_pairs(numbers, np.repeat(heads, row.counts, axis=0))
            if greatest is not None and (numbers.min() < 1 or numbers.max() > greatest):
                inside = (numbers >= 1) & (numbers <= greatest)
                for number in numbers[~inside].tolist():
                    yield Violation(
                        "inlinks name contents of the store",
                        f"{row.target}: content number {number}",
                    )
                numbers, pairs = numbers[inside], pairs[inside]
            back.add(row.load, numbers, pairs)
        different = out.differing(back)
        for begin in range(0, len(different), _READ_AGAIN):
            yield from self._link_differences({*different[begin : begin + _READ_AGAIN]})

    def _link_differences(self, buckets: set[tuple[int, int]]) -> Iterator[Violation]:
        out = {
            (load, content, _link_key(*links[number]))
            for load, block, contents in self._rows.outlinks()
            if any((load, content >> _BUCKET_BITS) in buckets for content in contents)
            for links in [block.distinct_links]
            for content in contents
            if (load, content >> _BUCKET_BITS) in buckets
            for number in block.numbers(content)
        }
        back = set()
        for load, _, target, heads, counts, numbers in self._rows.inlinks():
            indexes = np.repeat(np.arange(len(heads)), counts).tolist()
            for content, index in zip(numbers.tolist(), indexes, strict=True):
                if (load, content >> _BUCKET_BITS) in buckets:
                    posting = load, content, f"{target}\0{heads[index]}"
                    if posting in back:
                        yield Violation(
                            "each inlink is stored once",
                            f"content {self._rows.name_of(load, content)}: {posting[2]!r}",
                        )
                    back.add(posting)
        for missing, where in ((out - back, "an inlink"), (back - out, "an outlink")):
            for load, content, link in sorted(missing):
                yield Violation(
                    "outlinks and inlinks are the same links",
                    f"content {self._rows.name_of(load, content)}: {link!r} is not {where}",
                )

    def forgotten(self) -> Iterator[Violation]:
        """Check that nothing is stored that was forgotten."""
        for what in self._rows.takedowns():
            for surt, (timestamp, original, *_) in self._rows.mementos_within(what):
                if what.covers(surt, timestamp):
                    yield Violation(
                        "what was forgotten is not stored",
                        f"{timestamp} {original}: a memento under {what.prefix}",
                    )
            if what.has_targets:
                for target in self._rows.targets_within(what):
                    yield Violation(
                        "what was forgotten is not stored",
                        f"{target}: a target under {what.prefix}",
                    )


def _add_sightings(sums: BucketSums, sightings: Sequence[PayloadSighting]) -> None:
    if sightings:
        members = [f"{one.key}\0{one.original}\0{one.timestamp}" for one in sightings]
        sums.add(np.array([one.bucket for one in sightings], np.int64), hashes_of(members))
