"""A build reads every dialect of CDX that docs/reference/filter.md lists."""

import gzip
import zipfile
from pathlib import Path

import pytest

from arclink.rows.cdx_files import find_cdx
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.pipeline.batch_orders import ALONE, BODY, DIGEST, links_of, page, revisit

URI, AGAIN = "http://a.example/p", "http://a.example/x/"
RECORDS = [
    page(URI, 1),
    page("http://a.example/late", 2, body=b'<a href="/other">Other</a>'),
    revisit(AGAIN, 3, f"WARC-Payload-Digest: {DIGEST}"),
]
OFFSETS = [0, len(RECORDS[0]), len(RECORDS[0]) + len(RECORDS[1])]
KEY, SUM = "example,a)/p", DIGEST[5:]
JSON = (
    f'{{"url": "{URI}", "mime": "text/html", "status": "200", "digest": "{SUM}", '
    f'"length": "{OFFSETS[1]}", "offset": "0", "filename": "a.warc", '
    f'"timestamp": "20200101000001"}}'
)
OF_11 = f"{KEY} 20200101000001 {URI} text/html 200 {SUM} - - {OFFSETS[1]} 0 a.warc"
ROWS = {
    "9 columns": f"{KEY} 20200101000001 {URI} text/html 200 {SUM} - 0 a.warc",
    "10 columns": f"{KEY} 20200101000001 {URI} text/html 200 {SUM} - - 0 a.warc",
    "11 columns": OF_11,
    "11 columns with a header": f" CDX N b a m s k r M S V g\n{OF_11}",
    "11 columns and an alias": f"@alias http://www.b.example/ {URI}\n{OF_11}",
    "14 columns": f"{OF_11} - - -",
    "14 columns with a header": f" CDX N b a m s k r M S V g - - -\n{OF_11} - - -",
    "14 columns and an alias": f"@alias http://www.b.example/ {URI}\n{OF_11} - - -",
    "14 columns without status": f"{OF_11} - - -".replace(" 200 ", " 0 "),
    "another order": f" CDX a b a m s k r M V g u\n"
    f"{URI} 20200101000001 {URI} text/html 200 {SUM} - - 0 a.warc <urn:x>",
    "CDXJ": f"{KEY} 20200101000001 {JSON}",
    "the JSON alone": JSON,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "archive"
    path.mkdir()
    (path / "a.warc").write_bytes(b"".join(RECORDS))
    return path


def links_by(tmp_path: Path, folder: Path, cdx: Path) -> dict[tuple[str, str], list[str] | None]:
    store = tmp_path / "links.db"
    build_store(folder, store, ALONE, cdx=find_cdx([str(cdx)]))
    with open_store(str(store)) as opened:
        return links_of(opened, KEY, "example,a)/x")


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("is_compressed", [False, True], ids=["plain", "gzip"])
def test_a_build_reads_the_captures_of_the_rows(
    tmp_path: Path, folder: Path, rows: str, is_compressed: bool
) -> None:
    data = (rows + "\n").encode()
    cdx = tmp_path / ("rows.cdx.gz" if is_compressed else "rows.cdx")
    cdx.write_bytes(gzip.compress(data) if is_compressed else data)
    assert links_by(tmp_path, folder, cdx) == {(URI, "01"): ["http://a.example/next.html"]}


def test_a_row_of_14_columns_names_the_record_that_a_revisit_repeats(
    tmp_path: Path, folder: Path
) -> None:
    cdx = tmp_path / "rows.cdx"
    cdx.write_text(
        f"- 20200101000003 {AGAIN} warc/revisit 200 {SUM} - - {len(RECORDS[2])} {OFFSETS[2]} "
        f"a.warc {OFFSETS[1]} 0 a.warc\n"
    )
    found = links_by(tmp_path, folder, cdx)
    assert found == {(AGAIN, "03"): ["http://a.example/x/next.html"]}


@pytest.mark.parametrize("rows", ["11 columns", "14 columns", "CDXJ"])
def test_the_index_of_a_wacz_names_the_files_in_it(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as wacz:
        wacz.writestr("archive/a.warc", b"".join(RECORDS))
        wacz.writestr("indexes/index.cdx", ROWS[rows] + "\n")
        wacz.writestr("datapackage.json", "{}")
    store = tmp_path / "links.db"
    build_store("", store, ALONE, [str(path)], find_cdx([str(path)]))
    with open_store(str(store)) as opened:
        assert links_of(opened, KEY) == {(URI, "01"): ["http://a.example/next.html"]}


def test_a_folder_gives_the_rows_of_its_files(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "indexes").mkdir()
    (tmp_path / "indexes/a.cdx").write_text(ROWS["14 columns"] + "\n")
    found = links_by(tmp_path, folder, tmp_path / "indexes")
    assert found == {(URI, "01"): ["http://a.example/next.html"]}
    assert BODY in RECORDS[0]
