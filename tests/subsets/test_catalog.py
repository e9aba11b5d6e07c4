"""The catalog: views, kept lists, circles, missing subsets, and takedowns."""

import fcntl
import os
from pathlib import Path

import pytest

from arclink.captures.subsets.catalog import SubsetCatalog, subset_of
from arclink.captures.subsets.language import Condition, SelectionError, parse_selection
from arclink.errors import SealError, StoreError, UsageError
from arclink.model import Forgotten, Surt
from arclink.store.location import open_store
from arclink.store.protocols import GraphStore, Takedown
from tests.demos import Demos


@pytest.fixture
def catalog(tmp_path: Path) -> SubsetCatalog:
    return SubsetCatalog(str(tmp_path / "links.db"))


def captures(catalog: SubsetCatalog, store: GraphStore, text: str) -> list[object]:
    selection = catalog.named_or_written(text)
    return list(subset_of(store, catalog.define(selection)).scan_mementos())


def test_a_view_and_a_kept_list_have_the_selected_captures(
    catalog: SubsetCatalog, demo_store: GraphStore
) -> None:
    selection = parse_selection("host:kalvik2010.example and status:200")
    view = catalog.put(demo_store, "view", selection, keep=False)
    kept = catalog.put(demo_store, "kept", selection, keep=True)
    expected = captures(catalog, demo_store, "host:kalvik2010.example and status:200")
    assert captures(catalog, demo_store, "view") == expected
    assert captures(catalog, demo_store, "kept") == expected
    assert (view.is_kept, kept.is_kept) == (False, True)
    assert kept.captures == len(expected)
    assert [stored.name for stored in catalog] == ["kept", "view"]
    both = captures(catalog, demo_store, "subset:kept and not subset:view")
    assert both == []


def test_a_subset_may_name_others(catalog: SubsetCatalog, demo_store: GraphStore) -> None:
    catalog.put(demo_store, "a", parse_selection("host:kalvik2010.example"), keep=False)
    catalog.put(demo_store, "b", parse_selection("subset:a and pick:latest"), keep=True)
    catalog.put(demo_store, "c", parse_selection("subset:b and status:200"), keep=False)
    expected = captures(
        catalog, demo_store, "(host:kalvik2010.example and pick:latest) and status:200"
    )
    assert captures(catalog, demo_store, "c") == expected != []


def test_equal_definitions_have_one_identity(
    catalog: SubsetCatalog, demo_store: GraphStore
) -> None:
    catalog.put(demo_store, "a", parse_selection("host:kalvik2010.example"), keep=False)
    named = catalog.define(Condition("subset", "a"))
    written = catalog.define(parse_selection("host:kalvik2010.example"))
    other = catalog.define(parse_selection("host:aurora-daily.example"))
    assert named.identity == written.identity != other.identity


def test_a_circle_is_refused(catalog: SubsetCatalog, demo_store: GraphStore) -> None:
    catalog.put(demo_store, "a", parse_selection("status:200"), keep=False)
    catalog.put(demo_store, "b", parse_selection("subset:a"), keep=False)
    with pytest.raises(UsageError, match="a -> b -> a"):
        catalog.put(demo_store, "a", parse_selection("not subset:b"), keep=False)
    with pytest.raises(UsageError, match="c -> c"):
        catalog.put(demo_store, "c", parse_selection("subset:c"), keep=False)


def test_a_missing_subset_is_an_error(catalog: SubsetCatalog, demo_store: GraphStore) -> None:
    with pytest.raises(UsageError, match="no subset 'a'"):
        catalog.put(demo_store, "b", parse_selection("subset:a"), keep=False)
    with pytest.raises(UsageError, match="no subset 'a'"):
        catalog.named_or_written("a")
    with pytest.raises(SelectionError):
        catalog.named_or_written("a b")
    with pytest.raises(UsageError, match="not a name"):
        catalog.put(demo_store, "../a", parse_selection("uri:*"), keep=False)


def test_a_subset_in_use_is_not_removed(catalog: SubsetCatalog, demo_store: GraphStore) -> None:
    catalog.put(demo_store, "a", parse_selection("status:200"), keep=True)
    catalog.put(demo_store, "b", parse_selection("subset:a"), keep=False)
    with pytest.raises(UsageError, match="used by b"):
        catalog.remove("a")
    catalog.remove("b")
    catalog.remove("a")
    assert list(catalog.folder.iterdir()) == []


def test_damage_is_noticed(catalog: SubsetCatalog, demo_store: GraphStore) -> None:
    catalog.put(demo_store, "a", parse_selection("status:200"), keep=True)
    path = catalog.folder / "a.subset"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(SealError, match=r"damaged.*Select the subset again"):
        captures(catalog, demo_store, "a")
    assert catalog.get("a").text == "status:200"
    path.write_bytes(whole.replace(b"status:200", b"status:201"))
    with pytest.raises(SealError, match="damaged: line 2"):
        catalog.get("a")


def test_a_takedown_leaves_views_and_kept_lists(demos: Demos, tmp_path: Path) -> None:
    path = demos.copy(tmp_path)
    catalog = SubsetCatalog(str(path))
    prefix = Surt("example,kalvik2010)/")
    with open_store(str(path), create=True) as store:
        catalog.put(store, "view", parse_selection("status:200"), keep=False)
        kept = catalog.put(
            store, "kept", parse_selection("links-to:http://aurora-daily.example/"), keep=True
        )
        subset = subset_of(store, catalog.define(parse_selection("subset:view")))
        before = list(subset.scan_mementos())
        assert any(stem.startswith(prefix) for stem in kept.ranges)
        store.forget(Takedown(Forgotten(prefix), "", "2026-11-23T00:00:00Z"))
        remaining = [one for one in before if not one.surt.startswith(prefix)]
        assert list(subset.scan_mementos()) == remaining != before
        size = (catalog.folder / "kept.subset").stat().st_size
        catalog.reduce_lists(store)
        reduced = catalog.get("kept")
        assert (catalog.folder / "kept.subset").stat().st_size < size
        assert not any(stem.startswith(prefix) for stem in reduced.ranges)
        assert len(captures(catalog, store, "kept")) == reduced.captures


def test_two_processes_do_not_store_a_subset_at_once(
    catalog: SubsetCatalog, demo_store: GraphStore
) -> None:
    catalog.put(demo_store, "a", parse_selection("status:200"), keep=False)
    lock = os.open(catalog.folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(StoreError, match="another process is storing a subset"):
        catalog.put(demo_store, "a", parse_selection("status:404"), keep=True)
    os.close(lock)
    assert catalog.get("a").text == "status:200"
    catalog.put(demo_store, "a", parse_selection("status:404"), keep=True)
    assert catalog.get("a").text == "status:404"
