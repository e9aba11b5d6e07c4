"""A damaged rank table gives no wrong stream: it is made again, or its tokens are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from arclink.captures import ranks
from arclink.captures.ranks import RankTables
from arclink.errors import GoneError, WriteError
from arclink.files.sealed import seal_folder
from arclink.model import Surt
from arclink.store.location import open_store
from tests.captures.archives import T1, Record, store_of
from tests.captures.reading import bytes_of, identities_in, identity, lines_of, query_of

LINK = b"<a href=http://b.example/>b</a>"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    pages = [Record(f"http://{name}.example/", T1, LINK) for name in "abc"]
    return store_of(tmp_path, pages)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    return tmp_path / "kept"


def stream_of(store: Path, tables: Path, **query: Any) -> bytes:
    return bytes_of(store, query_of("rank", **query), tables)


def damages_of(path: Path) -> dict[str, bytes | None]:
    """Return contents that a disk may leave instead of a file; None for a missing file."""
    whole = path.read_bytes()
    damages: dict[str, bytes | None] = {"gone": None, "empty": b"", "zeros": bytes(len(whole))}
    for index in range(0, len(whole), max(1, len(whole) // 3)):
        flipped = whole[:index] + bytes([whole[index] ^ 1 << index % 8]) + whole[index + 1 :]
        damages |= {f"byte {index}": flipped, f"cut at {index}": whole[:index]}
    return {name: damaged for name, damaged in damages.items() if damaged != whole}


def test_a_damaged_table_is_made_again_and_its_tokens_end(store: Path, tables: Path) -> None:
    right = stream_of(store, tables)
    token = lines_of(right)[0][0]["after"]
    (table,) = (tables / "ranks").iterdir()
    paths = sorted(path for path in table.rglob("*") if path.is_file())
    assert len(paths) == 6
    for path in paths:
        for name, damaged in damages_of(path).items():
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            with pytest.raises(GoneError, match="the table was damaged"):
                stream_of(store, tables, after=token)
            assert stream_of(store, tables) == right, f"{path.name}: {name}"


def test_a_stream_with_other_captures_than_its_table_is_not_complete(
    store: Path, tables: Path
) -> None:
    assert lines_of(stream_of(store, tables))[1]["complete"]
    (table,) = (tables / "ranks").iterdir()
    (table / "about.json").write_bytes(json.dumps({"captures": 4}).encode())
    seal_folder(table, [path for path in table.iterdir() if path.name != "checksums.txt"])
    end = lines_of(stream_of(store, tables))[1]
    assert (end["complete"], end["why"]) == (False, "3 captures came, but the rank table has 4")
    parts = [lines_of(stream_of(store, tables, part=f"{number}/2"))[1] for number in (1, 2)]
    assert [part["complete"] for part in parts] == [True, True]


def test_a_table_without_checksums_is_made_again(store: Path, tables: Path) -> None:
    right = stream_of(store, tables)
    (table,) = (tables / "ranks").iterdir()
    (table / "checksums.txt").unlink()
    assert stream_of(store, tables) == right
    assert (table / "checksums.txt").exists()


def test_no_table_is_left_of_one_that_could_not_be_written(
    store: Path, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", str(tables / "ranks" / ".made" / "order.npy"))

    monkeypatch.setattr(ranks, "_make", full)
    with (
        open_store(str(store)) as opened,
        pytest.raises(WriteError, match="ranks cannot be written: No space left"),
    ):
        RankTables(tables).current(opened)
    assert list((tables / "ranks").iterdir()) == []


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("first", ["a", "z"])
def test_targets_of_pages_without_host_leave_the_order_whole(
    tmp_path: Path, tables: Path, count: int, first: str
) -> None:
    """Such targets are names, but no nodes: their pages have no name in the graph."""
    targets = b"".join(
        b"<a href=http://%s%d.example/>x</a>" % (first.encode(), n) for n in range(count)
    )
    pages = [Record(f"http://{name}.example/", T1, LINK) for name in "dbc"]
    store = store_of(tmp_path, [*pages, Record("http://mhtml:x.example/", T1, targets)])
    captures, end = lines_of(stream_of(store, tables))
    assert captures[0]["uri"] == "http://b.example/"
    assert sorted(map(identity, captures)) == identities_in(store)
    assert (end["complete"], end["captures"]) == (True, 4)
    with open_store(str(store)) as opened:
        table = RankTables(tables).current(opened)
        assert [table.has(one.surt) for one in opened.scan_mementos()].count(True) == 3
        assert not table.has(Surt(f"example,{first}0)/"))
