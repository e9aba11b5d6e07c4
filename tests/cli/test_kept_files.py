"""Files next to a store are sealed: no command answers wrongly because one of them is damaged."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.analysis.matrices.slice_cache import cache_next_to, open_slices
from arclink.analysis.matrices.slices import SliceOptions
from arclink.captures.ranks import RankTables
from arclink.captures.subsets.catalog import SubsetCatalog
from arclink.captures.subsets.language import parse_selection
from arclink.cli.main import group
from arclink.errors import SealError
from arclink.files.sealed import problems_in
from arclink.model import Forgotten, Surt
from arclink.service.server import serve
from arclink.store.location import kept_next_to, open_store
from arclink.store.protocols import Takedown
from arclink.store.takedown_files import list_path, listed
from tests.demos import Demos

SITE = "example,aurora-daily)/"


@pytest.fixture(scope="module")
def store(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with a file of each kind next to it."""
    path = demos.copy(tmp_path_factory.mktemp("kept"), 200, 6, 1)
    cache = cache_next_to(str(path))
    with open_store(str(path), create=True) as opened:
        opened.forget(Takedown(Forgotten(Surt(SITE)), "letter", "2026-11-25T00:00:00Z"))
        catalog = SubsetCatalog(str(path))
        catalog.put(opened, "view", parse_selection("status:200"), keep=False)
        catalog.put(opened, "list", parse_selection("status:200"), keep=True)
        RankTables(cache).current(opened)
    open_slices(str(path), SliceOptions())
    return path


def kept_files(store: Path) -> list[Path]:
    roots = [list_path(store), *kept_next_to(str(store))]
    found = {path for root in roots for path in (root, *root.rglob("*")) if path.is_file()}
    return sorted(found)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, arguments)


def problems(store: Path) -> list[SealError]:
    try:
        listed(store)
    except SealError as error:
        return [error]
    return [problem for path in kept_next_to(str(store)) for problem in problems_in(path)]


def test_every_kind_of_file_is_sealed(store: Path) -> None:
    assert len(kept_files(store)) == 25
    assert problems(store) == []
    assert run("verify", "--store", str(store)).exit_code == 0


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_every_damage_is_found(store: Path, draw: st.DataObject) -> None:
    path = draw.draw(st.sampled_from(kept_files(store)))
    whole = path.read_bytes()
    how = draw.draw(st.sampled_from(["flip", "cut", "zeros", "longer"]))
    index = draw.draw(st.integers(0, max(0, len(whole) - 1)))
    damaged = {
        "flip": whole[:index] + bytes([whole[index] ^ 1 << index % 8]) + whole[index + 1 :]
        if whole
        else b"x",
        "cut": whole[:index],
        "zeros": whole[:index] + bytes(len(whole) - index),
        "longer": whole + b"\0",
    }[how]
    path.write_bytes(damaged)
    try:
        found = problems(store)
    finally:
        path.write_bytes(whole)
    assert damaged == whole or [problem.path for problem in found] == [path]


def test_verify_names_each_damaged_file(store: Path) -> None:
    kinds = ("list.subset", "view.subset", "order.npy", "indices.npy")
    damaged = {}
    for path in kept_files(store):
        if path.name.startswith((*kinds, list_path(store).name)) and path.parent not in damaged:
            damaged[path.parent if path.name.endswith(".npy") else path] = path
    originals = {path: path.read_bytes() for path in damaged.values()}
    assert len(originals) >= 5
    for path, whole in originals.items():
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    done = run("verify", "--store", str(store))
    for path, whole in originals.items():
        assert f"{path} is damaged" in done.stdout
        path.write_bytes(whole)
    assert done.exit_code == 1
    assert "damaged files next to it: " in done.stderr


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "half of an old row"])
def test_a_damaged_list_of_takedowns_stops_what_may_bring_captures_back(
    demos: Demos, store: Path, tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "links.db"
    shutil.copy(store, path)
    whole = list_path(store).read_bytes()
    assert SITE.encode() in whole
    row = whole.split(b"\n")[1].split(b"\t")[0]
    damaged = {
        "flip": whole.replace(b"aurora", b"aurorb"),
        "cut": whole[: whole.index(b"#end")],
        "empty": b"",
        "half of an old row": row[:-5] + b"\n",
    }[damage]
    list_path(path).write_bytes(damaged)
    archive = str(demos.archive(200, 6, 1))
    for command in (
        ("build", archive, "--store", str(path), "--runner", "inline", "--quiet"),
        ("forget", "example,other)/", "--store", str(path)),
        ("restore", str(store), "--store", str(path), "--replace"),
    ):
        error = run(*command).exception
        assert isinstance(error, SealError), command[0]
        assert str(list_path(path)) in str(error)
        assert "arclink forget --into" in str(error)
    with pytest.raises(SealError):
        serve(str(path), "127.0.0.1", 0, 1, print)
    path.unlink()
    new = run("build", archive, "--store", str(path), "--runner", "inline", "--quiet")
    assert isinstance(new.exception, SealError)
    if path.exists():
        with open_store(str(path)) as opened:
            assert list(opened.batches()) == []


def test_a_list_of_an_older_version_is_moved_away_and_applied(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    shutil.copy(store, path)
    rows = list_path(store).read_bytes().split(b"\n")
    (tmp_path / "old").write_bytes(rows[1].split(b"\t")[0] + b"\n")
    done = run("forget", "--import", str(tmp_path / "old"), "--store", str(path), "--no-clean")
    assert done.exit_code == 0
    assert [takedown.what.prefix for takedown in listed(path)] == [SITE]


def test_a_lost_list_is_written_again_from_the_store(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    shutil.copy(store, path)
    with open_store(str(path), create=True):
        pass
    assert [takedown.what.prefix for takedown in listed(path)] == [SITE]
