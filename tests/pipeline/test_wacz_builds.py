"""Builds of WACZ files and pywb collections, with and without their own indexes."""

import gzip
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.cli.build import command as build_command
from arclink.errors import InputError
from arclink.model import Surt
from arclink.pipeline.inputs import describe, find_archives, leave_out_foreign
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows.cdx_files import find_cdx
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.pipeline.store_contents import Link, outlinks_of

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
        shutil.copyfile(
            shared_data / f"pywb/warcs/{name}.warc.gz", folder / f"archive/{name}.warc.gz"
        )
    rows = sorted(
        line
        for name in NAMES
        for line in (shared_data / f"pywb/cdxj/{name}.cdxj").read_bytes().splitlines(keepends=True)
    )
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
def expected(
    collection: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], list[Link] | None]:
    path = tmp_path_factory.mktemp("expected") / "links.db"
    build_store(collection / "archive", path, BuildSettings(cores=2))
    return links_at(path)


@pytest.mark.parametrize("source", ["collection", "wacz"])
@pytest.mark.parametrize("is_indexed", [False, True], ids=["without index", "with its index"])
def test_the_links_are_those_of_the_files(
    source: str, is_indexed: bool, request: pytest.FixtureRequest, expected: object, tmp_path: Path
) -> None:
    path: Path = request.getfixturevalue(source)
    report = build_store(
        path,
        tmp_path / "links.db",
        BuildSettings(cores=2),
        cdx=find_cdx([str(path)]) if is_indexed else [],
    )
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
        index = b"".join(
            line
            for line in first.read("indexes/index.cdxj").splitlines(keepends=True)
            if b"example2" in line
        )
        zipped.writestr("indexes/index.cdxj", index)
    inputs = [str(wacz), str(other)]
    names = [file.name for file in describe(find_archives(inputs), {})]
    assert len(set(names)) == 4
    report = build_store(
        tmp_path, tmp_path / "links.db", BuildSettings(cores=2), inputs, find_cdx(inputs)
    )
    assert report.counts[Reason.ROW_FILE_NOT_GIVEN] == 0
    assert report.counts[Reason.FILE_INDEXED] == 0


