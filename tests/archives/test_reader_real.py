import csv
import io
import os
import re
import time
from collections import Counter
from contextlib import redirect_stderr
from pathlib import Path

import pytest
import warcio  # type: ignore[import-untyped]  # it has no types
from fastwarc import ArchiveIterator, WarcRecordType

from arclink.archives.reader import ArchiveFile, ArchiveRecord
from arclink.errors import InputError, RecordError
from arclink.filter.index import index_archive
from arclink.reasons import Reason
from tests.archives.made_archives import read
from tests.archives.odd_files import odd_files

FEWER_RECORDS = {
    "053-2-metadata-1.arc": (
        "2 records; warcio takes rows of the CDX in the second's block for 42 more"
    ),
    "059-input-nonarc.arc": (
        "'This file is not an arc file.': warcio takes the sentence for a record"
    ),
    "205-invalid-warcheaderversion-10.warc": "WARC/1.0.0 and nothing else",
    "215-invalid-warcheaderversion-2.warc": "a version line and nothing else",
    "217-invalid-warcheaderversion-21.warc": "a version line and nothing else",
    "223-invalid-warcheaderversion-4.warc": "a version line and nothing else",
    "225-invalid-warcheaderversion-6.warc": "a version line and nothing else",
    "229-invalid-warcreader-diagnosis-1.warc": (
        "'The monkeys are a coming!': warcio takes it for a record"
    ),
}
"""Files of which we read fewer records than the better of warcio and fastwarc, and why."""

WITHOUT_RECORDS = {
    "033-test1.arc",
    "059-input-nonarc.arc",
    "147-invalid_1.0_wrong_version.warc",
    "205-invalid-warcheaderversion-10.warc",
    "207-invalid-warcheaderversion-12.warc",
    "209-invalid-warcheaderversion-14.warc",
    "211-invalid-warcheaderversion-16.warc",
    "213-invalid-warcheaderversion-18.warc",
    "229-invalid-warcreader-diagnosis-1.warc",
}
"""Files that are refused as a whole."""


def archives_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix not in (".tsv", ".cdx"))


def test_damaged_archives_give_at_least_the_records_that_other_readers_find(
    shared_data: Path,
) -> None:
    fewer, refused = set(), set()
    with (shared_data / "malformed" / "index.tsv").open() as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    assert len(rows) == 155
    for row in rows:
        try:
            records, _ = read(shared_data / "malformed" / row["file"])
        except InputError:
            refused.add(row["file"])
            records = []
        if len(records) < max(int(row["warcio_records"] or 0), int(row["fastwarc_records"] or 0)):
            fewer.add(row["file"])
    assert fewer == FEWER_RECORDS.keys()
    assert refused == WITHOUT_RECORDS


@pytest.mark.parametrize(
    "folder", ["malformed", "formats", "pywb/warcs", "cdx/cdx_writer", "html", "warc2graph"]
)
def test_no_file_crashes_hangs_or_loses_a_record_uncounted(shared_data: Path, folder: str) -> None:
    files = 0
    for path in archives_in(shared_data / folder):
        start = time.process_time()
        counts: Counter[Reason] = Counter()
        try:
            records, errors = read(path)
        except InputError:
            continue
        rows = list(index_archive(str(path), path.name, counts))
        assert counts[Reason.RECORD_INDEXED] == len(rows), path
        assert sum(count for reason, count in counts.items() if reason.group == "records") == len(
            records
        ) + len(errors), path
        with ArchiveFile(str(path)) as archive:
            for record in records:
                try:
                    again = archive.record_at(record.offset, record.length)
                except RecordError:
                    assert record.damage, (path, record.offset)
                else:
                    assert (again.uri, again.body_length) == (record.uri, record.body_length)
                    assert record.rest or again.body == record.body
        assert time.process_time() - start < 5, path
        files += 1
    assert files


@pytest.mark.parametrize(
    "name",
    [
        "aut/example.warc.gz",
        "pywb/warcs/iana.warc.gz",
        "warc2graph",
        "flink_web/flink.apache.org-2016.warc.gz",
    ],
)
def test_sound_archives_read_as_fastwarc_reads_them(shared_data: Path, name: str) -> None:
    path = shared_data / name
    if path.is_dir():
        path = next(path.glob("*.warc.gz"))
    with ArchiveFile(str(path)) as archive:
        others = ArchiveIterator(str(path), record_types=WarcRecordType.any_type, parse_http=True)
        for ours, theirs in zip(archive.records(), others, strict=True):
            assert isinstance(ours, ArchiveRecord)
            assert ours.offset == theirs.stream_pos
            assert ours.record_type == str(theirs.record_type)
            assert ours.uri == (theirs.headers.get("WARC-Target-URI") or "").strip("<>")
            if ours.record_type == "response":
                assert ours.status == (
                    str(theirs.http_headers.status_code) if theirs.http_headers else "-"
                )
                assert b"".join(ours.body_pieces()) == theirs.reader.read()


