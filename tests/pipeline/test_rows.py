"""CDX rows, distributed to batches."""

import gzip
import resource
from pathlib import Path

import pytest

from arclink.errors import InputError
from arclink.pipeline import rows
from arclink.pipeline.rows import IN_STORE, NO_ROW, check_rows, count_lines, share_rows
from arclink.reasons import Reason

ROWS = [
    " CDX N b a m s k r M S V g",
    "org,a)/ 20100101000000 http://a.org/ text/html 200 AAA - - 10 0 one.warc.gz",
    "org,b)/ 20100101000000 http://b.org/ text/html 200 BBB - - 10 0 crawl/two.warc.gz",
    'org,c)/ 20100101000000 {"url": "http://c.org/", "offset": "0", "filename": "old.warc.gz"}',
    "org,d)/ 20100101000000 http://d.org/ text/html 200 DDD - - 10 0 unknown.warc.gz",
    "not a row at all",
]


def test_each_row_goes_to_the_batch_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "all.cdx.gz"
    path.write_bytes(
        b"".join(gzip.compress(row.encode() + b"\n") for row in ROWS[:-1])
        + gzip.compress(ROWS[-1].encode())
    )
    shared = share_rows(
        [path], {"one.warc.gz": 0, "two.warc.gz": 1, "old.warc.gz": IN_STORE}, tmp_path / "rows"
    )
    found = {
        batch: rows_path.read_text().splitlines() for batch, rows_path in shared.by_batch.items()
    }
    assert found == {0: [ROWS[1]], 1: [ROWS[2]], NO_ROW: [ROWS[0], ROWS[5]]}
    assert shared.passed_over == {Reason.ROW_IN_STORE: 1, Reason.ROW_FILE_NOT_GIVEN: 1}
    assert shared.names == {"one.warc.gz", "two.warc.gz", "old.warc.gz"}


def test_files_of_one_name_are_told_apart_by_the_folders_that_rows_name(tmp_path: Path) -> None:
    path = tmp_path / "all.cdx"
    rows = [
        f"org,{n})/ 2010 http://{n}.org/ text/html 200 A - - 10 0 {file}"
        for n, file in enumerate(("crawl/a/x.warc.gz", "b/x.warc.gz", "x.warc.gz"))
    ]
    path.write_text("\n".join(rows))
    shared = share_rows([path], {"a/x.warc.gz": 0, "b/x.warc.gz": 1}, tmp_path / "rows")
    assert {
        batch: rows_path.read_text().splitlines() for batch, rows_path in shared.by_batch.items()
    } == {0: [rows[0]], 1: [rows[1]]}
    assert shared.passed_over == {Reason.ROW_FILE_NOT_GIVEN: 1}


@pytest.mark.parametrize(("text", "lines"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\n\nb", 3)])
def test_lines_are_counted(text: bytes, lines: int, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(text)
    assert count_lines([tmp_path / "x"]) == lines


def test_more_batches_than_files_may_be_open_share_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "HELD", 2_000)
    monkeypatch.setattr(rows, "CACHED", 10)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lines = [
        f"org,a)/{n} 20100101000000 http://a.org/{n} text/html 200 AAA - - 10 0 {n % 300}.warc.gz\n"
        for n in range(1_500)
    ]
    (tmp_path / "all.cdx").write_text("".join(lines))
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows/rows-7.cdx").write_text("left by a build that was killed\n")
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
    try:
        shared = share_rows(
            [tmp_path / "all.cdx"], {f"{n}.warc.gz": n for n in range(300)}, tmp_path / "rows"
        )
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert {batch: path.read_text() for batch, path in shared.by_batch.items()} == {
        n: "".join(lines[n::300]) for n in range(300)
    }
    assert len(shared.names) == 300


def test_rows_of_few_batches_are_written_before_many_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    write = rows._Sharing.write

    def measured(sharing: rows._Sharing) -> None:
        sizes.append(sum(len(line) for lines in sharing._lines.values() for line in lines))
        write(sharing)

    monkeypatch.setattr(rows._Sharing, "write", measured)
    line = f"org,a)/ 20100101000000 http://a.org/{'x' * 900} text/html 200 AAA - - 10 0 a.arc\n"
    (tmp_path / "all.cdx").write_text(line * 2_000)
    share_rows([tmp_path / "all.cdx"], {"a.arc": 0}, tmp_path / "rows")
    assert sum(sizes) == 2_000 * len(line)
    assert max(sizes) <= 3 * rows.HELD_OF_BATCH


@pytest.mark.parametrize(
    "text",
    [b"<html>\n\n", b"\x7fELF\0\0\n", b"\n\n", b"notes about the crawl\nof 2010\n"],
    ids=["HTML", "binary", "blank", "text"],
)
def test_what_is_no_cdx_is_named(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "odd.cdx").write_bytes(text)
    with pytest.raises(InputError, match=r"odd\.cdx: not a CDX or CDXJ file"):
        check_rows([tmp_path / "odd.cdx"])


def test_a_cdx_that_holds_no_capture_is_one(tmp_path: Path) -> None:
    (tmp_path / "empty.cdx").write_bytes(b"")
    (tmp_path / "header.cdx").write_text(ROWS[0] + "\n")
    (tmp_path / "header.cdxj").write_text("!OpenWayback-CDXJ 1.0\n")
    (tmp_path / "dns.cdx").write_text(
        "dns:a.org 20100101000000 dns:a.org text/dns - AAA - - 10 0 one.warc.gz\n"
    )
    check_rows([tmp_path / name for name in ("empty.cdx", "header.cdx", "header.cdxj", "dns.cdx")])
