"""Functions that both stores use to check themselves: sums of hashes, and colliding URI-IDs.

Sets too large to hold are compared by sums: each member gets a 128-bit hash, and the sum of the
hashes does not depend on their order.
"""

from collections import deque
from collections.abc import Iterator
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from arclink.files.spill import Sorted
from arclink.model import Surt
from arclink.store.blocks.byte_layouts import Numbers
from arclink.store.blocks.relations import pack_head
from arclink.store.protocols import Violation
from arclink.uris.uri_ids import uri_id

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


def link_key(target: str, kind: str, text: str, rel: str | None) -> str:
    """Return a link as one string."""
    return f"{target}\0{pack_head(kind, text, rel)}"


def hashes_of(members: list[str]) -> Sums:
    """Return a hash of 128 bits for each member, in two halves."""
    digests = b"".join(blake2b(member.encode(), digest_size=16).digest() for member in members)
    return np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)


def hashes_of_pairs(numbers: Numbers, hashes: Sums) -> Sums:
    """Return the hash of each (number, member) pair, from the hash of the member."""
    factors = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    factors = ((factors ^ (factors >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)) | np.uint64(
        1
    )
    return hashes * factors[:, np.newaxis]
