"""What ``arclink verify`` prints is short, whatever an archive has."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.store.blocks import verification as checks
from arclink.store.protocols import Violation
from arclink.store.sqlite.store import SqliteStore
from tests.demos import Demos


def test_a_note_about_a_long_address_is_short(
    demos: Demos, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = (f"example,{letter})/{'x' * 5_000}?last={letter}" for letter in "ab")

    def verify(store: SqliteStore) -> Iterator[Violation]:
        yield Violation(checks.COLLISION, f"00: {first} and {last}")
        yield Violation("blocks are sorted", "block 7")

    monkeypatch.setattr(SqliteStore, "verify", verify)
    done = CliRunner().invoke(group, ["verify", "--store", str(Path(demos.store()))])
    note, violation = done.output.splitlines()[:2]
    assert len(note) < 600
    assert all(text in note for text in ("00: example,a)/x", "xx?last=a and example,b)", "last=b"))
    assert violation == "violated: blocks are sorted: block 7"
