"""Builds from WACZ files and pywb collections, with their own indexes and without."""

import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.build import command as build_command
from arclink.model import Surt
from arclink.pipeline.cdx_files import find_cdx
from arclink.pipeline.inputs import describe, find_archives, leave_out_foreign
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.store.opening import open_store
from tests.pipeline.reading import Link, build_store, outlinks_of

NAMES = ("iana", "dupes", "example2")


def links_at(path: Path) -> dict[tuple[str, str], list[Link] | None]:
    with open_store(str(path)) as store:
        assert list(store.verify()) == []
        return outlinks_of(store, set(store.surts(Surt(""))))


@pytest.fixture(scope="module")
def collection(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a collection as pywb keeps it."""
    folder = tmp_path_factory.mktemp("pywb") / "collections" / "news"
    (folder / "archive").mkdir(parents=True)
    (folder / "indexes").mkdir()
    for name in NAMES:
        shutil.copyfile(shared_data / f"pywb/warcs/{name}.warc.gz", folder / f"archive/{name}.warc.gz")
    rows = sorted(line for name in NAMES for line in (shared_data / f"pywb/cdxj/{name}.cdxj").read_bytes().splitlines(keepends=True))
    (folder / "indexes/index.cdxj").write_bytes(b"".join(rows))
    return folder


@pytest.fixture(scope="module")
def wacz(collection: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a WACZ of the same files."""
    path = tmp_path_factory.mktemp("wacz") / "news.wacz"
    with zipfile.ZipFile(path, "w") as zipped:
        for file in sorted((collection / "archive").iterdir()):
            zipped.write(file, f"archive/{file.name}")
        zipped.write(collection / "indexes/index.cdxj", "indexes/index.cdxj", zipfile.ZIP_DEFLATED)
        zipped.writestr("datapackage.json", "{}")
    return path


@pytest.fixture(scope="module")
def expected(collection: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], list[Link] | None]:
    path = tmp_path_factory.mktemp("expected") / "links.db"
    build_store(collection / "archive", path, BuildSettings(cores=2))
    return links_at(path)


@pytest.mark.parametrize("source", ["collection", "wacz"])
@pytest.mark.parametrize("is_indexed", [False, True], ids=["without index", "with its index"])
def test_the_links_are_those_of_the_files(
    source: str, is_indexed: bool, request: pytest.FixtureRequest, expected: object, tmp_path: Path
) -> None:
    path: Path = request.getfixturevalue(source)
    report = build_store(path, tmp_path / "links.db", BuildSettings(cores=2), cdx=find_cdx([str(path)]) if is_indexed else [])
    assert links_at(tmp_path / "links.db") == expected
    assert (report.counts[Reason.FILE_INDEXED] == 0) == is_indexed
    assert report.counts[Reason.ROW_FILE_NOT_GIVEN] == 0


def test_mementos_name_the_wacz_and_the_file_in_it(wacz: Path, tmp_path: Path) -> None:
    build_store(wacz, tmp_path / "links.db", BuildSettings(cores=2), cdx=find_cdx([str(wacz)]))
    with open_store(str(tmp_path / "links.db")) as store:
        files = {memento.file for surt in store.surts(Surt("")) for memento in store.mementos(surt)}
        assert files == {f"news.wacz!/archive/{name}.warc.gz" for name in NAMES}
        assert {file.name for file in store.files()} == files


def test_of_two_waczs_of_one_name_each_row_finds_its_own(wacz: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / wacz.name
    other.parent.mkdir()
    with zipfile.ZipFile(other, "w") as zipped, zipfile.ZipFile(wacz) as first:
        zipped.writestr("archive/example2.warc.gz", first.read("archive/example2.warc.gz"))
        index = b"".join(line for line in first.read("indexes/index.cdxj").splitlines(keepends=True) if b"example2" in line)
        zipped.writestr("indexes/index.cdxj", index)
    inputs = [str(wacz), str(other)]
    names = [file.name for file in describe(find_archives(inputs), {})]
    assert len(set(names)) == 4
    report = build_store(tmp_path, tmp_path / "links.db", BuildSettings(cores=2), inputs, find_cdx(inputs))
    assert report.counts[Reason.ROW_FILE_NOT_GIVEN] == 0
    assert report.counts[Reason.FILE_INDEXED] == 0


def test_real_waczs_are_read_or_refused_with_a_reason(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "pywb/waczs"
    done = CliRunner().invoke(
        build_command, [str(folder), "--cdx", str(folder / "valid_example_1.wacz"), "--store", str(tmp_path / "x.db")]
    )
    assert done.exit_code == 0, done.output
    assert "invalid_example_1.wacz holds no archive file" in done.output
    assert "read" in done.output
    with open_store(str(tmp_path / "x.db")) as store:
        (memento,) = store.mementos(Surt("com,example)/"))
        assert (memento.file, memento.offset) == ("valid_example_1.wacz!/archive/example-collection.warc", 845)


def test_a_file_that_is_compressed_in_its_wacz_is_passed_over(wacz: Path, tmp_path: Path) -> None:
    path = tmp_path / "packed.wacz"
    with zipfile.ZipFile(path, "w") as zipped, zipfile.ZipFile(wacz) as first:
        zipped.writestr("archive/a.warc.gz", first.read("archive/dupes.warc.gz"), zipfile.ZIP_DEFLATED)
        zipped.writestr("archive/b.warc.gz", first.read("archive/dupes.warc.gz"))
    paths, complaints = leave_out_foreign(find_archives([str(path)]))
    assert [one.name for one in paths] == ["b.warc.gz"]
    assert complaints == [
        f"{path}: archive/a.warc.gz is compressed once more in it, and a WACZ stores archive files as they are; pack it anew (zip -0)"
    ]


def test_one_file_in_a_wacz_can_be_named(wacz: Path) -> None:
    (path,) = find_archives([f"{wacz}!/archive/dupes.warc.gz"])
    assert str(path) == f"{wacz}!/archive/dupes.warc.gz"


def test_stages_one_by_one_take_an_index_that_is_not_usual(wacz: Path, tmp_path: Path) -> None:
    from arclink.cli.main import group

    folder = str(tmp_path / "batch")
    for words in (["filter", str(wacz)], ["extract", str(wacz)], ["graph"]):
        done = CliRunner().invoke(group, [*words, "--folder", folder])
        assert done.exit_code == 0, done.output
    assert any((tmp_path / "batch/graph/outlinks").iterdir())
