"""Slices are stored next to a store, and made again when it changes; graph files give them, too."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from arclink.analysis.matrices.slice_cache import cache_next_to, open_slices
from arclink.analysis.matrices.slices import SliceOptions, Slices, Windows
from arclink.cli.main import group
from arclink.errors import UsageError
from arclink.store.location import open_store
from tests.analysis.small_graphs import a_graph
from tests.store.contract import load_next

MONTHS = SliceOptions(Windows.parse("month"))


@pytest.fixture
def store(tmp_path: Path) -> str:
    where = str(tmp_path / "links.db")
    with open_store(where, create=True) as opened:
        load_next(opened, a_graph(), 0, tmp_path / "graph")
    return where


def names(slices: Slices) -> list[str]:
    return list(slices.names)


def test_slices_are_kept_until_the_store_changes(store: str, tmp_path: Path) -> None:
    made = open_slices(store, MONTHS)
    assert names(made) == ["example,a)/", "example,gone)/"]
    mark = made.folder / "mark"
    mark.touch()
    assert open_slices(store, MONTHS).folder == made.folder
    assert mark.exists()
    assert open_slices(store, SliceOptions()).folder != made.folder
    with open_store(store, create=True) as opened:
        load_next(opened, a_graph(), 1, tmp_path / "graph")
    assert names(open_slices(store, MONTHS)) == ["example,a)/", "example,b)/", "example,gone)/"]
    assert not made.folder.exists()


def test_damaged_slices_are_made_again(store: str) -> None:
    made = open_slices(store, MONTHS)
    right = {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()}
    assert len(right) > 10
    for path, whole in right.items():
        damages = {"cut": whole[:-1], "gone": None}
        for index in range(0, len(whole), max(1, len(whole) // 5)):
            flipped = bytes([whole[index] ^ 4])
            damages[f"byte {index}"] = whole[:index] + flipped + whole[index + 1 :]
        for name, damaged in damages.items():
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            opened = open_slices(store, MONTHS)
            found = {one: one.read_bytes() for one in opened.folder.rglob("*") if one.is_file()}
            assert found == right, f"{path.name}: {name}"


def test_forgotten_captures_are_in_no_slices(store: str) -> None:
    made = open_slices(store, MONTHS)
    CliRunner().invoke(
        group, ["forget", "example,gone)/", "--targets", "--store", store], catch_exceptions=False
    )
    assert not made.folder.exists()
    assert names(open_slices(store, MONTHS)) == ["example,a)/"]


def test_graph_files_give_the_slices_of_a_store(store: str, tmp_path: Path) -> None:
    with open_store(store, create=True) as opened:
        load_next(opened, a_graph(), 1, tmp_path / "graph")
    expected, found = (
        open_slices(store, MONTHS),
        open_slices(str(tmp_path / "graph"), MONTHS, tmp_path / "kept"),
    )
    assert names(found) == names(expected)
    assert [one.window for one in found] == [one.window for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one.nodes, other.nodes)
        assert (one.matrix != other.matrix).nnz == 0
    shutil.rmtree(tmp_path / "graph" / "1")
    assert names(open_slices(str(tmp_path / "graph"), MONTHS, tmp_path / "kept")) == [
        "example,a)/",
        "example,gone)/",
    ]


def test_an_error_about_a_store_without_slices_names_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="neither a store nor graph files"):
        open_slices(str(tmp_path / "empty"), MONTHS)
    with open_store(str(tmp_path / "empty.db"), create=True):
        pass
    with pytest.raises(UsageError, match="there are no captures to slice: the subset selects none"):
        open_slices(str(tmp_path / "empty.db"), MONTHS)
    with pytest.raises(UsageError, match="--cache FOLDER"):
        cache_next_to("cassandra://host/links")
