"""The contract of each protocol, on every store."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from arclink.model import Batch, Checksum, Payload, Surt, UriR
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from arclink.store.protocols import Cluster, GraphStore, KnownFile, Scans
from tests.store.contract import (
    AnswersContract,
    LoadedScans,
    ScansContract,
    StoreContract,
    placeless,
)
from tests.store.memory_store import MemoryStore


class TestMemoryStore(StoreContract):
    def opened(self, folder: Path) -> AbstractContextManager[GraphStore]:
        return nullcontext(MemoryStore())


class TestSqliteStore(StoreContract):
    def opened(self, folder: Path) -> AbstractContextManager[GraphStore]:
        return open_store(str(folder / "links.db"), create=True)


@pytest.mark.usefixtures("tiny_blocks")
class TestSqliteStoreWithTinyBlocks(TestSqliteStore):
    pass


class LoadedEmbargoedStore(EmbargoedStore):
    """A store under an embargo that hides nothing; its inner store can be loaded."""

    replaces_links = False
    shared_url: str | None = None

    def __init__(self) -> None:
        self._loaded = MemoryStore()
        super().__init__(self._loaded, Embargo(prefixes=(Surt("nowhere"),)))

    def load(
        self,
        graph: Path,
        files: Sequence[KnownFile],
        settings: Mapping[str, str],
        manifest: str,
        cores: int | None = None,
        cluster: Cluster | None = None,
    ) -> Batch:
        return self._loaded.load(graph, files, settings, manifest, cores, cluster)

    def trim(self) -> None:
        self._loaded.trim()

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        return self._loaded.known_contents(wanted)


class TestEmbargoedStore(AnswersContract, ScansContract):
    def opened(self, folder: Path) -> AbstractContextManager[LoadedScans]:
        return nullcontext(LoadedEmbargoedStore())

    def answers(self, store: Scans) -> dict[str, object]:
        """The place of a payload is that of a capture that is shown."""
        return placeless(store)
