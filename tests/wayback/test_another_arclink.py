"""``arclink fetch`` from another ArcLink, without options for its index: a real second service."""

from pathlib import Path

import pytest

from arclink.others.wayback.capture_lists import Archive
from arclink.others.wayback.client import Client, Manners
from arclink.others.wayback.fetch import FetchSettings, fetch
from arclink.pipeline.settings import BuildSettings
from arclink.service.settings import Settings
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.demos import Demos
from tests.service.conftest import served


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
        with Client(where.origins, Manners(delay=0)) as client:
            fetch(entries, where, tmp_path / "warcs", client, FetchSettings())
    index = tmp_path / "warcs/index.cdxj"
    build_store(tmp_path / "warcs", tmp_path / "links.db", BuildSettings(cores=1), cdx=[index])
    found = captures_of(tmp_path / "links.db")
    assert {capture[:2] for capture in found} == {capture[:2] for capture in expected}
