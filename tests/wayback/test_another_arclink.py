"""``arclink fetch`` from another ArcLink, without options for its index: a real second service."""

from pathlib import Path

import pytest

from arclink.service.settings import Settings
from arclink.store.location import open_store
from arclink.wayback.capture_lists import Archive
from tests.demos import Demos
from tests.service.conftest import served
from tests.wayback.test_pywb import fetch_and_build


def captures_of(store: Path) -> set[tuple[str, str, str]]:
    """Return the captures of a site in a store: URI, time and status."""
    with open_store(str(store)) as opened:
        return {
            (memento.original, memento.timestamp, memento.status)
            for memento in opened.scan_mementos()
            if memento.surt.startswith("example,kalvik2010)")
        }


@pytest.mark.parametrize("option", ["", "timemap"])
def test_all_captures_come(demos: Demos, tmp_path: Path, option: str) -> None:
    store = demos.store()
    expected = captures_of(store)
    assert len(expected) > 10
    entries = ["*.kalvik2010.example"]
    if option:
        entries = sorted({uri for uri, _, _ in expected})
    with served(str(store), settings=Settings()) as port:
        base = f"http://127.0.0.1:{port}"
        where = Archive(f"{base}/web", timemap=f"{base}/timemap/link/" if option else "")
        fetch_and_build(where, tmp_path, entries)
    found = captures_of(tmp_path / "links.db")
    assert {capture[:2] for capture in found} == {capture[:2] for capture in expected}
