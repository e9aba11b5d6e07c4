"""The contract of `GraphStore`, on every store."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from arclink.store.location import open_store
from arclink.store.protocols import GraphStore
from tests.store.contract import StoreContract
from tests.store.dictionary_store import DictionaryStore


class TestDictionaryStore(StoreContract):
    def opened(self, folder: Path) -> AbstractContextManager[GraphStore]:
        return nullcontext(DictionaryStore())


class TestSqliteStore(StoreContract):
    def opened(self, folder: Path) -> AbstractContextManager[GraphStore]:
        return open_store(str(folder / "links.db"), create=True)


@pytest.mark.usefixtures("tiny_blocks")
class TestSqliteStoreWithTinyBlocks(TestSqliteStore):
    pass
