"""Sets of captures: 8 bytes for each, sorted.

A capture is kept as a 64-bit hash of its key. Two of 100 million captures share a hash with a
probability of 0.03 %.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from hashlib import blake2b
from typing import Self
from zlib import crc32

import numpy as np

from arclink.model import Checksum, Memento, Timestamp, UriR


def capture_number(original: UriR, timestamp: Timestamp, checksum: Checksum) -> int:
    """Return the 64-bit hash of the key of a capture: the same on every machine."""
    data = f"{original}\n{timestamp}\n{checksum}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def number_of(memento: Memento) -> int:
    """Return the `capture_number` of a memento."""
    return capture_number(memento.original, memento.timestamp, memento.checksum)


class CaptureSet:
    """A set of captures.

    Args:
        numbers: Hashes of the captures, in any order; they may repeat.
    """

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        unsorted = numbers if isinstance(numbers, array) else array("Q", numbers)
        distinct = np.unique(np.frombuffer(unsorted, np.uint64))
        self._numbers = array("Q", distinct.tobytes())

    def __contains__(self, number: int) -> bool:
        index = bisect_left(self._numbers, number)
        return index < len(self._numbers) and self._numbers[index] == number

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def crc(self) -> str:
        """8 hex digits that identify the set."""
        return f"{crc32(self.to_bytes()):08x}"

    def to_bytes(self) -> bytes:
        """Return the set as bytes: 8 for each capture, little-endian, sorted."""
        return np.frombuffer(self._numbers, np.uint64).astype("<u8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the set that `to_bytes` wrote."""
        found = cls()
        found._numbers = array("Q", np.frombuffer(data, "<u8").astype(np.uint64).tobytes())
        return found
