"""CDX rows, distributed to batches by the driver of a build and by tasks of an engine."""

import gzip
import os
import resource
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from arclink.archives.locations import Location
from arclink.errors import InputError
from arclink.filter import sharing
from arclink.filter.sharing import IN_STORE, NO_ROW, RowSharing, SharedFile, check_rows
from arclink.mapreduce.runs import JobRunner
from arclink.pipeline.rows import SharedRows, share_rows, share_rows_by_tasks
from arclink.reasons import Reason
from arclink.rows import cdx_files as cdx_pieces
from arclink.rows.cdx import read_rows
from tests.archives.made_archives import http, warc

ROWS = [
    " CDX N b a m s k r M S V g",
    "org,a)/ 20100101000000 http://a.org/ text/html 200 AAA - - 10 0 one.warc.gz",
    "org,b)/ 20100101000000 http://b.org/ text/html 200 BBB - - 10 0 crawl/two.warc.gz",
    'org,c)/ 20100101000000 {"url": "http://c.org/", "offset": "0", "filename": "old.warc.gz"}',
    "org,d)/ 20100101000000 http://d.org/ text/html 200 DDD - - 10 0 unknown.warc.gz",
    "not a row at all",
]

Share = Callable[[Sequence[Location], dict[str, int]], SharedRows]


def files_of(batch_of: dict[str, int], folder: Path = Path("/archive")) -> list[SharedFile]:
    return [SharedFile(name, batch, str(folder / name)) for name, batch in batch_of.items()]


@pytest.fixture(params=["driver", "local", "inline"])
def share(request: pytest.FixtureRequest, tmp_path: Path) -> Share:
    """The driver distributes rows, or tasks of a runner; archive files are in the test's folder."""
    (conf := tmp_path / "mrjob.conf").write_text("runners: {}\n")
    run = JobRunner(request.param, 2, tmp_path / "work/tasks", conf=conf)

    def do(cdx: Sequence[Location], batch_of: dict[str, int]) -> SharedRows:
        files, folder = files_of(batch_of, tmp_path), tmp_path / "work/rows"
        if request.param == "driver":
            return share_rows(cdx, files, folder)
        return share_rows_by_tasks(cdx, files, folder, [], run)

    return do


def lines_of(shared: SharedRows) -> dict[int, list[str]]:
    """Return the lines of each batch, after comparing them with their number."""
    found = {
        batch: [line for part in parts for line in part.read_bytes().decode().splitlines()]
        for batch, parts in shared.by_batch.items()
    }
    assert {batch: len(lines) for batch, lines in found.items()} == dict(shared.lines)
    return found


def test_each_row_goes_to_the_batch_of_its_file(share: Share, tmp_path: Path) -> None:
    path = tmp_path / "all.cdx.gz"
    path.write_bytes(
        b"".join(gzip.compress(row.encode() + b"\n") for row in ROWS[:-1])
        + gzip.compress(ROWS[-1].encode())
    )
    shared = share([path], {"one.warc.gz": 0, "two.warc.gz": 1, "old.warc.gz": IN_STORE})
    assert lines_of(shared) == {0: [ROWS[1]], 1: [ROWS[2]], NO_ROW: [ROWS[0], ROWS[5]]}
    assert shared.passed_over == {Reason.ROW_IN_STORE: 1, Reason.ROW_FILE_NOT_GIVEN: 1}
    assert shared.names == {"one.warc.gz", "two.warc.gz", "old.warc.gz"}


