"""Ranges of an archive file give the rows, counts and findings of the whole file."""

import gzip
from collections import Counter
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import lz4.frame  # type: ignore[import-untyped]  # it has no types
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from arclink.errors import InputError
from arclink.filter.index import index_archive, index_range
from arclink.reasons import Reason
from arclink.rows.file_ranges import (
    DividedFile,
    FileRange,
    Finding,
    RangeReport,
    format_range,
    format_report,
    parse_range,
    parse_report,
)
from tests.archives.made_archives import arc, gzipped, http, page, warc
from tests.archives.odd_members import MEMBERS, NESTED, PAGES, Makers, digested, noise

Indexed = tuple[list[bytes], Counter[Reason], Finding]


def whole(path: Path) -> Indexed:
    counts: Counter[Reason] = Counter()
    finding = Finding(path.name, "index")
    rows = list(index_archive(str(path), path.name, counts, finding))
    return rows, counts, finding


class InRanges:
    """The file as tasks read it in ranges.

    Attributes:
        read: The ranges that were read, in order, with their reports.
        indexed: Rows, counts and finding.
    """

    def __init__(self, path: Path, borders: list[int]) -> None:
        self.read: list[tuple[FileRange, RangeReport]] = []
        rows: dict[int | None, list[bytes]] = {}
        reports: dict[int | None, RangeReport] = {}
        numbers = count()
        starts = [0, *sorted({border for border in borders if border > 0})]
        parts = [
            FileRange(path.name, str(path), start, stop, next(numbers), start == 0)
            for start, stop in zip(starts, [*starts[1:], None], strict=True)
        ]
        file = DividedFile(parts, numbers)
        while parts:
            for part in map(parse_range, map(format_range, parts)):
                report = RangeReport(part.number, Finding(part.name, "index"))
                rows[part.number] = list(index_range(part, report))
                reports[part.number] = parse_report(format_report(report))
                self.read.append((part, report))
            parts = file.wrong_ranges(reports)
        counts: Counter[Reason] = Counter()
        finding = Finding(path.name, "index")
        for part in file.right:
            counts.update({Reason[name]: n for name, n in reports[part.number].counts.items()})
            finding.add(reports[part.number].finding)
        kept = [row for part in file.right for row in rows[part.number]]
        self.indexed: Indexed = kept, counts, finding


