"""The relations that are kept next to a store: other processes, damage, takedowns, bytes."""

import os
import shutil
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from arclink.analysis.relations import kept
from arclink.analysis.relations.database import SqlDatabase
from arclink.analysis.relations.folder import remove_relations, tables_folder
from arclink.analysis.relations.forgetting import forgetting
from arclink.analysis.relations.held import HeldRelations
from arclink.analysis.relations.kept import relations_of
from arclink.errors import WriteError
from arclink.model import (
    ContentId,
    Forgotten,
    Kind,
    Outlink,
    Payload,
    Scope,
    Surt,
    UriR,
)
from arclink.store.location import open_store
from arclink.store.protocols import Builds, KnownFile, Takedown
from tests.relations.rows import kept_rows, rows_in, rows_of
from tests.store.graphs import checksum_of, memento, write_batch
from tests.store.load_arguments import FILES, SETTINGS

UNWANTED = Takedown(Forgotten(Surt("org,example)/0")), "", "2026-11-21T00:00:00Z")


PAYLOAD = checksum_of("phttp://example.org/1")
"""What is captured as the page of batch 1."""


def load(
    store: Builds, folder: Path, number: int, names: Iterable[str] = ("",), file: str = "a.warc.gz"
) -> None:
    """Load a batch with a page for each name, which links to two pages of its own."""
    mementos, payloads, contents = [], [], {}
    for name in names:
        original = UriR(f"http://example.org/{number}{name}")
        checksum = checksum_of(f"p{original}")
        links = [
            Outlink(UriR(f"{original}/{target}-{file}"), Kind("a@href"), f"text {target}", None)
            for target in range(2)
        ]
        mementos.append(memento(original, "20100101000000", checksum, file=file))
        payloads.append(
            Payload(
                checksum, Scope.NONE, "utf-8", file, 7, "PAYLOAD_READ", (("LINK_KEPT", 2),), "Title"
            )
        )
        contents[ContentId(checksum)] = (original, links)
    write_batch(folder, mementos, payloads, contents)
    store.load(folder, [KnownFile(file, file, number, str(number))], SETTINGS, "{}")


@pytest.fixture(name="where")
def store_with_relations(tmp_path: Path) -> str:
    """Return the path of a store with three batches, and relations of them."""
    where = str(tmp_path / "links.db")
    with open_store(where, create=True) as store:
        for number in range(3):
            load(store, tmp_path / f"graph{number}", number)
            relations_of(where, store)
    return where


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


# Parts


def test_parts_of_about_one_size_become_one_and_large_ones_stay(tmp_path: Path) -> None:
    where = str(tmp_path / "links.db")
    with open_store(where, create=True) as store:
        load(store, tmp_path / "graph0", 0, map(str, range(1_500)))
        large = relations_of(where, store)
        for number in range(1, 5):
            load(store, tmp_path / f"graph{number}", number)
            made = relations_of(where, store)
            assert (made["captures"][0], made["links"][0]) == (
                large["captures"][0],
                large["links"][0],
            )
            assert len(made["captures"]) == len(made["links"]) == 2
        assert rows_of(tables_folder(where), store) == rows_in(store)


