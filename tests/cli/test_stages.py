"""The commands that run one stage alone."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arclink.cli.main import group
from arclink.errors import UsageError
from tests.demos import Demos

SITE = "example,aurora-daily)/"


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(group, [str(word) for word in words], catch_exceptions=False)


def lines_of(folder: Path) -> list[bytes]:
    return sorted(line for path in folder.glob("part-*") for line in path.read_bytes().splitlines())


@pytest.fixture(scope="module")
def indexed(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the rows of a demo archive, next to the archive."""
    folder = tmp_path_factory.mktemp("indexed")
    (folder / "archive").symlink_to(demos.archive(200, 6, 1))
    assert (
        run("index", folder / "archive", "--into", folder / "batch", "--runner", "inline").exit_code
        == 0
    )
    return folder


@pytest.mark.parametrize("option", ["--store", "--takedowns"])
def test_filter_leaves_out_what_a_store_was_told_to_forget(
    indexed: Path, tmp_path: Path, option: str
) -> None:
    """As a build of that store does: its graph has none of the rows."""
    store, takedowns = tmp_path / "links.db", tmp_path / "takedowns.jsonl"
    run("build", indexed / "archive", "--store", store, "--runner", "inline", "--quiet")
    run("forget", SITE, "--store", store, "--into", takedowns)
    shutil.copytree(indexed / "batch", tmp_path / "batch")
    filtering: list[str | Path] = ["filter", "--into", tmp_path / "batch", "--runner", "inline"]

    all_counts = run(*filtering).stdout
    mementos, pointers = (
        lines_of(tmp_path / "batch" / relation) for relation in ("mementos", "pointers")
    )
    counts = run(*filtering, option, store if option == "--store" else takedowns).stdout

    of_site = [line for line in mementos if line.startswith(SITE.encode())]
    assert of_site
    assert lines_of(tmp_path / "batch/mementos") == [
        line for line in mementos if line not in of_site
    ]
    assert SITE.encode() not in b"".join(lines_of(tmp_path / "batch/pointers"))
    assert len(lines_of(tmp_path / "batch/pointers")) < len(pointers)
    assert "forgotten on request" in counts
    assert "forgotten on request" not in all_counts


def test_extract_replaces_what_it_wrote(indexed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "batch"
    shutil.copytree(indexed / "batch", folder)
    run("filter", "--into", folder, "--runner", "inline")
    outputs = []
    for _ in range(2):
        said = run("extract", indexed / "archive", "--into", folder, "--runner", "inline")
        assert said.exit_code == 0
        relations = ("pages", "absent", "mementos", "graph/payloads")
        outputs.append((said.stdout, [lines_of(folder / relation) for relation in relations]))
    assert outputs[0] == outputs[1]
    assert lines_of(folder / "graph/payloads")


def test_an_engine_without_settings_is_refused(
    indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MRJOB_CONF", raising=False)
    rows = lines_of(indexed / "batch/rows")
    for runner in ("hadoop", "spark"):
        with pytest.raises(
            UsageError,
            match=rf"--runner {runner}: --engine-conf must name a file of mrjob settings .* "
            rf"conf/{runner}\.conf",
        ):
            run("filter", "--into", indexed / "batch", "--runner", runner)
    assert lines_of(indexed / "batch/rows") == rows
