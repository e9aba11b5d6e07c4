"""A WAT in one build with the archive file that it describes, and in builds before and after it."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.build import command as build_command
from arclink.pipeline.inputs import find_archives
from arclink.pipeline.settings import BuildSettings
from arclink.pipeline.wats import leave_out_described
from arclink.store import ArchiveFile
from arclink.store.opening import open_store
from tests.pipeline.reading import build_store, graph_of

NAMES = ("example.warc.gz", "example.warc.gz.wat.gz")


@pytest.fixture
def both(shared_data: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "both"
    folder.mkdir()
    for name in NAMES:
        shutil.copyfile(shared_data / "aut" / name, folder / name)
    return folder


def graph_at(path: Path) -> set[tuple[object, ...]]:
    with open_store(str(path)) as store:
        assert list(store.verify()) == []
        return graph_of(store)


def test_the_archive_file_is_read_and_its_wat_passed_over(both: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(build_command, [str(both), "--store", str(tmp_path / "cli.db"), "--quiet"])
    assert done.exit_code == 0, done.output
    assert f"passed over: {both / NAMES[1]} describes {both / NAMES[0]}, which is read itself" in done.output
    build_store(both / NAMES[0], tmp_path / "warc.db", BuildSettings(cores=2))
    assert graph_at(tmp_path / "cli.db") == graph_at(tmp_path / "warc.db")


def test_of_both_in_one_batch_the_archive_file_is_read(both: Path, tmp_path: Path) -> None:
    build_store(both, tmp_path / "both.db", BuildSettings(cores=2))
    build_store(both / NAMES[0], tmp_path / "warc.db", BuildSettings(cores=2))
    assert graph_at(tmp_path / "both.db") == graph_at(tmp_path / "warc.db")


def test_a_wat_stays_where_its_archive_file_is_not(both: Path) -> None:
    (both / NAMES[0]).write_bytes((both / NAMES[0]).read_bytes()[:700])  # another file of this name
    assert leave_out_described(find_archives([str(both)]), {}) == (find_archives([str(both)]), [])
    (both / NAMES[0]).unlink()
    (wat,) = find_archives([str(both)])
    assert leave_out_described([wat], {}) == ([wat], [])


def test_a_wat_of_a_file_that_the_store_has_is_passed_over(both: Path) -> None:
    wat = both / NAMES[1]
    stored = {NAMES[0]: ArchiveFile(NAMES[0], str(both / "gone" / NAMES[0]), 1, "x")}
    paths, reasons = leave_out_described([wat], stored)
    assert (paths, len(reasons)) == ([], 1)


def test_a_wat_that_the_store_has_is_known_again(both: Path) -> None:
    stored = {NAMES[1]: ArchiveFile(NAMES[1], str(both / NAMES[1]), 1, "x")}
    paths = find_archives([str(both)])
    assert leave_out_described(paths, stored) == (paths, [])
