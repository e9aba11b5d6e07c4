"""Seals: a 4-byte checksum after the data of each block and row of a store.

Both stores use seals (`arclink.store.sqlite.schema`, `arclink.engines.cassandra.tables`) and check
them whenever they read data. The checksum covers the data and its address (table, key, run): data
at the wrong address fails as damaged data does.

::

    data │ CRC-32 of address and data, 4 bytes, little-endian

CRC-32 (RFC 1952, section 8) finds every error of up to 32 neighbouring bits, and all but one of
4,294,967,296 others.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager

import zstandard
from isal.isal_zlib import crc32

from arclink.errors import StoreError

SEAL_BYTES = 4
"""Size of a seal."""

REMEDY = (
    "Restore a backup of it, rebuild it (arclink build --store STORE --rebuild), or load its "
    "graph files into a new store (docs/how-to/operations.md)."
)
"""Instructions for the operator of a damaged store."""

UNPACKING_ERRORS = (
    zstandard.ZstdError,
    struct.error,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
)
"""Errors that unpacking raises for bytes that ArcLink did not pack."""


def is_of_unpacking(error: BaseException | None) -> bool:
    """Return whether an error shows that stored bytes are damaged.

    Text that cannot be encoded comes from a caller, not from a store.
    """
    return isinstance(error, UNPACKING_ERRORS) and not isinstance(error, UnicodeEncodeError)


def damaged(store: str, what: str) -> StoreError:
    """Return the error for damage in a store.

    Args:
        store: Path or URL.
        what: The address of the damage, and its symptom.
    """
    return StoreError(f"{store} is damaged: {what}. {REMEDY}")


def seal(data: bytes, address: bytes) -> bytes:
    """Return the data with its seal.

    Args:
        data: Any bytes.
        address: Where the data will be stored; unique to it.
    """
    return data + crc32(data, crc32(address)).to_bytes(SEAL_BYTES, "little")


def unseal(data: bytes, address: bytes, store: str, what: str) -> bytes:
    """Return the data without its seal, after checking the seal.

    Args:
        data: Data with its seal.
        address: Where it is stored.
        store: Path or URL, for the error.
        what: Name of the address, for the error.

    Raises:
        StoreError: The data is damaged, or belongs to another address.

    >>> unseal(seal(b"links", b"block 1"), b"block 1", "links.db", "block 1")
    b'links'
    """
    content = unsealed(data, address)
    if content is None:
        raise damaged(store, f"{what} fails its checksum")
    return content


def unsealed(data: bytes, address: bytes) -> bytes | None:
    """Return the data without its seal; None if it is damaged or belongs to another address."""
    content = data[:-SEAL_BYTES]
    is_intact = crc32(content, crc32(address)).to_bytes(SEAL_BYTES, "little") == data[-SEAL_BYTES:]
    return content if is_intact else None


@contextmanager
def unpacking(store: str, what: str) -> Iterator[None]:
    """Convert unpacking errors inside the block to a `StoreError` with store and address."""
    try:
        yield
    except UNPACKING_ERRORS as error:
        if not is_of_unpacking(error):
            raise
        raise damaged(store, f"{what} cannot be decompressed ({explained(error)})") from error


def explained(error: Exception) -> str:
    """Return type and text of an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
