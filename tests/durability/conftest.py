"""Fixtures for tests of disks that fail, killed processes and little memory."""

from pathlib import Path

import pytest

from arclink.store.sqlite.store import SqliteStore
from tests.demos import Demos
from tests.durability import loads
from tests.durability.states import state_of
from tests.store.page_graphs import write_pages


@pytest.fixture(scope="session")
def archive(demos: Demos) -> Path:
    """Return a folder with eight archive files."""
    return demos.archive(200, 6, 1)


@pytest.fixture(scope="session")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the graphs that `tests.durability.loads` loads."""
    folder = tmp_path_factory.mktemp("graphs")
    for number in range(loads.BATCHES):
        write_pages(folder / str(number), 40 * number, 40 * number + 60)
    return folder


@pytest.fixture(scope="session")
def states(graphs: Path, tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """Return the states between the steps of `tests.durability.loads`, in order."""
    path = tmp_path_factory.mktemp("states") / "links.db"
    found: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loads, "note", lambda store: found.append(state_of(store)))
        SqliteStore(path, create=True).close()
        loads.note(path)
        loads.load(path, graphs)
    return found