USUAL = ("page", "digest", "request")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([*USUAL, *MEMBERS]), min_size=1, max_size=14),
    st.lists(st.integers(1, 8_000), max_size=6),
)
def test_any_ranges_of_any_gzip_file_give_the_same(kinds: list[str], borders: list[int]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.warc.gz")
        members = [MEMBERS[kind](number) for number, kind in enumerate(kinds)]
        path.write_bytes(gzip.compress(page(99), mtime=0) + b"".join(members))
        assert InRanges(path, borders).indexed == whole(path)


PLAIN: Makers = {
    "page": lambda n: page(n, 40 + n * 97 % 900),
    "digest": lambda n: digested(n, noise(n, 300)),
    "archive in a record": lambda n: warc(f"http://h/{n}", http(b"\n" + page(70) + page(71))),
    "ARC": lambda n: arc(f"http://h/{n}", http(b"x" * n)),
    "ARC line in a record": lambda n: warc(f"http://h/{n}", b"a\n" + arc("http://h/", b"x")),
    "wrong length": lambda n: page(n).replace(b"Content-Length: ", b"Content-Length: 1", 1),
    "undated": lambda n: warc(f"http://h/{n}", http(b"x"), date="soon"),
    "garbage": lambda n: noise(n, 40) + b"\r\n",
    "blank": lambda n: b"\r\n" * n,
}


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(["page", "digest", *PLAIN]), min_size=1, max_size=14),
    st.lists(st.integers(1, 8_000), max_size=6),
)
def test_any_ranges_of_any_plain_file_give_the_same(kinds: list[str], borders: list[int]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.warc")
        path.write_bytes(page(99) + b"".join(PLAIN[kind](n) for n, kind in enumerate(kinds)))
        assert InRanges(path, borders).indexed == whole(path)


def lz4_frame(record: bytes) -> bytes:
    return bytes(lz4.frame.compress(record))


@pytest.mark.parametrize(
    ("name", "data", "tasks_with_rows"),
    [
        pytest.param("a.warc.gz", gzipped(PAGES), 8, id="gzip"),
        pytest.param("a.warc", b"".join(PAGES), 8, id="plain"),
        pytest.param(
            "a.warc.zst", b"".join(zstandard.compress(one) for one in PAGES), 8, id="zstd"
        ),
        pytest.param("a.warc.lz4", b"".join(map(lz4_frame, PAGES)), 8, id="lz4"),
        pytest.param("a.warc.gz", gzip.compress(b"".join(PAGES)), 1, id="gzip, one member"),
        pytest.param(
            "a.arc.gz",
            gzipped([arc(f"http://h/{n}", http(noise(n, 2_000))) for n in range(40)]),
            8,
            id="ARC",
        ),
    ],
)
def test_each_range_is_read_once_by_its_own_task(
    tmp_path: Path, name: str, data: bytes, tasks_with_rows: int
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    ranges = InRanges(path, [len(data) * part // 8 for part in range(8)])
    assert ranges.indexed == whole(path)
    assert len(ranges.read) == 8
    assert sum(bool(report.finding.records) for _, report in ranges.read) == tasks_with_rows


def test_a_range_that_begins_in_a_stored_archive_file_is_read_again(tmp_path: Path) -> None:
    """The false start is in the body of a record; only this range is read twice."""
    path = tmp_path / "a.warc.gz"
    before = gzipped(PAGES[:10])
    holder = gzip.compress(digested(99, NESTED), 0, mtime=0)
    data = before + holder + gzipped(PAGES[10:])
    path.write_bytes(data)
    border = len(before) + len(holder) // 2
    ranges = InRanges(path, [border, len(data) - 3_000])
    assert ranges.indexed == whole(path)
    assert [(part.start, part.is_exact) for part, _ in ranges.read] == [
        (0, True),
        (border, False),
        (len(data) - 3_000, False),
        (len(before) + len(holder), True),
    ]
    false_start = ranges.read[1][1]
    assert false_start.first is not None
    assert false_start.first < len(before) + len(holder)


def test_a_record_fills_the_ranges_that_it_is_in(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    data = gzipped([PAGES[0], digested(99, noise(99, 60_000)), PAGES[1]])
    path.write_bytes(data)
    ranges = InRanges(path, list(range(5_000, len(data), 5_000)))
    assert ranges.indexed == whole(path)
    assert all(part.is_exact == (part.start == 0) for part, _ in ranges.read)


def test_one_task_reads_a_file_whose_dates_depend_on_earlier_records(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    undated = gzip.compress(warc("http://h/late", http(b"x"), date="soon"))
    data = gzipped(PAGES[:20]) + undated + gzipped(PAGES[20:])
    path.write_bytes(data)
    ranges = InRanges(path, [len(data) // 4])
    assert ranges.indexed == whole(path)
    assert ranges.indexed[1][Reason.NOTE_DATE_OF_NEIGHBOUR] == 1
    assert [(part.start, part.stop) for part, _ in ranges.read][2:] == [(0, None)]


def test_ranges_of_real_files_give_the_same(shared_data: Path) -> None:
    divided = 0
    folders = ("malformed", "formats", "pywb/warcs", "aut", "warc2graph")
    for path in sorted(path for folder in folders for path in (shared_data / folder).iterdir()):
        size = path.stat().st_size
        if not path.is_file() or size > 4 << 20:
            continue
        try:
            expected = whole(path)
        except InputError:
            continue
        for parts in (2, 5):
            ranges = InRanges(path, [size * part // parts for part in range(parts)])
            assert ranges.indexed == expected, path.name
            divided += sum(bool(report.finding.records) for _, report in ranges.read) > 1
    assert divided > 50