def test_arc_reads_as_warcio_reads_it(shared_data: Path) -> None:
    path = shared_data / "aut" / "example.arc.gz"
    count = 0
    with ArchiveFile(str(path)) as archive, path.open("rb") as file:
        for ours, theirs in zip(archive.records(), warcio.ArchiveIterator(file), strict=True):
            assert isinstance(ours, ArchiveRecord)
            assert ours.uri == theirs.rec_headers.get_header("uri")
            assert ours.timestamp == theirs.rec_headers.get_header("archive-date")
            if ours.record_type != "warcinfo":  # warcio counts the version block as head
                assert b"".join(ours.body_pieces()) == theirs.raw_stream.read()
            assert ours.status == (
                theirs.http_headers.get_statuscode() if theirs.http_headers else "-"
            )
            count += 1
    assert count == 300


def test_the_same_crawl_in_warc_and_arc_has_the_same_responses(shared_data: Path) -> None:
    def responses(name: str) -> list[tuple[str, str, str, str, bytes]]:
        records, _ = read(shared_data / "aut" / name)
        return sorted(
            (one.uri, one.timestamp, one.status, one.mime, one.body)
            for one in records
            if one.record_type == "response"
        )

    warc = responses("example.warc.gz")
    assert len(warc) == 299
    assert warc == responses("example.arc.gz")


def test_warcio_finds_the_same_records_by_offset(shared_data: Path) -> None:
    path = shared_data / "pywb" / "warcs" / "iana.warc.gz"
    with path.open("rb") as file, redirect_stderr(io.StringIO()):
        theirs = warcio.ArchiveIterator(file)
        expected = [(theirs.get_record_offset(), theirs.get_record_length()) for _ in theirs]
    assert [(record.offset, record.length) for record in read(path)[0]] == expected
    with ArchiveFile(str(path)) as archive:
        lengths = [archive.record_at(*address).length for address in expected]
        assert sum(lengths) == os.path.getsize(path)


def test_every_record_of_a_sound_archive_has_what_a_capture_needs(shared_data: Path) -> None:
    for record in read(shared_data / "flink_web" / "flink.apache.org-2017.warc.gz")[0]:
        assert isinstance(record, ArchiveRecord)
        assert record.timestamp
        assert record.record_type == "warcinfo" or (record.uri and record.checksum != "-")


def test_the_page_of_odd_files_says_what_is_so(shared_data: Path) -> None:
    """If it fails, write the page again with `python -m tests.archives.odd_files FOLDER >
    tests/archives/odd-files.md` and review the differences.
    """
    page = Path(__file__).parent / "odd-files.md"
    assert odd_files(shared_data).splitlines() == page.read_text("utf-8").splitlines()


def test_what_the_page_of_odd_files_says_adds_up(shared_data: Path) -> None:
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in odd_files(shared_data).splitlines()
        if re.match("[|] [a-z]+/", line)
    ]
    assert len(rows) > 300
    for name, read_from, kept, skipped, *_ in rows:
        if not read_from.startswith("refused"):
            reasons = [int(one.partition(" ")[0]) for one in skipped.split("; ") if one]
            assert int(kept) + sum(reasons) == int(read_from), name


def test_a_quick_look_at_a_member_gives_the_record_of_a_closer_look(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked_up(path: Path, addresses: list[tuple[int, int]]) -> list[object]:
        found: list[object] = []
        with ArchiveFile(str(path)) as archive:
            for offset, length in addresses:
                try:
                    found.append(archive.record_at(offset, length))
                except RecordError as error:
                    found.append((error.reason, error.detail))
        return found

    members = 0
    folders = ("aut", "flink_web", "formats", "malformed")
    for path in (path for name in folders for path in archives_in(shared_data / name)):
        if path.suffix != ".gz" or path.name.endswith(".tsv.gz"):
            continue
        records, _ = read(path)
        addresses = [
            (record.offset, record.length + wrong) for record in records for wrong in (0, 9)
        ]
        quick = looked_up(path, addresses)
        with monkeypatch.context() as patched:
            patched.setattr(ArchiveFile, "_plain_record", lambda *_: None)
            assert looked_up(path, addresses) == quick, path
        members += len(records)
    assert members > 5_000
