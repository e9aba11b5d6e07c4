"""Damaged stores give the right answer or an error, and `verify` reports all other damage."""

import os
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.convert import command as convert_command
from arclink.cli.verify import command as verify_command
from arclink.errors import StoreError
from arclink.model import ContentId
from arclink.store.seals import SEAL_BYTES, seal, unseal
from arclink.store.sqlite.schema import CHECKSUM_BYTES, PAGE_BYTES, connect, convert
from arclink.store.sqlite.store import SqliteStore
from tests.store.damage import (
    PAGES,
    SEEN_BY_VERIFY,
    SEEN_WHEN_READ,
    Question,
    ask_all,
    damaged_copies,
    make_store,
    questions,
    settled,
)
from tests.store.old_layouts import without_checksums

NUMBER = int(os.environ.get("ARCLINK_DAMAGES", "24"))
"""Damaged copies of each test; `tests.store.damage` tries more."""


@pytest.fixture(scope="module", name="path")
def path_of_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "links.db"
    make_store(path)
    settled(path)
    return path


@pytest.fixture(scope="module", name="old")
def path_of_old_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("old") / "links.db"
    make_store(path, batches=2)
    without_checksums(path)
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


def test_damage_of_an_old_store_raises_no_other_error(old: Path) -> None:
    asked, right = answers(old)
    for copy, name in damaged_copies(old, SEEN_WHEN_READ, NUMBER, seed=7):
        faults = [fault for fault in ask_all(copy, asked, right).faults if "wrong" not in fault]
        assert faults == [], name


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


class TestOldStores:
    @pytest.fixture(name="copy")
    def copy_of_old_store(self, old: Path, tmp_path: Path) -> Path:
        copy = tmp_path / "links.db"
        copy.write_bytes(old.read_bytes())
        return copy

    def test_a_store_without_checksums_is_read_and_loaded_into(self, copy: Path) -> None:
        _, before = answers(copy)
        make_store(copy, batches=3)
        with SqliteStore(copy) as store:
            assert store.last_batch() == 3
            assert len(list(store.scan_mementos())) > PAGES
        assert len(before) > 10

    def test_verify_says_how_to_convert_it(self, copy: Path) -> None:
        result = CliRunner().invoke(verify_command, ["--store", str(copy)])
        assert result.exit_code == 0
        assert f"arclink convert --store {copy}" in result.stdout

    def test_a_converted_store_has_checksums_and_the_same_answers(self, copy: Path) -> None:
        asked, right = answers(copy)
        with SqliteStore(copy) as reader:
            assert [question(reader) for _, question in asked] == right
            result = CliRunner().invoke(convert_command, ["--store", str(copy)])
            assert result.exit_code == 0, result.output
            assert [question(reader) for _, question in asked] == right  # it goes on meanwhile
        assert answers(copy)[1] == right
        settled(copy)
        assert copy.read_bytes()[20] == CHECKSUM_BYTES
        with SqliteStore(copy, create=True) as store:
            assert list(store.verify()) == []
        outcome = [
            ask_all(damaged, asked, right)
            for damaged, _ in damaged_copies(copy, SEEN_WHEN_READ, 8, seed=3)
        ]
        assert [one.faults for one in outcome] == [[]] * len(outcome)
        assert not convert(copy)

    def test_a_broken_store_is_not_converted(self, copy: Path) -> None:
        with closing(connect(copy)) as connection:
            connection.execute("UPDATE outlinks SET data = x'00' WHERE first = 1")
        result = CliRunner().invoke(convert_command, ["--store", str(copy)])
        assert result.exit_code == 1
        assert "was not converted" in result.stderr
        with closing(connect(copy)) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (2,)
