"""Reads, replaces and adds outlink blocks of a SQLite store (`arclink.store.blocks.outlinks`)."""

from collections.abc import Sequence

import zstandard

from arclink.store.blocks.outlinks import LEVEL, OutlinkBlock, packed_block
from arclink.store.seals import damaged, unpacking
from arclink.store.sqlite.schema import Connection


def opened_block(connection: Connection, first: int, data: bytes) -> OutlinkBlock:
    """Return a decoded outlink block of a SQLite store.

    Args:
        connection: To the store.
        first: Number of the first content of the block.
        data: The block in its stored form.

    Raises:
        StoreError: The block is damaged.
    """
    data = connection.unsealed(data, "outlinks", first)
    with unpacking(connection.name, f"outlinks {first}"):
        block = OutlinkBlock(data, first)
        if not len(block):  # a scan would never end
            raise ValueError("a block of no contents")
    return block


def block_with(connection: Connection, content: int) -> OutlinkBlock:
    """Return the block of a SQLite store that holds the links of a content.

    Args:
        connection: To the store.
        content: Number of the content.

    Raises:
        StoreError: The block is damaged or missing.
    """
    found = connection.execute(_BLOCK_WITH, (content,)).fetchone()
    block = opened_block(connection, *found) if found is not None else None
    if block is None or content >= block.first + len(block):
        raise damaged(connection.name, f"the outlinks of content {content} are missing")
    return block


_BLOCK_WITH = "SELECT first, data FROM outlinks WHERE first <= ? ORDER BY first DESC LIMIT 1"


def write_block(connection: Connection, first: int, data: bytes) -> None:
    """Write a block to a SQLite store; it replaces a block that begins at the same content.

    Args:
        connection: In a transaction.
        first: Number of the first content of the block.
        data: Compressed.
    """
    connection.execute(
        "INSERT INTO outlinks (first, data) VALUES (?1, ?2) "
        "ON CONFLICT (first) DO UPDATE SET data = ?2",
        (first, connection.sealed(data, "outlinks", first)),
    )


class OutlinksWriter:
    """Writes the outlinks of contents with consecutive numbers.

    Each block of the graph files becomes a block of the store.

    Args:
        connection: In a transaction.
        first: Number of the first content.
    """

    def __init__(self, connection: Connection, first: int) -> None:
        self._connection = connection
        self._compress = zstandard.ZstdCompressor(level=LEVEL).compress
        self._first = first
        self.links = 0

    def add(self, links: bytes, lists: bytes, wanted: Sequence[bool]) -> None:
        """Add the next contents; arguments and errors are those of `packed_block`."""
        data, count = packed_block(links, lists, wanted, self._compress)
        if any(wanted):
            write_block(self._connection, self._first, data)
        self._first += sum(wanted)
        self.links += count
