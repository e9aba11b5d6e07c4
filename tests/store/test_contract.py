"""The contract of each protocol, on every store."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from arclink.model import Surt
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore, Scans
from tests.store.contract import (
    AnswersContract,
    LoadedScans,
    ScansContract,
    StoreContract,
    placeless,
    timed,
)
from tests.store.memory_store import LoadedInside, MemoryStore


class TestMemoryStore(StoreContract):
    def opened(self, folder: Path) -> AbstractContextManager[GraphStore]:
        return nullcontext(MemoryStore())


class TestSqliteStore(StoreContract):
    def opened(self, folder: Path) -> AbstractContextManager[GraphStore]:
        return open_store(str(folder / "links.db"), create=True)


@pytest.mark.usefixtures("tiny_blocks")
class TestSqliteStoreWithTinyBlocks(TestSqliteStore):
    pass


class LoadedEmbargoedStore(LoadedInside, EmbargoedStore):
    """A store under an embargo that hides nothing; its inner store can be loaded."""

    def __init__(self) -> None:
        self._loaded = MemoryStore()
        super().__init__(self._loaded, Embargo(prefixes=(Surt("nowhere"),)))


class TestEmbargoedStore(AnswersContract, ScansContract):
    def opened(self, folder: Path) -> AbstractContextManager[LoadedScans]:
        return nullcontext(LoadedEmbargoedStore())

    def answers(self, store: Scans) -> dict[str, object]:
        """The address of a payload is that of a capture that is shown."""
        return placeless(timed(store))