@pytest.mark.parametrize("name", ["captures.parquet", "links.parquet", "checksums.txt", "state"])
def test_damaged_relations_are_made_again(where: str, name: str) -> None:
    folder = tables_folder(where)
    path = folder / name if name == "state" else next(folder.glob(f"*/{name}"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with open_store(where) as store:
        assert rows_of(folder, store) == rows_in(store)
    assert not path.exists() or path.read_bytes() != data


def test_links_that_a_batch_replaces_are_replaced(tmp_path: Path) -> None:
    where = str(tmp_path / "links.db")
    with open_store(where, create=True) as store:
        for number, file in enumerate(("a.warc.wat.gz", "a.warc.gz")):
            load(store, tmp_path / f"graph{number}", 0, file=file)
            captures, links = rows_of(tables_folder(where), store)
            assert (captures, links) == rows_in(store)
            assert len(links) == 2


def test_a_takedown_that_removes_no_content_is_noticed_later(where: str, tmp_path: Path) -> None:
    folder = tables_folder(where)
    with open_store(where, create=True) as store:
        copy = memento("http://example.org/copy", "20100101000000", PAYLOAD, "revisit")
        write_batch(tmp_path / "graph3", [copy], [], {})
        store.load(tmp_path / "graph3", FILES, SETTINGS, "{}")
        assert rows_of(folder, store) == rows_in(store)
        order = store.state().order
        store.forget(replace(UNWANTED, what=Forgotten(Surt("org,example)/copy"))))
        assert store.state().order == order
        assert rows_of(folder, store) == rows_in(store)


def test_a_revisit_of_another_page_writes_no_earlier_captures_again(tmp_path: Path) -> None:
    where = str(tmp_path / "links.db")
    with open_store(where, create=True) as store:
        load(store, tmp_path / "graph0", 0, map(str, range(1_500)))
        revisit = memento(
            "http://example.org/01", "20110101000000", "not-modified: http://example.org/01"
        )
        write_batch(tmp_path / "graph1", [revisit], [], {})
        store.load(tmp_path / "graph1", FILES, SETTINGS, "{}")
        first = relations_of(where, store)["captures"]
        load(store, tmp_path / "graph2", 2)
        assert relations_of(where, store)["captures"][0] == first[0]
        assert rows_of(tables_folder(where), store) == rows_in(store)


# Other processes


def test_a_former_state_of_the_store_adds_nothing_twice(where: str, tmp_path: Path) -> None:
    with open_store(where) as former, former.snapshot():
        assert former.last_batch() == 3
        with open_store(where, create=True) as store:
            load(store, tmp_path / "graph3", 3)
            relations_of(where, store)
        assert rows_of(tables_folder(where), former) == rows_in(former)
    with open_store(where) as store:
        assert rows_of(tables_folder(where), store) == rows_in(store)


def test_relations_show_the_state_after_the_wait_for_another_writer(
    where: str, tmp_path: Path
) -> None:
    folder = tables_folder(where)
    remove_relations(where)
    rows = []

    def read() -> None:
        with open_store(where) as reading:
            rows.append((rows_of(folder, reading), rows_in(reading)))

    reader = threading.Thread(target=read)
    with open_store(where, create=True) as store, forgetting(where, store, [UNWANTED.what]):
        reader.start()
        reader.join(0.3)
        store.forget(UNWANTED)
    reader.join()
    ((of_files, of_store),) = rows
    assert of_files == of_store
    assert len(of_files[0]) == 2


def test_a_reader_goes_on_with_the_files_that_it_has_opened(where: str, tmp_path: Path) -> None:
    count = "SELECT count(*) FROM links JOIN captures USING (content)"
    with open_store(where) as former, SqlDatabase(where, former) as database:
        with open_store(where, create=True) as store:
            load(store, tmp_path / "graph3", 3)
            relations_of(where, store)
            with forgetting(where, store, [UNWANTED.what]):
                store.forget(UNWANTED)
        assert database.answer(count).to_pylist() == [{"count_star()": 6}]
        remove_relations(where)
        assert database.answer(count).to_pylist() == [{"count_star()": 6}]
    with open_store(where) as store, SqlDatabase(where, store) as database:
        assert database.answer(count).to_pylist() == [{"count_star()": 6}]  # one less, one more


def test_files_that_are_replaced_before_they_are_opened_are_read_anew(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def vanishing(files: Mapping[str, Sequence[Path]]) -> HeldRelations:
        opened.append(files)
        if len(opened) == 1:
            remove_relations(where)
        return HeldRelations(files)

    monkeypatch.setattr(kept, "HeldRelations", vanishing)
    with open_store(where) as store:
        relations_of(where, store)
        with SqlDatabase(where, store) as database:
            assert len(opened) == 2
            assert database.found("SELECT count(*) FROM links") > [(0,)]


# Folders


@pytest.mark.parametrize("name", ['it\'s "q"', "a b", "p%20%s", "st*r", "br[a]ck", "q?m", "b{1,2}"])
def test_folders_may_have_any_letters(where: str, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    copy = str(shutil.copy(where, tmp_path / name / f"{name}.db"))
    with open_store(copy, create=True) as store:
        assert rows_of(tables_folder(copy), store) == rows_in(store)
        with forgetting(copy, store, [UNWANTED.what]):
            store.forget(UNWANTED)
        assert kept_rows(tables_folder(copy), store) == rows_in(store)
        with SqlDatabase(copy, store) as database:
            assert database.answer("FROM captures").num_rows == 2


def test_a_folder_whose_name_is_not_in_utf_8_has_no_relations(where: str, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    copy = str(shutil.copy(where, folder / "links.db"))
    with open_store(copy) as store:
        with pytest.raises(WriteError, match="UTF-8"):
            relations_of(copy, store)
        with SqlDatabase(copy, store) as database:
            assert database.answer("FROM captures").num_rows == 3
    assert os.listdir(folder) == ["links.db"]
