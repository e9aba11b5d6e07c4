"""A WACZ of WACZ files is read like the files in it."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from arclink.archives.wacz import archives_in, indexes_in
from arclink.captures.locate import find_capture
from arclink.cli.get import command as get_command
from arclink.errors import InputError
from arclink.pipeline.inputs import find_archives, leave_out_foreign
from arclink.rows.cdx_files import find_cdx
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.captures.exporting import built, exported, facts_of
from tests.captures.reading import opened
from tests.pipeline.batch_orders import ALONE, BODY, links_of, page, row

RECORDS = {"a": page("http://a.example/", 1), "b": page("http://b.example/", 2)}
FILES = [f"{name}.wacz!/archive/data.warc" for name in RECORDS]


def zipped(entries: Mapping[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return data.getvalue()


def crawl(name: str) -> bytes:
    index = row(f"http://{name}.example/", 1 if name == "a" else 2, "data.warc", 0)
    return zipped(
        {
            "archive/data.warc": RECORDS[name],
            "indexes/index.cdx": index.encode(),
            "datapackage.json": b"{}",
        }
    )


def collection(how: int = zipfile.ZIP_STORED) -> bytes:
    entries = {f"{name}.wacz": crawl(name) for name in RECORDS}
    return zipped({**entries, "datapackage.json": b"{}"}, how)


@pytest.fixture
def wacz(tmp_path: Path) -> Path:
    path = tmp_path / "all.wacz"
    path.write_bytes(collection())
    return path


@pytest.mark.parametrize("has_rows", [False, True], ids=["indexed", "with its indexes"])
def test_captures_are_built_read_and_exported(tmp_path: Path, wacz: Path, has_rows: bool) -> None:
    store = tmp_path / "links.db"
    build_store("", store, ALONE, [str(wacz)], find_cdx([str(wacz)]) if has_rows else [])
    with opened(store) as (graph, reader):
        assert [file.name for file in graph.files()] == [f"all.wacz!/{one}" for one in FILES]
        with reader.read(find_capture(graph, "http://b.example/")) as shown:
            assert b"".join(shown.decoded()) == BODY
    with open_store(str(store)) as graph:
        assert links_of(graph, "example,a)/", "example,b)/") == {
            ("http://a.example/", "01"): ["http://a.example/next.html"],
            ("http://b.example/", "02"): ["http://b.example/next.html"],
        }
    for form in ("warc.gz", "wacz"):
        (folder := tmp_path / form).mkdir()
        exported(store, folder / f"copy.{form}", form.partition(".")[0])
        assert facts_of(built(folder, [folder / f"copy.{form}"])) == facts_of(store)


def test_one_of_the_files_may_be_named_alone(tmp_path: Path, wacz: Path) -> None:
    store = tmp_path / "links.db"
    build_store("", store, ALONE, [f"{wacz}!/b.wacz"])
    with open_store(str(store)) as graph:
        assert list(graph.captured_surts("")) == ["example,b)/"]  # type: ignore[arg-type]


def test_a_collection_that_was_moved_is_found(tmp_path: Path, wacz: Path) -> None:
    store = tmp_path / "links.db"
    build_store("", store, ALONE, [str(wacz)])
    (folder := tmp_path / "elsewhere").mkdir()
    wacz.rename(folder / wacz.name)
    args = ["http://a.example/", "--store", str(store), "--archives", str(folder)]
    result = CliRunner().invoke(get_command, args)
    assert result.stdout_bytes == BODY, result.output


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(collection(zipfile.ZIP_DEFLATED), "compressed once more", id="deflated"),
        pytest.param(
            zipped({"outer.wacz": collection()}), "only one level of them is read", id="two levels"
        ),
        pytest.param(zipped({"a.wacz": b"no zip"}), "is not a WACZ", id="damaged"),
        pytest.param(zipped({"a.wacz": zipped({})}), "has no archive file", id="empty"),
    ],
)
def test_a_wacz_that_cannot_be_read_is_refused_with_the_reason(
    tmp_path: Path, data: bytes, words: str
) -> None:
    path = tmp_path / "all.wacz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=words):
        leave_out_foreign(find_archives([str(path)]))


def test_the_others_are_read_if_one_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "all.wacz"
    path.write_bytes(zipped({"a.wacz": b"no zip", "b.wacz": crawl("b")}))
    used, complaints = leave_out_foreign(find_archives([str(path)]))
    assert [str(one) for one in used] == [f"{path}!/{FILES[1]}"]
    assert "all.wacz!/a.wacz is not a WACZ" in complaints[0]
    assert indexes_in(str(path)) == ["b.wacz!/indexes/index.cdx"]


def test_entries_are_named_by_both_files(wacz: Path) -> None:
    assert archives_in(str(wacz)) == FILES
    assert indexes_in(str(wacz)) == [f"{name}.wacz!/indexes/index.cdx" for name in RECORDS]
