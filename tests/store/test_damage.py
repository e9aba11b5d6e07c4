"""Damaged stores give the right answer or an error, and `verify` reports all other damage."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from arclink.errors import StoreError
from arclink.model import ContentId
from arclink.store.seals import SEAL_BYTES, seal, unseal
from arclink.store.sqlite.schema import PAGE_BYTES, connect
from arclink.store.sqlite.store import SqliteStore
from tests.store.damage import (
    SEEN_BY_VERIFY,
    SEEN_WHEN_READ,
    Question,
    ask_all,
    damaged_copies,
    make_store,
    questions,
    settled,
)

NUMBER = int(os.environ.get("ARCLINK_DAMAGES", "24"))
"""Damaged copies of each test; `tests.store.damage` tries more."""


@pytest.fixture(scope="module", name="path")
def path_of_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "links.db"
    make_store(path)
    settled(path)
    return path


def answers(path: Path) -> tuple[list[Question], list[object]]:
    with SqliteStore(path) as store:
        asked = questions(store)
        return asked, [question(store) for _, question in asked]


def mementos_of(path: Path) -> int:
    with SqliteStore(path) as store:
        return len(list(store.scan_mementos()))


def test_damage_is_named_or_not_in_the_answers(path: Path) -> None:
    asked, right = answers(path)
    named = 0
    for copy, name in damaged_copies(path, SEEN_WHEN_READ, NUMBER, seed=7):
        outcome = ask_all(copy, asked, right)
        assert outcome.faults == [], name
        named += outcome.is_named
    assert named > NUMBER * 0.8


def test_any_changed_bit_of_the_file_header_is_named(path: Path) -> None:
    whole = path.read_bytes()
    copy = path.with_name("header.db")
    asked, right = answers(path)
    for bit in range(0, 100 * 8, 800 // NUMBER):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        copy.write_bytes(data)
        outcome = ask_all(copy, asked[:12], right[:12])
        assert outcome.faults == [], f"byte {bit // 8}"
        assert outcome.is_named, f"byte {bit // 8}"


def test_verify_sees_swapped_and_missing_pages(path: Path) -> None:
    asked, right = answers(path)
    seen = 0
    for copy, name in damaged_copies(path, SEEN_BY_VERIFY, NUMBER, seed=7):
        try:
            with SqliteStore(copy) as store:
                is_seen = bool(list(store.verify()))
        except StoreError:
            is_seen = True
        seen += is_seen
        if not is_seen:  # then it is in free pages
            outcome = ask_all(copy, asked, right)
            assert outcome == (False, []), name
    assert seen > NUMBER * 0.8


@pytest.mark.parametrize("missing", [1, PAGE_BYTES - 1])
def test_a_file_that_ends_inside_of_a_page_is_damaged(
    path: Path, tmp_path: Path, missing: int
) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes()[:-missing])
    with pytest.raises(StoreError, match="it ends in the middle of a page, at byte"):
        SqliteStore(copy)


def test_damaged_names_are_named_by_every_question(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    asked, right = answers(path)
    with closing(connect(path)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'names'"
        ).fetchone()
    data = bytearray(path.read_bytes())
    data[page * PAGE_BYTES - 9] ^= 1
    copy.write_bytes(data)
    outcome = ask_all(copy, asked, right)
    assert outcome == (True, [])


def test_an_error_names_file_and_page(path: Path) -> None:
    copy = path.with_name("copy.db")
    data = bytearray(path.read_bytes())
    data[3 * PAGE_BYTES + 9 :: PAGE_BYTES] = bytes(
        byte ^ 1 for byte in data[3 * PAGE_BYTES + 9 :: PAGE_BYTES]
    )
    copy.write_bytes(data)
    with pytest.raises(
        StoreError, match=r"copy\.db is damaged: the page at byte \d+ fails .*Restore a backup"
    ) as raised:
        mementos_of(copy)
    assert int(str(raised.value).partition("at byte ")[2].split()[0]) % PAGE_BYTES == 0


def test_the_test_notices_outlinks_that_a_look_up_misses(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    with closing(connect(copy)) as connection:
        connection.execute("DELETE FROM outlinks WHERE first > 1")
    with SqliteStore(copy) as store:
        contents = {store.content_of(one) for one in store.scan_mementos()} - {None}
        found = [content for content in contents if content and _has_outlinks(store, content)]
    assert 0 < len(found) < len(contents)


def _has_outlinks(store: SqliteStore, content: ContentId) -> bool:
    try:
        return bool(list(store.outlinks(content)))
    except StoreError as error:
        if "the outlinks of content" not in str(error):
            raise
        return False


@pytest.mark.parametrize("flipped", range(len(b"links") + SEAL_BYTES))
def test_a_seal_sees_each_byte(flipped: int) -> None:
    sealed = bytearray(seal(b"links", b"block 1"))
    assert unseal(bytes(sealed), b"block 1", "links.db", "block 1") == b"links"
    sealed[flipped] ^= 16
    with pytest.raises(StoreError, match=r"links\.db is damaged: block 1 fails its checksum"):
        unseal(bytes(sealed), b"block 1", "links.db", "block 1")


@pytest.mark.parametrize("data", [b"", b"abc", b"links" + bytes(SEAL_BYTES)])
def test_bytes_without_seal_are_refused(data: bytes) -> None:
    with pytest.raises(StoreError):
        unseal(data, b"block 1", "links.db", "block 1")


def test_a_block_of_another_address_is_refused() -> None:
    with pytest.raises(StoreError):
        unseal(seal(b"links", b"block 2"), b"block 1", "links.db", "block 1")