def test_pieces_of_a_file_are_shared_out_as_the_whole(
    share: Share, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each piece reads the order of the columns in the first line of its file."""
    monkeypatch.setattr(cdx_pieces, "PIECE", 700)
    path = tmp_path / "all.cdx"
    rows = [f"{n} 20100101000000 http://a.org/{n} f{n % 3}.arc" for n in range(300)]
    path.write_text("\n".join([" CDX V b a g", *rows]))
    shared = share([path], {"f0.arc": 0, "f1.arc": 1, "f2.arc": 2})
    found = lines_of(shared)
    for batch in range(3):
        originals = sorted(row.split()[2] for row in rows[batch::3])
        assert sorted(line.split()[2] for line in found[batch]) == originals
    assert len(found[NO_ROW]) == 1, "the header"


def test_files_of_one_name_are_distinguished_by_the_folders_in_rows(
    share: Share, tmp_path: Path
) -> None:
    path = tmp_path / "all.cdx"
    rows = [
        f"org,{n})/ 2010 http://{n}.org/ text/html 200 A - - 10 0 {file}"
        for n, file in enumerate(("crawl/a/x.warc.gz", "b/x.warc.gz", "x.warc.gz"))
    ]
    path.write_text("\n".join(rows))
    shared = share([path], {"a/x.warc.gz": 0, "b/x.warc.gz": 1})
    assert lines_of(shared) == {0: [rows[0]], 1: [rows[1]]}
    assert shared.passed_over == {Reason.ROW_FILE_NOT_GIVEN: 1}


def test_a_row_without_date_gets_that_of_its_record(share: Share, tmp_path: Path) -> None:
    record = warc("http://a.org/", http(b"<p>text</p>"), date="2010-01-02T03:04:05Z")
    (tmp_path / "a.warc").write_bytes(record)
    path = tmp_path / "all.cdx"
    path.write_text(f"{ROWS[0]}\norg,a)/ - http://a.org/ text/html 200 AAA - - 10 0 a.warc\n")
    (line,) = lines_of(share([path], {"a.warc": 0}))[0]
    assert line.split()[1] == "20100102030405"


def test_control_characters_do_not_split_a_row(share: Share, tmp_path: Path) -> None:
    """Lines of a task travel in blocks; what filter reads in them stays the same."""
    end = "text/html 200 AAA - - 10 0 a.arc"
    path = tmp_path / "all.cdx"
    path.write_bytes(
        f"org,a)/ 2010 http://a.org/\x1eone {end}\r\n".encode()
        + b'org,a)/ 2010 {"url": "http://a.org/\rtwo", "offset": "0", "filename": "a.arc"}\n'
        + f"org,a)/ 2010 http://a.org/three {end}\n".encode()
    )
    shared = share([path], {"a.arc": 0})
    rows = [
        row
        for batch in (0, NO_ROW)
        for part in shared.by_batch.get(batch, ())
        for row in part.read_bytes().split(b"\n")[:-1]
    ]
    counts: Counter[Reason] = Counter()
    kept = {row[2] for row in read_rows(rows, counts)}
    assert kept == {b"http://a.org/%1Eone", b"http://a.org/three"}
    assert counts[Reason.ROW_MALFORMED] == 1
    assert sum(shared.lines.values()) == 3


def test_files_without_lines_have_no_rows(share: Share, tmp_path: Path) -> None:
    (tmp_path / "empty.cdx").touch()
    assert share([tmp_path / "empty.cdx"], {"a.arc": 0}) == SharedRows()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(b"<html>\n" * 9, "not a CDX or CDXJ file", id="no CDX"),
        pytest.param(b" CDX N b a\nx", "its header is 'CDX N b a'", id="no offset"),
        pytest.param(b"\x1f\x8bgzip", "cannot be read as a CDX file", id="damaged"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    text: bytes, message: str, share: Share, tmp_path: Path
) -> None:
    (tmp_path / "odd.cdx").write_bytes(text)
    with pytest.raises(InputError, match=rf"^{tmp_path}/odd\.cdx: .*{message}"):
        share([tmp_path / "odd.cdx"], {"a.arc": 0})


def test_more_batches_than_files_may_be_open_share_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "HELD", 2_000)
    monkeypatch.setattr(sharing, "CACHED", 10)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lines = [
        f"org,a)/{n} 20100101000000 http://a.org/{n} text/html 200 AAA - - 10 0 {n % 300}.warc.gz"
        for n in range(1_500)
    ]
    (tmp_path / "all.cdx").write_text("\n".join(lines))
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows/rows-000007.cdx").write_text("left by a build that was killed\n")
    files = files_of({f"{n}.warc.gz": n for n in range(300)})
    already_open = len(os.listdir("/dev/fd"))  # by earlier tests of this process
    resource.setrlimit(resource.RLIMIT_NOFILE, (already_open + 80, hard))
    try:
        shared = share_rows([tmp_path / "all.cdx"], files, tmp_path / "rows")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert lines_of(shared) == {n: lines[n::300] for n in range(300)}
    assert len(shared.names) == 300


def test_rows_of_few_batches_are_written_before_many_are_held() -> None:
    line = b"org,a)/ 20100101000000 http://a.org/%b text/html 200 A - - 10 0 a.arc\n" % (b"x" * 900)
    rows = RowSharing(files_of({"a.arc": 0}))
    sizes = [sum(map(len, lines)) for _, lines in rows.share([line] * 100 for _ in range(20))]
    assert sum(sizes) == 2_000 * len(line)
    assert max(sizes) <= 3 * sharing.HELD_OF_BATCH


@pytest.mark.parametrize(
    "text",
    [b"<html>\n\n", b"\x7fELF\0\0\n", b"\n\n", b"notes about the crawl\nof 2010\n"],
    ids=["HTML", "binary", "blank", "text"],
)
def test_a_file_that_is_not_a_cdx_is_named(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "odd.cdx").write_bytes(text)
    with pytest.raises(InputError, match=r"odd\.cdx: not a CDX or CDXJ file"):
        check_rows([tmp_path / "odd.cdx"])


def test_a_cdx_without_captures_is_valid(tmp_path: Path) -> None:
    (tmp_path / "empty.cdx").write_bytes(b"")
    (tmp_path / "header.cdx").write_text(ROWS[0] + "\n")
    (tmp_path / "header.cdxj").write_text("!OpenWayback-CDXJ 1.0\n")
    (tmp_path / "dns.cdx").write_text(
        "dns:a.org 20100101000000 dns:a.org text/dns - AAA - - 10 0 one.warc.gz\n"
    )
    check_rows([tmp_path / name for name in ("empty.cdx", "header.cdx", "header.cdxj", "dns.cdx")])