def test_real_waczs_are_read_or_refused_with_a_reason(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "pywb/waczs"
    done = CliRunner().invoke(
        build_command,
        [
            str(folder),
            "--cdx",
            str(folder / "valid_example_1.wacz"),
            "--store",
            str(tmp_path / "x.db"),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "invalid_example_1.wacz has no archive file" in done.output
    assert "read" in done.output
    with open_store(str(tmp_path / "x.db")) as store:
        (memento,) = store.mementos(Surt("com,example)/"))
        assert (memento.file, memento.offset) == (
            "valid_example_1.wacz!/archive/example-collection.warc",
            845,
        )


def test_a_file_that_is_compressed_in_its_wacz_is_passed_over(wacz: Path, tmp_path: Path) -> None:
    path = tmp_path / "packed.wacz"
    with zipfile.ZipFile(path, "w") as zipped, zipfile.ZipFile(wacz) as first:
        zipped.writestr(
            "archive/a.warc.gz", first.read("archive/dupes.warc.gz"), zipfile.ZIP_DEFLATED
        )
        zipped.writestr("archive/b.warc.gz", first.read("archive/dupes.warc.gz"))
    paths, complaints = leave_out_foreign(find_archives([str(path)]))
    assert [one.name for one in paths] == ["b.warc.gz"]
    assert complaints == [
        (
            f"{path}: archive/a.warc.gz is compressed once more in it, but a WACZ must store "
            "archive files uncompressed; pack it again (zip -0)"
        )
    ]


def with_index(wacz: Path, path: Path, name: str, index: bytes) -> Path:
    """Write a WACZ with the archive files of another, and an index of its own."""
    with zipfile.ZipFile(path, "w") as zipped, zipfile.ZipFile(wacz) as first:
        for entry in first.namelist():
            if entry.startswith("archive/"):
                zipped.writestr(entry, first.read(entry))
        zipped.writestr(f"indexes/{name}", index)
    return path


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        pytest.param(
            "index.cdxj.gz",
            lambda rows: gzip.compress(rows)[:-400],
            "ended before the end-of-stream marker",
            id="cut short",
        ),
        pytest.param(
            "index.cdxj.gz",
            lambda rows: gzip.compress(rows)[:900] + b"!" + gzip.compress(rows)[901:],
            "",
            id="a byte is another",
        ),
        pytest.param(
            "index.cdxj.gz",
            lambda rows: b"\x1f\x8bnonsense",
            "Unknown compression method",
            id="no gzip",
        ),
        pytest.param(
            "index.cdxj",
            lambda rows: b"<html>404</html>\n",
            "not a CDX or CDXJ file",
            id="another file",
        ),
        pytest.param("index.cdxj", lambda rows: b"", "no row of", id="empty"),
    ],
)
def test_a_damaged_index_in_a_wacz_stops_the_build(
    name: str, damage: Callable[[bytes], bytes], message: str, wacz: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(wacz) as first:
        damaged = with_index(
            wacz, tmp_path / "damaged.wacz", name, damage(first.read("indexes/index.cdxj"))
        )
    done = CliRunner().invoke(
        build_command,
        [str(damaged), "--cdx", str(damaged), "--store", str(tmp_path / "links.db"), "--quiet"],
    )
    assert isinstance(done.exception, InputError)
    assert message in str(done.exception)
    assert f"{damaged}!/indexes/{name}" in str(done.exception)
    assert not (tmp_path / "links.db").exists()


def test_without_its_damaged_index_a_wacz_is_read(
    wacz: Path, expected: object, tmp_path: Path
) -> None:
    damaged = with_index(wacz, tmp_path / "damaged.wacz", "index.cdxj", b"<html>404</html>")
    done = CliRunner().invoke(
        build_command, [str(damaged), "--store", str(tmp_path / "links.db"), "--quiet"]
    )
    assert done.exit_code == 0, done.output
    assert links_at(tmp_path / "links.db") == expected


def test_a_damaged_byte_in_a_stored_index_is_noticed(wacz: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wacz) as first:
        rows = first.read("indexes/index.cdxj")
    damaged = with_index(wacz, tmp_path / "damaged.wacz", "index.cdxj", rows)
    data = damaged.read_bytes()
    offset = data.index(rows) + 5000
    damaged.write_bytes(data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :])
    with pytest.raises(
        InputError, match=r"Bad CRC-32.*or leave it out: ArcLink indexes archive files without rows"
    ):
        build_store(
            damaged, tmp_path / "links.db", BuildSettings(cores=1), cdx=find_cdx([str(damaged)])
        )


def test_malformed_lines_of_a_wacz_index_are_counted(wacz: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wacz) as first:
        rows = first.read("indexes/index.cdxj").splitlines(keepends=True)
    damaged = with_index(
        wacz,
        tmp_path / "damaged.wacz",
        "index.cdxj",
        b"".join([*rows[:50], b"\xff\x00{\n", b'"}\n', *rows[50:]]),
    )
    report = build_store(
        damaged, tmp_path / "links.db", BuildSettings(cores=2), cdx=find_cdx([str(damaged)])
    )
    assert (report.counts[Reason.ROW_KEPT], report.counts[Reason.ROW_MALFORMED]) == (len(rows), 2)


def test_one_file_in_a_wacz_can_be_named(wacz: Path) -> None:
    (path,) = find_archives([f"{wacz}!/archive/dupes.warc.gz"])
    assert str(path) == f"{wacz}!/archive/dupes.warc.gz"


def test_stages_one_by_one_take_an_index_that_is_not_usual(wacz: Path, tmp_path: Path) -> None:
    from arclink.cli.main import group

    folder = str(tmp_path / "batch")
    for words in (["filter", str(wacz)], ["extract", str(wacz)], ["graph"]):
        done = CliRunner().invoke(group, [*words, "--into", folder])
        assert done.exit_code == 0, done.output
    assert any((tmp_path / "batch/graph/outlinks").iterdir())
