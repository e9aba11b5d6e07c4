"""Tables of captures, and downloads of every format."""

import csv
import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from arclink.captures import write as taking
from arclink.captures.export import Source
from arclink.captures.queries import CaptureFormat, TakeAwayQuery
from arclink.captures.write import download
from arclink.errors import ExportError
from arclink.rows.cdx import parse_row
from arclink.store.location import open_store
from tests.captures.archives import T1, Record, store_of
from tests.captures.exporting import exported, read_by_fastwarc
from tests.demos import Demos

A = "http://a.example/"


def test_csv_and_parquet_have_a_row_per_capture(demos: Demos, tmp_path: Path) -> None:
    exported(demos.store(), tmp_path / "captures.csv", "captures-csv")
    done = exported(demos.store(), tmp_path / "captures.parquet", "captures")
    with (tmp_path / "captures.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    table = pq.read_table(tmp_path / "captures.parquet").to_pylist()
    with open_store(str(demos.store())) as store:
        mementos = list(store.scan_mementos())
    assert len(rows) == len(table) == len(mementos) == done.tally.captures
    for row, written, memento in zip(rows, table, mementos, strict=True):
        assert (row["surt"], row["uri"], row["time"], row["record_type"]) == (
            memento.surt,
            memento.original,
            memento.timestamp,
            memento.record_type,
        )
        assert (row["file"], int(row["offset"]), int(row["length"])) == (
            memento.file,
            memento.offset,
            memento.length,
        )
        is_digest = ":" not in memento.checksum
        assert row["digest"] == (memento.checksum if is_digest else "")
        assert written["time"].strftime("%Y%m%d%H%M%S") == row["time"]
        assert {name: written[name] or "" for name in ("surt", "uri", "digest", "mime")} == {
            name: row[name] for name in ("surt", "uri", "digest", "mime")
        }
        assert (written["offset"], written["length"]) == (memento.offset, memento.length)
    assert any(":" in memento.checksum for memento in mementos)


def test_an_index_of_places_is_sorted_and_complete(demos: Demos, tmp_path: Path) -> None:
    exported(demos.store(), tmp_path / "places.cdxj", "cdxj")
    lines = (tmp_path / "places.cdxj").read_bytes().splitlines()
    assert lines == sorted(lines)
    with open_store(str(demos.store())) as store:
        assert {(one.file, one.offset) for one in store.scan_mementos()} == {
            (row.file, row.offset) for row in map(parse_row, lines)
        }


@pytest.mark.parametrize("form", ["cdxj", "captures-csv", "captures"])
def test_a_download_is_the_file(form: str, demos: Demos, tmp_path: Path) -> None:
    exported(demos.store(), tmp_path / "file", form)
    query = TakeAwayQuery(CaptureFormat(form))
    with open_store(str(demos.store())) as store:
        data = b"".join(download(Source(store), query))
    if form == "captures":
        assert pq.read_table(io.BytesIO(data)) == pq.read_table(tmp_path / "file")
    else:
        assert data == (tmp_path / "file").read_bytes()


def test_a_download_of_nothing_fails_before_its_first_byte(tmp_path: Path) -> None:
    path = store_of(tmp_path, [Record(A, T1)])
    (tmp_path / "archive" / "crawl.warc.gz").unlink()
    with open_store(str(path)) as store:
        for form in (CaptureFormat.WARC, CaptureFormat.WACZ):
            with pytest.raises(ExportError, match="none of 1 captures"):
                next(download(Source(store), TakeAwayQuery(form)))


def test_a_download_comes_in_pieces(
    demos: Demos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "_BUFFER", 1000)
    exported(demos.store(), tmp_path / "out.warc.gz")
    with open_store(str(demos.store())) as store:
        pieces = list(download(Source(store), TakeAwayQuery(CaptureFormat.WARC)))
    assert len(pieces) > 50
    assert max(map(len, pieces)) < 20_000
    (tmp_path / "sent.warc.gz").write_bytes(b"".join(pieces))
    written = read_by_fastwarc(tmp_path / "out.warc.gz")
    *sent, (kind, uri, manifest, _) = read_by_fastwarc(tmp_path / "sent.warc.gz")
    assert sent[1:] == written[1:]
    assert (kind, uri) == ("metadata", "urn:arclink:manifest")
    assert b'"written": 300' in manifest
