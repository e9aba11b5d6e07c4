"""Fixtures of the store's tests."""

from collections.abc import Iterator

import pytest

from arclink.store.blocks import levels, relations
from arclink.store.sqlite import runs


@pytest.fixture(scope="class")
def tiny_blocks() -> Iterator[None]:
    """Make blocks, chunks and runs so small that a few rows fill several of them, and two batches
    are merged.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "FAN_OUT", 2)
        patch.setattr(runs, "BLOCK_BYTES", 150)
        patch.setattr(runs, "CACHED_BLOCKS", 2)
        patch.setattr(relations, "CHUNK", 2)
        patch.setattr(relations, "POSTINGS_BYTES", 100)
        yield
