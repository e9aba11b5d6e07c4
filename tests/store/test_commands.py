"""``arclink stats`` and ``arclink verify``."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.query_commands import load_command
from arclink.cli.verify import command as verify
from arclink.errors import StoreError
from arclink.store.blocks import verification as checks
from arclink.store.sqlite.store import SqliteStore
from tests.store.contract import FILES, SETTINGS
from tests.store.small_graph import execute, write_graph

stats, _ = load_command("stats")


@pytest.fixture(name="path")
def path_of_store(tmp_path: Path) -> Path:
    with SqliteStore(tmp_path / "links.db", create=True) as store:
        store.load(write_graph(tmp_path / "1"), FILES, SETTINGS, "{}")
    return tmp_path / "links.db"


def test_stats_counts_everything(path: Path) -> None:
    slices = path.with_name(f"{path.name}.slices")
    (slices / "one").mkdir(parents=True)
    (slices / "one/nodes").write_bytes(b"12345")
    result = CliRunner().invoke(stats, ["--store", str(path), "--json"], catch_exceptions=False)
    counts = json.loads(result.output)
    assert counts.pop("bytes") == path.stat().st_size
    assert counts == {
        "batches": 1,
        "files": 2,
        "mementos": 6,
        "originals": 4,
        "payloads": 3,
        "contents": 3,
        "links": 5,
        "targets": 2,
        "first": "20100101000000",
        "last": "20120101000000",
        "files_next_to": {"slices": 5},
    }


def test_stats_shows_a_line_per_count(path: Path) -> None:
    result = CliRunner().invoke(stats, ["--store", str(path)], catch_exceptions=False)
    assert ["mementos", "6"] in [line.split() for line in result.output.splitlines()]
    assert result.exit_code == 0


def test_verify_says_that_all_is_well(path: Path) -> None:
    result = CliRunner().invoke(verify, ["--store", str(path)], catch_exceptions=False)
    assert (result.exit_code, result.output) == (0, f"{path}: every invariant holds.\n")


def test_verify_fails_when_something_is_broken(path: Path) -> None:
    execute("UPDATE batches SET links = 7")(path)
    result = CliRunner().invoke(verify, ["--store", str(path)], catch_exceptions=False)
    assert result.exit_code == 1
    assert "violated: batches add up: 5 outlinks, but the batches added 7\n" in result.output


def test_colliding_ids_are_a_note_and_no_failure(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "uri_id", lambda surt: "00")
    result = CliRunner().invoke(verify, ["--store", str(path)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "note: URI-IDs differ" in result.output


@pytest.mark.parametrize("command", [stats, verify], ids=["stats", "verify"])
def test_a_missing_store_is_the_errors_own_text(command: object, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store at"):
        CliRunner().invoke(command, ["--store", str(tmp_path / "none.db")], catch_exceptions=False)  # type: ignore[arg-type]
